/* winograd_choice.c - the knobs of winograd.c (knob.h). */
#include "codegen_c/kernels/conv/winograd.h"
#include "codegen_c/microkernel/tile.h"

/* The inputs whose weights are transformed together. */
static int64_t chosen_depth(struct bind *bind, const struct window *w,
                            const struct winograd_shape *s)
{
    static const int64_t depths[] = { 8, 16, 32, 64, 128 };
    enum { N_DEPTHS = sizeof depths / sizeof *depths };
    int64_t values[N_DEPTHS + 1] = { 0 };
    int n = 1;

    for (int i = 0; i < N_DEPTHS; i++)
        if (winograd_takes_depth(bind->region, w, s->m, depths[i]))
            values[n++] = depths[i];
    return n > 1 ? bind_knob(bind, KNOB_CHUNK, s->depth, n, values) : 0;
}

struct winograd_shape winograd_chosen_shape(struct bind *bind, const struct window *w)
{
    static const int64_t sizes[] = { 2, 4 }, tiles_of_group[] = { 1, 2, 3, 4, 6, 8, 12 };
    static const int64_t without_and_with[] = { 0, 1 };
    enum { N_GROUPS = sizeof tiles_of_group / sizeof *tiles_of_group };
    struct winograd_shape s = winograd_shape(bind->region, w);
    int64_t groups[N_GROUPS];
    int n = 0, pixels, channels;

    if (bind->region->winograd == WINOGRAD_AUTO) {
        s.m = (int)bind_knob(bind, KNOB_WINOGRAD, s.m ? s.m : 4, 2, sizes);
        if (winograd_takes_pairs(bind->region, w))
            s.pairs = bind_knob(bind, KNOB_PAIRS, s.pairs, 2, without_and_with) != 0;
        if (!s.pairs)
            s.depth = chosen_depth(bind, w, &s);
        s = winograd_shape_of(bind->region, w, s.m, s.pairs, s.pairs ? 0 : s.depth);
    }
    if (s.pairs)
        tile_extents_of_pairs(bind->machine, s.tiles, w->out_c, &pixels, &channels);
    else
        tile_extents(bind->machine, s.tiles, w->out_c, &pixels, &channels);
    for (; n < N_GROUPS && (n == 0 || groups[n - 1] < s.tiles); n++)
        groups[n] = tiles_of_group[n] * pixels;
    s.group = bind_knob(bind, KNOB_GROUP, s.group, n, groups);
    if (s.group > s.tiles)
        s.group = s.tiles;
    return s;
}
