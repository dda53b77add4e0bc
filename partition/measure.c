/* measure.c - see measure.h.
 *
 * A value that the sequence computes counts as an output until its last reader has joined, from
 * then on as a value in between, which lives from the place that computes it to that reader's. What
 * a candidate computes for itself alone is the business of its code (its row's scratch). */
#include "partition/measure.h"

#include "relay_ir/macs.h"

struct measure measure_new(struct partition *partition, struct arena *arena)
{
    const int n_nodes = partition->fn->n_nodes + 1, n_values = partition->fn->n_values + 1;

    return (struct measure){ .partition = partition,
                             .inside = arena_array(arena, int, n_nodes),
                             .place = arena_array(arena, int, n_nodes),
                             .seen = arena_array(arena, int, n_values),
                             .left = arena_array(arena, int, n_values),
                             .alive = arena_array(arena, int64_t, n_nodes) };
}

void measure_begin(struct measure *measure, const struct target *target)
{
    measure->plan = (struct region_plan){ .target = target };
    measure->stamp++;
    measure->n = 0;
    measure->peak = 0;
}

/* Sums of a hostile model's sizes end at the top instead of wrapping. */
static void add_to(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

static int64_t bytes_of(const struct value *value)
{
    return (int64_t)type_bytes(&value->type);
}

static void leave_alive(struct measure *measure, const struct value *value)
{
    for (int i = measure->place[value->def->id]; i <= measure->n; i++) {
        add_to(&measure->alive[i], bytes_of(value));
        if (measure->alive[i] > measure->peak)
            measure->peak = measure->alive[i];
    }
}

static void add_input(struct measure *measure, const struct value *value)
{
    struct region_plan *plan = &measure->plan;

    if (value->def && measure->inside[value->def->id] == measure->stamp) {
        if (--measure->left[value->id] == 0) {
            plan->output_bytes -= bytes_of(value);
            leave_alive(measure, value);
        }
    } else if (measure->seen[value->id] != measure->stamp) {
        measure->seen[value->id] = measure->stamp;
        add_to(value->kind == VALUE_CONSTANT ? &plan->weight_bytes : &plan->input_bytes,
               bytes_of(value));
    }
}

static bool is_of(const struct measure *measure, const struct candidate *candidate,
                  const struct node *node)
{
    return measure->partition->choice[node->id] == candidate;
}

static void add_outputs(struct measure *measure, const struct node *root)
{
    for (int i = 0; i < root->n_outputs; i++) {
        const struct value *value = root->outputs[i];

        measure->left[value->id] = value_n_uses(value);
        if (value->uses)
            add_to(&measure->plan.output_bytes, bytes_of(value));
    }
}

static double handover_ns(const struct region_plan *plan)
{
    const struct target_rates *rates = &plan->target->rates;

    return rates->launch_ns +
           rates->transfer_ns_per_byte * ((double)plan->input_bytes + (double)plan->output_bytes);
}

/* What the candidate would cost if the sequence went back to the host. */
static double host_ns(const struct measure *measure, const struct candidate *candidate)
{
    double ns = candidate->host_ns;

    for (int i = 0; i < candidate->match.n_nodes; i++) {
        const struct node *node = candidate->match.nodes[i], *into = host_fused_into(node);

        if (into && measure->partition->choice[into->id] && !is_of(measure, candidate, into) &&
            measure->inside[into->id] != measure->stamp)
            ns += host_cost_ns(measure->partition->host, node);
    }
    return ns;
}

double measure_node_ns(const struct partition *partition, const struct node *node)
{
    const struct node *into = host_fused_into(node);
    const struct candidate *other = into ? partition->choice[into->id] : NULL;

    return into && (!other || other == partition->choice[node->id])
               ? 0
               : host_cost_ns(partition->host, node);
}

double measure_candidate_ns(const struct partition *partition, const struct candidate *candidate)
{
    double ns = candidate->host_ns;

    for (int i = 0; i < candidate->match.n_nodes; i++) {
        const struct node *node = candidate->match.nodes[i], *into = host_fused_into(node);
        const struct candidate *other = into ? partition->choice[into->id] : NULL;

        if (other && other != candidate)
            ns += host_cost_ns(partition->host, node);
    }
    return ns;
}

double measure_chosen_ns(const struct partition *partition)
{
    double ns = 0;

    for (int id = 0; id < partition->n_nodes; id++)
        if (!partition->choice[id])
            ns += measure_node_ns(partition, partition->nodes[id]);
    for (int i = 0; i < partition->n_regions; i++)
        ns += partition->regions[i].target_ns + partition->regions[i].handover_ns;
    return ns;
}

double measure_host_only_ns(const struct partition *partition)
{
    double ns = 0;

    for (int id = 0; id < partition->n_nodes; id++)
        if (!host_fused_into(partition->nodes[id]))
            ns += host_cost_ns(partition->host, partition->nodes[id]);
    return ns;
}

void measure_add(struct measure *measure, const struct candidate *candidate)
{
    const struct match *match = &candidate->match;
    struct region_plan *plan = &measure->plan;

    measure->alive[measure->n] = 0;
    for (int i = 0; i < match->n_nodes; i++) {
        const struct node *node = match->nodes[i];

        for (int j = 0; j < node->n_inputs; j++) {
            const struct value *value = node->inputs[j];

            if (value && !(value->def && is_of(measure, candidate, value->def)))
                add_input(measure, value);
        }
        add_to(&plan->macs, node_macs(node));
    }
    for (int i = 0; i < match->n_nodes; i++) {
        measure->inside[match->nodes[i]->id] = measure->stamp;
        measure->place[match->nodes[i]->id] = measure->n;
    }
    add_outputs(measure, match->root);
    measure->n++;
    plan->n_nodes += match->n_nodes;
    plan->target_ns += candidate->target_ns;
    plan->host_ns += host_ns(measure, candidate);
    plan->handover_ns = handover_ns(plan);
    plan->onchip_bytes = plan->target->limits.weights_onchip ? plan->weight_bytes : 0;
    add_to(&plan->onchip_bytes, plan->input_bytes);
    add_to(&plan->onchip_bytes, plan->output_bytes);
    add_to(&plan->onchip_bytes, measure->peak);
}

void measure_region(struct measure *measure, struct region_plan *region)
{
    struct candidate **const candidates = region->candidates;
    const int n = region->n;

    measure_begin(measure, candidates[0]->row->target);
    for (int i = 0; i < n; i++)
        measure_add(measure, candidates[i]);
    *region = measure->plan;
    region->candidates = candidates;
    region->n = n;
}

/* --- limits ----------------------------------------------------------------------------------- */

static bool beyond(int64_t amount, int64_t limit)
{
    return limit != LIMIT_NONE && amount > limit;
}

const char *measure_beyond(const struct measure *measure, struct arena *arena, const char **limit)
{
    const struct region_plan *plan = &measure->plan;
    const struct target_limits *limits = &plan->target->limits;
    const struct {
        const char *name, *what;
        int64_t amount, limit;
    } checks[] = {
        { "max_nodes", "nodes", plan->n_nodes, limits->max_nodes },
        { "max_macs", "MACs", plan->macs, limits->max_macs },
        { "max_weight_bytes", "bytes of weights", plan->weight_bytes, limits->max_weight_bytes },
        { "max_onchip_bytes", "bytes on chip", plan->onchip_bytes, limits->max_onchip_bytes },
    };

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (beyond(checks[i].amount, checks[i].limit)) {
            *limit = checks[i].name;
            return arena_printf(arena, "%s: %lld %s, %lld allowed", checks[i].name,
                                (long long)checks[i].amount, checks[i].what,
                                (long long)checks[i].limit);
        }
    return NULL;
}

bool measure_hopeless(const struct measure *measure)
{
    const struct region_plan *plan = &measure->plan;
    const struct target_limits *limits = &plan->target->limits;
    int64_t onchip = limits->weights_onchip ? plan->weight_bytes : 0;

    /* Of what is on chip only outputs get fewer, by becoming values in between. */
    add_to(&onchip, plan->input_bytes);
    add_to(&onchip, measure->peak);
    return beyond(plan->n_nodes, limits->max_nodes) || beyond(plan->macs, limits->max_macs) ||
           beyond(plan->weight_bytes, limits->max_weight_bytes) ||
           beyond(onchip, limits->max_onchip_bytes);
}

bool measure_fits(const struct measure *measure)
{
    return !measure_hopeless(measure) &&
           !beyond(measure->plan.onchip_bytes, measure->plan.target->limits.max_onchip_bytes);
}
