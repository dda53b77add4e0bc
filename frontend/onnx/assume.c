/* assume.c - the numbers that give a result its declared shape, operator by operator. What comes of
 * them is checked by the converter, which is asked for them next; here it is enough to find them. */
#include "frontend/onnx/assume.h"

#include <string.h>

#include "frontend/onnx/convert_helpers.h"
#include "relay_ir/ops/run_time.h"

/* Number i is `number`, and nothing else. */
static void assume_number(struct assumption *out, int i, int64_t number)
{
    out->ways = out->ways ? out->ways : 1;
    out->numbers.at[i] = number;
    out->numbers.n = i + 1;
    for (int way = 0; way < MAX_WAYS; way++)
        out->allowed[i][way] = number;
}

/* It may be this as well. */
static void assume_also(struct assumption *out, int i, int way, int64_t number)
{
    out->allowed[i][way] = number;
    out->ways = out->ways > way + 1 ? out->ways : way + 1;
}

static bool add_set(struct assumption *out, int64_t set)
{
    if (out->n_sets == MAX_SETS)
        return false;
    out->sets[out->n_sets++] = set;
    return true;
}

static int set_size(int64_t set)
{
    return __builtin_popcountll((unsigned long long)set);
}

/* The numbers of a shape, in its order. */
bool assume_shape(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    (void)node;
    for (int i = 0; i < n && n == y->rank; i++)
        assume_number(out, i, y->dim[i]);
    return n == y->rank;
}

/* Those of the axes in the attribute `axes`. Sizes of Resize that are not meant as they are say what the scale is. */
bool assume_axes_of_shape(struct onnx_node *node, const struct type *y, int n,
                          struct assumption *out)
{
    struct ints axes = onnx_ints(node, "axes");

    out->left = strcmp(onnx_word(node, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0;
    if (out->left)
        return true;
    if (!onnx_has(node, "axes"))
        return assume_shape(node, y, n, out);
    for (int i = 0; i < axes.n && axes.n == n; i++) {
        const int64_t axis = axes.at[i] < 0 ? axes.at[i] + y->rank : axes.at[i];

        if (axis < 0 || axis >= y->rank)
            return false;
        assume_number(out, i, y->dim[axis]);
    }
    return axes.n == n;
}

/* N, C, H, W (or N, C, D, H, W) of a grid (N, H, W, 2), from which C is unknown. */
bool assume_affine_grid(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    (void)node;
    if (n != y->rank || n < 4)
        return false;
    assume_number(out, 0, y->dim[0]);
    assume_number(out, 1, ANY_NUMBER);
    out->numbers.at[1] = 1;
    for (int i = 2; i < n; i++)
        assume_number(out, i, y->dim[i - 1]);
    return true;
}

bool assume_reshape(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    const struct type *x = &onnx_input(node, 0)->type;
    const bool copies = onnx_int(node, "allowzero", 0) == 0;

    out->mode = "shape";
    for (int i = 0; i < n && n == y->rank; i++) {
        assume_number(out, i, y->dim[i]);
        assume_also(out, i, 1, -1);
        if (copies && i < x->rank && x->dim[i] == y->dim[i])
            assume_also(out, i, 2, 0);
    }
    return n == y->rank;
}

bool assume_expand(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    const struct type *x = &onnx_input(node, 0)->type;

    for (int i = 0; i < n && n <= y->rank; i++) {
        const int k = i + y->rank - n, of_x = k - (y->rank - x->rank);

        assume_number(out, i, y->dim[k]);
        if (of_x >= 0 && of_x < x->rank && x->dim[of_x] == y->dim[k])
            assume_also(out, i, 1, 1);
    }
    return n <= y->rank;
}

bool assume_tile(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    const struct type *x = &onnx_input(node, 0)->type;

    if (n != x->rank || n != y->rank)
        return false;
    for (int i = 0; i < n; i++) {
        if (x->dim[i] ? y->dim[i] % x->dim[i] != 0 : y->dim[i] != 0)
            return false;
        assume_number(out, i, x->dim[i] ? y->dim[i] / x->dim[i] : ANY_NUMBER);
        if (!x->dim[i])
            out->numbers.at[i] = 1;
    }
    return true;
}

bool assume_split(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    const int rank = onnx_input(node, 0)->type.rank;
    int64_t axis = onnx_int(node, "axis", 0);

    axis = axis < 0 ? axis + rank : axis;
    for (int i = 0; i < n && n == node->n_outputs; i++) {
        if (y[i].rank != rank || axis < 0 || axis >= rank)
            return false;
        assume_number(out, i, y[i].dim[axis]);
    }
    return n == node->n_outputs;
}

/* One number: the extent of the result along the attribute `axis`. */
static bool assume_extent(struct onnx_node *node, const struct type *y, int n,
                          struct assumption *out)
{
    const int64_t given = onnx_int(node, "axis", -1), axis = given < 0 ? given + y->rank : given;

    if (n != 1 || axis < 0 || axis >= y->rank)
        return false;
    assume_number(out, 0, y->dim[axis]);
    return true;
}

bool assume_depth(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    return assume_extent(node, y, n, out);
}

bool assume_top_k(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    return assume_extent(node, node->n_outputs && *node->output_names[0] ? y : &y[1], n, out);
}

/* --- Col2Im -----------------------------------------------------------------------------------
 * The shape of the image stands behind batch and channels. */
bool assume_image(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    (void)node;
    for (int i = 0; i < n && n == y->rank - 2; i++)
        assume_number(out, i, y->dim[i + 2]);
    return n == y->rank - 2;
}

/* How many places a block has along a dim of the image; 0 = it does not fit. */
static int64_t block_places(struct onnx_node *node, const struct type *y, int n, int i,
                            int64_t block)
{
    const struct ints strides = onnx_ints(node, "strides"), pads = onnx_ints(node, "pads");
    const struct ints dilations = onnx_ints(node, "dilations");
    const int64_t stride = i < strides.n ? strides.at[i] : 1;
    const int64_t dilation = i < dilations.n ? dilations.at[i] : 1;
    const int64_t padding = pads.n == 2 * n ? pads.at[i] + pads.at[n + i] : 0;
    const int64_t room = y->dim[i + 2] + padding - dilation * (block - 1) - 1;

    return stride < 1 || dilation < 1 || room < 0 ? 0 : room / stride + 1;
}

/* Blocks of up to `most` elements that fill the columns (N, channels * elements, places); *n_found of
 * them. */
static void find_blocks(struct onnx_node *node, const struct type *y, int n, int i,
                        int64_t elements, int64_t places, struct ints *block, struct ints *found,
                        int *n_found)
{
    if (i == n) {
        if (elements == 1 && places == 1 && (*n_found)++ == 0)
            *found = *block;
        return;
    }
    for (int64_t extent = 1; extent <= elements && *n_found < 2; extent++) {
        const int64_t here = block_places(node, y, n, i, extent);

        if (here == 0)
            return;
        if (elements % extent != 0 || places % here != 0)
            continue;
        block->at[i] = extent;
        find_blocks(node, y, n, i + 1, elements / extent, places / here, block, found, n_found);
    }
}

/* The only block that gives as many columns of as many elements. */
bool assume_block(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    const struct type *x = &onnx_input(node, 0)->type;
    struct ints block = { .n = n }, found = { .n = 0 };
    int n_found = 0;

    if (n < 1 || n != y->rank - 2 || x->rank != 3 || y->dim[1] < 1 || x->dim[1] % y->dim[1] != 0)
        return false;
    find_blocks(node, y, n, 0, x->dim[1] / y->dim[1], x->dim[2], &block, &found, &n_found);
    for (int i = 0; i < n && n_found == 1; i++)
        assume_number(out, i, found.at[i]);
    return n_found == 1;
}

/* --- axes ------------------------------------------------------------------------------------- */

/* Whether a tensor of shape x without these axes (or with extents of 1 there) has the shape y. */
static bool gives_without(const struct type *x, int64_t set, bool keeps, const struct type *y)
{
    int at = 0;

    for (int i = 0; i < x->rank; i++) {
        const bool gone = set >> i & 1;

        if (gone && !keeps)
            continue;
        if (at == y->rank || y->dim[at++] != (gone ? 1 : x->dim[i]))
            return false;
    }
    return at == y->rank;
}

/* Sets of n axes of x, without which it has the shape y. */
static bool assume_axes(const struct type *x, const struct type *y, int n, bool keeps, bool of_one,
                        struct assumption *out)
{
    out->mode = "axes";
    out->rank = x->rank;
    out->same = of_one;
    for (int64_t set = 0; set < (int64_t)1 << x->rank; set++) {
        bool fits = set_size(set) == n && gives_without(x, set, keeps, y);

        for (int i = 0; i < x->rank && of_one; i++)
            fits = fits && (!(set >> i & 1) || x->dim[i] == 1);
        if (fits && !add_set(out, set))
            return false;
    }
    return out->n_sets > 0;
}

bool assume_reduced(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    return assume_axes(&onnx_input(node, 0)->type, y, n, onnx_int(node, "keepdims", 1) != 0, false,
                       out);
}

bool assume_squeezed(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    return assume_axes(&onnx_input(node, 0)->type, y, n, false, true, out);
}

/* The axes are those of the result. */
bool assume_unsqueezed(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    return assume_axes(y, &onnx_input(node, 0)->type, n, false, true, out);
}

bool assume_any_axis(struct onnx_node *node, const struct type *y, int n, struct assumption *out)
{
    (void)node;
    out->mode = "axes";
    out->rank = y->rank;
    for (int i = 0; i < y->rank && n == 1; i++)
        if (!add_set(out, (int64_t)1 << i))
            return false;
    return out->n_sets > 0;
}
