/* row_tiles.c - see row_tiles.h.
 *
 * method   windows that lie within the row are found; all ways to put tiles of one size there are
 *          tried, for all sizes; what is left on both sides is cut evenly */
#include "codegen_c/kernels/row_tiles.h"

#include <limits.h>

/* The outputs from *begin to *end - 1 have all their taps in the row. */
static void inner_columns(const struct window *w, int *begin, int *end)
{
    const int64_t covers = (w->k[2] - 1) * w->dil[2] + 1, room = w->in[2] + w->pad[2] - covers;
    const int64_t first = (w->pad[2] + w->stride[2] - 1) / w->stride[2];
    const int64_t last = room < 0 ? -1 : room / w->stride[2];

    *begin = (int)(first < w->out[2] ? first : w->out[2]);
    *end = (int)(last < w->out[2] ? last + 1 : w->out[2]);
    if (*end < *begin)
        *end = *begin;
}

static int n_parts(int len, int most)
{
    return (len + most - 1) / most;
}

/* Cuts `len` columns from `first` on into as few tiles as possible. */
static int cut(int first, int len, int most, struct row_tile *tiles)
{
    const int n = n_parts(len, most);

    for (int i = 0, at = first; i < n; i++) {
        tiles[i] = (struct row_tile){ at, len / n + (i < len % n), 1 };
        at += tiles[i].n;
    }
    return n;
}

/* A row as [begin, end) of tiles of one size, and what is beside them. */
struct layout {
    int size, begin, end, kinds, tiles, unequal;
};

static bool is_better(const struct layout *a, const struct layout *b)
{
    if (a->tiles != b->tiles)
        return a->tiles < b->tiles;
    if (a->kinds != b->kinds)
        return a->kinds < b->kinds;
    return a->unequal < b->unequal;
}

static struct layout layout_at(int out_w, int most, int size, int begin, int end)
{
    const int left = n_parts(begin, most), right = n_parts(out_w - end, most);
    struct layout x = { size, begin, end, left + (end > begin) + right, 0, 0 };

    x.tiles = left + (end - begin) / size + right;
    x.unequal = left * size - begin + right * size - (out_w - end);
    if (x.unequal < 0)
        x.unequal = -x.unequal;
    return x;
}

int tiles_of_row(const struct window *w, int most, struct row_tile *tiles)
{
    const int out_w = (int)w->out[2];
    struct layout best = layout_at(out_w, most, most, out_w, out_w);
    int inner_begin, inner_end, n;

    inner_columns(w, &inner_begin, &inner_end);
    if (best.tiles > 2) /* a loop is shorter */
        best.tiles = INT_MAX;
    for (int size = most; size > most / 2; size--)
        for (int begin = inner_begin; begin < inner_begin + size && begin < inner_end; begin++) {
            const int end = begin + (inner_end - begin) / size * size;
            const struct layout x = layout_at(out_w, most, size, begin, end);

            if (end > begin && is_better(&x, &best))
                best = x;
        }
    if (best.kinds > MOST_TILES)
        return 0;
    n = cut(0, best.begin, most, tiles);
    if (best.end > best.begin)
        tiles[n++] =
            (struct row_tile){ best.begin, best.size, (best.end - best.begin) / best.size };
    return n + cut(best.end, out_w - best.end, most, tiles + n);
}
