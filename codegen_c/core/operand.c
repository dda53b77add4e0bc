/* operand.c - see operand.h. */
#include "codegen_c/core/operand.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/kernel.h"

struct operand operand_make(const struct type *type, int64_t pixel_stride)
{
    struct operand operand = { .rank = type->rank };
    int64_t step = 1;

    operand.pixel_step = type->rank ? type->dim[type->rank - 1] : 1;
    operand.apart = pixel_stride && pixel_stride != operand.pixel_step;
    if (operand.apart)
        operand.pixel_step = pixel_stride;
    for (int i = type->rank - 1; i >= 0; i--) {
        operand.dim[i] = type->dim[i];
        operand.step[i] = step;
        step *= i == type->rank - 1 ? operand.pixel_step : type->dim[i];
    }
    return operand;
}

struct operand operand_of(const struct region *region, const struct value *value)
{
    return value->kind == VALUE_PARAM && region->place.operands
               ? region->place.operands[value->index]
               : operand_make(&value->type, 0);
}

struct operand operand_result(const struct region *region, int i)
{
    return region->place.result_operands ? region->place.result_operands[i]
                                         : operand_make(&region->fn->ret->inputs[i]->type, 0);
}

struct operand operand_input(const struct region *region, int i)
{
    return operand_of(region, anchor_source(region, i));
}

bool operand_is_same_map(const struct operand *a, const struct operand *b)
{
    if (a->rank != b->rank || a->plane_rows != b->plane_rows)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i] || (a->dim[i] > 1 && a->step[i] != b->step[i]))
            return false;
    return true;
}

bool operand_is_dense(const struct operand *operand)
{
    int64_t step = 1;

    for (int i = operand->rank - 1; i >= 0; i--) {
        if (operand->dim[i] > 1 && operand->step[i] != step)
            return false;
        step *= operand->dim[i];
    }
    return true;
}

static bool has_shape(const struct operand *operand, const struct type *type)
{
    if (operand->rank != type->rank)
        return false;
    for (int i = 0; i < type->rank; i++)
        if (operand->dim[i] != type->dim[i])
            return false;
    return true;
}

enum operand_beside operand_beside(const struct operand *operand, const struct type *result)
{
    const int last = operand->rank - 1;

    if (has_shape(operand, result))
        return operand->apart ? OPERAND_PIXELS : OPERAND_ALONG;
    for (int i = 0; i < last; i++)
        if (operand->dim[i] != 1)
            return OPERAND_BROADCAST;
    return last >= 0 && operand->dim[last] == result->dim[result->rank - 1] ? OPERAND_CHANNEL
                                                                            : OPERAND_BROADCAST;
}

bool expression_is_primary(const char *expression)
{
    int depth = 0;

    for (const char *c = expression; *c; c++) {
        depth += (*c == '[' || *c == '(') - (*c == ']' || *c == ')');
        if (depth == 0 && !isalnum((unsigned char)*c) && !strchr("_.])", *c))
            return false;
    }
    return true;
}

const char *expression_in_parentheses(struct arena *arena, const char *expression)
{
    return expression_is_primary(expression) ? expression : arena_printf(arena, "(%s)", expression);
}

static const char *times(struct arena *arena, const char *text, int64_t n)
{
    return n == 1 ? text
                  : arena_printf(arena, "%s * %" PRId64, expression_in_parentheses(arena, text), n);
}

/* Coordinates shared by several dims count through all of them: these must be contiguous. */
static void check_common_dims(const struct operand *operand, int first, int last)
{
    for (int i = first; i < last; i++)
        assert(operand->dim[i] == 1 || operand->dim[i + 1] == 1 ||
               operand->step[i] == operand->step[i + 1] * operand->dim[i + 1]);
}

/* The index as a sum of coordinates times strides. */
static const char *sum_of_steps(struct arena *arena, const struct operand *operand,
                                const struct position *at)
{
    const char *index = NULL;
    int64_t extent = 1; /* extent of the dims that share the next coordinate */

    for (int i = 0, first = 0; i < operand->rank; i++) {
        const char *coord = at->coord[at->rank - operand->rank + i], *term;

        extent *= operand->dim[i];
        if (!coord)
            continue;
        check_common_dims(operand, first, i);
        first = i + 1;
        if (extent > 1) {
            term = times(arena, coord, operand->step[i]);
            index = index ? arena_printf(arena, "%s + %s", index, term) : term;
        }
        extent = 1;
    }
    return index ? index : "0";
}

/* The index of a contiguous operand: ((i * J + j) * K + k. */
static const char *row_major_index(struct arena *arena, const struct operand *operand,
                                   const struct position *at)
{
    const char *index = NULL;
    int64_t extent = 1;

    for (int i = 0; i < operand->rank; i++) {
        const char *coord = at->coord[at->rank - operand->rank + i];

        extent *= operand->dim[i];
        if (!coord || extent == 1)
            continue;
        index = index ? arena_printf(arena, "%s * %" PRId64 " + %s",
                                     expression_in_parentheses(arena, index), extent,
                                     expression_in_parentheses(arena, coord))
                      : coord;
        extent = 1;
    }
    return index ? index : "0";
}

const char *operand_index(struct arena *arena, const struct operand *operand,
                          const struct type *result, const struct position *at)
{
    switch (operand_beside(operand, result)) {
    case OPERAND_ALONG: return at->linear;
    case OPERAND_PIXELS:
        if (at->pixel)
            return arena_printf(arena, "%s * %" PRId64 " + %s", at->pixel, operand->pixel_step,
                                at->channel);
        return sum_of_steps(arena, operand, at);
    case OPERAND_CHANNEL:
    case OPERAND_BROADCAST: break;
    }
    return operand->apart ? sum_of_steps(arena, operand, at) : row_major_index(arena, operand, at);
}
