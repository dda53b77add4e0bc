/* resize.c - image.resize by tables: for each output coordinate of a dim, the input offsets it
 * reads and their weights, computed here as the reference evaluator does. */
#include "relay_ir/ops/resize.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/exact_steps.h"
#include "codegen_c/expr/scalar_exact.h"
#include "codegen_c/kernels/move/copies.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "relay_ir/walk.h"

/* The dims of y; unchanged neighbours are merged. */
struct extents {
    int n, n_changed;
    int64_t out[MAX_RANK], step[MAX_RANK]; /* step: stride in x */
    int dim[MAX_RANK];                     /* the dim of y if resized, else -1 */
};

static struct extents extents_of(const struct region *region)
{
    const struct node *node = region->anchor;
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const bool strided = pixels_are_apart(region);
    const struct operand source = operand_input(region, 0);
    struct extents e = { 0 };

    for (int i = 0; i < x->rank; i++) {
        const bool changes = resize_changes(node, i);

        if (!changes && e.n && e.dim[e.n - 1] < 0 && !(strided && i == x->rank - 1)) {
            e.out[e.n - 1] *= y->dim[i];
            e.step[e.n - 1] = source.step[i];
            continue;
        }
        e.out[e.n] = y->dim[i];
        e.step[e.n] = source.step[i];
        e.dim[e.n++] = changes ? i : -1;
        e.n_changed += changes;
    }
    return e;
}

/* The weighted sum is in the element type, in which integers would be rounded on the way. */
static bool accepts_resize_linear(const struct region *region, const char **why)
{
    return takes_float(region, why);
}

static bool accepts_resize_nearest(const struct region *region, const char **why)
{
    if (!takes_sizes(region, why))
        return false;
    if (strcmp(region->anchor->attrs.resize.method, "nearest_neighbor") == 0 ||
        extents_of(region).n_changed == 0)
        return true;
    *why = "the method is not nearest_neighbor";
    return false;
}

static bool resizes_quantized(const struct bind *bind)
{
    return bind->region->anchor->op == OP_QNN_RESIZE;
}

static bool is_wide(const struct bind *bind)
{
    return resizes_quantized(bind) && qnn_resize_is_wide(bind->region->anchor);
}

/* Binds for resized dim i the tables `key` (input offsets, -1 = outside) and, if weighted,
 * weight${d}, each [out, taps]. Returns the number of taps. */
static int bind_taps(struct bind *bind, const struct extents *e, int i, const char *key,
                     bool weighed, bool *outside)
{
    const struct node *node = bind->region->anchor;
    const bool quantized = resizes_quantized(bind);
    const enum dtype dtype = is_wide(bind) ? DTYPE_I32
                             : quantized   ? DTYPE_U32
                                           : node->inputs[0]->type.dtype;
    struct bulk bulk = { NULL, 0 };
    const struct resize_taps *taps = resize_taps(&bulk, node, e->dim[i]);
    const int64_t n_out = e->out[i];
    int32_t *place;
    void *weight;
    int most = 1;

    for (int64_t o = 0; o < n_out; o++)
        most = taps[o].n > most ? taps[o].n : most;
    place = table_new(bind, DTYPE_I32, n_out * most);
    weight = table_new(bind, dtype, n_out * most);
    for (int64_t o = 0; o < n_out; o++) {
        *outside = *outside || taps[o].outside;
        for (int k = 0; k < taps[o].n; k++) {
            place[o * most + k] = taps[o].outside ? -1 : (int32_t)(taps[o].at[k] * e->step[i]);
            if (!quantized)
                dtype_store(dtype, weight, o * most + k, taps[o].weight[k]);
        }
        if (quantized)
            qnn_resize_weights(&taps[o], qnn_resize_bits(node), (int32_t *)weight + o * most);
    }
    bind_table(bind, key, "resize_place", DTYPE_I32, n_out * most, place);
    if (weighed)
        bind_table(bind, arena_printf(bind->arena, "weight%d", i), "resize_weight", dtype,
                   n_out * most, weight);
    bulk_release(&bulk);
    return most;
}

/* Sets `at`. */
static void bind_place(struct bind *bind, const struct extents *e, const char *const *coord,
                       const char *const *extent, struct position *position)
{
    const char *pixel;

    if (!pixels_are_apart(bind->region)) {
        bind_text(bind, "at", "%s", row_major(bind, e->n, coord, extent));
        position_by_division(bind, "at", position);
        return;
    }
    pixel = row_major(bind, e->n - 1, coord, extent);
    bind_at(bind, e->n > 2 ? arena_printf(bind->arena, "(%s)", pixel) : pixel, extent[e->n - 1],
            coord[e->n - 1], position);
}

/* The loops over y, and what they read. */
static void bind_extents(struct bind *bind, const struct extents *e, bool weighed,
                         struct position *position)
{
    struct str dims = { .arena = bind->arena }, from = { .arena = bind->arena };
    struct str weight = { .arena = bind->arena }, missing = { .arena = bind->arena };
    const char *coord[MAX_RANK], *extent[MAX_RANK];
    const struct operand result = operand_result(bind->region, 0);
    bool outside = false;
    int changed = 0, taps;

    for (int i = 0; i < e->n; i++) {
        const char *plus = i ? " + " : "", *comma = i ? ", " : "";

        coord[i] = arena_printf(bind->arena, "i%d", i);
        extent[i] = arena_printf(bind->arena, "N%d", i);
        str_printf(&dims, "%sN%d = %" PRId64, comma, i, e->out[i]);
        if (e->dim[i] < 0) {
            str_printf(&dims, ", STEP%d = %" PRId64, i, e->step[i]);
            str_printf(&from, e->step[i] > 1 ? "%si%d * STEP%d" : "%si%d", plus, i, i);
            continue;
        }
        taps = bind_taps(bind, e, i, arena_printf(bind->arena, "place%d", i), weighed, &outside);
        if (weighed)
            str_printf(&dims, ", TAPS%d = %d", i, taps);
        str_printf(&from, weighed ? "%splace%d[i%d * TAPS%d + k%d]" : "%splace%d[i%d]", plus, i, i,
                   i, i);
        str_printf(&weight, "%sweight%d[i%d * TAPS%d + k%d]",
                   changed         ? " * "
                   : is_wide(bind) ? "(int64_t)"
                                   : "",
                   i, i, i, i);
        str_printf(&missing, weighed ? "%splace%d[i%d * TAPS%d] < 0" : "%splace%d[i%d] < 0",
                   changed ? " || " : "", i, i, i);
        bind_int(bind, arena_printf(bind->arena, "changed%d", changed++), i);
    }
    if (result.apart)
        str_printf(&dims, ", OUT_PIXEL_STRIDE = %" PRId64, result.pixel_step);
    bind_text(bind, "dims", "%s", str_text(&dims));
    bind_place(bind, e, coord, extent, position);
    bind_text(bind, "from", "%s", str_text(&from));
    if (weighed)
        bind_text(bind, "weight", "%s", str_text(&weight));
    if (resizes_quantized(bind))
        return;
    bind_flag(bind, "outside", outside);
    bind_text(bind, "is_outside", "%s", str_text(&missing));
    bind_text(bind, "extrapolated", "%s",
              bind_literal(bind, anchor_input(bind->region, 0)->dtype,
                           bind->region->anchor->attrs.resize.extrapolation_value));
}

/* 64-bit sums, of quantised values or of their integers. */
static void bind_wide(struct bind *bind, int shift)
{
    const struct type *x = anchor_input(bind->region, 0);
    const struct minifloat *format = type_minifloat(x);

    bind_flag(bind, "exact", format != NULL);
    if (format) {
        bind_steps(bind, "x_steps", 0);
        bind_text(bind, "share", "steps_to_minifloat(sum, -%d, %s)", shift,
                  exact_format_text(bind->arena, format));
        bind_helper(bind, "steps_to_minifloat");
        return;
    }
    bind_text(bind, "share",
              "(%s)saturate_int(shift_to_nearest(sum, %d), %" PRId64 ", %" PRId64 ")",
              dtype_c_type(x->dtype), shift, (int64_t)dtype_least(x->dtype),
              (int64_t)dtype_greatest(x->dtype));
    bind_helper(bind, "shift_to_nearest");
    bind_helper(bind, "saturate_int");
}

static void bind_quantized_x(struct bind *bind, const struct extents *e)
{
    const bool is_signed = anchor_input(bind->region, 0)->dtype == DTYPE_I8;
    const int shift = e->n_changed ? qnn_resize_bits(bind->region->anchor) * e->n_changed : 0;
    const bool ties_away = is_signed && shift && qnn_resize_ties_away(bind->region->anchor);

    bind_int(bind, "shift", shift);
    if (is_wide(bind)) {
        bind_wide(bind, shift);
        return;
    }
    bind_int(bind, "half", shift ? 1 << (shift - 1) : 0);
    bind_flag(bind, "ties_away", ties_away);
    if (ties_away)
        bind_int(bind, "below_zero", (128 << shift) + (1 << (shift - 1)));
    bind_text(bind, "from_least", is_signed ? " + 128" : "");
    bind_text(bind, "plus_least", is_signed ? " - 128" : "");
}

static bool bind_resize(struct bind *bind, bool weighed)
{
    const struct extents e = extents_of(bind->region);
    struct position position;

    bind_fused(bind);
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_int(bind, "rank", e.n);
    if (resizes_quantized(bind))
        bind_quantized_x(bind, &e);
    else if (weighed)
        bind_flag(bind, "decodes", anchor_decoder(bind->region->anchor, 0) != NULL);
    bind_int(bind, "n_changed", e.n_changed);
    bind_extents(bind, &e, weighed, &position);
    return bind_epilogue(bind, weighed && !resizes_quantized(bind) ? "sum" : "v", &position);
}

static bool bind_resize_nearest(struct bind *bind)
{
    return bind_resize(bind, false);
}

/* How many times each element of the last dim is repeated in y; 0: not an integer factor. */
static int64_t last_factor(const struct node *node)
{
    const int dim = node->inputs[0]->type.rank - 1;
    const int64_t in = node->inputs[0]->type.dim[dim], out = node->outputs[0]->type.dim[dim];
    struct bulk bulk = { NULL, 0 };
    const struct resize_taps *taps;
    const int64_t factor = in > 0 && out % in == 0 ? out / in : 0;
    bool repeats = factor > 0;

    if (!repeats)
        return 0;
    taps = resize_taps(&bulk, node, dim);
    for (int64_t i = 0; i < out; i++)
        repeats = repeats && !taps[i].outside && taps[i].at[0] == i / factor;
    bulk_release(&bulk);
    return repeats ? factor : 0;
}

static bool reads_outside(const struct node *node, int dim)
{
    struct bulk bulk = { NULL, 0 };
    const struct resize_taps *taps = resize_taps(&bulk, node, dim);
    bool outside = false;

    for (int64_t i = 0; i < node->outputs[0]->type.dim[dim]; i++)
        outside = outside || taps[i].outside;
    bulk_release(&bulk);
    return outside;
}

/* Channels first, with rows and columns only repeated. */
static bool accepts_resize_rows(const struct region *region, const char **why)
{
    const struct node *node = region->anchor;
    const int rank = node->inputs[0]->type.rank;
    struct extents e;

    if (!accepts_resize_nearest(region, why))
        return false;
    e = extents_of(region);
    *why = "the last two dims are not what is resized, or something else is done";
    if (e.n < 2 || e.n > 3 || e.n_changed != 2 || e.dim[e.n - 1] != rank - 1 ||
        e.dim[e.n - 2] != rank - 2 || pixels_are_apart(region) || anchor_decoder(node, 0) ||
        region->fn->ret->inputs[0] != node->outputs[0])
        return false;
    *why = "columns are not repeated alike, or some rows are outside";
    return last_factor(node) > 0 && !reads_outside(node, rank - 2);
}

static bool bind_resize_rows(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const struct extents e = extents_of(bind->region);
    bool outside = false;

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_int(bind, "planes", type_span(x, 0, x->rank - 2));
    bind_int(bind, "in_plane", type_span(x, x->rank - 2, x->rank));
    bind_int(bind, "rows", y->dim[x->rank - 2]);
    bind_int(bind, "in_len", x->dim[x->rank - 1]);
    bind_int(bind, "factor", last_factor(node));
    bind_taps(bind, &e, e.n - 2, "place", false, &outside);
    return true;
}

/* Channels first, with columns read at a constant step: vectors along them. */
static bool accepts_resize_planes(const struct region *region, const char **why)
{
    enum { MOST_TAPS = 4 };
    const struct node *node = region->anchor;
    const int rank = node->inputs[0]->type.rank;
    struct bulk bulk = { NULL, 0 };
    struct extents e;
    bool few;

    if (!takes_float(region, why))
        return false;
    *why = "it is for vectors of f32";
    if (region->machine->lanes == 1 || anchor_input(region, 0)->dtype != DTYPE_F32 ||
        anchor_decoder(node, 0))
        return false;
    e = extents_of(region);
    *why = "the last two dims are not what is resized";
    if (e.n < 2 || e.n > 3 || e.n_changed != 2 || e.dim[e.n - 1] != rank - 1 ||
        e.dim[e.n - 2] != rank - 2 || pixels_are_apart(region))
        return false;
    *why = "columns do not read at a constant step, or some rows are outside";
    if (resize_step(node, rank - 1) < 2 || reads_outside(node, rank - 2))
        return false;
    *why = "each element has many neighbours";
    few = resize_taps(&bulk, node, rank - 1)->n <= MOST_TAPS &&
          resize_taps(&bulk, node, rank - 2)->n <= MOST_TAPS;
    bulk_release(&bulk);
    return few;
}

/* The columns' weights, [taps, columns]: those of neighbouring columns side by side. */
static void bind_shares(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const int dim = node->inputs[0]->type.rank - 1;
    const int64_t columns = node->outputs[0]->type.dim[dim];
    struct bulk bulk = { NULL, 0 };
    const struct resize_taps *taps = resize_taps(&bulk, node, dim);
    void *share = table_new(bind, DTYPE_F32, taps->n * columns);

    for (int64_t o = 0; o < columns; o++)
        for (int k = 0; k < taps->n; k++)
            dtype_store(DTYPE_F32, share, k * columns + o, taps[o].weight[k]);
    bind_table(bind, "share", "resize_share", DTYPE_F32, taps->n * columns, share);
    bind_int(bind, "n_columns", taps->n);
    bind_text(bind, "first", taps->at[0] ? " + %d" : "", (int)taps->at[0]);
    bulk_release(&bulk);
}

static bool bind_resize_planes(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const struct extents e = extents_of(bind->region);
    struct extents rows = e;
    struct position position;
    bool outside = false;

    bind_input(bind, "x", 0);
    bind_helper(bind, "wide_loops");
    rows.dim[0] = e.dim[e.n - 2];
    rows.out[0] = e.out[e.n - 2];
    rows.step[0] = e.step[e.n - 2];
    bind_int(bind, "n_rows", bind_taps(bind, &rows, 0, "place", true, &outside));
    bind_shares(bind);
    bind_int(bind, "planes", type_span(x, 0, x->rank - 2));
    bind_int(bind, "in_plane", type_span(x, x->rank - 2, x->rank));
    bind_int(bind, "rows", y->dim[x->rank - 2]);
    bind_int(bind, "columns", y->dim[x->rank - 1]);
    bind_int(bind, "step", resize_step(node, x->rank - 1));
    position_by_division(bind, "at", &position);
    position.coord[y->rank - 1] = "i";
    position.coord[y->rank - 2] = "row";
    return bind_epilogue(bind, "sum", &position);
}

static bool bind_resize_linear(struct bind *bind)
{
    return bind_resize(bind, true);
}

static bool accepts_qnn_resize(const struct region *region, const char **why)
{
    *why = "it is cubic, in three dimensions or more, or of FP8";
    return !qnn_resize_is_wide(region->anchor) && takes_sizes(region, why);
}

static bool accepts_qnn_resize_wide(const struct region *region, const char **why)
{
    *why = "nothing is resized";
    return extents_of(region).n_changed > 0 && takes_sizes(region, why);
}

static bool bind_qnn_resize(struct bind *bind)
{
    return bind_resize(bind, true);
}

const struct kernel kernel_qnn_resize = {
    .name = "qnn_resize",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_RESIZE), accepts_qnn_resize, bind_qnn_resize } },
};

const struct kernel kernel_qnn_resize_wide = {
    .name = "qnn_resize_wide",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_RESIZE), accepts_qnn_resize_wide, bind_qnn_resize } },
};

const struct kernel kernel_resize_rows = {
    .name = "resize_rows",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_RESIZE), accepts_resize_rows, bind_resize_rows } },
};

const struct kernel kernel_resize_nearest = {
    .name = "resize_nearest",
    .sums = SUMS_NONE,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .forms = { { OPS(OP_RESIZE), accepts_resize_nearest, bind_resize_nearest } },
};

const struct kernel kernel_resize_planes = {
    .name = "resize_planes",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_RESIZE), accepts_resize_planes, bind_resize_planes } },
};

const struct kernel kernel_resize_linear = {
    .name = "resize_linear",
    .sums = SUMS_PLAIN,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .forms = { { OPS(OP_RESIZE), accepts_resize_linear, bind_resize_linear } },
};
