/* conv_tiles.c - see conv_tiles.h. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/core/matrix.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/microkernel/tile.h"

enum { SHORTEST_SPAN = 4 };

bool accepts_conv(const struct region *region, const char **why)
{
    if (!accepts_conv_small(region, why))
        return false;
    *why = "weights or data have to be decoded";
    return !weight_is_small(region) && !data_is_small(region);
}

bool conv_is_pointwise(const struct window *w)
{
    return window_k_len(w) == 1 && !w->padded && window_in_len(w) == window_out_len(w);
}

bool conv_weights_are_far(const struct region *region, const struct window *w)
{
    const int64_t n = w->out_c * w->in_c / w->groups * window_k_len(w);

    return region->machine->far_l3 && n * (int64_t)sizeof(float) > conv_near_bytes(region->machine);
}

struct panels conv_panels(const struct window *w, int64_t width)
{
    const int64_t in_c = w->in_c / w->groups, taps = window_k_len(w);
    struct panels panels = { .groups = w->groups,
                             .n_rows = w->out_c / w->groups,
                             .len = taps * in_c,
                             .group_step = w->out_c / w->groups * in_c * taps,
                             .row_step = in_c * taps,
                             .len_step = taps,
                             .inner = in_c,
                             .outer_step = 1,
                             .width = width,
                             .ragged = true };

    panels.slack = panels.width - panels_last_width(&panels);
    return panels;
}

struct panels conv_panels_of_anchor(const struct bind *bind, const struct window *w, int64_t width)
{
    struct panels panels = conv_panels(w, width);
    struct dense dense;

    if (window_is_dense(bind->region, &dense) && dense.transposed) {
        panels.row_step = 1;
        panels.len_step = dense.out_c;
    }
    return panels;
}

void bind_conv_width(struct bind *bind, const struct panels *panels, const char *from)
{
    const int64_t rows = panels_rows(panels), last = panels_last_width(panels);

    if (last == panels->width || rows == last)
        bind_int(bind, "width", last);
    else
        bind_text(bind, "width", "%s < %d ? %d : %d", from, (int)(rows - last), (int)panels->width,
                  (int)last);
}

const char *bind_conv_weight_shape(struct bind *bind, const struct panels *panels)
{
    const bool grouped = panels->groups > 1;
    const int width = (int)panels->width, rows = (int)panels_rows(panels);

    if (rows < width && !grouped)
        bind_text(bind, "weight_shape", "[kernel, IN_C, %d]", rows);
    else
        bind_text(bind, "weight_shape", "[%sOUT_C / %d, kernel, IN_C, %d]",
                  grouped ? "GROUPS, " : "", width, width);
    return arena_printf(bind->arena, "[%sout_c / %d, kernel, in_c, %d of out_c]",
                        grouped ? "groups, " : "", width, width);
}

void bind_conv_weights(struct bind *bind, const struct panels *panels)
{
    bind_weight_tiles(bind, panels, bind_conv_weight_shape(bind, panels));
}

const char *conv_group_start(struct bind *bind, const struct window *w, const struct panels *p,
                             const char *row_len)
{
    if (w->groups == 1)
        return "";
    return arena_printf(bind->arena, "%s * %d * %s + ", w->batch > 1 ? "g % GROUPS" : "g",
                        (int)panels_rows(p), row_len);
}

/* Tiles with only some real channels write these in loops of a known length, which are
 * vectorised. */
static void bind_span(struct bind *bind, int64_t channels, const struct tile *tile)
{
    int span = 1;

    while (4 * span <= tile->most_channels && tile->most_channels % (2 * span) == 0)
        span *= 2;
    while (channels % span != 0)
        span /= 2;
    bind_flag(bind, "spans", channels > 0 && span >= SHORTEST_SPAN);
    bind_text(bind, "span", "%s < %d ? %s : %d", tile->channels, span, tile->channels, span);
}

void bind_conv_channels(struct bind *bind, const struct panels *panels, const struct tile *tile)
{
    const bool ragged = panels->n_rows % tile->most_channels != 0;

    bind_flag(bind, "ragged", ragged);
    bind_text(bind, "n_channels", "%s", ragged ? "n_channels" : tile->channels);
    bind_span(bind, ragged ? panels->n_rows : 0, tile);
}

void bind_conv_weight_at(struct bind *bind, const struct window *w, const struct panels *panels)
{
    const char *group = conv_group_start(bind, w, panels, "TAPS * IN_C");
    const int width = (int)panels->width;

    if (panels->n_rows > panels->width)
        bind_text(bind, "weight_at", "&weight[%sblock / %d * %d * TAPS * IN_C + block %% %d]",
                  group, width, width, width);
    else
        bind_text(bind, "weight_at", "&weight[%sblock]", group);
}

/* Whether sums, without an epilogue, are stored channels first by a helper with 16-lane vectors.
 * The overlap distance counts on it. */
static bool stores_planes(const struct bind *bind, const struct window *w)
{
    const struct machine *machine = bind->machine;
    const struct function *fn = bind->region->fn;

    return !w->out_channels_last && machine->arch == ARCH_X86_64 && machine->lanes >= 16 &&
           fn->first == bind->region->anchor && !fn->first->next &&
           fn->ret->inputs[0]->type.dtype == DTYPE_F32;
}

static void bind_store_planes(struct bind *bind, const struct window *w)
{
    static const char name[] = "store_planes";
    struct keys keys;

    keys_init(&keys, bind->arena);
    if (!bind_own_helper(bind, name))
        bind_new_helper(bind, name, "templates/helpers/store_planes.c.tmpl", &keys);
    bind_conv_planes_at(bind, w);
}

bool bind_conv_tiles(struct bind *bind, const struct window *w, const struct panels *panels,
                     const struct tile *tile)
{
    const bool planes = !tile->stores && stores_planes(bind, w);

    bind_planes_apart(bind, w);
    bind_conv_places(bind, w);
    bind_conv_width(bind, panels, "block");
    bind_conv_weight_at(bind, w, panels);
    bind_conv_channels(bind, panels, tile);
    bind_flag(bind, "by_element", !tile->stores && !planes);
    bind_flag(bind, "to_planes", planes);
    if (planes)
        bind_store_planes(bind, w);
    if (tile->stores || planes)
        return true;
    if (w->out_channels_last)
        bind_helper(bind, "keep_loop");
    return bind_conv_position(bind, w,
                              arena_printf(bind->arena, "sum[j * %s + i]", tile->channels));
}
