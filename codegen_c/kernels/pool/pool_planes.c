/* pool_planes.c - what pools whose loops run over planes bind: images times channels, channels first;
 * some of both layouts. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/kernels/pool/pool.h"

bool accepts_max_pool(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_number(region, why) && takes_window(&w, why) &&
           takes_channels_first(region->anchor->attrs.pool.layout,
                                region->anchor->attrs.pool.layout, why);
}

bool accepts_pool(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_float(region, why) && takes_window(&w, why) &&
           takes_channels_first(region->anchor->attrs.pool.layout,
                                region->anchor->attrs.pool.layout, why);
}

struct window bind_pool_window(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    bind_int(bind, "planes", w.batch * w.in_c);
    if (w.padded)
        bind_helper(bind, "window");
    return w;
}

bool bind_pool_epilogue(struct bind *bind, const struct window *w, const char *acc)
{
    static const char *const names[] = { "od", "oh", "ow" };
    const long long c = (long long)w->in_c;
    struct position position;
    const char **const channel = &position.coord[w->channels_last ? w->rank + 1 : 1];

    position_by_division(bind, "at", &position);
    if (w->in_c > 1)
        *channel = w->batch == 1 ? "plane" : arena_printf(bind->arena, "plane %% %lld", c);
    if (w->batch > 1)
        position.coord[0] = w->in_c == 1 ? "plane" : arena_printf(bind->arena, "plane / %lld", c);
    for (int i = 0; i < w->rank; i++)
        if (w->out[3 - w->rank + i] > 1)
            position.coord[(w->channels_last ? 1 : 2) + i] = names[3 - w->rank + i];
    return bind_epilogue(bind, acc, &position);
}

void bind_pool_places(struct bind *bind, const struct window *w, bool deep)
{
    const long long c = (long long)w->in_c;
    const char *in = deep ? "((id * IN_H + ih) * IN_W + iw)" : "(ih * IN_W + iw)";
    const char *image = w->batch == 1 ? "" : arena_printf(bind->arena, "plane / %lld", c);
    const char *channel = w->batch == 1 ? "plane" : arena_printf(bind->arena, "plane %% %lld", c);
    const char *row;

    bind_flag(bind, "last", w->channels_last);
    if (!w->channels_last) {
        bind_text(bind, "in_at", "plane * IN_LEN");
        bind_text(bind, "in_shape", deep ? "[IN_D, IN_H, IN_W]" : "[IN_H, IN_W]");
        bind_text(bind, "from", deep ? "(id * IN_H + ih) * IN_W + iw" : "ih * IN_W + iw");
        bind_text(bind, "at",
                  deep ? "((plane * OUT_D + od) * OUT_H + oh) * OUT_W + ow"
                       : "(plane * OUT_H + oh) * OUT_W + ow");
        return;
    }
    bind_text(bind, "in_shape", deep ? "[IN_D, IN_H, IN_W, %lld]" : "[IN_H, IN_W, %lld]", c);
    bind_text(bind, "from", "%s * %lld", in, c);
    if (w->batch == 1) {
        bind_text(bind, "in_at", "plane");
        row = deep ? "(od * OUT_H + oh)" : "oh";
    } else {
        bind_text(bind, "in_at", "%s * IN_LEN * %lld + %s", image, c, channel);
        row = arena_printf(bind->arena,
                           deep ? "((%s * OUT_D + od) * OUT_H + oh)" : "(%s * OUT_H + oh)", image);
    }
    bind_text(bind, "at", "(%s * OUT_W + ow) * %lld + %s", row, c, channel);
}

bool bind_padded_extents(struct bind *bind, const struct window *w)
{
    static const char *const names[] = { "padded_d", "padded_h", "padded_w" };
    const struct ints *padding = &bind->region->anchor->attrs.pool.padding;
    bool beyond = false;

    for (int i = 0; i < w->rank; i++) {
        int dim = 3 - w->rank + i;
        int64_t behind = w->in[dim] + (padding->n ? padding->at[w->rank + i] : 0);
        int64_t last = (w->out[dim] - 1) * w->stride[dim] + (w->k[dim] - 1) * w->dil[dim];

        bind_int(bind, names[dim], behind);
        beyond = beyond || last - w->pad[dim] >= behind;
    }
    if (w->rank == 1)
        bind_int(bind, names[1], 1);
    return beyond;
}
