/* tile.c - see tile.h. */
#include "codegen_c/kernels/tile.h"

#include "base/str.h"
#include "codegen_c/kernels/limits.h"
#include "codegen_c/kernels/tile_end.h"
#include "codegen_c/kernels/tile_shape.h"
#include "codegen_c/kernels/vector.h"

enum {
    MOST_TILES = 40, /* values of the knob */
    LINE = 16        /* numbers of a cache line */
};

int tile_line(void)
{
    return LINE;
}

/* What a tile is asked for. */
struct wish {
    int64_t rows, columns; /* rows 0: it is not known how many */
    bool alike;            /* all vectors of the tile have the same length, and no panel is wide */
    bool stepped;          /* one pointer tells where all pixels are */
    bool pairs;            /* TILE_PAIRS */
    bool rest;             /* rows that whole tiles leave over have a tile of their own */
};

/* Whether there are registers for sums, for weights of three inputs, and for what ADD_PAIR needs.
 */
static bool pairs_fit(const struct machine *machine, int64_t vectors, int64_t pixels)
{
    return vectors * (pixels + 3) + 2 <= machine->registers;
}

/* The tile that is chosen for the region: `usual`, unless there are choices. A machine without a
 * number of lanes has none: what is best for one number is not for another. */
static struct tile_shape chosen_shape(struct bind *bind, struct tile_shape usual, int64_t panel,
                                      const struct wish *wish)
{
    static const int pixels[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 20, 24, 28 };
    const int64_t pair[2] = { usual.vectors, usual.pixels };
    int64_t values[MOST_TILES][2], taken[2];
    int n = 0;

    for (int64_t vectors = 1; vectors <= 8; vectors *= 2)
        for (size_t i = 0; i < sizeof pixels / sizeof *pixels && n < MOST_TILES; i++)
            if (tile_is_possible(bind->machine, panel, vectors, pixels[i], wish->columns) &&
                (!wish->pairs || pairs_fit(bind->machine, vectors, pixels[i]))) {
                values[n][0] = vectors;
                values[n++][1] = pixels[i];
            }
    bind_knob_pair(bind, KNOB_TILE, pair, n, values, taken);
    usual.short_end = usual.short_end && taken[0] == usual.vectors;
    usual.vectors = (int)taken[0];
    usual.pixels = (int)taken[1];
    return usual;
}

static void add_list_of_vectors(struct str *out, const char *name, int vectors)
{
    str_printf(out, "#define %s(DO, j)", name);
    for (int v = 0; v < vectors; v++)
        str_printf(out, " DO(j, %d)", v);
    str_add(out, "\n");
}

/* The line before shape i of n. */
static void add_condition(struct str *out, int n, int i)
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
    add_list_of_vectors(out, arena_printf(out->arena, "EACH_VECTOR%s", suffix), shape->vectors);
}

/* What a tile is called, and its shape where that does not depend on the compiler's macros. */
struct naming {
    const char *suffix, *pixels, *tile;
    int64_t narrow; /* 0, or the class of columns */
    bool wide;      /* in panels of 64 */
    int64_t rows;   /* 0: not known */
    bool stepped;   /* where one pointer tells where all pixels are */
    bool apart;     /* a function of its own in the C compiler's hands, too: computes_functions */
    const struct tile_end *end; /* where sums go straight to y, else NULL */
    struct row_vector vector;
    struct tile_shape shape;
};

/* Of the shapes that --target generic leaves to the C compiler, number i. Of those that a class of
 * columns does not narrow, the name would not tell the pixels. */
static struct tile_shape classed(const struct naming *naming, struct tile_shape shape)
{
    return naming->wide ? tile_widened(shape)
           : naming->narrow == TILE_THREE_QUARTERS
               ? tile_three_quarters(shape)
               : tile_narrowed(shape, naming->narrow ? naming->narrow : TILE_PANEL);
}

static struct tile_shape named_shape(const struct naming *naming, int i)
{
    const struct tile_shape shape = classed(naming, tile_shapes[i]);

    if (naming->narrow && shape.vectors > 1)
        return shape;
    return tile_fitted(shape, naming->rows, naming->stepped);
}

/* "_8", "_64", "_9or6", "_8_24or12", "_by5": the class, and unusual numbers of pixels with 16 and 8
 * lanes. */
static const char *suffix_of(struct arena *arena, const struct naming *naming)
{
    const int most = named_shape(naming, 0).pixels, half = named_shape(naming, 1).pixels;
    const int64_t columns = naming->wide ? WIDE_TILE_PANEL : naming->narrow;
    const char *name = columns ? arena_printf(arena, "_%d", (int)columns) : "";

    if (most == classed(naming, tile_shapes[0]).pixels &&
        half == classed(naming, tile_shapes[1]).pixels)
        return name;
    if (most == half)
        return arena_printf(arena, "%s_by%d", name, most);
    return arena_printf(arena, "%s_%dor%d", name, most, half);
}

/* Whether no tile of the class needs the longest vectors that the processor may have. */
static bool is_short(const struct machine *machine, const struct naming *naming)
{
    return naming->narrow &&
           naming->narrow < (machine->lanes ? machine->lanes : tile_shapes[0].lanes);
}

/* Whether vectors of the tile may differ in length: which is which, VECTOR24 says. */
static bool is_mixed(const struct machine *machine, const struct naming *naming)
{
    return machine->lanes ? naming->shape.short_end : naming->narrow == TILE_THREE_QUARTERS;
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

/* The vectors of the tile, once their helpers have been asked for. */
static struct row_vector bind_tile_vector(struct bind *bind, const struct naming *naming)
{
    bind_vector(bind);
    if (is_mixed(bind->machine, naming))
        bind_vector24(bind);
    return is_short(bind->machine, naming) ? bind_row_vector(bind, naming->narrow)
                                           : (struct row_vector){ .type = "vector_f32",
                                                                  .lanes = "LANES",
                                                                  .most = tile_shapes[0].lanes };
}

/* Whether sums go through functions whose constants take many registers. */
static bool computes_functions(const struct region *region)
{
    for (const struct node *node = region->fn->first; node; node = node->next)
        switch (node->op) {
        case OP_CELU:
        case OP_ELU:
        case OP_ERF:
        case OP_EXP:
        case OP_GELU:
        case OP_LOG:
        case OP_MISH:
        case OP_SELU:
        case OP_SIGMOID:
        case OP_SILU:
        case OP_SOFTPLUS:
        case OP_TANH: return true;
        default: break;
        }
    return false;
}

static struct naming naming_of(struct bind *bind, const struct wish *wish)
{
    const struct machine *machine = bind->machine;
    const int64_t rows = wish->rows, columns = wish->columns;
    const bool wide = !wish->alike && tile_is_wide(machine, columns);
    const bool three_quarters = !wish->alike && tile_is_three_quarters(machine, columns);
    struct naming naming = { .narrow = three_quarters ? TILE_THREE_QUARTERS
                                                      : tile_class(machine, columns),
                             .wide = wide,
                             .rows = rows,
                             .stepped = wish->stepped,
                             .apart = machine->lanes != 1 && computes_functions(bind->region) };

    if (!machine->lanes) {
        naming.suffix = suffix_of(bind->arena, &naming);
    } else {
        const int64_t class = wide ? WIDE_TILE_PANEL : naming.narrow;
        const struct tile_shape usual = classed(&naming, tile_shape_of_machine(machine));
        const struct tile_shape wished = wish->pairs ? tile_fitted_to_pairs(usual, rows, wish->rest)
                                                     : tile_fitted(usual, rows, wish->stepped);

        naming.suffix = class ? arena_printf(bind->arena, "_%d", (int)class) : "";
        naming.shape =
            chosen_shape(bind, wished, wide ? WIDE_TILE_PANEL : tile_panel(machine), wish);
        if (naming.shape.vectors != usual.vectors || naming.shape.pixels != usual.pixels)
            naming.suffix =
                arena_printf(bind->arena, "%s_%dx%d",
                             is_short(machine, &naming) || three_quarters ? naming.suffix : "",
                             naming.shape.vectors, naming.shape.pixels);
    }
    naming.pixels = arena_printf(bind->arena, "PIXELS%s", naming.suffix);
    naming.tile = arena_printf(bind->arena, "TILE%s", naming.suffix);
    return naming;
}

/* The helper that defines the extents and the lists of a class; tells the most that they may be. */
static void bind_shapes(struct bind *bind, const struct naming *naming, struct tile *out)
{
    const char *name = arena_printf(bind->arena, "tile_shape%s", naming->suffix);
    const int n = bind->machine->lanes ? 1 : N_TILE_SHAPES;
    struct str text = { .arena = bind->arena };
    struct keys keys;

    for (int i = 0; i < n; i++) {
        const struct tile_shape shape = n == 1 ? naming->shape : named_shape(naming, i);

        add_condition(&text, n, i);
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
    keys_set(&keys, "shapes", str_text(&text));
    bind_new_helper(bind, name, "templates/helpers/tile_shape.c.tmpl", &keys);
}

static const char *const forms[] = { "taps", "ahead", "offsets",     "rows",
                                     "more", "pairs", "pairs_ahead", "pair_rows" };

/* What becomes of the sums, if it is not an array. */
static void bind_end(struct bind *bind, const struct tile_end *end, struct keys *keys)
{
    keys_set_flag(keys, "stores", end != NULL);
    keys_offer(keys, "end_params", end ? end->params : "");
    keys_offer(keys, "end_shared", end ? end->shared : "");
    keys_offer(keys, "end_channel", end ? end->channel : "");
    keys_offer(keys, "end_first", end ? end->first : "");
    keys_offer(keys, "end_nodes", end ? end->nodes : "");
    keys_offer(keys, "end_result", end ? end->result : "");
    if (end)
        bind_limit_macros(bind);
}

/* How the tile of pairs reads x, and what it does with its sums. */
static const char *new_tile_of_pairs(struct bind *bind, const char *name,
                                     const struct naming *naming, enum tile_form form, int64_t step,
                                     struct keys *keys)
{
    const bool rows = form == TILE_PAIRS_ROWS, ahead = rows || form == TILE_PAIRS_AHEAD;
    struct arena *arena = bind->arena;

    keys_set_flag(keys, "rows", rows);
    keys_set_flag(keys, "stepped", step > 0);
    keys_set_flag(keys, "pointers", !rows && step == 0);
    keys_set(keys, "x",
             rows       ? "const float *x, int step"
             : step > 0 ? "const float *x"
                        : "const float *const *x");
    keys_set(keys, "ahead", ahead ? "const float *ahead, " : "");
    keys_set(keys, "input", step ? arena_printf(arena, "x[j * %d]", (int)step) : "x##j[k]");
    keys_set(keys, "next_input",
             step ? arena_printf(arena, "x[j * %d + 1]", (int)step) : "x##j[k + 1]");
    keys_set(keys, "other_input", step ? arena_printf(arena, "at[j * %d]", (int)step) : "x##j[at]");
    keys_set(keys, "next", step ? "x += 2" : "k += 2");
    keys_set(keys, "is_pair", step ? "x < end" : "k < paired");
    keys_offer(keys, "of_x", step ? arena_printf(arena, "x[j * %d + k]", (int)step) : "x[j][k]");
    bind_end(bind, naming->end, keys);
    return bind_new_helper(bind, name, "templates/helpers/tile_pairs.c.tmpl", keys);
}

static const char *new_tile(struct bind *bind, const char *name, const struct naming *naming,
                            const char *each_vector, enum tile_form form, int64_t step)
{
    const bool mixed = is_mixed(bind->machine, naming);
    const bool fetches = form == TILE_AHEAD || form == TILE_PAIRS_AHEAD || form == TILE_PAIRS_ROWS;
    struct keys keys;

    keys_init(&keys, bind->arena);
    if (naming->apart)
        bind_helper(bind, "apart");
    keys_set(&keys, "linkage", naming->apart ? "static APART" : "static inline");
    keys_offer(&keys, "PIXELS", naming->pixels);
    keys_set(&keys, "TILE", naming->tile);
    keys_set(&keys, "each_pixel", arena_printf(bind->arena, "EACH_PIXEL%s", naming->suffix));
    keys_set(&keys, "each_vector", each_vector);
    keys_set(&keys, "vector", mixed ? "VECTOR24(v)" : naming->vector.type);
    keys_set(&keys, "lanes", naming->vector.lanes);
    keys_offer(&keys, "short", mixed || is_short(bind->machine, naming) ? "1" : "");
    keys_offer(&keys, "fuse", mixed ? "FUSE24(v)" : naming->vector.fuse ? naming->vector.fuse : "");
    keys_set_flag(&keys, "fetches", fetches);
    keys_set_int(&keys, "line", LINE);
    if (form >= TILE_PAIRS)
        return new_tile_of_pairs(bind, name, naming, form, step, &keys);
    keys_set_flag(&keys, "taps", form == TILE_TAPS || form == TILE_AHEAD);
    keys_set_flag(&keys, "offsets", form == TILE_OFFSETS);
    keys_set_flag(&keys, "rows", form == TILE_ROWS);
    keys_set_flag(&keys, "more", form == TILE_MORE);
    keys_set_flag(&keys, "pointers", step == 0);
    keys_set_int(&keys, "step", step);
    keys_set_flag(&keys, "strided", form == TILE_ROWS || form == TILE_MORE);
    return bind_new_helper(bind, name, "templates/helpers/tile_f32.c.tmpl", &keys);
}

/* What the function is called: of a tile, or of the first half of one; for one step if not 0. */
static const char *name_of(struct arena *arena, const struct naming *naming, const char *half,
                           enum tile_form form, int64_t step)
{
    const char *end = naming->end ? arena_printf(arena, "_stores%s", naming->end->name) : "";
    const char *name = arena_printf(arena, "tile%s%s%s_%s%s", naming->suffix, half,
                                    naming->apart ? "_apart" : "", forms[form], end);

    return step ? arena_printf(arena, "%s_by_%d", name, (int)step) : name;
}

static struct tile named_tile(struct bind *bind, struct naming *naming, enum tile_form form,
                              int64_t step)
{
    const char *name = name_of(bind->arena, naming, "", form, step);
    struct tile tile = { .fn = bind_own_helper(bind, name),
                         .pixels = naming->pixels,
                         .channels = naming->tile };

    naming->vector = tile.vector = bind_tile_vector(bind, naming);
    bind_shapes(bind, naming, &tile);
    if (!tile.fn)
        tile.fn = new_tile(bind, name, naming,
                           arena_printf(bind->arena, "EACH_VECTOR%s", naming->suffix), form, step);
    keys_offer(bind->keys, "pixels", tile.pixels);
    keys_offer(bind->keys, "tile", tile.channels);
    return tile;
}

struct tile bind_tile_f32(struct bind *bind, int64_t rows, int64_t columns, enum tile_form form)
{
    const struct wish wish = { .rows = rows, .columns = columns, .alike = true };
    struct naming naming = naming_of(bind, &wish);

    return named_tile(bind, &naming, form, 0);
}

/* --- halves
 * ---------------------------------------------------------------------------------------
 */

/* Whether at the end of so many columns no more than half of this tile is left. */
static bool leaves_half(const struct tile_shape *shape, int64_t columns)
{
    const int64_t tile = shape->vectors * shape->lanes, rest = columns % tile;

    return shape->lanes > 1 && shape->vectors > 1 && rest > 0 && rest <= tile / 2;
}

/* Whether one of the tiles of a name does. */
static bool needs_halves(const struct bind *bind, const struct naming *naming, int64_t columns)
{
    if (bind->machine->lanes)
        return leaves_half(&naming->shape, columns);
    for (int i = 0; i < N_TILE_SHAPES && !naming->narrow; i++) {
        const struct tile_shape shape = named_shape(naming, i);

        if (leaves_half(&shape, columns))
            return true;
    }
    return false;
}

/* The list of a half's vectors; its name is returned. */
static const char *bind_half_list(struct bind *bind, const struct naming *naming)
{
    const char *list = arena_printf(bind->arena, "EACH_VECTOR%s_HALF", naming->suffix);
    const char *name = arena_printf(bind->arena, "tile_half%s", naming->suffix);
    const int n = bind->machine->lanes ? 1 : N_TILE_SHAPES;
    struct str text = { .arena = bind->arena };
    struct keys keys;

    if (bind_own_helper(bind, name))
        return list;
    for (int i = 0; i < n; i++) {
        const int vectors = (n == 1 ? naming->shape : named_shape(naming, i)).vectors / 2;

        add_condition(&text, n, i);
        add_list_of_vectors(&text, list, vectors);
    }
    if (n > 1)
        str_add(&text, "#endif\n");
    keys_init(&keys, bind->arena);
    keys_set(&keys, "TILE", naming->tile);
    keys_set(&keys, "lists", str_text(&text));
    bind_new_helper(bind, name, "templates/helpers/tile_half.c.tmpl", &keys);
    return list;
}

/* The function of the first half, where one is needed: the keys halves and half_fn. */
static void bind_half(struct bind *bind, const struct naming *naming, int64_t columns,
                      enum tile_form form, int64_t step)
{
    const bool halves = needs_halves(bind, naming, columns);

    keys_set_flag(bind->keys, "halves", halves);
    keys_offer(bind->keys, "half_fn", "");
    if (halves) {
        const char *list = bind_half_list(bind, naming);
        const char *name = name_of(bind->arena, naming, "_half", form, step);
        const char *fn = bind_own_helper(bind, name);

        keys_offer(bind->keys, "half_fn", fn ? fn : new_tile(bind, name, naming, list, form, step));
    }
}

static struct tile tile_of_rows(struct bind *bind, int64_t rows, int64_t columns,
                                enum tile_form form, int64_t step)
{
    const struct wish wish = { .rows = rows, .columns = columns, .stepped = step > 0 };
    struct naming naming = naming_of(bind, &wish);
    const struct tile tile = named_tile(bind, &naming, form, step);

    bind_half(bind, &naming, columns, form, step);
    return tile;
}

struct tile bind_tile_of_rows(struct bind *bind, int64_t rows, int64_t columns, enum tile_form form)
{
    return tile_of_rows(bind, rows, columns, form, 0);
}

struct tile bind_tile_by_steps(struct bind *bind, int64_t rows, int64_t columns, int64_t step)
{
    return tile_of_rows(bind, rows, columns, TILE_OFFSETS, step);
}

/* The tile of the rows that whole ones leave over. */
static void bind_rest(struct bind *bind, const struct naming *whole, int64_t rows,
                      enum tile_form form, int64_t step)
{
    const int pixels = (int)(rows % whole->shape.pixels);
    struct naming rest = *whole;

    keys_set_flag(bind->keys, "rest", pixels > 0);
    keys_offer(bind->keys, "rest_fn", "");
    if (pixels == 0)
        return;
    rest.shape.pixels = pixels;
    rest.suffix = arena_printf(bind->arena, "_%dx%d", rest.shape.vectors, pixels);
    rest.pixels = arena_printf(bind->arena, "PIXELS%s", rest.suffix);
    rest.tile = arena_printf(bind->arena, "TILE%s", rest.suffix);
    keys_offer(bind->keys, "rest_fn", named_tile(bind, &rest, form, step).fn);
    keys_offer(bind->keys, "pixels", whole->pixels);
    keys_offer(bind->keys, "tile", whole->tile);
}

/* The first half of a tile that stores. */
static void bind_store_half(struct bind *bind, const struct naming *naming, enum tile_form form,
                            int64_t step)
{
    const char *list = bind_half_list(bind, naming);
    const char *name = name_of(bind->arena, naming, "_half", form, step);
    const char *fn = bind_own_helper(bind, name);

    keys_offer(bind->keys, "store_half_fn",
               fn ? fn : new_tile(bind, name, naming, list, form, step));
}

struct tile bind_tile_of_pairs(struct bind *bind, int64_t rows, int64_t columns, bool ahead,
                               int64_t step, const struct tile_end *end)
{
    const enum tile_form form = ahead ? TILE_PAIRS_AHEAD : TILE_PAIRS;
    const struct wish wish = {
        .rows = rows, .columns = columns, .alike = true, .pairs = true, .rest = end != NULL
    };
    struct naming naming = naming_of(bind, &wish), seldom = naming;
    struct tile tile;
    int64_t left, half;

    seldom.apart = true; /* one copy of what is there for few inputs */
    tile = named_tile(bind, &seldom, TILE_TAPS, 0);
    keys_offer(bind->keys, "tile_fn", tile.fn);
    naming.vector = tile.vector;
    left = columns % tile.most_channels;
    half = tile.most_channels / 2;
    keys_set_flag(bind->keys, "others", left > half);
    if (!end || left > half)
        keys_set(bind->keys, "pairs_fn", named_tile(bind, &naming, form, end ? 0 : step).fn);
    keys_set_flag(bind->keys, "half_stores", end && left == half);
    keys_set_flag(bind->keys, "halves", false);
    if (!end || left != half || rows % naming.shape.pixels > 0)
        bind_half(bind, &naming, columns, form, end ? 0 : step);
    keys_set_flag(bind->keys, "rest", false);
    if (!end)
        return tile;
    naming.end = end;
    keys_set(bind->keys, "store_fn", named_tile(bind, &naming, form, step).fn);
    bind_rest(bind, &naming, rows, form, step);
    if (left == half)
        bind_store_half(bind, &naming, form, step);
    return tile;
}

struct tile bind_tile_of_pair_rows(struct bind *bind, int64_t rows, int64_t columns)
{
    const struct wish wish = { .rows = rows, .columns = columns, .alike = true, .pairs = true };
    struct naming naming = naming_of(bind, &wish), seldom = naming;
    const struct tile pairs = named_tile(bind, &naming, TILE_PAIRS_ROWS, 0);

    seldom.apart = true;
    keys_offer(bind->keys, "tile_fn", named_tile(bind, &seldom, TILE_ROWS, 0).fn);
    bind_half(bind, &naming, columns, TILE_PAIRS_ROWS, 0);
    return pairs;
}
