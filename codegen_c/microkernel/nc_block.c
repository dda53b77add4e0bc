/* nc_block.c - see nc_block.h. */
#include "codegen_c/microkernel/nc_block.h"

enum {
    CACHED = 256 << 10,    /* bytes of weights, if the CPU row has no L2 */
    STREAMED = 128 << 10,  /* bytes of an NC block if the L3 is slow */
    MOST_BLOCKS = 12,      /* values of the knob */
    MOST_AHEAD = 512 << 10 /* bytes of an NC block that are prefetched at most */
};

int64_t conv_near_bytes(const struct machine *machine)
{
    return machine->l2_bytes ? (int64_t)machine->l2_bytes / 2 : CACHED;
}

int64_t conv_channels_within(int64_t bytes, const struct panels *panels)
{
    const int64_t fit = bytes / (panels->len * (int64_t)sizeof(float)) / panels->width;

    return (fit > 0 ? fit : 1) * panels->width;
}

int64_t conv_cached_nc(const struct machine *machine, const struct panels *panels, int part)
{
    const int64_t cache = conv_near_bytes(machine);

    if (conv_channels_within(cache, panels) >= panels->n_rows ||
        (machine->lanes == 1 && machine->l2_bytes == 0))
        return panels->n_rows;
    return conv_channels_within(cache / part, panels);
}

/* Pixels of x that are read: strides may skip some. */
static int64_t positions_read(const struct window *w)
{
    int64_t n = 1;

    for (int i = 0; i < 3; i++) {
        const int64_t most = w->out[i] * (w->k[i] < w->stride[i] ? w->k[i] : w->stride[i]);

        n *= w->in[i] < most ? w->in[i] : most;
    }
    return n;
}

int64_t conv_usual_nc(const struct machine *machine, const struct window *w,
                      const struct panels *panels, bool gathers)
{
    const int64_t x_bytes = positions_read(w) * w->in_c / w->groups * (int64_t)sizeof(float);

    if (machine->far_l3 && x_bytes <= (int64_t)machine->l2_bytes / 2 && !gathers)
        return conv_channels_within(STREAMED, panels);
    return conv_cached_nc(machine, panels, 1);
}

int64_t bind_nc_block(struct bind *bind, const struct window *w, const struct panels *panels,
                      int64_t usual)
{
    const int64_t out_c = w->out_c / w->groups;
    int64_t values[MOST_BLOCKS], nc;
    bool in_blocks;
    int n = 0;

    values[n++] = out_c;
    for (nc = panels->width; nc < out_c && n < MOST_BLOCKS; nc *= 2)
        values[n++] = nc;
    nc = bind_knob(bind, KNOB_NC, usual < out_c ? usual : out_c, n, values);
    if (bind->region->place.overlaps) /* then all channels of a position go together */
        nc = out_c;
    in_blocks = nc < out_c;

    bind_flag(bind, "nc_blocks", in_blocks);
    bind_int(bind, "nc", nc);
    bind_text(bind, "first_block", in_blocks ? "chunk" : "0");
    if (!in_blocks)
        bind_text(bind, "last_block", "OUT_C");
    else
        bind_text(bind, "last_block",
                  out_c % nc ? "chunk + CHUNK && block < OUT_C" : "chunk + CHUNK");
    return nc;
}

bool conv_fetches_weights(const struct machine *machine, const struct panels *panels, int64_t nc)
{
    const int64_t most = machine->far_l3 ? (int64_t)machine->l2_bytes / 2 : MOST_AHEAD;

    return nc < panels->n_rows && nc * panels->len * (int64_t)sizeof(float) <= most;
}

int64_t conv_fetch(const struct panels *panels, int64_t nc, const struct tile *tile,
                   int64_t positions)
{
    const int64_t tiles = (positions + tile->most_pixels - 1) / tile->most_pixels *
                          ((nc + tile->most_channels - 1) / tile->most_channels);
    const int64_t fetch = ((nc < panels->n_rows ? nc : panels->n_rows) + tiles - 1) / tiles;

    return fetch < tile_line() ? fetch : tile_line();
}
