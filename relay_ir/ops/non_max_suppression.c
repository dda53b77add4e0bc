/* non_max_suppression.c - vision.non_max_suppression: boxes that score best and do not overlap one that is chosen
 * already (Neubeck and Van Gool 2006), for each class of each image apart.
 *
 * boxes (batch, n, 4): two corners y1, x1, y2, x2 in either order, or with `center` x, y of the middle, width, height
 * (below 0: as 0);
 * scores (batch, classes, n); chosen (batch, classes, max_output) i32: indices of boxes, best first, -1 behind the last
 * one; count (batch, classes) i32. A third input, f32 of one element, is the iou_threshold in place of the attribute's. A box is a candidate if its score is above score_threshold (keeps_equal: or equal);
 * of equal scores the lower index comes first; NaN is below every threshold. Candidates that overlap a chosen box by
 * more than iou_threshold (intersection over union) are dropped; an empty box overlaps nothing. Areas and their
 * quotient are f32, each operation rounded, as ONNX Runtime and TensorFlow Lite have them. */
#include <math.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"

bool infer_non_max_suppression(struct ctx *ctx, struct node *node)
{
    struct non_max_suppression_attrs *attrs = &node->attrs.non_max_suppression;
    const struct type *boxes = input_type(node, 0), *scores = input_type(node, 1);
    struct type chosen, count;

    if (!check_rank(ctx, node, 0, 3, 3) || !check_rank(ctx, node, 1, 3, 3))
        return false;
    if (boxes->dtype != DTYPE_F32 || scores->dtype != DTYPE_F32)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "%s: boxes of %s and scores of %s, expected f32", op_name(node->op),
                          dtype_name(boxes->dtype), dtype_name(scores->dtype));
    if (boxes->dim[2] != 4 || boxes->dim[0] != scores->dim[0] || boxes->dim[1] != scores->dim[2])
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: boxes of shape %s and scores of shape %s, expected (batch,n,4) and "
                          "(batch,classes,n)",
                          op_name(node->op), shape_text(&ctx->perm, boxes),
                          shape_text(&ctx->perm, scores));
    if (node->n_inputs > 2 &&
        (input_type(node, 2)->dtype != DTYPE_F32 || type_elements(input_type(node, 2)) != 1))
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "%s: the threshold is %s, expected one f32", op_name(node->op),
                          type_text(&ctx->perm, input_type(node, 2)));
    if (attrs->max_output < 0 || attrs->max_output > INT32_MAX)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: max_output is %lld",
                          op_name(node->op), (long long)attrs->max_output);
    chosen =
        type_make(DTYPE_I32, 3, (int64_t[]){ scores->dim[0], scores->dim[1], attrs->max_output });
    count = type_make(DTYPE_I32, 2, scores->dim);
    set_output(node, 0, DTYPE_I32, &chosen);
    set_output(node, 1, DTYPE_I32, &count);
    return true;
}

struct box {
    float top, left, bottom, right;
};

static struct box box_at(const struct tensor *boxes, int64_t index, bool center)
{
    const float *at = element_at(boxes, index * 4);
    const float a = at[0], b = at[1], c = at[2], d = at[3];
    const float half_width = fmaxf(c / 2, 0), half_height = fmaxf(d / 2, 0);

    if (center)
        return (struct box){ b - half_height, a - half_width, b + half_height, a + half_width };
    return (struct box){ fminf(a, c), fminf(b, d), fmaxf(a, c), fmaxf(b, d) };
}

static bool boxes_overlap(const struct box *a, const struct box *b, float iou_threshold)
{
    const float area_a = (a->bottom - a->top) * (a->right - a->left);
    const float area_b = (b->bottom - b->top) * (b->right - b->left);
    const float height = fminf(a->bottom, b->bottom) - fmaxf(a->top, b->top);
    const float width = fminf(a->right, b->right) - fmaxf(a->left, b->left);
    float both;

    if (!(area_a > 0 && area_b > 0 && height > 0 && width > 0))
        return false;
    both = height * width;
    return both / (area_a + area_b - both) > iou_threshold;
}

/* The next candidate behind `last` (-1: the first) in the order of scores; -1 = none. */
static int64_t next_candidate(const struct non_max_suppression_attrs *attrs, const float *scores,
                              int64_t n, int64_t last)
{
    const float threshold = (float)attrs->score_threshold;
    int64_t best = -1;

    for (int64_t i = 0; i < n; i++) {
        if (attrs->keeps_equal ? !(scores[i] >= threshold) : !(scores[i] > threshold))
            continue;
        if (last >= 0 && (scores[i] > scores[last] || (scores[i] == scores[last] && i <= last)))
            continue;
        if (best < 0 || scores[i] > scores[best])
            best = i;
    }
    return best;
}

bool eval_non_max_suppression(struct ctx *ctx, const struct node *node,
                              const struct tensor *const *in, struct tensor *out)
{
    const struct non_max_suppression_attrs *attrs = &node->attrs.non_max_suppression;
    const struct type *type = &in[1]->type;
    const int64_t classes = type->dim[1], n = type->dim[2], most = attrs->max_output;
    const float iou = (float)(node->n_inputs > 2 ? tensor_at(in[2], 0) : attrs->iou_threshold);

    (void)ctx;
    for (int64_t line = 0; line < type->dim[0] * classes; line++) {
        const float *scores = n ? element_at(in[1], line * n) : NULL;
        const int64_t first = line / classes * n;
        int32_t *chosen = most ? element_at(&out[0], line * most) : NULL;
        int64_t count = 0;

        for (int64_t at = -1; count < most && (at = next_candidate(attrs, scores, n, at)) >= 0;) {
            const struct box box = box_at(in[0], first + at, attrs->center);
            bool is_free = true;

            for (int64_t i = 0; i < count && is_free; i++) {
                const struct box other = box_at(in[0], first + chosen[i], attrs->center);

                is_free = !boxes_overlap(&other, &box, iou);
            }
            if (is_free)
                chosen[count++] = (int32_t)at;
        }
        for (int64_t i = count; i < most; i++)
            chosen[i] = -1;
        *(int32_t *)element_at(&out[1], line) = (int32_t)count;
    }
    return true;
}
