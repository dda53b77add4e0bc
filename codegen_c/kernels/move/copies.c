/* copies.c - the loops of copies.h. Neighbouring dims that are contiguous in both places are
 * merged, and a dim of stride 1 in both becomes a memcpy; two dims of f32, one contiguous in each
 * place, are a matrix for runtime/embed/transpose_f32.h. */
#include "codegen_c/kernels/move/copies.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"

void copy_add_dim(struct copy *copy, int64_t extent, int64_t x_step, int64_t y_step)
{
    const int last = copy->n - 1;

    if (extent == 1)
        return;
    if (last >= 0 && copy->x_step[last] == x_step * extent &&
        copy->y_step[last] == y_step * extent) {
        copy->extent[last] *= extent;
        copy->x_step[last] = x_step;
        copy->y_step[last] = y_step;
        return;
    }
    copy->extent[copy->n] = extent;
    copy->x_step[copy->n] = x_step;
    copy->y_step[copy->n++] = y_step;
}

void row_major_steps(const struct type *type, int64_t *steps)
{
    int64_t step = 1;

    for (int i = type->rank - 1; i >= 0; i--) {
        steps[i] = step;
        step *= type->dim[i];
    }
}

/* "at + i0 * 12 - i1": the first term is never negated. */
static const char *index_text(struct arena *arena, int n, const int64_t *steps, int64_t at)
{
    struct str out = { .arena = arena };
    bool negative = false;

    for (int i = 0; i < n; i++)
        negative = negative || steps[i] < 0;
    if (negative)
        str_printf(&out, "%" PRId64, at);
    for (int i = 0; i < n; i++) {
        const int64_t step = steps[i] < 0 ? -steps[i] : steps[i];

        if (step == 0)
            continue;
        str_printf(&out, "%si%d", steps[i] < 0 ? " - " : out.n ? " + " : "", i);
        if (step != 1)
            str_printf(&out, " * %" PRId64, step);
    }
    if (!negative && (at != 0 || out.n == 0))
        str_printf(&out, "%s%" PRId64, out.n ? " + " : "", at);
    return str_text(&out);
}

/* "&y[12]", or "y". */
static const char *address_text(struct arena *arena, const char *name, const char *index)
{
    return strcmp(index, "0") == 0 ? name : arena_printf(arena, "&%s[%s]", name, index);
}

/* Shorter runs gain nothing. */
enum { TRANSPOSE_LEAST = 4 };

/* Moves dim i to the end. */
static void copy_move_last(struct copy *copy, int i)
{
    const int64_t extent = copy->extent[i], x_step = copy->x_step[i], y_step = copy->y_step[i];

    for (; i + 1 < copy->n; i++) {
        copy->extent[i] = copy->extent[i + 1];
        copy->x_step[i] = copy->x_step[i + 1];
        copy->y_step[i] = copy->y_step[i + 1];
    }
    copy->extent[i] = extent;
    copy->x_step[i] = x_step;
    copy->y_step[i] = y_step;
}

/* The dim of stride 1. */
static int contiguous_dim(const struct copy *copy, const int64_t *steps)
{
    for (int i = 0; i < copy->n; i++)
        if (steps[i] == 1)
            return i;
    return -1;
}

/* Whether the copy is of matrices to be transposed. Then the last dim but one is their rows, and
 * the last their columns, contiguous in x. */
static bool copy_is_transpose(struct copy *copy)
{
    const int column = contiguous_dim(copy, copy->x_step), row = contiguous_dim(copy, copy->y_step);

    if (column < 0 || row < 0 || column == row || (copy->get && *copy->get) ||
        copy->extent[column] < TRANSPOSE_LEAST || copy->extent[row] < TRANSPOSE_LEAST ||
        copy->x_step[row] <= 0 || copy->y_step[column] <= 0)
        return false;
    copy_move_last(copy, row);
    copy_move_last(copy, row < column ? column - 1 : column);
    return true;
}

/* Matrices of few rows, side by side in y, whose columns become far apart: 16 columns of all
 * matrices before the next 16, so that cache lines of y are filled while they are cached. */
static void copy_by_strips(struct copy *copy)
{
    enum { STRIP = 16 };
    const int row = copy->n - 2, column = copy->n - 1;

    if (copy->n < 3 || copy->n == COPY_RANK || copy->extent[row] >= STRIP ||
        copy->extent[column] % STRIP != 0 || copy->extent[column] == STRIP ||
        copy->y_step[row - 1] != copy->extent[row])
        return;
    for (int i = copy->n++; i > 0; i--) {
        copy->extent[i] = copy->extent[i - 1];
        copy->x_step[i] = copy->x_step[i - 1];
        copy->y_step[i] = copy->y_step[i - 1];
    }
    copy->extent[0] = copy->extent[copy->n - 1] / STRIP;
    copy->x_step[0] = STRIP;
    copy->y_step[0] = STRIP * copy->y_step[copy->n - 1];
    copy->extent[copy->n - 1] = STRIP;
}

static void add_loops(struct str *out, const struct copy *copy, int n_loops)
{
    for (int i = 0; i < n_loops; i++)
        str_printf(out, "for (int i%d = 0; i%d < %" PRId64 "; i%d++)\n", i, i, copy->extent[i], i);
    str_printf(out, "%*s", n_loops ? 4 : 0, "");
}

static const char *transpose_text(struct arena *arena, const struct copy *copy)
{
    const int row = copy->n - 2, column = copy->n - 1;
    const char *to = index_text(arena, row, copy->y_step, copy->y_at);
    const char *from = index_text(arena, row, copy->x_step, copy->x_at);
    struct str out = { .arena = arena };

    add_loops(&out, copy, row);
    str_printf(&out, "transpose_f32(%s, %" PRId64 ", %s, %" PRId64 ", %" PRId64 ", %" PRId64 ");",
               address_text(arena, copy->x, from), copy->x_step[row],
               address_text(arena, copy->y, to), copy->y_step[column], copy->extent[row],
               copy->extent[column]);
    return str_text(&out);
}

/* overlaps: y may overlap what is read. */
static const char *copy_text(struct arena *arena, const struct copy *copy, bool overlaps)
{
    const int last = copy->n - 1;
    const bool decodes = copy->get && *copy->get;
    const bool runs = !decodes && last >= 0 && copy->x_step[last] == 1 && copy->y_step[last] == 1;
    const int n_loops = copy->n - runs;
    const char *to = index_text(arena, n_loops, copy->y_step, copy->y_at);
    const char *from = index_text(arena, n_loops, copy->x_step, copy->x_at);
    struct str out = { .arena = arena };

    add_loops(&out, copy, n_loops);
    if (runs)
        str_printf(&out, "(void)%s(%s, %s, %" PRId64 "u * sizeof *%s);",
                   overlaps ? "memmove" : "memcpy", address_text(arena, copy->y, to),
                   address_text(arena, copy->x, from), copy->extent[last], copy->y);
    else
        str_printf(&out, "%s[%s] = %s%s[%s]%s;", copy->y, to, decodes ? copy->get : "", copy->x,
                   from, decodes ? copy->got : "");
    return str_text(&out);
}

void copy_from(struct bind *bind, struct copy *copy, int i)
{
    copy->x = bind_operand(bind, anchor_source(bind->region, i));
    bind_reads(bind, i, &copy->get, &copy->got);
}

static bool is_empty(const struct copy *copy)
{
    for (int i = 0; i < copy->n; i++)
        if (copy->extent[i] == 0)
            return true;
    return false;
}

static void add_used(struct map *used, const struct copy *copy)
{
    if (is_empty(copy))
        return;
    map_set(used, copy->x, used);
    map_set(used, copy->y, used);
}

void bind_copies(struct bind *bind, struct copy *copies, int n)
{
    const struct region *region = bind->region;
    const bool is_f32 = anchor_output(region, 0)->dtype == DTYPE_F32;
    struct str unused = { .arena = bind->arena }, text = unused;
    struct map used = { .arena = bind->arena };

    for (int i = 0; i < n; i++)
        add_used(&used, &copies[i]);
    for (int i = 0; i < region->fn->n_params + region->fn->ret->n_inputs; i++) {
        const char *name = i < region->fn->n_params ? region->params[i]
                                                    : region->results[i - region->fn->n_params];

        if (region->place.absent && i < region->fn->n_params && region->place.absent[i])
            continue;
        if (!map_get(&used, name))
            str_printf(&unused, "(void)%s;\n", name);
    }
    for (int i = 0; i < n; i++) {
        const char *one;

        if (is_empty(&copies[i]))
            continue;
        if (is_f32 && copy_is_transpose(&copies[i])) {
            bind_helper(bind, "transpose_f32");
            copy_by_strips(&copies[i]);
            one = transpose_text(bind->arena, &copies[i]);
        } else {
            one = copy_text(bind->arena, &copies[i], region->place.overlaps);
            if (strstr(one, "mem"))
                bind_include(bind, "string.h");
        }
        str_printf(&text, "%s%s", text.n ? "\n" : "", one);
    }
    bind_text(bind, "copies", "%s", str_text(&text));
    bind_text(bind, "unused", "%s", str_text(&unused));
}
