/* conv_chunk.c - see conv_chunk.h. */
#include "codegen_c/microkernel/conv_chunk.h"

enum {
    CACHED = 256 << 10,    /* bytes of weights, if the CPU row has no L2 */
    STREAMED = 128 << 10,  /* bytes of an NC block if the L3 is slow */
    MOST_CHUNKS = 12,      /* values of the knob */
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

int64_t conv_cached_chunk(const struct machine *machine, const struct panels *panels, int part)
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

int64_t conv_usual_chunk(const struct machine *machine, const struct window *w,
                         const struct panels *panels, bool gathers)
{
    const int64_t x_bytes = positions_read(w) * w->in_c / w->groups * (int64_t)sizeof(float);

    if (machine->far_l3 && x_bytes <= (int64_t)machine->l2_bytes / 2 && !gathers)
        return conv_channels_within(STREAMED, panels);
    return conv_cached_chunk(machine, panels, 1);
}

int64_t bind_conv_chunk(struct bind *bind, const struct window *w, const struct panels *panels,
                        int64_t usual)
{
    const int64_t out_c = w->out_c / w->groups;
    int64_t values[MOST_CHUNKS], chunk;
    bool chunked;
    int n = 0;

    values[n++] = out_c;
    for (chunk = panels->width; chunk < out_c && n < MOST_CHUNKS; chunk *= 2)
        values[n++] = chunk;
    chunk = bind_knob(bind, KNOB_CHUNK, usual < out_c ? usual : out_c, n, values);
    if (bind->region->place.overlaps) /* then all channels of a position go together */
        chunk = out_c;
    chunked = chunk < out_c;

    bind_flag(bind, "chunked", chunked);
    bind_int(bind, "chunk_c", chunk);
    bind_text(bind, "first_block", chunked ? "chunk" : "0");
    if (!chunked)
        bind_text(bind, "last_block", "OUT_C");
    else
        bind_text(bind, "last_block",
                  out_c % chunk ? "chunk + CHUNK && block < OUT_C" : "chunk + CHUNK");
    return chunk;
}

bool conv_fetches_weights(const struct machine *machine, const struct panels *panels, int64_t chunk)
{
    const int64_t most = machine->far_l3 ? (int64_t)machine->l2_bytes / 2 : MOST_AHEAD;

    return chunk < panels->n_rows && chunk * panels->len * (int64_t)sizeof(float) <= most;
}

int64_t conv_fetch(const struct panels *panels, int64_t chunk, const struct tile *tile,
                   int64_t positions)
{
    const int64_t tiles = (positions + tile->most_pixels - 1) / tile->most_pixels *
                          ((chunk + tile->most_channels - 1) / tile->most_channels);
    const int64_t fetch = ((chunk < panels->n_rows ? chunk : panels->n_rows) + tiles - 1) / tiles;

    return fetch < tile_line() ? fetch : tile_line();
}
