/* roi_align.c - vision.roi_align: a grid of bins over each region of interest, and in each bin the
 * average or the greatest of x interpolated at evenly spaced samples (He et al. 2017, Mask R-CNN).
 *
 * x (batch, channels, h, w), rois (n, 4) with x and y of the start, then of the end, batch_indices
 * (n), y (n, channels, pooled h, pooled w). Without `aligned` a region is at least one element in
 * size, and positions are not shifted by half an element. sample_ratio: samples per bin and
 * dimension, 0 = as many as there are elements. In mode "max" the four weighted neighbours of a
 * sample compete one by one, as ONNX's reference has it. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/spatial.h"

static bool check_shapes(struct ctx *ctx, const struct node *node)
{
    const struct type *x = input_type(node, 0), *rois = input_type(node, 1);
    const struct type *batch = input_type(node, 2);

    if (!check_rank(ctx, node, 0, 4, 4) || !check_rank(ctx, node, 1, 2, 2) ||
        !check_rank(ctx, node, 2, 1, 1))
        return false;
    if (rois->dim[1] != 4 || batch->dim[0] != rois->dim[0])
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: rois of shape %s and batch_indices of shape %s, expected 4 numbers "
                          "and an index for each region",
                          op_name(node->op), shape_text(&ctx->perm, rois),
                          shape_text(&ctx->perm, batch));
    if (x->dim[2] < 1 || x->dim[3] < 1)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: x of shape %s is empty",
                          op_name(node->op), shape_text(&ctx->perm, x));
    return true;
}

bool infer_roi_align(struct ctx *ctx, struct node *node)
{
    static const char *const modes[] = { "avg", "max" };
    struct roi_align_attrs *attrs = &node->attrs.roi_align;
    const struct type *x = input_type(node, 0);
    struct type y = *x;

    if (!check_kinds(ctx, node, 0, KINDS_FLOAT) || !check_same_dtype(ctx, node, 0, 1) ||
        !check_index_type(ctx, node, 2) || !check_shapes(ctx, node) ||
        !check_word(ctx, node, "mode", &attrs->mode, modes, 2) ||
        !spatial_check_list(ctx, node, "pooled_size", 2, 1, 1, &attrs->pooled_size))
        return false;
    if (attrs->sample_ratio < 0 || attrs->sample_ratio > ROI_MOST_SAMPLES)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: sample_ratio is %lld, expected 0 to %d", op_name(node->op),
                          (long long)attrs->sample_ratio, ROI_MOST_SAMPLES);
    y.dim[0] = input_type(node, 1)->dim[0];
    y.dim[2] = attrs->pooled_size.at[0];
    y.dim[3] = attrs->pooled_size.at[1];
    set_output(node, 0, x->dtype, &y);
    return true;
}

/* One dimension of a region. */
struct span {
    double start, bin; /* of the first bin; size of each */
    int64_t samples;   /* in each bin */
};

static bool span_of(struct ctx *ctx, const struct node *node, double start, double end,
                    int64_t pooled, struct span *span)
{
    const struct roi_align_attrs *attrs = &node->attrs.roi_align;
    const double shift = attrs->aligned ? 0.5 : 0;
    double size = (end - start) * attrs->spatial_scale;

    if (!attrs->aligned && size < 1)
        size = 1;
    span->start = start * attrs->spatial_scale - shift;
    span->bin = size / (double)pooled;
    if (!(fabs(span->start) < (double)SPATIAL_MOST && span->bin <= ROI_MOST_SAMPLES))
        return diag_error(ctx, DIAG_TOO_BIG, node_origin(node),
                          "%s: a region of interest from %g to %g is too big", op_name(node->op),
                          start, end);
    span->samples =
        attrs->sample_ratio ? attrs->sample_ratio : (int64_t)ceil(span->bin > 0 ? span->bin : 0);
    return true;
}

/* The two elements of a dimension around a place, and the weight of the second; false when the
 * place is outside of x. */
static bool neighbours(double place, int64_t extent, int64_t at[2], double *weight)
{
    if (place < -1 || place > (double)extent)
        return false;
    place = place < 0 ? 0 : place;
    at[0] = (int64_t)place;
    at[1] = at[0] + 1;
    *weight = place - (double)at[0];
    if (at[0] >= extent - 1) {
        at[0] = at[1] = extent - 1;
        *weight = 0;
    }
    return true;
}

/* What a bin holds so far. */
struct bin {
    double sum, best;
    bool is_first;
};

static void add_sample(struct bin *bin, const double *x, int64_t in_h, int64_t in_w, double y_place,
                       double x_place)
{
    int64_t ih[2], iw[2];
    double dh, dw;

    if (!neighbours(y_place, in_h, ih, &dh) || !neighbours(x_place, in_w, iw, &dw)) {
        bin->best = bin->is_first || bin->best < 0 ? 0 : bin->best;
        bin->is_first = false;
        return;
    }
    for (int k = 0; k < 4; k++) {
        const double part =
            (k / 2 ? dh : 1 - dh) * (k % 2 ? dw : 1 - dw) * x[ih[k / 2] * in_w + iw[k % 2]];

        bin->sum += part;
        if (bin->is_first || part > bin->best)
            bin->best = part;
        bin->is_first = false;
    }
}

static double pool_bin(const struct node *node, const double *x, const struct span *rows,
                       const struct span *columns, int64_t oh, int64_t ow)
{
    const struct type *type = input_type(node, 0);
    const int64_t n = rows->samples * columns->samples;
    struct bin bin = { .is_first = true };

    for (int64_t i = 0; i < rows->samples; i++)
        for (int64_t k = 0; k < columns->samples; k++) {
            const double down = (double)oh + ((double)i + 0.5) / (double)rows->samples;
            const double right = (double)ow + ((double)k + 0.5) / (double)columns->samples;

            add_sample(&bin, x, type->dim[2], type->dim[3], rows->start + down * rows->bin,
                       columns->start + right * columns->bin);
        }
    if (strcmp(node->attrs.roi_align.mode, "max") == 0)
        return bin.best;
    return n ? bin.sum / (double)n : 0;
}

/* All bins and channels of one region. */
static bool pool_region(struct ctx *ctx, const struct node *node, const double *x,
                        const double *roi, int64_t region, struct tensor *out)
{
    const struct type *x_type = input_type(node, 0), *y_type = &out->type;
    const int64_t out_h = y_type->dim[2], out_w = y_type->dim[3];
    struct span rows, columns;

    if (!span_of(ctx, node, roi[1], roi[3], out_h, &rows) ||
        !span_of(ctx, node, roi[0], roi[2], out_w, &columns))
        return false;
    for (int64_t i = 0; i < y_type->dim[1] * out_h * out_w; i++) {
        const int64_t c = i / out_w / out_h;

        dtype_store(y_type->dtype, out->data, region * y_type->dim[1] * out_h * out_w + i,
                    pool_bin(node, x + c * x_type->dim[2] * x_type->dim[3], &rows, &columns,
                             i / out_w % out_h, i % out_w));
    }
    return true;
}

bool eval_roi_align(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                    struct tensor *out)
{
    const struct type *x_type = &in[0]->type;
    const int64_t image = type_span(x_type, 1, 4);
    struct bulk bulk = { NULL, 0 };
    const double *x = doubles_of(&bulk, in[0]), *rois = doubles_of(&bulk, in[1]);
    bool ok = true;

    for (int64_t i = 0; i < out->type.dim[0] && ok; i++) {
        const int64_t batch = tensor_int_at(in[2], i);

        if (batch < 0 || batch >= x_type->dim[0])
            ok = diag_error(ctx, DIAG_SHAPE, node_origin(node),
                            "%s: region %lld is of image %lld, there are %lld", op_name(node->op),
                            (long long)i, (long long)batch, (long long)x_type->dim[0]);
        else
            ok = pool_region(ctx, node, x + batch * image, rois + 4 * i, i, out);
    }
    bulk_release(&bulk);
    return ok;
}
