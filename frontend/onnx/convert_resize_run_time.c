/* convert_resize_run_time.c - Resize with scales, sizes or a region of interest that are known at run time only.
 *
 * gives    the declared shape, to which the numbers must lead: expect checks it; an axis that keeps its length is not
 *          scaled
 * method   axis by axis, as image.resize has it (relay_ir/ops/resize.c): coordinates from the scale in f64; by nearest
 *          neighbours they are indices, else weights of all inputs for each output, which a product applies */
#include "frontend/onnx/convert_resize.h"

#include <math.h>
#include <string.h>

enum { X, ROI };

struct resizing {
    struct onnx_node *node;
    const struct resize_attrs *attrs;
    const struct ints *axes;
    struct type y;        /* declared */
    struct value *scales; /* f64, one for each axis in `axes` */
    struct value *roi;    /* f64, NULL: none */
    bool one_scale;       /* for all axes, of which some may keep their length */
};

/* One axis. */
struct line {
    const struct resizing *r;
    struct onnx_node *node;
    int axis;
    int64_t in, out;
    struct value *scale, *length, *start, *end; /* f64 scalars */
};

static bool is_word(const char *word, const char *wanted)
{
    return strcmp(word, wanted) == 0;
}

static bool is_crop(const struct resizing *r)
{
    return is_word(r->attrs->coordinate_transformation_mode, "tf_crop_and_resize");
}

/* Whether an axis may have another scale than 1. */
static bool may_scale(const struct resizing *r, int64_t axis)
{
    return is_crop(r) || r->one_scale || onnx_input(r->node, X)->type.dim[axis] != r->y.dim[axis];
}

static struct value *number(struct onnx_node *node, double x)
{
    return onnx_scalar(node, DTYPE_F64, x, "number");
}

static struct value *plus(struct onnx_node *node, struct value *x, double y)
{
    return apply2(node, OP_ADD, "shifted", x, number(node, y));
}

static struct value *times(struct onnx_node *node, struct value *x, double y)
{
    return apply2(node, OP_MULTIPLY, "product", x, number(node, y));
}

static struct value *where(struct onnx_node *node, struct value *holds, struct value *yes,
                           struct value *no)
{
    struct value *const inputs[] = { holds, yes, no };

    return holds && yes && no ? onnx_build(node, OP_WHERE, NULL, "choice", 3, inputs) : NULL;
}

/* first, first + 1, ... in f64, as a column or a row. */
static struct value *count_from(struct onnx_node *node, double first, int64_t n, bool column)
{
    const struct type type =
        type_make(DTYPE_F64, 2, column ? (int64_t[]){ n, 1 } : (int64_t[]){ 1, n });
    double *data;

    if (!onnx_granted(node, DTYPE_F64, (double)n))
        return NULL;
    data = constant_alloc(node->fn, &type);
    for (int64_t i = 0; i < n; i++)
        data[i] = first + (double)i;
    return onnx_from_tensor(node, &(struct tensor){ type, data }, "places");
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Input i in f64, as a list of n; *ok is false after an error. NULL where there is none. */
static struct value *read_list(struct onnx_node *node, int i, int n, bool *ok)
{
    struct value *list = onnx_input(node, i);
    const struct ints flat = { 1, { n } };

    if (!list || type_elements(&list->type) == 0)
        return NULL;
    *ok = type_elements(&list->type) == n ||
          diag_error(node->ctx, DIAG_SHAPE, node->origin,
                     "input %d has shape %s, expected %d numbers", i,
                     shape_text(&node->ctx->perm, &list->type), n);
    list = *ok ? cast_to(node, list, DTYPE_F64, "wide") : NULL;
    list = list ? reshape_to(node, list, &flat, "list") : NULL;
    *ok = list != NULL;
    return list;
}

/* The extents of x along the axes, in f64. */
static struct value *extents(const struct resizing *r)
{
    const int64_t n = r->axes->n;
    const struct type type = type_make(DTYPE_F64, 1, &n);
    double *data = constant_alloc(r->node->fn, &type);

    for (int i = 0; i < r->axes->n; i++)
        data[i] = (double)onnx_input(r->node, X)->type.dim[r->axes->at[i]];
    return onnx_from_tensor(r->node, &(struct tensor){ type, data }, "extents");
}

/* sizes / extents; one for all axes where their ratio is kept. */
static struct value *scales_of_sizes(struct resizing *r, struct value *sizes)
{
    static const struct ints all = { 1, { 0 } };
    const char *policy = onnx_word(r->node, "keep_aspect_ratio_policy", "stretch");
    const union attrs shape = { .shape = { .shape = { 1, { r->axes->n } } } };
    struct value *scales = apply2(r->node, OP_DIVIDE, "scales", sizes, extents(r));

    r->one_scale = !is_word(policy, "stretch");
    if (!scales || !r->one_scale)
        return scales;
    scales = reduce_with(r->node, is_word(policy, "not_smaller") ? OP_MAX : OP_MIN, scales, &all,
                         true, "scale");
    return scales ? onnx_build1(r->node, OP_BROADCAST_TO, &shape, "scales", scales) : NULL;
}

/* The extents that the numbers lead to, which must be those declared. An axis that may not be scaled has
 * the scale 1, or else the extent 0 here, which is never declared. */
static struct value *checked(const struct resizing *r, struct value *x, bool of_sizes)
{
    const union attrs each = { .expect = { .mode = "each" } };
    struct onnx_node *node = r->node;
    struct value *n = apply2(node, OP_MULTIPLY, "lengths", r->scales, extents(r)), *one, *inputs[3];
    const int64_t dims[] = { r->axes->n, 1 };
    const struct type type = type_make(DTYPE_I64, 2, dims);
    struct type kept = type_make(DTYPE_BOOL, 1, dims);
    int64_t *allowed = constant_alloc(node->fn, &type);
    uint8_t *is_free = constant_alloc(node->fn, &kept);

    for (int i = 0; i < r->axes->n; i++) {
        const int64_t axis = r->axes->at[i];

        allowed[i] = r->y.dim[axis];
        is_free[i] = may_scale(r, axis);
    }
    /* Of sizes the product is a whole number but for rounding; or, with a ratio that is kept, is rounded. */
    n = apply1(node, OP_FLOOR, "whole", of_sizes ? plus(node, n, 0.5) : n);
    one = apply2(node, OP_EQUAL, "is_one", r->scales, number(node, 1));
    one = apply2(node, OP_LOGICAL_OR, "fits", one,
                 onnx_from_tensor(node, &(struct tensor){ kept, is_free }, "may_scale"));
    n = where(node, one, n, number(node, 0));
    inputs[0] = x;
    inputs[1] = n ? cast_to(node, n, DTYPE_I64, "sizes") : NULL;
    inputs[2] = onnx_from_tensor(node, &(struct tensor){ type, allowed }, "allowed");
    return inputs[1] && inputs[2] ? onnx_build(node, OP_EXPECT, &each, "checked", 3, inputs) : NULL;
}

/* --- coordinates ------------------------------------------------------------------------------ */

/* Where output positions look: [out, 1]. */
static struct value *coordinates(const struct line *l)
{
    const char *mode = l->r->attrs->coordinate_transformation_mode;
    struct onnx_node *node = l->node;
    const double last = (double)(l->in - 1);
    struct value *i = count_from(node, 0, l->out, true), *half, *shift, *steps;

    half = plus(node, apply2(node, OP_DIVIDE, "scaled", plus(node, i, 0.5), l->scale), -0.5);
    if (is_word(mode, "half_pixel") || (is_word(mode, "pytorch_half_pixel") && l->out > 1))
        return half;
    if (is_word(mode, "asymmetric"))
        return apply2(node, OP_DIVIDE, "coordinates", i, l->scale);
    if (is_word(mode, "tf_half_pixel_for_nn"))
        return plus(node, half, 0.5);
    if (is_word(mode, "half_pixel_symmetric")) { /* in / 2 * (1 - out / length) */
        shift = apply2(node, OP_DIVIDE, "share", number(node, (double)l->out), l->length);
        shift = plus(node, times(node, shift, (double)-l->in / 2), (double)l->in / 2);
        return apply2(node, OP_ADD, "coordinates", half, shift);
    }
    if (l->out == 1 && is_crop(l->r))
        return times(node,
                     apply2(node, OP_ADD, "ends", times(node, i, 0),
                            apply2(node, OP_ADD, "both", l->start, l->end)),
                     last / 2);
    if (l->out == 1)
        return times(node, i, 0);
    steps = apply2(node, OP_DIVIDE, "step", number(node, last), plus(node, l->length, -1));
    if (!is_crop(l->r)) /* align_corners */
        return apply2(node, OP_MULTIPLY, "coordinates", i, steps);
    steps = apply2(node, OP_MULTIPLY, "step", steps,
                   apply2(node, OP_SUBTRACT, "part", l->end, l->start));
    return apply2(node, OP_ADD, "coordinates", times(node, l->start, last),
                  apply2(node, OP_MULTIPLY, "steps", i, steps));
}

/* The input next to each coordinate: [out] i64. */
static struct value *nearest(const struct line *l, struct value *places)
{
    const char *rounding = l->r->attrs->rounding_method;
    const union attrs inside = { .clip = { .a_min = 0, .a_max = (double)(l->in - 1) } };
    const struct ints flat = { 1, { l->out } };
    struct onnx_node *node = l->node;
    const bool up = is_word(rounding, "ceil") || is_word(rounding, "round_prefer_floor");

    if (is_word(rounding, "round_prefer_floor") || is_word(rounding, "round_prefer_ceil"))
        places = plus(node, places, up ? -0.5 : 0.5);
    places = apply1(node, up ? OP_CEIL : OP_FLOOR, "rounded", places);
    places = places ? onnx_build1(node, OP_CLIP, &inside, "inside", places) : NULL;
    places = places ? cast_to(node, places, DTYPE_I64, "indices") : NULL;
    return places ? reshape_to(node, places, &flat, "indices") : NULL;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Keys 1981, with a free coefficient a, of distances d. */
static struct value *cubic(struct onnx_node *node, struct value *d, double a)
{
    struct value *square = apply2(node, OP_MULTIPLY, "square", d, d), *near, *far;

    near = plus(
        node,
        apply2(node, OP_MULTIPLY, "near", plus(node, times(node, d, a + 2), -(a + 3)), square), 1);
    far = plus(node, apply2(node, OP_MULTIPLY, "far", plus(node, times(node, d, a), -5 * a), d),
               8 * a);
    far = plus(node, apply2(node, OP_MULTIPLY, "far", far, d), -4 * a);
    far = where(node, apply2(node, OP_LESS, "is_far", d, number(node, 2)), far, number(node, 0));
    return where(node, apply2(node, OP_LESS_EQUAL, "is_near", d, number(node, 1)), near, far);
}

/* What lies beyond the edges counts as the edge: [in + 2 * more, in], with a 1 in each row. */
static struct value *edges(const struct line *l, int64_t more)
{
    const int64_t dims[] = { l->in + 2 * more, l->in };
    const struct type type = type_make(DTYPE_F64, 2, dims);
    double *data;

    if (!onnx_granted(l->node, DTYPE_F64, (double)dims[0] * (double)dims[1]))
        return NULL;
    data = constant_alloc(l->node->fn, &type);
    for (int64_t i = 0; i < dims[0]; i++) {
        const int64_t at = i < more ? 0 : i - more < l->in ? i - more : l->in - 1;

        data[i * l->in + at] = 1;
    }
    return onnx_from_tensor(l->node, &(struct tensor){ type, data }, "edges");
}

/* [out, in] */
static struct value *weights(const struct line *l, struct value *places)
{
    const struct resize_attrs *attrs = l->r->attrs;
    const struct ints row = { 1, { 1 } };
    struct onnx_node *node = l->node;
    const bool is_cubic = is_word(attrs->method, "cubic");
    const double widest = attrs->antialias && l->in > l->out ? (double)l->in / (double)l->out : 1;
    const int64_t more =
        attrs->exclude_outside ? 0 : (int64_t)ceil((is_cubic ? 2 : 1) * widest) + 2;
    struct value *d = count_from(node, (double)-more, l->in + 2 * more, false), *w;

    d = apply1(node, OP_ABS, "distances", apply2(node, OP_SUBTRACT, "ahead", d, places));
    if (attrs->antialias)
        d = apply2(node, OP_MULTIPLY, "narrow", d,
                   apply2(node, OP_MINIMUM, "least", l->scale, number(node, 1)));
    if (is_cubic)
        w = cubic(node, d, attrs->cubic_alpha);
    else
        w = apply2(node, OP_MAXIMUM, "weights", plus(node, times(node, d, -1), 1), number(node, 0));
    w = apply2(node, OP_DIVIDE, "weights", w, reduce_with(node, OP_SUM, w, &row, true, "sum"));
    return w && more ? apply2(node, OP_MATMUL, "folded", w, edges(l, more)) : w;
}

/* --- one axis --------------------------------------------------------------------------------- */

/* Where coordinates lie outside the image: the extrapolation value. */
static struct value *extrapolated(const struct line *l, struct value *y, struct value *places)
{
    struct onnx_node *node = l->node;
    struct ints shape = ints_fill(y->type.rank, 1);
    struct value *inside;

    shape.at[l->axis] = l->out;
    inside = apply2(
        node, OP_LOGICAL_AND, "is_inside",
        apply2(node, OP_GREATER_EQUAL, "is_behind_begin", places, number(node, 0)),
        apply2(node, OP_LESS_EQUAL, "is_before_end", places, number(node, (double)(l->in - 1))));
    inside = inside ? reshape_to(node, inside, &shape, "is_inside") : NULL;
    return where(node, inside, y,
                 scalar_like(node, y, l->r->attrs->extrapolation_value, "extrapolation"));
}

static struct value *resized(const struct line *l, struct value *x)
{
    const struct type *type = &x->type;
    const union attrs along = { .axis = { .axis = l->axis } };
    struct ints whole = ints_of_shape(type);
    const struct ints parts = {
        3, { type_span(type, 0, l->axis), l->in, type_span(type, l->axis + 1, type->rank) }
    };
    struct onnx_node *node = l->node;
    struct value *places = coordinates(l), *y, *w;

    whole.at[l->axis] = l->out;
    if (!places)
        return NULL;
    if (is_word(l->r->attrs->method, "nearest_neighbor")) {
        w = nearest(l, places);
        y = w ? onnx_build2(node, OP_TAKE, &along, "taken", x, w) : NULL;
    } else {
        w = weights(l, places);
        w = w ? cast_to(node, w, type->dtype, "narrow") : NULL;
        y = apply2(node, OP_MATMUL, "resized", w, reshape_to(node, x, &parts, "lines"));
        y = y ? reshape_to(node, y, &whole, "line") : NULL;
    }
    return y && is_crop(l->r) ? extrapolated(l, y, places) : y;
}

/* Element i of a list, as a scalar. */
static struct value *element(struct onnx_node *node, struct value *list, int i)
{
    static const struct ints scalar = { 0 };

    return list ? reshape_to(node, slice_to(node, list, 0, i, 1, "one"), &scalar, "number") : NULL;
}

static bool begin_line(const struct resizing *r, int i, struct line *l)
{
    struct onnx_node *node = r->node;
    struct value *off;

    *l = (struct line){ .r = r, .node = node, .axis = (int)r->axes->at[i] };
    l->in = onnx_input(node, X)->type.dim[l->axis];
    l->out = r->y.dim[l->axis];
    l->scale = element(node, r->scales, i);
    l->start = r->roi ? element(node, r->roi, i) : number(node, 0);
    l->end = r->roi ? element(node, r->roi, r->axes->n + i) : number(node, 1);
    /* Scales come as f32: what is a whole number up to their precision is one. */
    l->length = times(node, l->scale, (double)l->in);
    off = apply1(node, OP_ABS, "off", plus(node, l->length, (double)-l->out));
    l->length =
        where(node, apply2(node, OP_LESS, "is_whole", off, number(node, 1e-6 * (double)l->out)),
              number(node, (double)l->out), l->length);
    return l->length && l->start && l->end;
}

static bool resize_lines(const struct resizing *r, struct value *x)
{
    struct onnx_node *node = r->node;
    const enum dtype dtype = x->type.dtype;
    const bool moves = is_word(r->attrs->method, "nearest_neighbor") && !is_crop(r);

    if (!moves && dtype != DTYPE_F32 && dtype != DTYPE_F64)
        x = cast_to(node, x, dtype_bytes(dtype) > 2 ? DTYPE_F64 : DTYPE_F32, "real");
    for (int i = 0; i < r->axes->n && x; i++) {
        struct line l;

        if (!begin_line(r, i, &l))
            return false;
        if (may_scale(r, l.axis))
            x = resized(&l, x);
    }
    return x && onnx_output(node, 0, cast_to(node, x, dtype, ""));
}

bool resize_at_run_time(struct onnx_node *node, const struct resize_attrs *attrs,
                        const struct ints *axes, int scales, int sizes)
{
    struct resizing r = { .node = node, .attrs = attrs, .axes = axes };
    struct value *x = onnx_input(node, X), *wanted = NULL;
    bool ok = true;

    if (!onnx_declared(node, 0, &r.y) || r.y.rank != x->type.rank || type_elements(&r.y) == 0 ||
        type_elements(&x->type) == 0)
        return onnx_undeclared(node, !onnx_is_known(node, scales)  ? scales
                                     : !onnx_is_known(node, sizes) ? sizes
                                                                   : ROI);
    if (is_crop(&r))
        r.roi = read_list(node, ROI, 2 * axes->n, &ok);
    if (is_crop(&r) && ok && !r.roi)
        return onnx_unsupported(node, "the region of interest is missing");
    r.scales = ok ? read_list(node, scales, axes->n, &ok) : NULL;
    if (ok && !r.scales) {
        wanted = read_list(node, sizes, axes->n, &ok);
        r.scales = wanted ? scales_of_sizes(&r, wanted) : NULL;
    }
    if (!ok || !r.scales)
        return ok && onnx_ok(node) &&
               diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin,
                          "neither scales nor sizes are given");
    x = checked(&r, x, wanted != NULL);
    return x && onnx_ok(node) && resize_lines(&r, x);
}
