/* resize.c - image.resize, which is ONNX's Resize: each dimension on its own, one after the other.
 *
 * 1. coordinate_transformation_mode says which place of the input an output position looks at.
 * 2. nearest_neighbor takes the element at the rounded place; linear and cubic weigh the elements
 *    around it (2 or 4, or as many as antialias stretches the kernel over when an extent shrinks).
 * 3. Beyond the edges, the element at the edge counts, or with exclude_outside nothing does.
 * Integers are weighed as reals and cut off. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/resize.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/ops/spatial.h"

/* One dimension. */
struct axis {
    int64_t in, out;
    double scale, length; /* length: of the output before it was rounded to `out` */
    double start, end;    /* the region of interest */
    bool whole;           /* of integers: TensorFlow Lite's modes count in units of 2^-10 */
};

static double half_pixel(const struct axis *a, double x)
{
    return (x + 0.5) / a->scale - 0.5;
}
static double asymmetric(const struct axis *a, double x)
{
    return x / a->scale;
}
static double half_pixel_for_nn(const struct axis *a, double x)
{
    return (x + 0.5) / a->scale;
}

/* Keeps the centre of the image in its place although the extent was rounded. */
static double half_pixel_symmetric(const struct axis *a, double x)
{
    return (double)a->in / 2 * (1 - (double)a->out / a->length) + half_pixel(a, x);
}

static double pytorch_half_pixel(const struct axis *a, double x)
{
    return a->out > 1 ? half_pixel(a, x) : 0;
}

static double align_corners(const struct axis *a, double x)
{
    return a->out > 1 ? x * (double)(a->in - 1) / (a->length - 1) : 0;
}

static double crop(const struct axis *a, double x)
{
    const double last = (double)(a->in - 1);

    if (a->out == 1)
        return 0.5 * (a->start + a->end) * last;
    return a->start * last + x * (a->end - a->start) * last / (a->length - 1);
}

/* TensorFlow Lite's modes: scale and place in f32; of integers, in units of 2^-10, the scale rounded
 * to a whole number of them. */
static double place_in_units(double scaled, double spans, double x, double shift)
{
    const double scale = floor((scaled * 1024 + floor(spans / 2)) / spans);

    return (x * scale + shift * (floor(scale / 2) - 512)) / 1024;
}

static double tflite_half_pixel(const struct axis *a, double x)
{
    const float scale = (float)a->in / (float)a->out;

    if (a->whole)
        return place_in_units((double)a->in, (double)a->out, x, 1);
    return (double)(((float)x + 0.5f) * scale - 0.5f);
}

static double tflite_asymmetric(const struct axis *a, double x)
{
    const float scale = (float)a->in / (float)a->out;

    if (a->whole)
        return place_in_units((double)a->in, (double)a->out, x, 0);
    return (double)((float)x * scale);
}

static double tflite_align_corners(const struct axis *a, double x)
{
    if (a->out <= 1)
        return 0;
    if (a->whole)
        return place_in_units((double)(a->in - 1), (double)(a->out - 1), x, 0);
    return (double)((float)x * ((float)(a->in - 1) / (float)(a->out - 1)));
}

/* Rows in the order of the words below. */
static double (*const transforms[])(const struct axis *a, double x) = { half_pixel,
                                                                        half_pixel_symmetric,
                                                                        pytorch_half_pixel,
                                                                        align_corners,
                                                                        asymmetric,
                                                                        half_pixel_for_nn,
                                                                        crop,
                                                                        tflite_half_pixel,
                                                                        tflite_align_corners,
                                                                        tflite_asymmetric };
static const char *const transform_words[] = { "half_pixel",           "half_pixel_symmetric",
                                               "pytorch_half_pixel",   "align_corners",
                                               "asymmetric",           "tf_half_pixel_for_nn",
                                               "tf_crop_and_resize",   "tflite_half_pixel",
                                               "tflite_align_corners", "tflite_asymmetric" };
enum { N_TRANSFORMS = sizeof transforms / sizeof *transforms };
_Static_assert(sizeof transforms / sizeof *transforms ==
                   sizeof transform_words / sizeof *transform_words,
               "one function per word");

static double prefer_floor(double x)
{
    return ceil(x - 0.5);
}
static double prefer_ceil(double x)
{
    return floor(x + 0.5);
}

static double (*const roundings[])(double x) = { prefer_floor, prefer_ceil, floor, ceil };
static const char *const rounding_words[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
                                              "ceil" };
_Static_assert(sizeof roundings / sizeof *roundings ==
                   sizeof rounding_words / sizeof *rounding_words,
               "one function per word");

enum method { NEAREST, LINEAR, CUBIC, N_METHODS };

static const char *const method_words[] = { "nearest_neighbor", "linear", "cubic" };

static int word_index(const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return 0;
}

static enum method method_of(const struct resize_attrs *attrs)
{
    return (enum method)word_index(attrs->method, method_words, N_METHODS);
}

static bool is_crop(const struct resize_attrs *attrs)
{
    return strcmp(attrs->coordinate_transformation_mode, "tf_crop_and_resize") == 0;
}

static struct axis axis_of(const struct resize_attrs *attrs, const struct type *x, int i)
{
    struct axis axis = { .in = x->dim[i],
                         .out = attrs->size.at[i],
                         .start = 0,
                         .end = 1,
                         .whole = dtype_is_integer(x->dtype) };

    axis.scale = attrs->scales.n ? attrs->scales.at[i] : (double)axis.out / (double)axis.in;
    axis.length = axis.scale * (double)axis.in;
    /* Scales come as f32: what is a whole number up to their precision is one. */
    if (fabs(axis.length - (double)axis.out) < 1e-6 * (double)axis.out)
        axis.length = (double)axis.out;
    if (attrs->roi.n && is_crop(attrs)) {
        axis.start = attrs->roi.at[i];
        axis.end = attrs->roi.at[x->rank + i];
    }
    return axis;
}

/* --- type inference --------------------------------------------------------------------------- */

static bool check_words(struct ctx *ctx, struct node *node)
{
    struct resize_attrs *attrs = &node->attrs.resize;

    return check_word(ctx, node, "method", &attrs->method, method_words, N_METHODS) &&
           check_word(ctx, node, "coordinate_transformation_mode",
                      &attrs->coordinate_transformation_mode, transform_words, N_TRANSFORMS) &&
           check_word(ctx, node, "rounding_method", &attrs->rounding_method, rounding_words,
                      (int)(sizeof rounding_words / sizeof *rounding_words));
}

static bool check_element(struct ctx *ctx, const struct node *node)
{
    const enum dtype dtype = input_type(node, 0)->dtype;

    if (node->op == OP_QNN_RESIZE) /* which says what it takes */
        return true;
    if (method_of(&node->attrs.resize) == NEAREST) {
        const bool bytes = dtype_packed_bits(dtype) == 8 && !is_crop(&node->attrs.resize);

        return check_kinds(ctx, node, 0, bytes ? KINDS_PLAIN | 1 << KIND_MINIFLOAT : KINDS_PLAIN);
    }
    if (!check_kinds(ctx, node, 0, KINDS_NUMBER))
        return false;
    if (dtype_is_integer(dtype) && dtype_bytes(dtype) > 4)
        return diag_error(ctx, DIAG_UNSUPPORTED_TYPE, node_origin(node),
                          "%s of %s by method \"%s\" is not supported, expected a float or an "
                          "integer of at most 32 bits",
                          op_name(node->op), dtype_name(dtype), node->attrs.resize.method);
    return true;
}

/* The scale must lead to the size, rounded down or to nearest. */
static bool check_axis_size(struct ctx *ctx, const struct node *node, int i)
{
    const struct axis axis = axis_of(&node->attrs.resize, input_type(node, 0), i);
    const double slack = 1e-6 * (double)axis.out;

    if (axis.out < 0 || axis.out > SPATIAL_MOST || axis.in > SPATIAL_MOST ||
        (axis.in == 0 && axis.out > 0))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: dimension %d of extent %lld cannot become %lld long",
                          op_name(node->op), i, (long long)axis.in, (long long)axis.out);
    if (axis.in > 0 && axis.out > 0 &&
        !(axis.scale > 0 && axis.length >= (double)axis.out - 0.5 - slack &&
          axis.length <= (double)axis.out + 1 + slack))
        return diag_error(
            ctx, DIAG_SHAPE, node_origin(node),
            "%s: dimension %d has extent %lld, scale %g and size %lld, which do not fit "
            "together",
            op_name(node->op), i, (long long)axis.in, axis.scale, (long long)axis.out);
    if (!isfinite(axis.start) || !isfinite(axis.end))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: the region of interest of dimension %d is not finite",
                          op_name(node->op), i);
    return true;
}

bool resize_only_moves(const struct resize_attrs *attrs)
{
    return method_of(attrs) == NEAREST && !is_crop(attrs);
}

bool infer_resize(struct ctx *ctx, struct node *node)
{
    const struct resize_attrs *attrs = &node->attrs.resize;
    const struct type *x = input_type(node, 0);
    struct type y = *x;
    bool ok = true;

    if (!check_words(ctx, node) || !check_element(ctx, node) ||
        !check_per_dim(ctx, node, x, "size", &attrs->size))
        return false;
    if ((attrs->scales.n && attrs->scales.n != x->rank) ||
        (attrs->roi.n && attrs->roi.n != 2 * x->rank))
        return diag_error(
            ctx, DIAG_SHAPE, node_origin(node),
            "%s: %d scales and a region of interest of %d numbers do not fit shape %s",
            op_name(node->op), attrs->scales.n, attrs->roi.n, shape_text(&ctx->perm, x));
    for (int i = 0; i < x->rank; i++) {
        ok = check_axis_size(ctx, node, i) && ok;
        y.dim[i] = attrs->size.at[i];
    }
    set_output(node, 0, x->dtype, &y);
    if (resize_only_moves(attrs))
        pass_scales_in_place(node, 0, 0);
    return ok;
}

/* --- evaluation ------------------------------------------------------------------------------- */

static double weight_of(enum method method, double a, double x)
{
    x = fabs(x);
    if (method == LINEAR)
        return x < 1 ? 1 - x : 0;
    if (x <= 1) /* Keys 1981: cubic convolution, with a free coefficient a */
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t clamped(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void weigh(const struct resize_attrs *attrs, const struct axis *axis, double place,
                  struct resize_taps *taps)
{
    const enum method method = method_of(attrs);
    const double reach = method == LINEAR ? 1 : 2;
    const double narrow = attrs->antialias && axis->scale < 1 ? axis->scale : 1;
    const int64_t start = (int64_t)floor(-reach / narrow) + 1;
    const double base = ceil(place) - 1; /* place - base is in (0, 1] */
    double sum = 0;

    taps->n = (int)(2 - 2 * start);
    for (int k = 0; k < taps->n; k++) {
        const int64_t i = (int64_t)base + start + k;

        taps->weight[k] =
            weight_of(method, attrs->cubic_alpha, ((double)(start + k) - (place - base)) * narrow);
        if (attrs->exclude_outside && (i < 0 || i >= axis->in))
            taps->weight[k] = 0;
        taps->at[k] = clamped(i, axis->in);
        sum += taps->weight[k];
    }
    for (int k = 0; k < taps->n && sum != 0; k++)
        taps->weight[k] /= sum;
}

/* Room for the kernel of any position. */
static int most_taps(const struct resize_attrs *attrs, const struct axis *axis)
{
    const double reach = method_of(attrs) == CUBIC ? 2 : 1;

    return 2 * (int)ceil(attrs->antialias && axis->scale < 1 ? reach / axis->scale : reach) + 2;
}

static void look_at(const struct resize_attrs *attrs, const struct axis *axis, int64_t o,
                    struct resize_taps *taps)
{
    const int transform =
        word_index(attrs->coordinate_transformation_mode, transform_words, N_TRANSFORMS);
    const double place = transforms[transform](axis, (double)o);

    taps->n = 1;
    taps->outside = is_crop(attrs) && !(place >= 0 && place <= (double)(axis->in - 1));
    if (taps->outside) {
        taps->at[0] = 0;
        taps->weight[0] = 1;
    } else if (method_of(attrs) == NEAREST) {
        const int rounding = word_index(attrs->rounding_method, rounding_words,
                                        (int)(sizeof rounding_words / sizeof *rounding_words));

        taps->at[0] = clamped((int64_t)roundings[rounding](place), axis->in);
        taps->weight[0] = 1;
    } else {
        weigh(attrs, axis, place, taps);
    }
}

/* The taps of all positions of a dimension. */
static struct resize_taps *dimension_taps(struct bulk *bulk, const struct resize_attrs *attrs,
                                          const struct axis *axis)
{
    const int most = most_taps(attrs, axis);
    struct resize_taps *taps = bulk_alloc(bulk, (size_t)axis->out * sizeof *taps);
    int64_t *at = bulk_alloc(bulk, (size_t)axis->out * (size_t)most * sizeof *at);
    double *weight = bulk_alloc(bulk, (size_t)axis->out * (size_t)most * sizeof *weight);

    for (int64_t o = 0; o < axis->out; o++) {
        taps[o].at = at + o * most;
        taps[o].weight = weight + o * most;
        look_at(attrs, axis, o, &taps[o]);
    }
    return taps;
}

struct resize_taps *resize_taps(struct bulk *bulk, const struct node *node, int dim)
{
    const struct axis axis = axis_of(&node->attrs.resize, input_type(node, 0), dim);

    return dimension_taps(bulk, &node->attrs.resize, &axis);
}

int64_t resize_step(const struct node *node, int dim)
{
    struct bulk bulk = { NULL, 0 };
    const struct resize_taps *taps = resize_taps(&bulk, node, dim);
    const int64_t n = node->outputs[0]->type.dim[dim];
    const int64_t step = n > 1 ? taps[1].at[0] - taps[0].at[0] : 0;
    bool alike = step > 0;

    for (int64_t o = 0; alike && o < n; o++) {
        alike = !taps[o].outside && taps[o].n == taps[0].n;
        for (int k = 0; alike && k < taps[o].n; k++)
            alike = taps[o].at[k] == taps[0].at[0] + o * step + k;
    }
    bulk_release(&bulk);
    return alike ? step : 0;
}

bool resize_changes(const struct node *node, int dim)
{
    const struct resize_attrs *attrs = &node->attrs.resize;
    const int rank = attrs->size.n;

    return node->inputs[0]->type.dim[dim] != attrs->size.at[dim] ||
           (attrs->scales.n && attrs->scales.at[dim] != 1) ||
           (attrs->roi.n && (attrs->roi.at[dim] != 0 || attrs->roi.at[rank + dim] != 1));
}

/* x (outer, in, inner) -> (outer, out, inner). */
static double *resize_dimension(struct bulk *bulk, const double *x, const struct axis *axis,
                                const struct resize_taps *taps, int64_t outer, int64_t inner)
{
    double *y = bulk_alloc(bulk, (size_t)(outer * axis->out * inner) * sizeof *y);

    for (int64_t i = 0; i < outer * axis->out; i++) {
        const struct resize_taps *here = &taps[i % axis->out];
        double *row = y + i * inner;

        for (int k = 0; k < here->n; k++) {
            const double *from = x + (i / axis->out * axis->in + here->at[k]) * inner;

            for (int64_t j = 0; j < inner; j++)
                row[j] += here->weight[k] * from[j];
        }
    }
    return y;
}

/* Copies bits, so that every type and every value keeps them. */
static void take_nearest(const struct tensor *x, struct resize_taps *const *taps, struct tensor *y)
{
    const size_t bytes = dtype_bytes(y->type.dtype);
    const int64_t n = type_elements(&y->type);

    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, from = 0, step = 1;

        for (int d = y->type.rank - 1; d >= 0; d--) {
            from += taps[d][rest % y->type.dim[d]].at[0] * step;
            rest /= y->type.dim[d];
            step *= x->type.dim[d];
        }
        memcpy((char *)y->data + (size_t)i * bytes, (const char *)x->data + (size_t)from * bytes,
               bytes);
    }
}

/* Dimensions that shrink go first, so that nothing on the way is bigger than both x and y. */
static void take_weighed(struct bulk *bulk, const struct resize_attrs *attrs,
                         const struct tensor *x, struct resize_taps *const *taps, struct tensor *y)
{
    const int rank = x->type.rank;
    const int64_t n = type_elements(&y->type);
    struct type shape = x->type;
    double *now = doubles_of(bulk, x);

    for (int i = 0; i < 2 * rank; i++) {
        const int d = i % rank;
        const struct axis axis = axis_of(attrs, &x->type, d);

        if ((axis.out < axis.in) != (i < rank) ||
            (axis.in == axis.out && axis.scale == 1 && !is_crop(attrs)))
            continue;
        now = resize_dimension(bulk, now, &axis, taps[d], type_span(&shape, 0, d),
                               type_span(&shape, d + 1, rank));
        shape.dim[d] = axis.out;
    }
    for (int64_t i = 0; i < n && dtype_is_integer(y->type.dtype); i++)
        now[i] = trunc(now[i]);
    doubles_store(y, 0, now, n);
}

static void extrapolate(struct resize_taps *const *taps, double value, struct tensor *y)
{
    const int64_t n = type_elements(&y->type);

    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;
        bool outside = false;

        for (int d = y->type.rank - 1; d >= 0; d--) {
            outside = outside || taps[d][rest % y->type.dim[d]].outside;
            rest /= y->type.dim[d];
        }
        if (outside)
            dtype_store(y->type.dtype, y->data, i, value);
    }
}

bool eval_resize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                 struct tensor *out)
{
    const struct resize_attrs *attrs = &node->attrs.resize;
    struct bulk bulk = { NULL, 0 };
    struct resize_taps *taps[MAX_RANK];

    (void)ctx;
    if (type_elements(&out->type) == 0)
        return true;
    for (int d = 0; d < out->type.rank; d++)
        taps[d] = resize_taps(&bulk, node, d);
    if (method_of(attrs) == NEAREST)
        take_nearest(in[0], taps, out);
    else
        take_weighed(&bulk, attrs, in[0], taps, out);
    if (is_crop(attrs))
        extrapolate(taps, attrs->extrapolation_value, out);
    bulk_release(&bulk);
    return true;
}
