/* tile_text.c - see tile_text.h. */
#include "codegen_c/microkernel/tile_text.h"

#include "codegen_c/expr/decode.h"
#include "codegen_c/microkernel/pairs_axes.h"

enum { LINE = 16 /* floats of a cache line */ };

int tile_line(void)
{
    return LINE;
}

void tile_add_list(struct str *out, const char *name, int vectors)
{
    str_printf(out, "#define %s(DO, j)", name);
    for (int v = 0; v < vectors; v++)
        str_printf(out, " DO(j, %d)", v);
    str_add(out, "\n");
}

void tile_add_condition(struct str *out, int n, int i)
{
    if (n > 1)
        str_printf(out, "%s%s\n",
                   i == 0                      ? "#if "
                   : *tile_shapes[i].condition ? "#elif "
                                               : "#else",
                   tile_shapes[i].condition);
}

static void add_shape(struct str *out, const char *pixels, const char *tile, const char *suffix,
                      const char *lanes, const struct tile_shape *shape)
{
    const bool one = shape->vectors == 1 && shape->lanes > 1;

    str_printf(out, "enum { %s = %d, %s = ", pixels, shape->pixels, tile);
    if (shape->short_end)
        str_printf(out, "%d", tile_channels(shape));
    else if (!one)
        str_printf(out, "%d", shape->vectors);
    if (shape->lanes > 1 && !shape->short_end)
        str_printf(out, "%s%s", one ? "" : " * ", lanes);
    str_printf(out, " };\n#define EACH_PIXEL%s(DO)", suffix);
    for (int j = 0; j < shape->pixels; j++)
        str_printf(out, " DO(%d)", j);
    str_add(out, "\n");
    tile_add_list(out, arena_printf(out->arena, "EACH_VECTOR%s", suffix), shape->vectors);
}

static void bind_vector24(struct bind *bind)
{
    struct keys keys;

    bind_row_vector(bind, TILE_THREE_QUARTERS / 3);
    if (bind_own_helper(bind, "vector24"))
        return;
    keys_init(&keys, bind->arena);
    keys_set_flag(&keys, "generic", bind->machine->lanes == 0);
    bind_new_helper(bind, "vector24", "templates/helpers/vector24.c.tmpl", &keys);
}

struct row_vector bind_tile_vector(struct bind *bind, const struct tile_name *naming)
{
    bind_vector(bind);
    if (tile_is_mixed(bind->machine, naming))
        bind_vector24(bind);
    return tile_is_short(bind->machine, naming)
               ? bind_row_vector(bind, naming->narrow)
               : (struct row_vector){ .type = "vector_f32",
                                      .lanes = "LANES",
                                      .most = tile_shapes[0].lanes };
}

/* Adds the helper with the extents and lists of a class; sets the upper bounds of the extents. */
static void bind_shapes(struct bind *bind, const struct tile_name *naming, struct tile *out)
{
    const char *name = arena_printf(bind->arena, "tile_shape%s", naming->suffix);
    const int n = bind->machine->lanes ? 1 : N_TILE_SHAPES;
    struct str text = { .arena = bind->arena };
    struct keys keys;

    for (int i = 0; i < n; i++) {
        const struct tile_shape shape = n == 1 ? naming->shape : tile_named_shape(naming, i);

        tile_add_condition(&text, n, i);
        add_shape(&text, out->pixels, out->channels, naming->suffix, naming->vector.lanes, &shape);
        if (shape.pixels > out->most_pixels)
            out->most_pixels = shape.pixels;
        if (tile_channels(&shape) > out->most_channels)
            out->most_channels = tile_channels(&shape);
    }
    if (n > 1)
        str_add(&text, "#endif\n");
    if (bind_own_helper(bind, name))
        return;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "PIXELS", naming->pixels);
    keys_set(&keys, "TILE", naming->tile);
    keys_set_flag(&keys, "lists", bind->machine->lanes == 0); /* else written out (text/macros.h) */
    keys_set(&keys, "shapes", str_text(&text));
    bind_new_helper(bind, name, "templates/helpers/tile_shape.c.tmpl", &keys);
}

/* --- the function ----------------------------------------------------------------------------- */

/* What the comments say. */
static void set_comments(struct arena *arena, const struct tile_name *naming, struct tile_form form,
                         int64_t step, struct keys *keys)
{
    const bool by_rows = form.input == TILE_ROWS, paced = form.fetch == FETCH_PACED;
    const bool taps = form.input == TILE_POINTERS && !form.adds;
    const char *fetched = paced ? "`fetch` floats" : "a cache line";

    keys_offer(keys, "PIXELS", naming->pixels);
    keys_set(keys, "TILE", naming->tile);
    keys_offer(keys, "step", arena_printf(arena, "%d", (int)step));
    keys_offer(keys, "over_k",
               form.adds ? "for k < len, in this order.\n * Vectors may read"
                         : "over k < len, in this order. Vectors may\n * read");
    keys_offer(keys, "then", naming->end ? ", then the epilogue" : "");
    keys_offer(keys, "becomes",
               by_rows       ? form.adds ? "+=" : "= the sum of"
               : naming->end ? arena_printf(arena, "y[j * step + i] (j < n_pixels%s) =\n *",
                                            naming->end->some ? ", i < n_channels" : "")
                             : arena_printf(arena, "sum[j * %s + i] =", naming->tile));
    keys_offer(keys, "prefetches",
               form.fetch == FETCH_NOTHING
                   ? ""
                   : arena_printf(arena, "%s Prefetches %s from `ahead` on for each %sk.",
                                  taps ? " */\n/*" : "", fetched, taps ? "t and " : ""));
}

/* The epilogue store of a sum, "sum##j##v". */
static const char *end_text(struct bind *bind, const struct epilogue_store *end, const char *sum)
{
    return epilogue_store_text(bind, end, sum,
                               arena_printf(bind->arena, "y[j * step + v * %s]", end->lanes),
                               end->some, true);
}

static void set_end(struct bind *bind, const struct epilogue_store *end, struct microkernel *kernel)
{
    const struct tile_end of = {
        .parameters = arena_printf(bind->arena, "float *y, int step, int n_pixels%s%s",
                                   end->some ? ", int n_channels" : "", end->params),
        .fetch = end->fetch,
        .channel = end->channel,
        .shared = end->shared,
        .end = end_text(bind, end, "sum##j##v"),
    };

    tile_axes_set_end(&of, kernel);
}

/* The end of Winograd inner products, which are scaled. */
static void set_end_of_pairs(struct bind *bind, const struct epilogue_store *end,
                             struct microkernel *kernel)
{
    const struct tile_end of = {
        .parameters =
            arena_printf(bind->arena, "const float *scale, const float *back, float *y, int step%s",
                         end->params),
        .fetch = "",
        .channel = arena_printf(
            bind->arena, "const VECTOR scale##v = *(const VECTOR *)&scale[v * LANES] * *back;%s",
            end->channel),
        .shared = arena_printf(bind->arena, "READ_HERE(back) %s", end->shared),
        .end = end_text(bind, end, "sum##j##v * scale##v"),
    };

    tile_axes_set_end(&of, kernel);
}

static void set_comments_of_pairs(struct arena *arena, const struct tile_name *naming,
                                  struct tile_form form, int64_t step, struct keys *keys)
{
    const bool rows = form.input == TILE_ROWS;

    keys_set(keys, "becomes",
             naming->end ? ""
                         : arena_printf(arena, "sum[j * %s + i] =%s the ", naming->tile,
                                        rows ? " scale[i] * *back *" : ""));
    keys_set(keys, "s", naming->end ? "s" : "");
    keys_set(keys, "of_w", naming->end ? "i + k * width" : "k * width + i");
    keys_set(keys, "of_x",
             step   ? arena_printf(arena, "x[j * %d + k]", (int)step)
             : rows ? "x[j * step + k]"
                    : "x[j][k]");
    keys_set(keys, "scaled",
             naming->end ? ", scaled by scale[i] * *back and stored, after the epilogue, to "
                           "y[j * step + i], pixel j and channel i"
                         : "");
    keys_set(keys, "beyond",
             naming->end
                 ? ""
                 : arena_printf(arena,
                                " Vectors may read up to %s - 1 floats beyond the last of w%s.",
                                naming->tile, rows ? "" : " and w_pairs"));
    keys_set(keys, "prefetches",
             form.fetch == FETCH_NOTHING
                 ? ""
                 : " */\n/* Prefetches a cache line from `ahead` on for each k.");
}

const char *new_tile_fn(struct bind *bind, const char *name, const struct tile_name *naming,
                        bool half, struct tile_form form, int64_t step)
{
    const bool mixed = tile_is_mixed(bind->machine, naming);
    const bool fuses_vectors = mixed || tile_is_short(bind->machine, naming);
    const struct tile_axes axes = {
        .form = form,
        .step = step,
        .linkage = naming->apart ? "static APART" : "static inline",
        .tile = naming->tile,
        .vector = mixed ? "VECTOR24(v)" : naming->vector.type,
        .lanes = naming->vector.lanes,
        .fuse = !sums_are_fused(bind) ? NULL
                : mixed               ? "FUSE24(v)"
                : fuses_vectors       ? naming->vector.fuse
                                      : "fuse",
        .fuses_vectors = fuses_vectors,
        /* Of one pixel no text has a step. */
        .lone = bind->machine->lanes && naming->shape.pixels == 1 &&
                (naming->end || (form.input == TILE_ROWS && step == 0)),
    };
    struct microkernel kernel = {
        .axes = { .arena = bind->arena },
        .pixels = naming->pixels,
        .each_pixel = arena_printf(bind->arena, "EACH_PIXEL%s", naming->suffix),
        .each_vector =
            arena_printf(bind->arena, "EACH_VECTOR%s%s", naming->suffix, half ? "_HALF" : ""),
        .mr = bind->machine->lanes ? naming->shape.pixels : 0,
        .nr = bind->machine->lanes ? naming->shape.vectors / (half ? 2 : 1) : 0,
    };
    struct keys keys;

    if (naming->apart)
        bind_helper(bind, "apart");
    keys_init(&keys, bind->arena);
    if (form.pairs) {
        bind_helper(bind, "read_here");
        pairs_axes_set(&axes, bind->machine->adders == ADDERS_REGISTERS, &kernel);
        if (naming->end)
            set_end_of_pairs(bind, naming->end, &kernel);
        else
            pairs_axes_set_sums(&axes, &kernel);
        set_comments_of_pairs(bind->arena, naming, form, step, &keys);
        return bind_microkernel(bind, name, pairs_axes_file(&axes), &kernel, &keys);
    }
    tile_axes_set(&axes, &kernel);
    if (naming->end)
        set_end(bind, naming->end, &kernel);
    else
        tile_axes_set_sums(&kernel);
    set_comments(bind->arena, naming, form, step, &keys);
    return bind_microkernel(bind, name, tile_axes_file(&axes), &kernel, &keys);
}

struct tile named_tile(struct bind *bind, struct tile_name *naming, struct tile_form form,
                       int64_t step)
{
    const char *name = tile_fn_name(bind->arena, naming, "", form, step);
    struct tile tile = { .fn = bind_own_helper(bind, name),
                         .pixels = naming->pixels,
                         .channels = naming->tile };

    naming->vector = tile.vector = bind_tile_vector(bind, naming);
    bind_shapes(bind, naming, &tile);
    if (!tile.fn)
        tile.fn = new_tile_fn(bind, name, naming, false, form, step);
    return tile;
}

struct tile bind_named_tile(struct bind *bind, struct tile_name *naming, struct tile_form form,
                            int64_t step)
{
    const struct tile tile = named_tile(bind, naming, form, step);

    keys_offer(bind->keys, "pixels", tile.pixels);
    keys_offer(bind->keys, "tile", tile.channels);
    return tile;
}
