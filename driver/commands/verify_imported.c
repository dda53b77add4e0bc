/* verify_imported.c - the graph as the importer gave it against the graph after the passes.
 *
 * Values keep the model's names through the passes. A value of the graph after them is compared
 * with the one of the same name (NAME for NAME.nhwc and NAME.nchw) in the imported graph, which
 * goes on with the former's numbers: so a layer answers for its own error, and quantised values for
 * one rounding. Results of the model are compared as they lie.
 *
 * A value between may lie in any order of its dims, and which is not asked of the graph: what is to
 * be found out is whether passes that say so are right. The order is the one in which the numbers
 * agree, if there is one. That hides nothing: who reads the value reads it in an order of his own,
 * and if this is another one, his result differs; the last ones who read are the results. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "driver/commands/verify.h"
#include "driver/commands/verify_orders.h"
#include "relay_ir/interpret.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"

/* With quantised values on the way, a layer's own noise power by its signal's: rounding to 8 bits
 * gives below 2e-2, to 4 bits below 1e-1; numbers that have nothing to do with each other give 1 to
 * 2. Of all sets the least counts: where sums cancel out, or numbers saturate, small ones lose
 * everything on some inputs, but what computes something else does so on all. */
#define NOISE_LIMIT 0.2

/* Half-precision values are rounded by every operator of the imported graph, and in f32 after the
 * passes. */
#define HALF_STEPS 16

double *real_numbers(struct bulk *bulk, const struct tensor *tensor)
{
    const struct type *type = &tensor->type;
    const struct qtype *q = type->quant && type->quant->kind == QTYPE_SCALED ? type->quant : NULL;
    const int64_t n = type_elements(type);
    const int64_t inner = q && q->axis >= 0 ? type_span(type, q->axis + 1, type->rank) : 1;
    double *numbers = bulk_alloc(bulk, (size_t)(n ? n : 1) * sizeof *numbers);

    for (int64_t i = 0; i < n; i++) {
        const int64_t k = q && q->axis >= 0 ? i / inner % q->n : 0;

        numbers[i] = tensor_at(tensor, i);
        if (q)
            numbers[i] = (double)q->scale[k] * (numbers[i] - (q->zero ? q->zero[k] : 0));
    }
    return numbers;
}

/* The imported value whose name this is, or is made of: NAME.nhwc, NAME.i8.nchw. NULL = none. */
static const struct value *imported_value(struct arena *arena, const struct map *imported,
                                          const char *name)
{
    const struct value *value;

    while (!(value = map_get(imported, name))) {
        const char *dot = strrchr(name, '.');

        if (!dot || (strcmp(dot, ".nhwc") != 0 && strcmp(dot, ".nchw") != 0 &&
                     dtype_from_name(dot + 1) == DTYPE_NONE))
            return NULL;
        name = arena_strndup(arena, name, (size_t)(dot - name));
    }
    return value;
}

/* A value after the passes that stands for one of the imported graph. */
struct twin {
    const struct value *value;
    struct twin *next;
};

struct comparing {
    struct verification *v;
    const struct verify_set *set;
    struct map twins;  /* name in the imported graph -> struct twin * */
    struct map inside; /* likewise, of values inside regions */
    bool failed;
};

/* The imported value's numbers become found[], which lies in that order. */
static void put_numbers(const struct tensor *tensor, const struct verify_order *order,
                        const double *found)
{
    const struct qtype *q = tensor->type.quant;
    const int64_t n = type_elements(&tensor->type);
    struct walk walk = verify_order_walk(order);

    if (q && q->kind == QTYPE_SCALED && q->n > 1)
        return;
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        const int64_t at = walk.offset[0];
        const bool scaled = q && q->kind == QTYPE_SCALED;
        const double code =
            scaled ? found[i] / (double)q->scale[0] + (q->zero ? q->zero[0] : 0) : found[i];

        if (dtype_is_float(tensor->type.dtype) || dtype_kind(tensor->type.dtype) == KIND_EXPONENT)
            dtype_store(tensor->type.dtype, tensor->data, at, code);
        else if (isfinite(code))
            dtype_store_int(tensor->type.dtype, tensor->data, at, (int64_t)rint(code));
    }
}

/* What a region stores in between cannot be compared; but where its scale ends, the imported graph
 * goes on with the end, as what comes behind must. */
static void saturate_inside(const struct comparing *c, const struct value *value,
                            const struct tensor *tensor)
{
    const struct verify_order order = verify_order_as_it_lies(&value->type);

    for (const struct twin *m = map_get(&c->inside, value->name); m; m = m->next) {
        struct bulk bulk = { 0 };
        double *numbers = real_numbers(&bulk, tensor);

        if (saturate(c->v, m->value, numbers, type_elements(&value->type)))
            put_numbers(tensor, &order, numbers);
        bulk_release(&bulk);
    }
}

static double largest_of(const double *numbers, int64_t n)
{
    double largest = 0;

    for (int64_t i = 0; i < n; i++)
        if (isfinite(numbers[i]))
            largest = fmax(largest, fabs(numbers[i]));
    return largest;
}

static double imported_tolerance(const struct verification *v, enum dtype dtype)
{
    const double unit = dtype == DTYPE_F16 ? 0x1p-11 : dtype == DTYPE_BF16 ? 0x1p-8 : 0;

    return fmax(v->tolerance, HALF_STEPS * unit);
}

static void note_noise(struct layer *layer, double noise)
{
    struct column_error *c = &layer->column[IMPORTED];

    if (isnan(c->error) || noise < c->error)
        *c = (struct column_error){ noise, NOISE_LIMIT };
}

static void see_imported(void *user, const struct value *value, const struct tensor *tensor)
{
    struct comparing *c = user;
    struct verification *v = c->v;
    const struct tensor typed = { value->type, tensor->data };
    const int64_t n = type_elements(&value->type);
    struct verify_order first = { .rank = -1 };
    struct bulk bulk = { 0 };
    double *wanted = NULL, *first_numbers = NULL;

    for (const struct twin *m = map_get(&c->twins, value->name); m; m = m->next) {
        const struct tensor now = wanted_tensor(v, c->set, m->value);
        const double tolerance = imported_tolerance(v, value->type.dtype);
        struct verify_numbers a = { .n = n };
        struct verify_order order;
        double *found, largest;

        if (!wanted || v->rounds_anew)
            wanted = real_numbers(&bulk, &typed);
        if (v->rounds_anew)
            saturate(v, m->value, wanted, n);
        largest = largest_of(wanted, n);
        found = real_numbers(&bulk, &now);
        a.wanted = wanted;
        a.found = found;
        a.good = tolerance * (largest > 0 ? largest : 1);
        order = verify_find_order(&a, value, value_is_result(m->value) && value_is_result(value));
        if (v->rounds)
            note_noise(layer_of(v, m->value), order.noise);
        else
            layer_note(layer_of(v, m->value), IMPORTED,
                       largest > 0 ? order.error / largest : order.error, tolerance);
        if (first.rank < 0) {
            first = order;
            first_numbers = found;
        }
    }
    if (first.rank >= 0)
        put_numbers(&typed, &first, first_numbers);
    else if (v->rounds_anew)
        saturate_inside(c, value, &typed);
    bulk_release(&bulk);
}

static void add_twin(struct arena *arena, struct map *twins, const struct value *was,
                     const struct value *now)
{
    struct twin *twin = arena_new(arena, struct twin);

    *twin = (struct twin){ now, map_get(twins, was->name) };
    map_set(twins, was->name, twin);
}

static void find_inside(struct comparing *c, const struct map *imported,
                        const struct function *region)
{
    struct arena *arena = &c->v->driver->ctx->perm;

    for (const struct node *node = region->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            const struct value *now = node->outputs[i];
            const struct value *was = imported_value(arena, imported, now->name);

            if (was && type_elements(&was->type) == type_elements(&now->type))
                add_twin(arena, &c->inside, was, now);
        }
}

/* Which values stand for which: not those of another number of elements. */
static void find_matches(struct comparing *c)
{
    struct verification *v = c->v;
    struct arena *arena = &v->driver->ctx->perm;
    struct map imported = { .arena = arena };

    for (const struct node *node = v->imported->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            map_set(&imported, node->outputs[i]->name, node->outputs[i]);
    v->n_values = v->n_matched = 0;
    for (const struct node *node = v->module->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            const struct value *now = node->outputs[i];
            const struct value *was = imported_value(arena, &imported, now->name);

            v->n_values++;
            if (!was || type_elements(&was->type) != type_elements(&now->type))
                continue;
            v->n_matched++;
            add_twin(arena, &c->twins, was, now);
        }
    for (const struct node *node = v->module->main->first; node; node = node->next)
        if (node->op == OP_CALL)
            find_inside(c, &imported, node->callee);
}

bool verify_run_imported(struct verification *v)
{
    struct function *fn = v->imported->main;
    struct comparing c = { .v = v,
                           .twins = { .arena = &v->driver->ctx->perm },
                           .inside = { .arena = &v->driver->ctx->perm } };
    const struct observer observer = { .see = see_imported, .user = &c };
    bool ok = true;

    find_matches(&c);
    for (int k = 0; k < v->n_sets && ok; k++) {
        struct verify_set *set = &v->sets[k];
        struct bulk bulk = { 0 };
        struct tensor *forced =
            arena_array(&v->driver->ctx->perm, struct tensor, fn->ret->n_inputs);

        c.set = set;
        set->imported = arena_array(&v->driver->ctx->perm, struct tensor, fn->ret->n_inputs);
        ok = interpret(v->driver->ctx, fn, set->given, set->imported, &v->driver->bulk, NULL) &&
             interpret(v->driver->ctx, fn, set->given, forced, &bulk, &observer);
        bulk_release(&bulk);
        for (int i = 0; i < fn->ret->n_inputs && ok; i++)
            set->imported[i].type.quant = fn->ret->inputs[i]->type.quant;
    }
    return ok;
}
