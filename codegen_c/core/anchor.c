/* anchor.c - see anchor.h. */
#include "codegen_c/core/anchor.h"

#include <inttypes.h>
#include <math.h>

const struct type *anchor_input(const struct region *region, int i)
{
    const struct node *node = region->anchor;

    return i < node->n_inputs && node->inputs[i] ? &node->inputs[i]->type : NULL;
}

const struct type *anchor_output(const struct region *region, int i)
{
    return &region->anchor->outputs[i]->type;
}

/* Templates index with int and round extents up to panels of four. */
static bool fits_int(const struct type *type, const char **why)
{
    if (!type || type_elements(type) <= INT32_MAX / 8)
        return true;
    *why = "a tensor has more elements than an int can index";
    return false;
}

bool takes_sizes(const struct region *region, const char **why)
{
    for (int i = 0; i < region->anchor->n_inputs; i++)
        if (!fits_int(anchor_input(region, i), why))
            return false;
    for (int i = 0; i < region->anchor->n_outputs; i++)
        if (!fits_int(anchor_output(region, i), why))
            return false;
    return true;
}

bool takes_float(const struct region *region, const char **why)
{
    enum dtype dtype = anchor_input(region, 0)->dtype;

    if (dtype == DTYPE_F32 || dtype == DTYPE_F64)
        return takes_sizes(region, why);
    *why = "the element type is neither f32 nor f64";
    return false;
}

bool takes_number(const struct region *region, const char **why)
{
    enum dtype dtype = anchor_input(region, 0)->dtype;

    if (dtype == DTYPE_F32 || dtype == DTYPE_F64 || dtype_is_integer(dtype))
        return takes_sizes(region, why);
    *why = "the element type is neither f32, f64 nor an integer";
    return false;
}

bool reads_rows(const struct region *region, int64_t len)
{
    enum { LEAST = 16 };

    return len >= LEAST && anchor_input(region, 0)->dtype == DTYPE_F32 &&
           !anchor_decoder(region->anchor, 0);
}

bool takes_constant(const struct region *region, int i, const char **why)
{
    if (region->anchor->inputs[i]->kind == VALUE_CONSTANT)
        return true;
    *why = "the weight is not a constant";
    return false;
}

void offer_reads(struct bind *bind, enum dtype dtype, const char *get, const char *got)
{
    keys_offer(bind->keys, "tx", dtype_c_type(dtype));
    keys_offer(bind->keys, "get", get);
    keys_offer(bind->keys, "got", got);
}

void bind_type(struct bind *bind)
{
    const char *get, *got;

    bind_reads(bind, 0, &get, &got);
    offer_reads(bind, anchor_input(bind->region, 0)->dtype, get, got);
    keys_offer(bind->keys, "ts", dtype_c_type(anchor_source(bind->region, 0)->type.dtype));
}

void bind_typed_helper(struct bind *bind, const char *stem)
{
    const char *suffix = dtype_name(anchor_input(bind->region, 0)->dtype);

    bind_text(bind, "suffix", "%s", suffix);
    bind_helper(bind, arena_printf(bind->arena, "%s_%s", stem, suffix));
}

void bind_input(struct bind *bind, const char *key, int i)
{
    bind_text(bind, key, "%s", bind_operand(bind, anchor_source(bind->region, i)));
}

void bind_math(struct bind *bind, const char *key, const char *function)
{
    bind_include(bind, "math.h");
    bind_text(bind, key, "%s%s", function,
              anchor_input(bind->region, 0)->dtype == DTYPE_F32 ? "f" : "");
}

void bind_own_math(struct bind *bind, const char *key, const char *function)
{
    const char *helper = arena_printf(bind->arena, "%s_f32", function);

    if (anchor_input(bind->region, 0)->dtype != DTYPE_F32) {
        bind_math(bind, key, function);
        return;
    }
    bind_helper(bind, helper);
    bind_text(bind, key, "%s", helper);
}

void bind_lowest(struct bind *bind)
{
    const enum dtype dtype = anchor_input(bind->region, 0)->dtype;

    bind_flag(bind, "float", dtype_is_float(dtype));
    bind_text(bind, "lowest", "%s", bind_literal(bind, dtype, -INFINITY));
}

void bind_lp(struct bind *bind, int64_t p)
{
    const bool is_f32 = anchor_input(bind->region, 0)->dtype == DTYPE_F32;

    bind_include(bind, "math.h");
    keys_offer(bind->keys, "p", arena_printf(bind->arena, "%" PRId64, p));
    keys_offer(bind->keys, "p1", p == 1 ? "1" : "");
    keys_offer(bind->keys, "p2", p == 2 ? "1" : "");
    keys_offer(bind->keys, "pn", p > 2 ? "1" : "");
    keys_offer(bind->keys, "abs", is_f32 ? "fabsf" : "fabs");
    keys_offer(bind->keys, "sqrt", is_f32 ? "sqrt_f32" : "sqrt");
    if (is_f32 && p == 2)
        bind_helper(bind, "sqrt_f32");
    keys_offer(bind->keys, "pow", is_f32 ? "powf" : "pow");
}

void bind_axis(struct bind *bind, int64_t axis)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int at = type_axis(x, axis);
    const int64_t inner = type_span(x, at + 1, x->rank);

    bind_int(bind, "outer", type_span(x, 0, at));
    bind_int(bind, "len", x->dim[at]);
    bind_int(bind, "inner", inner);
    keys_offer(bind->keys, "strided", inner > 1 ? "1" : "");
    keys_offer(bind->keys, "index", inner > 1 ? "i * INNER" : "i");
    keys_offer(bind->keys, "best_index", inner > 1 ? "best * INNER" : "best");
}

void position_by_division(struct bind *bind, const char *linear, struct position *out)
{
    const struct type *y = anchor_output(bind->region, 0);
    int64_t step = 1;
    bool outermost;

    *out = (struct position){ .rank = y->rank, .linear = linear };
    for (int i = y->rank - 1; i >= 0; i--) {
        outermost = type_span(y, 0, i) == 1;
        if (y->dim[i] == 1)
            out->coord[i] = "0";
        else if (step == 1)
            out->coord[i] =
                outermost ? linear : arena_printf(bind->arena, "%s %% %" PRId64, linear, y->dim[i]);
        else
            out->coord[i] = outermost ? arena_printf(bind->arena, "%s / %" PRId64, linear, step)
                                      : arena_printf(bind->arena, "%s / %" PRId64 " %% %" PRId64,
                                                     linear, step, y->dim[i]);
        step *= y->dim[i];
    }
}

bool bind_fused(struct bind *bind)
{
    const struct region *region = bind->region;
    const bool has_epilogue = region->fn->ret->inputs[0] != region->anchor->outputs[0];

    bind_flag(bind, "has_epilogue", has_epilogue);
    return has_epilogue;
}

bool bind_epilogue_at(struct bind *bind, const char *acc, const char *linear)
{
    struct position position;

    position_by_division(bind, linear, &position);
    return bind_epilogue(bind, acc, &position);
}

const char *row_major(struct bind *bind, int n, const char *const *coord, const char *const *extent)
{
    const char *text = n ? coord[0] : "0";

    for (int i = 1; i < n; i++)
        text = arena_printf(bind->arena, i + 1 < n ? "(%s * %s + %s)" : "%s * %s + %s", text,
                            extent[i], coord[i]);
    return text;
}

/* An empty sum still has a patch, of length 0: the parameter must exist. */
void bind_scratch_elements(struct bind *bind, int64_t n)
{
    bind_scratch(bind, (size_t)(n > 0 ? n : 1) * dtype_bytes(anchor_input(bind->region, 0)->dtype));
}

void *table_new(struct bind *bind, enum dtype dtype, int64_t n)
{
    const struct type type = type_make(dtype, 1, &n);

    return constant_alloc(bind->region->fn, &type);
}

void bind_table(struct bind *bind, const char *key, const char *name, enum dtype dtype, int64_t n,
                const void *table)
{
    const struct type type = type_make(dtype, 1, &n);
    struct value *value = constant_new(bind->region->fn, name, &type, table);

    bind_text(bind, key, "%s", bind_own_operand(bind, value));
}
