/* row_tiles.c - see row_tiles.h.
 *
 * method   the windows that lie within the row are found; for every tile size, every placement of
 *          tiles of that size is tried; the rest on both sides is cut into equal tiles */
#include "codegen_c/microkernel/row_tiles.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* The outputs [*begin, *end) whose taps all lie in the row. */
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

/* A row: tiles of one size over [begin, end), and the rest on both sides. */
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
    if (best.tiles > 2) /* otherwise a loop is shorter */
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

/* The input column that tap kw of output column ow reads. */
static int64_t column_at(const struct window *w, int64_t ow, int64_t kw)
{
    return ow * w->stride[2] + kw * w->dil[2] - w->pad[2];
}

static bool is_inside(const struct window *w, int64_t column)
{
    return column >= 0 && column < w->in[2];
}

bool has_row_tiles(const struct window *w, int most_columns)
{
    struct row_tile tiles[MOST_TILES];

    return tiles_of_row(w, most_columns, tiles) > 0 && windows_reach(w, 2);
}

/* --- their text ------------------------------------------------------------------------------- */

/* "s0 += w2 * v; s1 += w0 * v;" for an input column under the tile; `fuse`: "s0 = fuse(s0, w2, v);
 * ...". */
static const char *adds_text(struct bind *bind, const struct window *w, const struct row_tile *tile,
                             int64_t column, const char *fuse)
{
    struct str text = { .arena = bind->arena };

    for (int o = 0; o < tile->n; o++)
        for (int kw = 0; kw < w->k[2]; kw++)
            if (column_at(w, tile->first + o, kw) == column)
                str_printf(&text, "%s%s", text.n ? " " : "",
                           fuse
                               ? arena_printf(bind->arena, "s%d = %s(s%d, v, w%d);", o, fuse, o, kw)
                               : arena_printf(bind->arena, "s%d += w%d * v;", o, kw));
    return str_text(&text);
}

static const char *tile_key(struct bind *bind, const char *stem, int t)
{
    return arena_printf(bind->arena, "%s%d", stem, t);
}

/* The weights of a kernel row by which some window of the tile multiplies an input. */
static void bind_tile_weights(struct bind *bind, const struct window *w,
                              const struct row_tile *tile, int t)
{
    int n = 0;

    for (int kw = 0; kw < w->k[2]; kw++) {
        bool used = false;

        for (int o = 0; o < tile->n; o++)
            used = used || is_inside(w, column_at(w, tile->first + o, kw));
        if (used)
            bind_int(bind, arena_printf(bind->arena, "weight%d_%d", t, n++), kw);
    }
    bind_int(bind, tile_key(bind, "n_weights", t), n);
}

/* The columns of x under a tile. */
struct reads {
    const char *left; /* the first one, in C */
    int64_t extent;
};

/* The input columns under a tile, counted from the first. */
static void bind_tile_inputs(struct bind *bind, const struct window *w, const struct row_tile *tile,
                             int t, const char *fuse, struct reads *reads)
{
    const int64_t from = column_at(w, tile->first, 0);
    const int64_t to = column_at(w, tile->first + tile->n - 1, w->k[2] - 1);
    int64_t first = -1, last = -1;
    int n = 0;

    for (int64_t column = from < 0 ? 0 : from; column <= to && column < w->in[2]; column++) {
        const char *adds = adds_text(bind, w, tile, column, fuse);

        if (!*adds)
            continue;
        first = first < 0 ? column : first;
        last = column;
        bind_int(bind, arena_printf(bind->arena, "input%d_%d", t, n), column - first);
        bind_text(bind, arena_printf(bind->arena, "adds%d_%d", t, n++), "%s", adds);
    }
    bind_int(bind, tile_key(bind, "n_inputs", t), n);
    /* where the tile begins outside, dilation may skip columns that are inside */
    reads->left = from < 0
                      ? arena_printf(bind->arena, "%" PRId64, first)
                      : arena_printf(bind->arena, "%s%s", w->stride[2] > 1 ? "ow * STRIDE_W" : "ow",
                                     w->pad[2] ? " - PAD_LEFT" : "");
    reads->extent = last - first + 1;
    bind_text(bind, tile_key(bind, "left", t), "%s", reads->left);
}

/* "s0 = { 0 }, s1 = { 0 }". */
static const char *sums_text(struct bind *bind, int n)
{
    struct str text = { .arena = bind->arena };

    for (int o = 0; o < n; o++)
        str_printf(&text, "%ss%d = { 0 }", o ? ", " : "", o);
    return str_text(&text);
}

/* A property of the column's tile t: "ow < END0 ? 0 : ow * STRIDE_W". */
static void add_choice(struct str *out, int t, bool last, const char *value)
{
    if (!last)
        str_printf(out, "ow < END%d ? ", t);
    str_printf(out, "%s%s", value, last ? "" : " : ");
}

/* --- kinds of another row --------------------------------------------------------------------- */

/* Input columns that a tile would read in front of the row (side 0), behind it (side 1). */
static int64_t outside(const struct window *w, const struct row_tile *tile, int side)
{
    const int64_t over = side
                             ? column_at(w, tile->first + tile->n - 1, w->k[2] - 1) - (w->in[2] - 1)
                             : -column_at(w, tile->first, 0);

    return over > 0 ? over : 0;
}

static bool is_kind(const struct window *w, const struct row_tile *tile, const struct window *other,
                    const struct row_tile *kind)
{
    return tile->n == kind->n && outside(w, tile, 0) == outside(other, kind, 0) &&
           outside(w, tile, 1) == outside(other, kind, 1) &&
           (outside(w, tile, 0) == 0 || tile->first == kind->first);
}

/* A kind of tile: whose code it is, and where its columns end. */
struct kind {
    const struct window *window;
    struct row_tile tile;
    int end;
};

/* Kinds of tiles in the order in which columns ask for them. */
struct kinds {
    struct kind at[MOST_TILES];
    int n;
};

enum { FEW_KINDS = 3 };

static struct kinds kinds_of_row(const struct window *w, int most)
{
    struct row_tile tiles[MOST_TILES];
    struct kinds kinds = { .n = tiles_of_row(w, most, tiles) };

    for (int t = 0; t < kinds.n; t++)
        kinds.at[t] = (struct kind){ w, tiles[t], tiles[t].first + tiles[t].n * tiles[t].count };
    return kinds;
}

/* Index of a kind like this one, from `from` on; kinds->n if there is none. */
static int find_kind(const struct kinds *kinds, int from, const struct kind *kind)
{
    while (from < kinds->n &&
           !is_kind(kind->window, &kind->tile, kinds->at[from].window, &kinds->at[from].tile))
        from++;
    return from;
}

/* Adds the kinds that only the row has, each before the next that both have. False: the two have them in another order,
 * or there are too many. */
static bool merge_kinds(struct kinds *kinds, const struct kinds *row)
{
    int at = 0;

    for (int t = 0; t < row->n; t++) {
        int found = find_kind(kinds, at, &row->at[t]);

        if (found < kinds->n) {
            at = found + 1;
            continue;
        }
        if (find_kind(kinds, 0, &row->at[t]) < at || kinds->n == MOST_TILES)
            return false;
        for (int next = t + 1; next < row->n && found == kinds->n; next++)
            found = find_kind(kinds, at, &row->at[next]);
        memmove(&kinds->at[found + 1], &kinds->at[found],
                (size_t)(kinds->n - found) * sizeof *kinds->at);
        kinds->at[found] = row->at[t];
        kinds->n++;
        at = found + 1;
    }
    return true;
}

static bool is_same_row(const struct window *a, const struct window *b)
{
    return a->in[2] == b->in[2] && a->out[2] == b->out[2];
}

bool row_family_add(struct row_family *family, const struct window *row)
{
    for (int i = 0; i < family->n; i++)
        if (is_same_row(&family->rows[i], row))
            return true;
    if (family->n == MOST_ROWS)
        return false;
    family->rows[family->n++] = *row;
    return true;
}

/* Rows join the first group that they fit into, in their order, so that each row finds the same groups. Gives the group
 * of each row; returns their number. */
static int group_rows(const struct row_family *family, int most, int group[MOST_ROWS],
                      struct kinds groups[MOST_ROWS])
{
    int n = 0;

    for (int i = 0; i < family->n; i++) {
        const struct kinds own = kinds_of_row(&family->rows[i], most);
        int g = 0;

        for (; g < n; g++) {
            struct kinds merged = groups[g];

            if (!merge_kinds(&merged, &own) || merged.n == groups[g].n + own.n ||
                (merged.n != groups[g].n && merged.n != own.n && merged.n > FEW_KINDS))
                continue;
            groups[g] = merged;
            break;
        }
        if (g == n)
            groups[n++] = own;
        group[i] = g;
    }
    return n;
}

static int index_of(const struct row_family *family, const struct window *row)
{
    int i = 0;

    while (i < family->n && !is_same_row(&family->rows[i], row))
        i++;
    return i;
}

bool rows_have_one_function(const struct row_family *family, const struct window *a,
                            const struct window *b, int most_columns)
{
    struct kinds groups[MOST_ROWS];
    int group[MOST_ROWS];
    const int i = index_of(family, a), k = index_of(family, b);

    (void)group_rows(family, most_columns, group, groups);
    return i < family->n && k < family->n && group[i] == group[k];
}

/* The kinds of all rows that have the row's function, with the ends that they have in this row. */
static struct kinds kinds_of(const struct window *w, const struct row_family *family, int most)
{
    struct kinds groups[MOST_ROWS];
    const struct kinds own = kinds_of_row(w, most);
    struct kinds kinds;
    int group[MOST_ROWS], end = 0;
    const int i = family ? index_of(family, w) : 0;

    if (!family || i == family->n)
        return own;
    (void)group_rows(family, most, group, groups);
    kinds = groups[group[i]];
    for (int k = 0, t = 0; k < kinds.n; k++) {
        if (t < own.n && is_kind(w, &own.at[t].tile, kinds.at[k].window, &kinds.at[k].tile)) {
            kinds.at[k] = own.at[t];
            end = own.at[t++].end;
        }
        kinds.at[k].end = end;
    }
    return kinds;
}

void bind_row_tiles(struct bind *bind, const struct window *w, const struct row_family *family,
                    int most_columns, const char *fuse)
{
    const struct kinds kinds = kinds_of(w, family, most_columns);
    const int n = kinds.n;
    struct str left = { .arena = bind->arena }, extent = left, ends = left;
    const char *choice = ""; /* the last kind's columns, then those of each kind in front */
    int64_t most_extent = 0;
    int most = 0;
    bool uneven = false;

    for (int t = 0; t < n; t++) {
        const struct row_tile *tile = &kinds.at[t].tile;
        const bool last = t + 1 == n;
        struct reads reads;

        most = tile->n > most ? tile->n : most;
        uneven = uneven || tile->n != kinds.at[0].tile.n;
        if (last)
            choice = arena_printf(bind->arena, "columns = %d;%s%s", tile->n, *choice ? "\n" : "",
                                  choice);
        else if (tile->n != kinds.at[t + 1].tile.n)
            choice = arena_printf(bind->arena, "if (ow < END%d)\n    columns = %d;%s%s", t, tile->n,
                                  *choice ? "\n" : "", choice);
        if (!last)
            str_printf(&ends, "END%d = %d, ", t, kinds.at[t].end);
        bind_text(bind, tile_key(bind, "when", t),
                  n == 1 ? ""
                  : last ? "else "
                  : t    ? "else if (ow < END%d) "
                         : "if (ow < END%d) ",
                  t);
        bind_text(bind, tile_key(bind, "sums", t), "%s", sums_text(bind, tile->n));
        bind_int(bind, tile_key(bind, "n_sums", t), tile->n);
        bind_tile_weights(bind, kinds.at[t].window, tile, t);
        bind_tile_inputs(bind, kinds.at[t].window, tile, t, fuse, &reads);
        add_choice(&left, t, last, reads.left);
        add_choice(&extent, t, last, arena_printf(bind->arena, "%" PRId64, reads.extent));
        most_extent = reads.extent > most_extent ? reads.extent : most_extent;
    }
    bind_flag(bind, "several_tiles", n > 1);
    bind_text(bind, "tile_ends", "%s", str_text(&ends));
    bind_text(bind, "strip_left", "%s", str_text(&left));
    bind_text(bind, "strip_extent", "%s", str_text(&extent));
    bind_int(bind, "most_extent", most_extent);
    bind_int(bind, "n_tiles", n);
    bind_flag(bind, "uneven", uneven);
    bind_text(bind, "choice_of_columns", "%s", choice);
    bind_text(bind, "columns", uneven ? "columns" : "%d", most);
    bind_int(bind, "most_columns", most);
}
