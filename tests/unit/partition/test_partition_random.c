/* Random graphs for random targets: what the passes promise is checked again, from the definitions.
 * PARTITION_SEEDS=N runs N graphs instead of a few, PARTITION_FIRST_SEED where they begin. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/macs.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/partition_case.h"
#include "tests/support/partition_graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_target.h"

enum { DEFAULT_SEEDS = 3000, MAX_OPS = 40 };

static unsigned current; /* for messages */

#define HOLDS(condition) ck_assert_msg(condition, "seed %u: " #condition, current)

/* --- the invariants, from their definitions --------------------------------------------------- */

/* Who a node belongs to: its region, or itself. Which nodes can be reached from which. */
struct view {
    const struct partition *partition;
    struct arena *arena;
    int n;
    int *group;  /* by node id: region, or n_regions + id */
    bool *reach; /* [n, n]; not itself */
};

static struct view view_new(const struct partition *partition, struct arena *arena)
{
    struct view view = { .partition = partition, .arena = arena, .n = partition->n_nodes };

    view.group = arena_array(arena, int, view.n);
    view.reach = arena_array(arena, bool, view.n *view.n);
    for (int i = 0; i < view.n; i++)
        view.group[i] = partition->n_regions + i;
    for (int i = 0; i < partition->n_regions; i++)
        for (int j = 0; j < partition->regions[i].n; j++) {
            const struct match *match = &partition->regions[i].candidates[j]->match;

            for (int k = 0; k < match->n_nodes; k++)
                view.group[match->nodes[k]->id] = i;
        }
    for (int to = 0; to < view.n; to++)
        for (int i = 0; i < partition->nodes[to]->n_inputs; i++) {
            const struct value *value = partition->nodes[to]->inputs[i];

            for (int from = 0; value && value->def && from < view.n; from++)
                if (from == value->def->id || view.reach[from * view.n + value->def->id])
                    view.reach[from * view.n + to] = true;
        }
    return view;
}

static bool holds(const struct match *match, const struct node *node)
{
    for (int i = 0; i < match->n_nodes; i++)
        if (match->nodes[i] == node)
            return true;
    return false;
}

static bool is_chosen(const struct partition *partition, const struct candidate *candidate)
{
    return partition->choice[candidate->match.root->id] == candidate;
}

static void check_candidates(const struct partition *partition)
{
    for (const struct candidate *c = partition->first; c; c = c->next) {
        const struct match *match = &c->match;
        const bool chosen = is_chosen(partition, c);

        HOLDS(match->nodes[match->n_nodes - 1] == match->root);
        HOLDS(chosen == (c->region >= 0));
        HOLDS(!chosen || (!c->excluded && !c->passed_over));
        for (int i = 0; i < match->n_nodes; i++) {
            const struct node *node = match->nodes[i];

            HOLDS(!c->row->target->keep_on_host[node->op]);
            HOLDS((partition->choice[node->id] == c) == chosen);
            for (int j = 0; node != match->root && j < node->n_outputs; j++)
                for (const struct use *use = node->outputs[j]->uses; use; use = use->next)
                    HOLDS(holds(match, use->node));
        }
        for (const struct candidate *d = c->next; d; d = d->next)
            HOLDS(d->row != c->row || d->match.n_nodes != match->n_nodes ||
                  memcmp(d->match.nodes, match->nodes,
                         (size_t)match->n_nodes * sizeof(struct node *)) != 0);
    }
    for (int i = 0; i < partition->n_nodes; i++)
        HOLDS(!partition->choice[i] || holds(&partition->choice[i]->match, partition->nodes[i]));
}

/* A match that is wanted and whose nodes are all free has been forgotten. */
static void check_nothing_forgotten(const struct partition *partition)
{
    for (const struct candidate *c = partition->first; c; c = c->next) {
        bool all_free = true;

        for (int i = 0; i < c->match.n_nodes; i++)
            all_free = all_free && !partition->choice[c->match.nodes[i]->id];
        HOLDS(!all_free || c->excluded ||
              (partition->options->assign == ASSIGN_COST &&
               (c->target_ns > c->host_ns ||
                (c->passed_over && strstr(c->passed_over, "assignment")))));
    }
}

static void check_convex(const struct view *view)
{
    for (int outside = 0; outside < view->n; outside++)
        for (int region = 0; region < view->partition->n_regions; region++) {
            bool above = false, below_it = false;

            for (int id = 0; id < view->n && view->group[outside] != region; id++)
                if (view->group[id] == region) {
                    above = above || view->reach[outside * view->n + id];
                    below_it = below_it || view->reach[id * view->n + outside];
                }
            HOLDS(!above || !below_it);
        }
}

/* Takes groups away that wait for no other group; all must go. */
static void check_no_cycle(const struct view *view)
{
    const int n = view->partition->n_regions + view->n;
    bool *gone = arena_array(view->arena, bool, n), changed = true;

    while (changed) {
        changed = false;
        for (int group = 0; group < n; group++) {
            bool ready = !gone[group];

            for (int id = 0; ready && id < view->n; id++)
                for (int i = 0;
                     view->group[id] == group && i < view->partition->nodes[id]->n_inputs; i++) {
                    const struct value *value = view->partition->nodes[id]->inputs[i];

                    if (value && value->def && view->group[value->def->id] != group &&
                        !gone[view->group[value->def->id]])
                        ready = false;
                }
            if (ready)
                gone[group] = changed = true;
        }
    }
    for (int id = 0; id < view->n; id++)
        HOLDS(gone[view->group[id]]);
}

/* --- the numbers of a region ------------------------------------------------------------------ */

static bool is_in(const struct view *view, const struct node *node, int region)
{
    return node->op != OP_RETURN && view->group[node->id] == region;
}

static int place_of(const struct region_plan *region, const struct node *node)
{
    for (int i = 0; i < region->n; i++)
        if (holds(&region->candidates[i]->match, node))
            return i;
    return -1;
}

/* The last candidate that reads the value; -1 when someone outside does, or nobody. */
static int last_reader(const struct view *view, int index, const struct value *value)
{
    int last = -1;

    for (const struct use *use = value->uses; use; use = use->next) {
        const struct region_plan *region = &view->partition->regions[index];

        if (!is_in(view, use->node, index))
            return -1;
        if (last < place_of(region, use->node))
            last = place_of(region, use->node);
    }
    return last;
}

/* The most bytes of values in between that any candidate finds alive. */
static int64_t peak_of(const struct view *view, int index)
{
    const struct region_plan *region = &view->partition->regions[index];
    int64_t peak = 0;

    for (int at = 0; at < region->n; at++) {
        int64_t alive = 0;

        for (int i = 0; i <= at; i++) {
            const struct node *root = region->candidates[i]->match.root;

            for (int j = 0; j < root->n_outputs; j++)
                if (last_reader(view, index, root->outputs[j]) >= at)
                    alive += (int64_t)type_bytes(&root->outputs[j]->type);
        }
        peak = alive > peak ? alive : peak;
    }
    return peak;
}

static int64_t output_bytes_of(const struct view *view, int index)
{
    const struct region_plan *region = &view->partition->regions[index];
    int64_t bytes = 0;

    for (int i = 0; i < region->n; i++) {
        const struct node *root = region->candidates[i]->match.root;

        for (int j = 0; j < root->n_outputs; j++)
            if (root->outputs[j]->uses && last_reader(view, index, root->outputs[j]) < 0)
                bytes += (int64_t)type_bytes(&root->outputs[j]->type);
    }
    return bytes;
}

/* Values that the region reads and does not compute: constants, or others. */
static int64_t read_bytes_of(const struct view *view, int index, bool constants)
{
    bool *seen = arena_array(view->arena, bool, view->partition->fn->n_values);
    int64_t bytes = 0;

    for (int id = 0; id < view->n; id++)
        for (int i = 0; view->group[id] == index && i < view->partition->nodes[id]->n_inputs; i++) {
            const struct value *value = view->partition->nodes[id]->inputs[i];

            if (!value || seen[value->id] || (value->def && is_in(view, value->def, index)) ||
                (value->kind == VALUE_CONSTANT) != constants)
                continue;
            seen[value->id] = true;
            bytes += (int64_t)type_bytes(&value->type);
        }
    return bytes;
}

static bool within(int64_t amount, int64_t limit)
{
    return limit == LIMIT_NONE || amount <= limit;
}

static void check_region(const struct view *view, int index)
{
    const struct region_plan *region = &view->partition->regions[index];
    const struct target_limits *limits = &region->target->limits;
    const struct target_rates *rates = &region->target->rates;
    const int64_t in = read_bytes_of(view, index, false), out = output_bytes_of(view, index);
    const int64_t weights = read_bytes_of(view, index, true);
    const int64_t onchip = in + out + (limits->weights_onchip ? weights : 0) + peak_of(view, index);
    int64_t macs = 0, nodes = 0;

    for (int id = 0; id < view->n; id++)
        if (view->group[id] == index) {
            macs += node_macs(view->partition->nodes[id]);
            nodes++;
        }
    HOLDS(region->n_nodes == nodes);
    HOLDS(region->macs == macs);
    HOLDS(region->input_bytes == in);
    HOLDS(region->output_bytes == out);
    HOLDS(region->weight_bytes == weights);
    HOLDS(region->onchip_bytes == onchip);
    for (int i = 0; i < region->n; i++) {
        HOLDS(region->candidates[i]->row->target == region->target);
        HOLDS(region->candidates[i]->region == index);
        for (int j = 0; j < i; j++) /* topological, none twice */
            HOLDS(!view->reach[region->candidates[i]->match.root->id * view->n +
                               region->candidates[j]->match.root->id] &&
                  region->candidates[i] != region->candidates[j]);
    }
    HOLDS(within(nodes, limits->max_nodes) && within(macs, limits->max_macs) &&
          within(weights, limits->max_weight_bytes) && within(onchip, limits->max_onchip_bytes));
    if (view->partition->options->no_cost)
        return;
    HOLDS(macs >= limits->min_macs);
    HOLDS(region->target_ns + rates->launch_ns + rates->transfer_ns_per_byte * (double)(in + out) <
          region->host_ns);
}

static void check_state(const struct partition *partition, struct arena *arena)
{
    const struct view view = view_new(partition, arena);

    check_candidates(partition);
    check_nothing_forgotten(partition);
    check_convex(&view);
    check_no_cycle(&view);
    for (int i = 0; i < partition->n_regions; i++)
        check_region(&view, i);
}

/* --- the runs --------------------------------------------------------------------------------- */

static void check_results(struct ctx *ctx, struct module *module, const struct tensor *wanted,
                          unsigned seed)
{
    struct bulk bulk = { NULL, 0 };
    const struct tensor *got = graph_run(module, seed, &bulk);

    ck_assert_msg(got != NULL, "%s", expect_text(ctx));
    for (int i = 0; i < module->main->ret->n_inputs; i++)
        HOLDS(tensor_equal(&wanted[i], &got[i]));
    bulk_release(&bulk);
}

/* Code generators find the captures of each composite again, and nothing else in it. */
static void check_rematch(struct ctx *ctx, const struct partition *partition)
{
    for (struct function *fn = partition->module->functions; fn; fn = fn->next)
        if (fn->composite) {
            const struct composite_row *row =
                targets_row(partition->options->targets, fn->composite);
            const struct match *match = row ? composite_rematch(ctx, row, fn) : NULL;

            ck_assert_msg(match && match->n_nodes == fn->n_nodes, "seed %u: %s\n%s", current,
                          fn->composite, expect_text(ctx));
        }
}

static unsigned below(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

static void check_seed(unsigned first)
{
    unsigned seed = first * 2654435761u;
    struct ctx *ctx = ctx_new(NULL);
    const int n_targets = 1 + (int)below(&seed, 3);
    struct module *module = partition_graph_random(ctx, 3 + (int)below(&seed, MAX_OPS), &seed);
    struct target *targets[3];
    struct partition *partition;
    struct bulk bulk = { NULL, 0 };
    const struct tensor *wanted = graph_run(module, first, &bulk);

    for (int i = 0; i < n_targets; i++)
        targets[i] = case_target(ctx, random_target(&ctx->perm, i, &seed));
    partition = partition_new(module, case_options(ctx, case_target(ctx, HOST), n_targets, targets,
                                                   below(&seed, 2) ? ASSIGN_COST : ASSIGN_PRIORITY,
                                                   below(&seed, 5) == 0));
    case_run(partition, "cost");
    check_state(partition, &ctx->perm);
    case_step(partition, "partition");
    case_step(partition, "optimise");
    check_rematch(ctx, partition);
    check_results(ctx, module, wanted, first);
    ck_assert_msg(pipeline_run(module, &(struct pipeline_options){ .part = PIPELINE_FUSE }), "%s",
                  expect_text(ctx));
    check_results(ctx, module, wanted, first);
    bulk_release(&bulk);
    partition_free(partition);
    module_free(module);
    ctx_free(ctx);
}

static unsigned number_from(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);

    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

START_TEST(what_the_passes_promise_holds_for_random_graphs_and_targets)
{
    const unsigned first = number_from("PARTITION_FIRST_SEED", 1);
    const unsigned n = number_from("PARTITION_SEEDS", DEFAULT_SEEDS);

    for (unsigned seed = first; seed < first + n; seed++) {
        current = seed;
        check_seed(seed);
    }
}
END_TEST

/* The targets that ship, in turns of their order, on networks of all kinds of operators. */
static void check_shipped(unsigned seed)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = random_graph(ctx, 10 + (int)(seed % 40), seed);
    struct targets all;
    const struct target *offload[8];
    struct partition_options options = { .targets = &all,
                                         .offload = offload,
                                         .assign = seed % 2 ? ASSIGN_COST : ASSIGN_PRIORITY,
                                         .no_cost = seed % 3 == 0 };
    struct partition *partition;
    struct bulk bulk = { NULL, 0 };
    const struct tensor *wanted;

    ck_assert_msg(targets_load(ctx, 0, NULL, &all) &&
                      pipeline_run(module, &(struct pipeline_options){ .part = PIPELINE_PREPARE }),
                  "%s", expect_text(ctx));
    wanted = graph_run(module, seed, &bulk);
    for (const struct target *t = all.first->next; t && options.n_offload < 8; t = t->next)
        offload[options.n_offload++] = t;
    for (int i = 0; options.n_offload > 0 && i < (int)(seed % 5); i++) {
        const struct target *first = offload[0];

        memmove(offload, offload + 1, (size_t)(options.n_offload - 1) * sizeof *offload);
        offload[options.n_offload - 1] = first;
    }
    partition = partition_new(module, &options);
    case_run(partition, "cost");
    check_state(partition, &ctx->perm);
    case_step(partition, "partition");
    check_rematch(ctx, partition);
    check_results(ctx, module, wanted, seed);
    bulk_release(&bulk);
    partition_free(partition);
    module_free(module);
    ctx_free(ctx);
}

START_TEST(targets_that_ship_keep_the_results_of_random_networks)
{
    const unsigned n = number_from("PARTITION_SEEDS", DEFAULT_SEEDS) / 10;

    for (current = 1; current <= n; current++)
        check_shipped(current);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("partition_random");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, what_the_passes_promise_holds_for_random_graphs_and_targets);
    tcase_add_test(tests, targets_that_ship_keep_the_results_of_random_networks);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
