/* convert_wide.c - sums of products of 16-bit quantised values with 8-bit weights: 64 bits, times a factor of 16
 * bits, shifted down, to nearest, ties up. */
#include <stdlib.h>

#include "frontend/tflite/convert_compose.h"
#include "frontend/tflite/convert_quant.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/walk.h"

/* The upper 16 bits of a factor, to nearest. */
static int64_t reduced(struct fixed_point factor)
{
    return factor.multiplier < 0x7fff0000 ? (factor.multiplier + (1 << 15)) >> 16 : 0x7fff;
}

/* True if no sum of products exceeds 31 bits. The weights' channels are dimension w_axis of the file's. */
static bool fit_32_bits(const struct tensor *w, int w_axis)
{
    const int64_t n = w->type.dim[w_axis], inner = type_span(&w->type, w_axis + 1, w->type.rank);
    const int64_t elements = type_elements(&w->type);
    int64_t most = 0;

    for (int64_t channel = 0; channel < n; channel++) {
        int64_t sum = 0;

        for (int64_t i = channel * inner; i < elements; i += n * inner)
            for (int64_t k = i; k < i + inner; k++)
                sum += llabs((long long)((const int8_t *)w->data)[k]);
        most = sum > most ? sum : most;
    }
    return most < 65536;
}

/* Sums that may be too large: those of the values' upper and lower bytes, which are not. */
static struct value *sums_of_bytes(struct tfl_node *node, const struct tfl_product *product)
{
    struct value *const x = product->x;
    struct value *upper = tfl_cast(
        node, DTYPE_I8, "upper",
        tfl_two(node, OP_RIGHT_SHIFT, "shifted", x, tfl_number(node, DTYPE_I16, 8, "bits")));
    struct value *lower = tfl_cast(
        node, DTYPE_U8, "lower",
        tfl_two(node, OP_BITWISE_AND, "masked", x, tfl_number(node, DTYPE_I16, 255, "mask")));

    upper = tfl_cast(node, DTYPE_I64, "upper_wide", tfl_sums(node, product, upper, 0));
    lower = tfl_cast(node, DTYPE_I64, "lower_wide", tfl_sums(node, product, lower, 0));
    return tfl_two(
        node, OP_ADD, "wide",
        tfl_two(node, OP_MULTIPLY, "raised", upper, tfl_number(node, DTYPE_I64, 256, "unit")),
        lower);
}

/* What stands beside the sums of a channel: a factor, what is added then, and a shift. */
struct lines {
    int64_t *factor, *added, *shift;
};

static bool fill_lines(struct tfl_node *node, const struct tfl_product *product, int bias,
                       int64_t n, struct lines *lines)
{
    struct tensor b = { .data = NULL };

    if (node->n_inputs > bias &&
        (!tfl_check_type(node, node->inputs[bias], DTYPE_I64) || !tfl_constant(node, bias, &b)))
        return false;
    if (b.data && type_elements(&b.type) != product->n)
        return tfl_unsupported(node, "a bias of %s for %lld channels",
                               type_text(&node->ctx->perm, &b.type), (long long)product->n);
    for (int64_t i = 0; i < n; i++) {
        const struct fixed_point factor =
            fixed_point_of(tfl_scale_of_sums(node, product, i) / tfl_scale(node->outputs[0], 0));
        const int64_t added = b.data ? tensor_int_at(&b, i % product->n) : 0;

        if (factor.shift > 7 || added >= (int64_t)1 << 47 || added < -((int64_t)1 << 47))
            return tfl_unsupported(node,
                                   "a factor of 2^%d and a bias of %lld, expected less than "
                                   "2^7 and 2^47",
                                   factor.shift, (long long)added);
        lines->factor[i] = reduced(factor);
        lines->shift[i] = 15 - factor.shift;
        lines->added[i] = added * lines->factor[i] + ((int64_t)1 << (14 - factor.shift));
    }
    return true;
}

static struct value *line(struct tfl_node *node, const struct tfl_product *product, int64_t n,
                          const int64_t *at, const char *suffix)
{
    struct type type = type_make(DTYPE_I64, 1, &n);

    if (product->axis == 1 && product->x->type.rank == 4) { /* channels first */
        type.rank = 3;
        type.dim[1] = type.dim[2] = 1;
    }
    return tfl_integers(node, &type, at, suffix);
}

struct value *tfl_wide_product(struct tfl_node *node, const struct tfl_product *product, int bias)
{
    const union attrs bounds = { .clip = { .a_min = INT16_MIN, .a_max = INT16_MAX } };
    const int64_t n = product->n * (product->times ? product->times : 1);
    struct arena *arena = &node->ctx->perm;
    struct lines lines = { .factor = arena_array(arena, int64_t, n),
                           .added = arena_array(arena, int64_t, n),
                           .shift = arena_array(arena, int64_t, n) };
    struct tensor w;
    struct value *y;

    if (!tfl_constant(node, 1, &w) || !fill_lines(node, product, bias, n, &lines))
        return NULL;
    y = fit_32_bits(&w, product->w_axis)
            ? tfl_cast(node, DTYPE_I64, "wide", tfl_sums(node, product, product->x, 0))
            : sums_of_bytes(node, product);
    y = tfl_two(node, OP_MULTIPLY, "scaled", y, line(node, product, n, lines.factor, "factors"));
    y = tfl_two(node, OP_ADD, "added", y, line(node, product, n, lines.added, "added_to_sums"));
    y = tfl_two(node, OP_RIGHT_SHIFT, "shifted_down", y,
                line(node, product, n, lines.shift, "shifts"));
    y = y ? tfl_build1(node, OP_CLIP, &bounds, "saturated", y) : NULL;
    return tfl_cast(node, DTYPE_I16, "codes", y);
}
