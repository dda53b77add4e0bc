/* exact_affine.c - FP8 numbers that are multiplied by constants, and constants that are added to
 * them, along any axes: batch norms that stand alone, embeddings of positions.
 *
 * y = m * x + b, of doubles, is multiplied by whole numbers k of 31 bits: k * (steps of x) + b in
 * units, exact in 64 bits, rounded once by qnn.requantize. All k have one unit, so that the smaller
 * ones have fewer bits. */
#include <math.h>

#include "relay_ir/interpret.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/walk.h"

enum { MAX_STEPS = 8, BITS = 30 };

/* What is added stays below 2^63 with all products. */
static const double most = 0x1p58;

struct affine_map {
    struct small in, out;
    const struct node *decoder;
    int n_steps;
    const struct node *steps[MAX_STEPS]; /* the last one first */
    struct type shape;                   /* of m and b: that of x, or 1 */
    double *m, *b;
};

/* Which input of the node is a constant; -1: none, or it does something else. */
static int known_side(const struct node *node)
{
    switch (node->op) {
    case OP_BIAS_ADD:
    case OP_DIVIDE: return node->inputs[1]->kind == VALUE_CONSTANT ? 1 : -1;
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
        return node->inputs[1]->kind == VALUE_CONSTANT   ? 1
               : node->inputs[0]->kind == VALUE_CONSTANT ? 0
                                                         : -1;
    default: return -1;
    }
}

/* From what is encoded back to what decodes. */
static bool find_steps(struct rewrite *rewrite, const struct value *value, struct affine_map *map)
{
    map->decoder = decoder_of(rewrite, value, &map->in);
    while (!map->decoder) {
        const struct node *node = value->def;
        const int side = node ? known_side(node) : -1;

        if (side < 0 || map->n_steps == MAX_STEPS)
            return false;
        map->steps[map->n_steps++] = node;
        value = node->inputs[1 - side];
        map->decoder = decoder_of(rewrite, value, &map->in);
        if (!type_same_shape(&value->type, &node->outputs[0]->type) ||
            (!map->decoder && !read_once(value, node)))
            return false;
    }
    return map->n_steps > 0;
}

/* m * x + b behind one step; c is the constant's number. */
static void apply(const struct node *node, int side, double c, double *m, double *b)
{
    switch (node->op) {
    case OP_MULTIPLY:
        *m *= c;
        *b *= c;
        break;
    case OP_DIVIDE:
        *m /= c;
        *b /= c;
        break;
    case OP_SUBTRACT:
        *m *= side == 1 ? 1 : -1;
        *b = side == 1 ? *b - c : c - *b;
        break;
    default: *b += c; break;
    }
}

/* The constant's shape as it lies over x. */
static struct type shape_over(const struct node *node, const struct type *constant)
{
    struct type shape = *constant;

    if (node->op == OP_BIAS_ADD) {
        shape.rank = node->outputs[0]->type.rank - (int)node->attrs.axis.axis;
        for (int i = 1; i < shape.rank; i++)
            shape.dim[i] = 1;
    }
    return shape;
}

static bool apply_step(struct rewrite *rewrite, struct affine_map *map, const struct node *node)
{
    const int side = known_side(node);
    const struct value *constant = node->inputs[side];
    const struct type over = shape_over(node, &constant->type), from = map->shape;
    const double *m = map->m, *b = map->b;
    struct tensor tensor;
    struct walk walk;
    int64_t n;

    if (constant->type.dtype != DTYPE_F32 || !shape_broadcast(&from, &over, &map->shape))
        return false;
    map->shape.dtype = DTYPE_I64;
    tensor = value_tensor(constant);
    n = type_elements(&map->shape);
    walk = walk_begin(map->shape.rank, map->shape.dim);
    walk_add_broadcast(&walk, &from);
    walk_add_broadcast(&walk, &over);
    map->m = arena_array(&rewrite->ctx->scratch, double, (size_t)n);
    map->b = arena_array(&rewrite->ctx->scratch, double, (size_t)n);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        map->m[i] = m[walk.offset[0]];
        map->b[i] = b[walk.offset[0]];
        apply(node, side, tensor_at(&tensor, walk.offset[1]), &map->m[i], &map->b[i]);
        if (!isfinite(map->m[i]) || isnan(map->b[i]))
            return false;
    }
    return true;
}

static bool find_numbers(struct rewrite *rewrite, struct affine_map *map)
{
    map->shape = type_scalar(DTYPE_I64);
    map->m = arena_array(&rewrite->ctx->scratch, double, 1);
    map->b = arena_array(&rewrite->ctx->scratch, double, 1);
    map->m[0] = 1;
    for (int i = map->n_steps - 1; i >= 0; i--)
        if (!apply_step(rewrite, map, map->steps[i]))
            return false;
    return true;
}

static double least_step(const struct small *small)
{
    return ldexp(small->scale, exact_unit(small->format));
}

/* The unit in which the greatest factor has 31 bits; 0 where it is too great a part of the result's
 * least step. */
static double unit_of(const struct affine_map *map)
{
    double greatest = 0, unit;

    for (int64_t i = 0; i < type_elements(&map->shape); i++)
        greatest = fmax(greatest, fabs(map->m[i]));
    unit = (double)(float)ldexp(least_step(&map->in) * greatest, -BITS);
    return unit >= 0x1p-126 && unit <= ldexp(least_step(&map->out), -5) ? unit : 0;
}

/* k and b as constants of i64. False where a small factor would lose more than 2^-11 of itself and
 * that is seen, or a number is too great; one that makes the greatest number of the result of all
 * (a mask adds -infinity) may be any such. */
static bool whole_numbers(struct rewrite *rewrite, const struct affine_map *map, double unit,
                          struct value *constants[2])
{
    const double step = least_step(&map->in), reach = (double)exact_greatest(map->in.format);
    const bool all_fine = reach * unit <= ldexp(least_step(&map->out), -5);
    const bool most_is_beyond =
        most / 2 * unit >= (double)exact_greatest(map->out.format) * least_step(&map->out);
    int64_t *k = constant_alloc(rewrite->fn, &map->shape);
    int64_t *b = constant_alloc(rewrite->fn, &map->shape);
    bool moves = false;

    for (int64_t i = 0; i < type_elements(&map->shape); i++) {
        const double factor = rint(map->m[i] * step / unit), b_i = rint(map->b[i] / unit);
        const double moved = most_is_beyond ? fmax(fmin(b_i, most), -most) : b_i;

        if (!(fabs(moved) <= most) || (map->m[i] != 0 && fabs(factor) < 1024 && !all_fine))
            return false;
        k[i] = (int64_t)factor;
        b[i] = (int64_t)moved;
        moves = moves || b[i] != 0;
    }
    constants[0] =
        constant_new(rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.factor", rewrite->name),
                     &map->shape, k);
    constants[1] =
        moves ? constant_new(rewrite->fn,
                             arena_printf(&rewrite->ctx->scratch, "%s.shift", rewrite->name),
                             &map->shape, b)
              : NULL;
    return true;
}

/* encode(decode(x) with constants added, subtracted, multiplied, divided by) ->
 * qnn.requantize(steps of x * k + b) */
struct value *exact_affine(struct rewrite *rewrite, struct node *root)
{
    const union attrs attrs = { .requantize = { .rounding = "single" } };
    struct affine_map map = { .n_steps = 0 };
    struct exact_behind behind;
    struct value *constants[2], *y;
    double unit;

    if (!exact_find_behind(rewrite, root, &behind) || type_elements(&root->outputs[0]->type) == 0 ||
        !find_steps(rewrite, behind.value, &map))
        return NULL;
    map.out = behind.out;
    unit = find_numbers(rewrite, &map) ? unit_of(&map) : 0;
    if (unit == 0 || !whole_numbers(rewrite, &map, unit, constants))
        return NULL;
    rule_covers(rewrite, map.decoder);
    for (int i = 0; i < map.n_steps; i++)
        rule_covers(rewrite, map.steps[i]);
    y = exact_numbers_of(rewrite, map.decoder->inputs[0], &map.in, least_step(&map.in));
    y = rule_build2(rewrite, OP_MULTIPLY, NULL, y, constants[0]);
    if (constants[1])
        y = rule_build2(rewrite, OP_ADD, NULL, y, constants[1]);
    y = rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5,
                   (struct value *[]){ y, scale_operand(rewrite, unit),
                                       zero_operand(rewrite, map.out.dtype),
                                       scale_operand(rewrite, map.out.scale),
                                       zero_operand(rewrite, map.out.dtype) });
    return exact_bounded(rewrite, &behind, root, y);
}
