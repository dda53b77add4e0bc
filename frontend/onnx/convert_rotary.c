/* convert_rotary.c - RotaryEmbedding: pairs of numbers of a head, turned by the angle of the
 * position.
 *
 * (x1, x2) becomes (cos * x1 - sin * x2, sin * x1 + cos * x2), by products and sums. Pairs are the
 * halves of what is turned, or neighbours; what is behind it stays. */
#include "frontend/onnx/convert_helpers.h"

struct rotary {
    struct onnx_node *node;
    struct value *places; /* rows of the tables; NULL = tables have a row for each position */
    int cosines, sines;   /* inputs with the tables */
    int64_t turned;   /* numbers of a head */
    bool interleaved; /* pairs are neighbours */
    bool flat;        /* x is [batch, sequence, heads * size] */
};

/* `size` numbers of the last dim of x. */
static struct value *last_of(struct onnx_node *node, struct value *x, int64_t begin, int64_t stride,
                             int64_t size, const char *suffix)
{
    const int last = x->type.rank - 1;
    union attrs attrs = { .slice = { .begin = ints_fill(x->type.rank, 0),
                                     .strides = ints_fill(x->type.rank, 1),
                                     .size = ints_of_shape(&x->type) } };

    if (begin == 0 && stride == 1 && size == x->type.dim[last])
        return x;
    attrs.slice.begin.at[last] = begin;
    attrs.slice.strides.at[last] = stride;
    attrs.slice.size.at[last] = size;
    return onnx_build1(node, OP_STRIDED_SLICE, &attrs, suffix, x);
}

/* Cosines or sines of all positions, one for each pair, that heads share. */
static struct value *factors(struct rotary *r, int input, const char *suffix)
{
    static const union attrs rows = { .axis = { .axis = 0 } };
    struct onnx_node *node = r->node;
    struct value *cache = onnx_input(node, input), *places = r->places;
    struct ints shape = { .n = 4 };

    if (!onnx_check_rank(node, input, places ? 2 : 3, places ? 2 : 3))
        return NULL;
    if (cache->type.dim[cache->type.rank - 1] < r->turned / 2) {
        diag_error(node->ctx, DIAG_SHAPE, node->origin,
                   "input %d has shape %s, wanted %lld numbers for each position", input,
                   shape_text(&node->ctx->perm, &cache->type), (long long)r->turned / 2);
        return NULL;
    }
    if (places)
        cache = onnx_build2(node, OP_TAKE, &rows, suffix, cache, places);
    cache = cache ? last_of(node, cache, 0, 1, r->turned / 2, suffix) : NULL;
    if (!cache)
        return NULL;
    shape.at[0] = cache->type.dim[0];
    shape.at[r->flat ? 1 : 2] = cache->type.dim[1];
    shape.at[r->flat ? 2 : 1] = 1;
    shape.at[3] = r->turned / 2;
    return reshape_to(node, cache, &shape, suffix);
}

/* Two rows of numbers with those of the second between those of the first. */
static struct value *interleave(struct onnx_node *node, struct value *a, struct value *b)
{
    struct ints pair = { .n = 5 }, joined = { .n = 4 };

    if (!a || !b)
        return NULL;
    for (int i = 0; i < 4; i++)
        pair.at[i] = joined.at[i] = a->type.dim[i];
    pair.at[4] = 1;
    joined.at[3] *= 2;
    return reshape_to(node,
                      concat_with(node, 4, reshape_to(node, a, &pair, "even"),
                                  reshape_to(node, b, &pair, "odd"), "pairs"),
                      &joined, "interleaved");
}

static struct value *turn(struct rotary *r, struct value *x)
{
    struct onnx_node *node = r->node;
    const int64_t half = r->turned / 2, size = x->type.dim[3];
    struct value *cosine = factors(r, r->cosines, "cos"), *sine = factors(r, r->sines, "sin"),
                 *real, *imaginary, *y, *x1, *x2;

    if (!cosine || !sine)
        return NULL;
    x1 = last_of(node, x, 0, r->interleaved ? 2 : 1, half, "x1");
    x2 = last_of(node, x, r->interleaved ? 1 : half, r->interleaved ? 2 : 1, half, "x2");
    real = apply2(node, OP_SUBTRACT, "real", apply2(node, OP_MULTIPLY, "cos_x1", cosine, x1),
                  apply2(node, OP_MULTIPLY, "sin_x2", sine, x2));
    imaginary = apply2(node, OP_ADD, "imaginary", apply2(node, OP_MULTIPLY, "sin_x1", sine, x1),
                       apply2(node, OP_MULTIPLY, "cos_x2", cosine, x2));
    y = r->interleaved ? interleave(node, real, imaginary)
                       : concat_with(node, 3, real, imaginary, "turned");
    if (!y || r->turned == size)
        return y;
    return concat_with(node, 3, y, last_of(node, x, r->turned, 1, size - r->turned, "rest"),
                       "whole");
}

/* com.microsoft's positions: those of all, or the first one of each row. */
static struct value *given_places(struct onnx_node *node, struct value *x)
{
    struct value *places = onnx_input(node, 1);
    const int64_t length = x->type.dim[x->type.rank == 3 ? 1 : 2];
    const struct ints all = { 2, { x->type.dim[0], length } };
    const union attrs attrs = { .shape = { .shape = all } };
    int64_t *steps;

    if (!onnx_check_rank(node, 1, 1, 2) || places->type.rank == 2)
        return places->type.rank == 2 ? places : NULL;
    if (places->type.dim[0] != 1) {
        onnx_unsupported(node, "input 1 has shape %s, wanted one number, or one for each position",
                         shape_text(&node->ctx->perm, &places->type));
        return NULL;
    }
    if (!onnx_granted(node, DTYPE_I64, (double)length))
        return NULL;
    steps = arena_array(&node->ctx->scratch, int64_t, length);
    for (int64_t i = 0; i < length; i++)
        steps[i] = i;
    places = apply2(node, OP_ADD, "places", cast_to(node, places, DTYPE_I64, "first"),
                    onnx_from_ints(node, steps, length, "steps"));
    return places ? onnx_build1(node, OP_BROADCAST_TO, &attrs, "places", places) : NULL;
}

/* Of ai.onnx: x, cosines, sines, positions. Of com.microsoft (arg 1): x, positions, cosines, sines. */
bool convert_rotary_embedding(struct onnx_node *node)
{
    struct rotary r = { .node = node,
                        .cosines = node->arg ? 2 : 1,
                        .sines = node->arg ? 3 : 2,
                        .interleaved = onnx_int(node, "interleaved", 0) != 0 };
    struct value *x = onnx_input(node, 0), *y = x;
    struct ints shape, heads;
    int64_t n_heads = onnx_int(node, "num_heads", 0);

    if (!onnx_check_inputs(node, node->arg ? 4 : 3, 4) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 3, 4) ||
        !onnx_check_kind(node, node->arg ? 1 : 3, TAKES_INTEGER) ||
        (!node->arg && !onnx_check_rank(node, 3, 2, 2)) || !onnx_ok(node))
        return false;
    if (node->arg && (onnx_real(node, "scale", 1) != 1 || onnx_int(node, "is_packed_batching", 0)))
        return onnx_unsupported(node, "attributes scale and is_packed_batching are not supported");
    r.places = node->arg ? given_places(node, x) : onnx_input(node, 3);
    if (node->arg && !r.places)
        return false;
    shape = ints_of_shape(&x->type);
    r.flat = x->type.rank == 3;
    if (r.flat) {
        if (node->arg && !n_heads && onnx_input(node, 2)->type.rank == 2 &&
            onnx_input(node, 2)->type.dim[1] > 0) /* a table has half as many numbers as a head */
            n_heads = shape.at[2] / (2 * onnx_input(node, 2)->type.dim[1]);
        if (n_heads < 1 || shape.at[2] % n_heads != 0)
            return bad_attribute(node, "attribute num_heads is %lld, wanted a divisor of %lld",
                                 (long long)n_heads, (long long)shape.at[2]);
        heads = (struct ints){ 4, { shape.at[0], shape.at[1], n_heads, shape.at[2] / n_heads } };
        y = reshape_to(node, x, &heads, "heads");
        if (!y)
            return false;
    }
    r.turned = onnx_int(node, "rotary_embedding_dim", 0);
    if (r.turned == 0)
        r.turned = y->type.dim[3];
    if (r.turned < 2 || r.turned % 2 != 0 || r.turned > y->type.dim[3])
        return bad_attribute(node, "%lld values of %lld are rotated, wanted an even number",
                             (long long)r.turned, (long long)y->type.dim[3]);
    return onnx_output(node, 0, reshape_to(node, turn(&r, y), &shape, ""));
}
