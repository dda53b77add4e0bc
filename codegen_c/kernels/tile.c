/* tile.c - see tile.h. */
#include "codegen_c/kernels/tile.h"

#include "base/str.h"
#include "codegen_c/kernels/vector.h"
#include "codegen_c/machine.h"

enum {
    PANEL = 32,
    WIDE_PANEL = 64,
    WIDE_VECTORS = 4, /* of a panel of 64 with 16 lanes: fewer loads for each product than 2 x 8 */
    WIDE_PIXELS = 6,
    SCALAR_COLUMNS = 4,
    NARROW_16 = 14,    /* pixels of a tile of one vector, with 32 registers … */
    NARROW = 12,       /* … and with 16 */
    NARROW_4 = 4,      /* pixels of a tile of two vectors of 4 lanes, with 16 */
    LEAST_LANES = 4,   /* of vectors */
    REGISTERS = 16,    /* where the machine does not tell */
    FEWEST_SUMS = 8,   /* that hide how long it takes to add to one, where there are registers */
    MOST_ADAPTED = 8,  /* pixels that may become one more: 32 registers */
    MOST_STEPPED = 24, /* of one vector, with 32 registers, where one pointer tells where all are */
    LINE = 16          /* numbers of a cache line */
};

/* What --target generic leaves to the C compiler: the same tiles as the rows of machines.def. */
static const struct shape {
    const char *condition; /* "" = what is left */
    int lanes, vectors, pixels;
} shapes[] = {
    { "LANES == 16", 16, 2, 8 },
    { "LANES == 8", 8, 2, 6 },
    { "LANES == 4 && defined __aarch64__", 4, 2, 8 },
    { "LANES == 4", 4, 4, 2 },
    { "", 1, SCALAR_COLUMNS, 4 },
};

enum { N_SHAPES = sizeof shapes / sizeof *shapes };

int tile_panel(const struct machine *machine)
{
    return machine->lanes == 1 ? SCALAR_COLUMNS : PANEL;
}

/* Vectors of 16 lanes that tiles of so many channels make of these columns, the last tile being
 * one of half as many where that is enough. */
static int64_t vectors_made(int64_t columns, int64_t tile)
{
    const int64_t rest = columns % tile;

    return (columns / tile * 2 + (rest == 0 ? 0 : rest <= tile / 2 ? 1 : 2)) * (tile / 2 / 16);
}

/* Wide panels unless they leave a sixteenth more unused. */
static bool is_wide(const struct machine *machine, int64_t columns)
{
    return (machine->lanes == 0 || machine->lanes == 16) && columns > PANEL &&
           vectors_made(columns, WIDE_PANEL) * 15 <= vectors_made(columns, PANEL) * 16;
}

int tile_panel_of(const struct machine *machine, int64_t columns)
{
    return is_wide(machine, columns) ? WIDE_PANEL : tile_panel(machine);
}

int tile_line(void)
{
    return LINE;
}

static struct shape widened(struct shape shape)
{
    if (shape.lanes == 16) {
        shape.vectors = WIDE_VECTORS;
        shape.pixels = WIDE_PIXELS;
    }
    return shape;
}

/* One vector of many pixels, where more would hold no channels, and that no longer than they need:
 * there are processors with twice as many instructions a cycle for vectors of half the length. */
static struct shape narrowed(struct shape shape, int64_t columns)
{
    const int sums = shape.vectors * shape.pixels;

    if (shape.lanes > 1 && columns <= shape.lanes) {
        shape.vectors = 1;
        shape.pixels = shape.lanes == 16 ? NARROW_16 : sums < FEWEST_SUMS ? sums : NARROW;
        while (shape.lanes > LEAST_LANES && columns <= shape.lanes / 2)
            shape.lanes /= 2;
    } else if (shape.lanes > 1 && shape.vectors > 2 && columns <= 2 * shape.lanes) {
        shape.vectors = 2;
        shape.pixels = NARROW_4;
    }
    return shape;
}

static struct shape shape_of_machine(const struct machine *machine)
{
    return (struct shape){ .condition = "",
                           .lanes = machine->lanes,
                           .vectors = machine->tile_vectors,
                           .pixels = machine->tile_columns };
}

void tile_extents(const struct machine *machine, int64_t columns, int *pixels, int *channels)
{
    const struct shape shape =
        narrowed(machine->lanes ? shape_of_machine(machine) : shapes[0], columns);

    *pixels = shape.pixels;
    *channels = shape.vectors * shape.lanes;
}

/* Steps of time that a tile takes for each k, less what all take: products, two of which are begun
 * at a time but wait for the sums of the k before; vectors of weights; the loop. */
static int64_t tile_cost(int64_t vectors, int64_t pixels)
{
    const int64_t sums = vectors * pixels;

    return (sums < FEWEST_SUMS ? FEWEST_SUMS : sums) + vectors + 2;
}

/* As many pixels as make the least of so many rows: 7 of 49. 0 rows: it is not known how many. */
static struct shape fitted(struct shape shape, int64_t rows, bool stepped)
{
    const int usual = shape.pixels;
    const bool one_more = usual == MOST_ADAPTED || shape.vectors == WIDE_VECTORS;
    const int most = shape.vectors > 1                      ? usual + one_more
                     : stepped && shape.pixels == NARROW_16 ? MOST_STEPPED
                                                            : usual;
    int64_t least = 0;

    if (rows == 0 || shape.lanes == 1 || (shape.vectors > 2 && shape.lanes < 16))
        return shape;
    for (int pixels = usual / 2; pixels <= most; pixels++) {
        const int64_t tiles = (rows + pixels - 1) / pixels;
        const int64_t cost = tiles * tile_cost(shape.vectors, pixels);

        if (least == 0 || cost <= least) {
            least = cost;
            shape.pixels = pixels;
        }
    }
    /* More text for less than a twentieth is not worth it. */
    if (least * 20 > (rows + usual - 1) / usual * tile_cost(shape.vectors, usual) * 19)
        shape.pixels = usual;
    return shape;
}

/* --- the knob ------------------------------------------------------------------------------------
 */

enum { MOST_TILES = 40 };

/* Whether sums and weights fit into the registers, and the tile into a panel, and enough of it
 * holds channels. One vector of many channels loads twice for each sum: not worth a trial. */
static bool is_tile(const struct machine *machine, int64_t panel, int64_t vectors, int64_t pixels,
                    int64_t columns)
{
    const int64_t lanes = machine->lanes, sums = vectors * pixels;
    const int64_t registers = machine->registers ? machine->registers : REGISTERS;

    return panel % (vectors * lanes) == 0 && sums + vectors <= registers &&
           sums >= (lanes > 1 && registers > FEWEST_SUMS ? FEWEST_SUMS : FEWEST_SUMS / 2) &&
           (vectors == 1 ? columns <= lanes || lanes == 1 : (vectors - 1) * lanes < columns);
}

/* The tile that is chosen for the region: `usual`, unless there are choices. A machine without a
 * number of lanes has none: what is best for one number is not for another. */
static struct shape chosen_shape(struct bind *bind, struct shape usual, int64_t panel,
                                 int64_t columns)
{
    static const int pixels[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 20, 24, 28 };
    const int64_t pair[2] = { usual.vectors, usual.pixels };
    int64_t values[MOST_TILES][2], taken[2];
    int n = 0;

    for (int64_t vectors = 1; vectors <= 8; vectors *= 2)
        for (size_t i = 0; i < sizeof pixels / sizeof *pixels && n < MOST_TILES; i++)
            if (is_tile(bind->machine, panel, vectors, pixels[i], columns)) {
                values[n][0] = vectors;
                values[n++][1] = pixels[i];
            }
    bind_knob_pair(bind, KNOB_TILE, pair, n, values, taken);
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
                   i == 0                 ? "#if "
                   : *shapes[i].condition ? "#elif "
                                          : "#else",
                   shapes[i].condition);
}

static void add_shape(struct str *out, const char *pixels, const char *tile, const char *suffix,
                      const char *lanes, const struct shape *shape)
{
    const bool one = shape->vectors == 1 && shape->lanes > 1;

    str_printf(out, "enum { %s = %d, %s = ", pixels, shape->pixels, tile);
    if (!one)
        str_printf(out, "%d", shape->vectors);
    if (shape->lanes > 1)
        str_printf(out, "%s%s", one ? "" : " * ", lanes);
    str_printf(out, " };\n#define EACH_PIXEL%s(DO)", suffix);
    for (int j = 0; j < shape->pixels; j++)
        str_printf(out, " DO(%d)", j);
    str_add(out, "\n");
    add_list_of_vectors(out, arena_printf(out->arena, "EACH_VECTOR%s", suffix), shape->vectors);
}

/* Which columns share a helper: those for which every shape is the same. */
static int64_t class_of(const struct machine *machine, int64_t columns)
{
    static const int64_t classes[] = { 4, 8, 16 };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const int64_t lanes = machine->lanes;

        if (columns <= classes[i] &&
            (lanes == 0 ||
             (lanes > 1 && lanes * (machine->tile_vectors > 2 ? 2 : 1) >= classes[i])))
            return classes[i];
    }
    return 0;
}

/* What a tile is called, and its shape where that does not depend on the compiler's macros. */
struct naming {
    const char *suffix, *pixels, *tile;
    int64_t narrow; /* 0, or the class of columns */
    bool wide;      /* in panels of 64 */
    int64_t rows;   /* 0: not known */
    bool stepped;   /* where one pointer tells where all pixels are */
    struct row_vector vector;
    struct shape shape;
};

/* Of the shapes that --target generic leaves to the C compiler, number i. Of those that a class of
 * columns does not narrow, the name would not tell the pixels. */
static struct shape classed(const struct naming *naming, struct shape shape)
{
    return naming->wide ? widened(shape) : narrowed(shape, naming->narrow ? naming->narrow : PANEL);
}

static struct shape named_shape(const struct naming *naming, int i)
{
    const struct shape shape = classed(naming, shapes[i]);

    if (naming->narrow && shape.vectors > 1)
        return shape;
    return fitted(shape, naming->rows, naming->stepped);
}

/* "_8", "_64", "_9or6", "_8_24or12", "_by5": the class, and unusual numbers of pixels with 16 and 8
 * lanes. */
static const char *suffix_of(struct arena *arena, const struct naming *naming)
{
    const int most = named_shape(naming, 0).pixels, half = named_shape(naming, 1).pixels;
    const int64_t columns = naming->wide ? WIDE_PANEL : naming->narrow;
    const char *name = columns ? arena_printf(arena, "_%d", (int)columns) : "";

    if (most == classed(naming, shapes[0]).pixels && half == classed(naming, shapes[1]).pixels)
        return name;
    if (most == half)
        return arena_printf(arena, "%s_by%d", name, most);
    return arena_printf(arena, "%s_%dor%d", name, most, half);
}

/* Whether no tile of the class needs the longest vectors that the processor may have. */
static bool is_short(const struct machine *machine, const struct naming *naming)
{
    return naming->narrow && naming->narrow < (machine->lanes ? machine->lanes : shapes[0].lanes);
}

/* The vectors of the tile, once their helpers have been asked for. */
static struct row_vector bind_tile_vector(struct bind *bind, const struct naming *naming)
{
    bind_vector(bind);
    return is_short(bind->machine, naming) ? bind_row_vector(bind, naming->narrow)
                                           : (struct row_vector){ .type = "vector_f32",
                                                                  .lanes = "LANES",
                                                                  .most = shapes[0].lanes };
}

static struct naming naming_of(struct bind *bind, int64_t rows, int64_t columns, bool wide,
                               bool stepped)
{
    const struct machine *machine = bind->machine;
    struct naming naming = {
        .narrow = class_of(machine, columns), .wide = wide, .rows = rows, .stepped = stepped
    };

    if (!machine->lanes) {
        naming.suffix = suffix_of(bind->arena, &naming);
    } else {
        const int64_t class = wide ? WIDE_PANEL : naming.narrow;
        const struct shape usual = classed(&naming, shape_of_machine(machine));

        naming.suffix = class ? arena_printf(bind->arena, "_%d", (int)class) : "";
        naming.shape = chosen_shape(bind, fitted(usual, rows, stepped),
                                    wide ? WIDE_PANEL : tile_panel(machine), columns);
        if (naming.shape.vectors != usual.vectors || naming.shape.pixels != usual.pixels)
            naming.suffix = arena_printf(bind->arena, "%s_%dx%d",
                                         is_short(machine, &naming) ? naming.suffix : "",
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
    const int n = bind->machine->lanes ? 1 : N_SHAPES;
    struct str text = { .arena = bind->arena };
    struct keys keys;

    for (int i = 0; i < n; i++) {
        const struct shape shape = n == 1 ? naming->shape : named_shape(naming, i);

        add_condition(&text, n, i);
        add_shape(&text, out->pixels, out->channels, naming->suffix, naming->vector.lanes, &shape);
        if (shape.pixels > out->most_pixels)
            out->most_pixels = shape.pixels;
        if (shape.vectors * shape.lanes > out->most_channels)
            out->most_channels = shape.vectors * shape.lanes;
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

static const char *const forms[] = { "taps", "ahead", "offsets", "rows", "more" };

static const char *new_tile(struct bind *bind, const char *name, const struct naming *naming,
                            const char *each_vector, enum tile_form form, int64_t step)
{
    struct keys keys;

    keys_init(&keys, bind->arena);
    keys_set(&keys, "PIXELS", naming->pixels);
    keys_set(&keys, "TILE", naming->tile);
    keys_set(&keys, "each_pixel", arena_printf(bind->arena, "EACH_PIXEL%s", naming->suffix));
    keys_set(&keys, "each_vector", each_vector);
    keys_set(&keys, "vector", naming->vector.type);
    keys_set(&keys, "lanes", naming->vector.lanes);
    keys_set_flag(&keys, "short", is_short(bind->machine, naming));
    keys_offer(&keys, "fuse", naming->vector.fuse ? naming->vector.fuse : "");
    keys_set_flag(&keys, "taps", form == TILE_TAPS || form == TILE_AHEAD);
    keys_set_flag(&keys, "fetches", form == TILE_AHEAD);
    keys_set_flag(&keys, "offsets", form == TILE_OFFSETS);
    keys_set_flag(&keys, "rows", form == TILE_ROWS);
    keys_set_flag(&keys, "more", form == TILE_MORE);
    keys_set_flag(&keys, "pointers", step == 0);
    keys_set_int(&keys, "step", step);
    keys_set_int(&keys, "line", LINE);
    keys_set_flag(&keys, "strided", form == TILE_ROWS || form == TILE_MORE);
    return bind_new_helper(bind, name, "templates/helpers/tile_f32.c.tmpl", &keys);
}

/* What the function is called: of a tile, or of the first half of one; for one step if not 0. */
static const char *name_of(struct arena *arena, const struct naming *naming, const char *half,
                           enum tile_form form, int64_t step)
{
    const char *name = arena_printf(arena, "tile%s%s_%s", naming->suffix, half, forms[form]);

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

struct tile bind_tile_f32(struct bind *bind, int64_t columns, enum tile_form form)
{
    struct naming naming = naming_of(bind, 0, columns, false, false);

    return named_tile(bind, &naming, form, 0);
}

/* --- halves
 * ---------------------------------------------------------------------------------------
 */

/* Whether at the end of so many columns no more than half of this tile is left. */
static bool leaves_half(const struct shape *shape, int64_t columns)
{
    const int64_t tile = shape->vectors * shape->lanes, rest = columns % tile;

    return shape->lanes > 1 && shape->vectors > 1 && rest > 0 && rest <= tile / 2;
}

/* Whether one of the tiles of a name does. */
static bool needs_halves(const struct bind *bind, const struct naming *naming, int64_t columns)
{
    if (bind->machine->lanes)
        return leaves_half(&naming->shape, columns);
    for (int i = 0; i < N_SHAPES && !naming->narrow; i++) {
        const struct shape shape = named_shape(naming, i);

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
    const int n = bind->machine->lanes ? 1 : N_SHAPES;
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

static struct tile tile_of_rows(struct bind *bind, int64_t rows, int64_t columns,
                                enum tile_form form, int64_t step)
{
    struct naming naming =
        naming_of(bind, rows, columns, is_wide(bind->machine, columns), step > 0);
    const struct tile tile = named_tile(bind, &naming, form, step);
    const bool halves = needs_halves(bind, &naming, columns);

    keys_set_flag(bind->keys, "halves", halves);
    keys_offer(bind->keys, "half_fn", "");
    if (halves) {
        const char *list = bind_half_list(bind, &naming);
        const char *name = name_of(bind->arena, &naming, "_half", form, step);
        const char *fn = bind_own_helper(bind, name);

        keys_offer(bind->keys, "half_fn",
                   fn ? fn : new_tile(bind, name, &naming, list, form, step));
    }
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

/* Tiles of one row after the other, divided by tiles of all pixels: whether they are nearly as
 * many. */
static bool fills(struct shape usual, int64_t rows, int64_t len)
{
    const struct shape by_row = fitted(usual, len, true), all = fitted(usual, rows * len, false);
    const int64_t row_time =
        (len + by_row.pixels - 1) / by_row.pixels * tile_cost(by_row.vectors, by_row.pixels);
    const int64_t time =
        (rows * len + all.pixels - 1) / all.pixels * tile_cost(all.vectors, all.pixels);

    return rows * row_time * 20 <= time * 21;
}

bool tiles_fill_rows(const struct machine *machine, int64_t rows, int64_t len, int64_t columns)
{
    const bool wide = is_wide(machine, columns);

    for (int i = 0; i < (machine->lanes ? 1 : N_SHAPES); i++) {
        const struct shape usual = machine->lanes ? shape_of_machine(machine) : shapes[i];

        if (!fills(wide ? widened(usual) : narrowed(usual, columns), rows, len))
            return false;
    }
    return true;
}
