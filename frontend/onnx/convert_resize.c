/* convert_resize.c - Resize and Upsample.
 *
 * image.resize wants the extents, the scales that coordinates are computed with, and the region of
 * interest, each for all dims; ONNX gives either sizes or scales, possibly for some axes only. */
#include "frontend/onnx/convert_resize.h"

#include <math.h>
#include <string.h>

#include "frontend/onnx/importer.h"

struct word {
    const char *onnx, *relay;
};

static const struct word methods[] = {
    { "nearest", "nearest_neighbor" }, { "linear", "linear" }, { "cubic", "cubic" }, { NULL, NULL }
};

static const struct word transformations[] = {
    { "half_pixel", "half_pixel" },
    { "half_pixel_symmetric", "half_pixel_symmetric" },
    { "pytorch_half_pixel", "pytorch_half_pixel" },
    { "align_corners", "align_corners" },
    { "asymmetric", "asymmetric" },
    { "tf_half_pixel_for_nn", "tf_half_pixel_for_nn" },
    { "tf_crop_and_resize", "tf_crop_and_resize" },
    { NULL, NULL },
};

static const struct word roundings[] = {
    { "round_prefer_floor", "round_prefer_floor" },
    { "round_prefer_ceil", "round_prefer_ceil" },
    { "floor", "floor" },
    { "ceil", "ceil" },
    { NULL, NULL },
};

/* NULL after an error. */
static const char *read_word(struct onnx_node *node, const char *attr, const char *missing,
                             const struct word *words)
{
    const char *word = onnx_word(node, attr, missing);

    for (int i = 0; words[i].onnx; i++)
        if (strcmp(word, words[i].onnx) == 0)
            return words[i].relay;
    onnx_unsupported(node, "attribute %s is \"%s\"", attr, str_safe(&node->ctx->perm, word, 40));
    return NULL;
}

/* Input i as numbers; n = 0 when it is absent or empty (as exporters write an unused roi). */
static bool read_reals(struct onnx_node *node, int i, struct reals *out)
{
    struct tensor tensor;

    out->n = 0;
    if (!onnx_input(node, i) || type_elements(&onnx_input(node, i)->type) == 0)
        return true;
    if (!onnx_check_kind(node, i, TAKES_FLOAT) || !onnx_constant(node, i, &tensor))
        return false;
    if (type_elements(&tensor.type) > MAX_INTS)
        return onnx_unsupported(node, "input %d has %lld numbers", i,
                                (long long)type_elements(&tensor.type));
    out->n = (int)type_elements(&tensor.type);
    for (int k = 0; k < out->n; k++)
        out->at[k] = tensor_at(&tensor, k);
    return true;
}

/* Corners are aligned with the last position of the result, which ONNX's text takes from its
 * length, a whole number, as PyTorch and ONNX Runtime do, and onnx's reference from the length
 * before it is rounded. A file of PyTorch's means what PyTorch computes; others get the reference,
 * and a warning. */
static void align_corners(struct onnx_node *node, const struct type *x, int axis,
                          struct resize_attrs *resize)
{
    const int64_t in = x->dim[axis], out = resize->size.at[axis];
    const double length = (double)in * resize->scales.at[axis];

    if (strcmp(resize->coordinate_transformation_mode, "align_corners") != 0 || out < 2 ||
        length - (double)out < 1e-6 * length)
        return;
    if (strncmp(node->import->module->producer, "pytorch", 7) == 0)
        resize->scales.at[axis] = (double)out / (double)in;
    else
        diag_warn(node->ctx, DIAG_SHAPE, node->origin,
                  "axis %d gets %lld * %g = %g, so %lld elements: corners are aligned for %g as in "
                  "onnx's reference, by PyTorch and ONNX Runtime for %lld; "
                  "export it with sizes in place of scales to get theirs",
                  axis, (long long)in, resize->scales.at[axis], length, (long long)out, length,
                  (long long)out);
}

/* scales (of the axes in question) -> scales and extents of all dims */
static bool take_scales(struct onnx_node *node, const struct type *x, const struct ints *axes,
                        const struct reals *scales, struct resize_attrs *resize)
{
    if (scales->n != axes->n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "there are %d scales for %d axes",
                          scales->n, axes->n);
    for (int i = 0; i < axes->n; i++) {
        int64_t extent = x->dim[axes->at[i]];
        double scaled = floor((double)extent * scales->at[i]);

        if (!(scales->at[i] > 0) || !(scaled <= INT32_MAX))
            return bad_attribute(node, "the scale of axis %lld is %g", (long long)axes->at[i],
                                 scales->at[i]);
        resize->scales.at[axes->at[i]] = scales->at[i];
        resize->size.at[axes->at[i]] = (int64_t)scaled;
        align_corners(node, x, (int)axes->at[i], resize);
    }
    return true;
}

/* One scale for all axes, such that none (all) of them gets longer than wanted. */
static void keep_aspect_ratio(const struct type *x, const struct ints *axes, bool larger,
                              struct resize_attrs *resize)
{
    double scale = resize->scales.at[axes->at[0]];

    for (int i = 1; i < axes->n; i++) {
        double other = resize->scales.at[axes->at[i]];

        scale = larger ? fmax(scale, other) : fmin(scale, other);
    }
    for (int i = 0; i < axes->n; i++) {
        resize->scales.at[axes->at[i]] = scale;
        resize->size.at[axes->at[i]] = (int64_t)floor(scale * (double)x->dim[axes->at[i]] + 0.5);
    }
}

static bool take_sizes(struct onnx_node *node, const struct type *x, const struct ints *axes,
                       const struct ints *sizes, struct resize_attrs *resize)
{
    const char *policy = onnx_word(node, "keep_aspect_ratio_policy", "stretch");
    const bool larger = strcmp(policy, "not_smaller") == 0;

    if (sizes->n != axes->n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "there are %d sizes for %d axes",
                          sizes->n, axes->n);
    for (int i = 0; i < axes->n; i++) {
        int64_t extent = x->dim[axes->at[i]];

        if (sizes->at[i] < 0 || sizes->at[i] > INT32_MAX || (extent == 0 && sizes->at[i] != 0))
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "axis %lld of extent %lld is to become %lld long",
                              (long long)axes->at[i], (long long)extent, (long long)sizes->at[i]);
        resize->size.at[axes->at[i]] = sizes->at[i];
        resize->scales.at[axes->at[i]] = extent ? (double)sizes->at[i] / (double)extent : 1;
    }
    if (strcmp(policy, "stretch") == 0 || axes->n == 0)
        return onnx_ok(node);
    if (!larger && strcmp(policy, "not_larger") != 0)
        return bad_attribute(node, "attribute keep_aspect_ratio_policy is none of stretch, "
                                   "not_larger and not_smaller");
    keep_aspect_ratio(x, axes, larger, resize);
    return true;
}

/* All starts, then all ends; the whole extent (0 to 1) where nothing is said. */
static bool take_roi(struct onnx_node *node, const struct ints *axes, struct resize_attrs *resize)
{
    const int rank = resize->size.n;
    struct reals roi = { .n = 0 };

    if (!resize->coordinate_transformation_mode ||
        strcmp(resize->coordinate_transformation_mode, "tf_crop_and_resize") != 0)
        return true;
    if (!read_reals(node, 1, &roi))
        return false;
    if (roi.n != 2 * axes->n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "the region of interest has %d numbers, wanted 2 for each of %d axes",
                          roi.n, axes->n);
    resize->roi.n = 2 * rank;
    for (int i = 0; i < rank; i++) {
        resize->roi.at[i] = 0;
        resize->roi.at[rank + i] = 1;
    }
    for (int i = 0; i < axes->n; i++) {
        resize->roi.at[axes->at[i]] = roi.at[i];
        resize->roi.at[rank + axes->at[i]] = roi.at[axes->n + i];
    }
    return true;
}

static void start_resize(const struct type *x, struct resize_attrs *resize)
{
    resize->size = ints_of_shape(x);
    resize->scales.n = x->rank;
    for (int i = 0; i < x->rank; i++)
        resize->scales.at[i] = 1;
}

static bool finish_resize(struct onnx_node *node, const union attrs *attrs)
{
    struct value *x = onnx_input(node, 0);
    struct ints old = ints_of_shape(&x->type);
    bool same = ints_equal(&attrs->resize.size, &old) && attrs->resize.roi.n == 0;

    if (!attrs->resize.method || !attrs->resize.coordinate_transformation_mode ||
        !attrs->resize.rounding_method || !onnx_ok(node))
        return false;
    for (int i = 0; i < attrs->resize.scales.n; i++)
        same = same && attrs->resize.scales.at[i] == 1;
    return onnx_output(node, 0, same ? x : onnx_build1(node, OP_RESIZE, attrs, "", x));
}

/* The axes in the order in which sizes and scales speak of them. */
static bool read_axes(struct onnx_node *node, int rank, struct ints *axes)
{
    struct ints sorted;

    *axes = onnx_ints(node, "axes");
    if (!onnx_has(node, "axes"))
        for (int i = 0; i < rank; i++)
            axes->at[axes->n++] = i;
    for (int i = 0; i < axes->n; i++) {
        axes->at[i] = normal_axis(node, axes->at[i], rank);
        if (axes->at[i] < 0)
            return false;
    }
    sorted = *axes;
    return onnx_ok(node) && normal_axes(node, &sorted, rank); /* finds an axis given twice */
}

static bool are_known_words(const struct resize_attrs *resize)
{
    return resize->method && resize->coordinate_transformation_mode && resize->rounding_method;
}

static bool is_crop(const struct resize_attrs *resize)
{
    return strcmp(resize->coordinate_transformation_mode, "tf_crop_and_resize") == 0;
}

/* Opset 10: inputs x, scales; the mode says it all. Opset 11 on: x, roi, scales, sizes. */
bool convert_resize(struct onnx_node *node)
{
    const bool old = node->opset < 11;
    const struct value *x = onnx_input(node, 0);
    union attrs attrs = { .resize = { .rounding_method = "" } };
    struct resize_attrs *resize = &attrs.resize;
    struct ints axes, sizes;
    struct reals scales;

    if (!onnx_check_inputs(node, 1, old ? 2 : 4) || !onnx_check_kind(node, 0, TAKES_NUMBER))
        return false;
    start_resize(&x->type, resize);
    resize->method = read_word(node, "mode", "nearest", methods);
    resize->coordinate_transformation_mode = read_word(
        node, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel", transformations);
    resize->rounding_method =
        read_word(node, "nearest_mode", old ? "floor" : "round_prefer_floor", roundings);
    resize->cubic_alpha = onnx_real(node, "cubic_coeff_a", -0.75);
    resize->exclude_outside = onnx_int(node, "exclude_outside", 0) != 0;
    resize->antialias = onnx_int(node, "antialias", 0) != 0;
    resize->extrapolation_value = onnx_real(node, "extrapolation_value", 0);
    if (!read_axes(node, x->type.rank, &axes) || !are_known_words(resize))
        return false;
    if (!onnx_is_known(node, old ? 1 : 2) || (is_crop(resize) && !onnx_is_known(node, 1)) ||
        (!old && !onnx_is_known(node, 3)))
        return resize_at_run_time(node, resize, &axes, old ? 1 : 2, old ? -1 : 3);
    if (!take_roi(node, &axes, resize) || !read_reals(node, old ? 1 : 2, &scales))
        return false;
    if (scales.n > 0)
        return take_scales(node, &x->type, &axes, &scales, resize) && finish_resize(node, &attrs);
    if (old || !onnx_input(node, 3))
        return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin,
                          "neither scales nor sizes are given");
    return onnx_constant_ints(node, 3, &sizes) &&
           take_sizes(node, &x->type, &axes, &sizes, resize) && finish_resize(node, &attrs);
}

/* Opset 7: attribute scales; opset 9: an input. Coordinates as Resize's of opset 10. */
bool convert_upsample(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0);
    union attrs attrs = { .resize = { .coordinate_transformation_mode = "asymmetric",
                                      .rounding_method = "floor",
                                      .cubic_alpha = -0.75 } };
    struct reals scales;
    struct ints axes;

    if (!onnx_check_inputs(node, node->opset < 9 ? 1 : 2, node->opset < 9 ? 1 : 2) ||
        !onnx_check_kind(node, 0, TAKES_NUMBER))
        return false;
    start_resize(&x->type, &attrs.resize);
    attrs.resize.method = read_word(node, "mode", "nearest", methods);
    axes = ints_fill(x->type.rank, 0);
    for (int i = 0; i < axes.n; i++)
        axes.at[i] = i;
    if (node->opset >= 9 && !onnx_is_known(node, 1))
        return attrs.resize.method && resize_at_run_time(node, &attrs.resize, &axes, 1, -1);
    if (node->opset < 9)
        scales = onnx_reals(node, "scales");
    else if (!read_reals(node, 1, &scales))
        return false;
    return onnx_ok(node) && take_scales(node, &x->type, &axes, &scales, &attrs.resize) &&
           finish_resize(node, &attrs);
}
