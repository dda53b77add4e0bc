/* overlap.c - see overlap.h. */
#include "codegen_c/core/overlap.h"

#include "codegen_c/core/anchor.h"

/* The first input coordinate along a dim that window o, or a later one, reads. */
static int64_t first_read(const struct window *w, int dim, int64_t o)
{
    const int64_t at = o * w->stride[dim] - w->pad[dim];

    return at > 0 ? at : 0;
}

/* The first input pixel that output pixel f, or a later one, reads; of volumes, the first of its
 * plane. */
static int64_t first_needed(const struct window *w, int64_t f)
{
    const int64_t column = f % w->out[2], row = f / w->out[2] % w->out[1];
    const int64_t plane = f / w->out[2] / w->out[1];
    int64_t needed, next;

    if (w->in[0] > 1 || w->out[0] > 1)
        return first_read(w, 0, plane) * w->in[1] * w->in[2];
    needed = first_read(w, 1, row) * w->in[2] + first_read(w, 2, column);
    next = first_read(w, 1, row + 1) * w->in[2];
    return row + 1 < w->out[1] && next < needed ? next : needed;
}

size_t x_element_bytes(const struct region *region)
{
    return dtype_bytes(anchor_source(region, 0)->type.dtype);
}

size_t y_element_bytes(const struct region *region)
{
    return dtype_bytes(region->fn->ret->inputs[0]->type.dtype);
}

size_t overlap_of_windows(const struct region *region, const struct window *w, int64_t group)
{
    const int64_t x_pixel = w->in_c * (int64_t)x_element_bytes(region);
    const int64_t y_pixel = w->out_c * (int64_t)y_element_bytes(region);
    const int64_t n = window_out_len(w), step = group == GROUP_OF_ROW ? w->out[2] : 1;
    int64_t overlap = 0;

    if (group == GROUP_OF_ROW)
        group = w->out[2];
    for (int64_t f = 0; f < n; f += step) {
        const int64_t end = f + group < n ? f + group : n;
        const int64_t ahead = end * y_pixel - first_needed(w, f) * x_pixel;

        overlap = ahead > overlap ? ahead : overlap;
    }
    return (size_t)overlap;
}

size_t overlap_of_copies(const struct region *region, const struct window *w, int64_t step)
{
    const int64_t x_pixel = w->in_c * (int64_t)x_element_bytes(region);
    const int64_t y_pixel = w->out_c * (int64_t)y_element_bytes(region);
    const int64_t n = window_out_len(w);
    int64_t overlap = 0;

    for (int64_t end = step; end < n; end += step) {
        const int64_t ahead = end * y_pixel - first_needed(w, end) * x_pixel;

        overlap = ahead > overlap ? ahead : overlap;
    }
    return (size_t)overlap;
}

/* Whether writes stay behind all reads still to come, for pixels of equal size in x and y, if
 * columns go down `rows` rows from `row` on, one column after the other or a few together. */
static bool strip_lies_over(const struct window *w, int64_t row, int64_t rows)
{
    for (int64_t end = 1; end <= w->out[2]; end++) {
        const int64_t written = (row + rows - 1) * w->out[2] + end;
        const int64_t next = end < w->out[2] ? row * w->out[2] + end : (row + rows) * w->out[2];

        if (next < window_out_len(w) && written > first_needed(w, next))
            return false;
    }
    return true;
}

bool overlap_lies_over(const struct window *w, bool doubling)
{
    for (int64_t row = 0, rows; row < w->out[1]; row += rows) {
        rows = doubling && row > 1 ? row : 1;
        if (rows > w->out[1] - row)
            rows = w->out[1] - row;
        if (!strip_lies_over(w, row, rows))
            return false;
    }
    return true;
}
