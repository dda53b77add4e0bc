/* grid_sample.c - image.grid_sample: x read at coordinates that a second input gives.
 *
 * x (batch, channels, spatial...), grid (batch, out..., rank) with the place of each output, the
 * last spatial dimension first, -1 and 1 being the edges of x; y (batch, channels, out...).
 * padding_mode says what lies beyond the edges: zeros, the element at the edge, or the mirror
 * image; edges are the centres of the outermost elements with align_corners, else their outer
 * borders. Cubic samples beyond a border take its element for each tap, as PyTorch and ONNX Runtime
 * do, where onnx's reference moves the place to the border first. Places that are no number, or
 * further away than can be counted, read as 0. */
#include "relay_ir/ops/grid_sample.h"

#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/spatial.h"

enum method { LINEAR, NEAREST, CUBIC, N_METHODS };
enum padding { ZEROS, BORDER, REFLECTION, N_PADDINGS };
enum { MOST_TAPS = 4 };

static const char *const method_words[] = { "linear", "nearest_neighbor", "cubic" };
static const char *const padding_words[] = { "zeros", "border", "reflection" };

static int word_index(const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return 0;
}

bool grid_sample_shape(struct ctx *ctx, struct node *node)
{
    struct grid_sample_attrs *attrs = &node->attrs.grid_sample;
    const struct type *x = input_type(node, 0), *grid = input_type(node, 1);
    struct type y = *x;

    if (!check_rank(ctx, node, 0, 3, 2 + MAX_SPATIAL) ||
        !check_rank(ctx, node, 1, x->rank, x->rank) ||
        !check_word(ctx, node, "method", &attrs->method, method_words, N_METHODS) ||
        !check_word(ctx, node, "padding_mode", &attrs->padding_mode, padding_words, N_PADDINGS))
        return false;
    if (grid->dim[0] != x->dim[0] || grid->dim[grid->rank - 1] != x->rank - 2)
        return diag_error(
            ctx, DIAG_SHAPE, node_origin(node),
            "%s: grid of shape %s, expected %lld batches and %d coordinates for x of shape %s",
            op_name(node->op), shape_text(&ctx->perm, grid), (long long)x->dim[0], x->rank - 2,
            shape_text(&ctx->perm, x));
    for (int i = 2; i < x->rank; i++) {
        if (x->dim[i] < 1 || x->dim[i] > SPATIAL_MOST)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: spatial dimension %d of x has extent %lld, expected 1 to %lld",
                              op_name(node->op), i - 2, (long long)x->dim[i],
                              (long long)SPATIAL_MOST);
        y.dim[i] = grid->dim[i - 1];
    }
    set_output(node, 0, x->dtype, &y);
    return true;
}

bool infer_grid_sample(struct ctx *ctx, struct node *node)
{
    return check_kinds(ctx, node, 0, KINDS_FLOAT) && check_kinds(ctx, node, 1, KINDS_FLOAT) &&
           grid_sample_shape(ctx, node);
}

/* One spatial dimension of x; first and last are its edges. */
struct edges {
    int64_t extent;
    double first, last;
};

static double reflect(const struct edges *edges, double place)
{
    const double range = edges->last - edges->first;
    double beyond;

    if (range <= 0)
        return edges->first;
    beyond = fmod(fabs(place - edges->first), 2 * range);
    return edges->first + (beyond > range ? 2 * range - beyond : beyond);
}

/* The element at i, which may be beyond the edges; -1 = a zero. */
static int64_t element(const struct edges *edges, enum padding padding, int64_t i)
{
    if (i >= 0 && i < edges->extent)
        return i;
    if (padding == ZEROS)
        return -1;
    if (padding == BORDER)
        return i < 0 ? 0 : edges->extent - 1;
    return (int64_t)reflect(edges, (double)i);
}

/* The elements of one dimension that a place is made of. */
struct taps {
    int n;
    int64_t at[MOST_TAPS]; /* -1 = a zero */
    double weight[MOST_TAPS];
};

static double cubic_weight(double x)
{
    const double a = -0.75; /* as in ONNX, which fixes it for this operator */

    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

static struct taps taps_of(const struct edges *edges, enum method method, enum padding padding,
                           double place)
{
    struct taps taps = { .n = 0 };
    int64_t start;

    if (method == NEAREST)
        place = nearbyint(place);
    if (padding == BORDER && method == CUBIC) /* from two elements on, all taps are the border's */
        place = place < -2                            ? -2
                : place > (double)(edges->extent + 1) ? (double)(edges->extent + 1)
                                                      : place;
    else if (padding == BORDER && (place < edges->first || place > edges->last))
        place = place < edges->first ? 0 : (double)(edges->extent - 1);
    if (padding == REFLECTION && (place < edges->first || place > edges->last))
        place = reflect(edges, place);
    if (!(fabs(place) <= (double)(2 * SPATIAL_MOST)))
        return taps;
    taps.n = method == NEAREST ? 1 : method == LINEAR ? 2 : 4;
    start = (int64_t)floor(place) - (method == CUBIC ? 1 : 0);
    for (int k = 0; k < taps.n; k++) {
        const double distance = place - (double)(start + k);

        taps.at[k] = element(edges, padding, start + k);
        taps.weight[k] = method == NEAREST  ? 1
                         : method == LINEAR ? 1 - fabs(distance)
                                            : cubic_weight(distance);
    }
    return taps;
}

/* The weighted sum over all combinations of taps, in three dimensions. */
static double sample(const double *x, const struct taps *taps, const struct edges *edges)
{
    double sum = 0;

    for (int d = 0; d < taps[0].n; d++)
        for (int h = 0; h < taps[1].n; h++)
            for (int w = 0; w < taps[2].n; w++) {
                const int64_t at[] = { taps[0].at[d], taps[1].at[h], taps[2].at[w] };

                if (at[0] >= 0 && at[1] >= 0 && at[2] >= 0)
                    sum += taps[0].weight[d] * taps[1].weight[h] * taps[2].weight[w] *
                           x[(at[0] * edges[1].extent + at[1]) * edges[2].extent + at[2]];
            }
    return sum;
}

/* A coordinate of the grid as a place in x. */
static double place_of(const struct edges *edges, bool align_corners, double coordinate)
{
    if (align_corners)
        return (coordinate + 1) / 2 * (double)(edges->extent - 1);
    return ((coordinate + 1) * (double)edges->extent - 1) / 2;
}

static void set_edges(struct edges *edges, const struct type *x, bool align_corners)
{
    const int missing = MAX_SPATIAL - (x->rank - 2);
    const double border = align_corners ? 0 : 0.5;

    for (int i = 0; i < MAX_SPATIAL; i++) {
        edges[i].extent = i < missing ? 1 : x->dim[2 + i - missing];
        edges[i].first = -border;
        edges[i].last = (double)(edges[i].extent - 1) + border;
    }
}

bool eval_grid_sample(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    const struct grid_sample_attrs *attrs = &node->attrs.grid_sample;
    const enum method method = (enum method)word_index(attrs->method, method_words, N_METHODS);
    const enum padding padding =
        (enum padding)word_index(attrs->padding_mode, padding_words, N_PADDINGS);
    const struct type *x_type = &in[0]->type, *y_type = &out->type;
    const int rank = x_type->rank - 2;
    const int64_t channels = x_type->dim[1], n_places = type_span(y_type, 2, y_type->rank);
    const int64_t plane = type_span(x_type, 2, x_type->rank);
    struct bulk bulk = { NULL, 0 };
    const double *x = doubles_of(&bulk, in[0]), *grid = doubles_of(&bulk, in[1]);
    struct edges edges[MAX_SPATIAL];

    (void)ctx;
    set_edges(edges, x_type, attrs->align_corners);
    for (int64_t i = 0; i < y_type->dim[0] * n_places; i++) {
        struct taps taps[MAX_SPATIAL];

        for (int d = 0; d < MAX_SPATIAL; d++)
            taps[d] = (struct taps){ .n = 1, .weight = { 1 } };
        for (int d = MAX_SPATIAL - rank; d < MAX_SPATIAL; d++)
            taps[d] = taps_of(
                &edges[d], method, padding,
                place_of(&edges[d], attrs->align_corners, grid[i * rank + MAX_SPATIAL - 1 - d]));
        for (int64_t c = 0; c < channels; c++) {
            const int64_t image = i / n_places * channels + c;

            dtype_store(y_type->dtype, out->data, image * n_places + i % n_places,
                        sample(x + image * plane, taps, edges));
        }
    }
    bulk_release(&bulk);
    return true;
}
