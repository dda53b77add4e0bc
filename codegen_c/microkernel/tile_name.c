/* tile_name.c - see tile_name.h. */
#include "codegen_c/microkernel/tile_name.h"

#include "codegen_c/microkernel/tile_time.h"

enum { MOST_TILES = 40 /* most values of the knob */ };

/* Whether there are registers for sums, the weights of three inputs, and what ADD_PAIR needs. */
static bool pairs_fit(const struct machine *machine, int64_t vectors, int64_t pixels)
{
    return vectors * (pixels + 3) + 2 <= machine->registers;
}

/* The tile that the knob chooses; default `usual`. CPUs without a fixed number of lanes have no
 * choice. */
static struct tile_shape chosen_shape(struct bind *bind, struct tile_shape usual, int64_t panel,
                                      const struct tile_request *request)
{
    static const int pixels[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 20, 24, 28 };
    const int64_t pair[2] = { usual.vectors, usual.pixels };
    int64_t values[MOST_TILES][2], taken[2];
    int n = 0;

    for (int64_t vectors = 1; vectors <= 8; vectors *= 2)
        for (size_t i = 0; i < sizeof pixels / sizeof *pixels && n < MOST_TILES; i++)
            if (tile_is_possible(bind->machine, panel, vectors, pixels[i], request->columns) &&
                (!request->pairs || pairs_fit(bind->machine, vectors, pixels[i]))) {
                values[n][0] = vectors;
                values[n++][1] = pixels[i];
            }
    bind_knob_pair(bind, KNOB_TILE, pair, n, values, taken);
    usual.short_end = usual.short_end && taken[0] == usual.vectors;
    usual.vectors = (int)taken[0];
    usual.pixels = (int)taken[1];
    return usual;
}

/* The default tile of the region. */
static struct tile_shape wished_shape(const struct machine *machine, struct tile_shape usual,
                                      int64_t panel, const struct tile_request *request)
{
    const struct tile_product product = { request->rows, request->columns, request->len };

    if (request->pairs)
        return tile_fitted_to_pairs(machine, usual, request->rows, request->rest);
    return tile_fastest(machine, tile_fitted(usual, request->rows, request->stepped), panel,
                        &product);
}

/* Shape i for --target generic. Where the class of columns does not narrow the tile, the name does
 * not tell the pixels. */
static struct tile_shape classed(const struct tile_name *name, struct tile_shape shape)
{
    return name->wide ? tile_widened(shape)
           : name->narrow == TILE_THREE_QUARTERS
               ? tile_three_quarters(shape)
               : tile_narrowed(shape, name->narrow ? name->narrow : TILE_PANEL);
}

struct tile_shape tile_named_shape(const struct tile_name *name, int i)
{
    const struct tile_shape shape = classed(name, tile_shapes[i]);

    if (name->narrow && shape.vectors > 1)
        return shape;
    return tile_fitted(shape, name->rows, name->stepped);
}

/* The name's suffix: "_8", "_64", "_9or6", "_8_24or12", "_by5": the class, and unusual numbers of
 * pixels with 16 and 8 lanes. */
static const char *suffix_of(struct arena *arena, const struct tile_name *name)
{
    const int most = tile_named_shape(name, 0).pixels, half = tile_named_shape(name, 1).pixels;
    const int64_t columns = name->wide ? WIDE_TILE_PANEL : name->narrow;
    const char *class = columns ? arena_printf(arena, "_%d", (int)columns) : "";

    if (most == classed(name, tile_shapes[0]).pixels &&
        half == classed(name, tile_shapes[1]).pixels)
        return class;
    if (most == half)
        return arena_printf(arena, "%s_by%d", class, most);
    return arena_printf(arena, "%s_%dor%d", class, most, half);
}

bool tile_is_short(const struct machine *machine, const struct tile_name *name)
{
    return name->narrow && name->narrow < (machine->lanes ? machine->lanes : tile_shapes[0].lanes);
}

bool tile_is_mixed(const struct machine *machine, const struct tile_name *name)
{
    return machine->lanes ? name->shape.short_end : name->narrow == TILE_THREE_QUARTERS;
}

/* Whether the epilogue has functions whose constants take many registers. */
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

struct tile_name tile_name_of(struct bind *bind, const struct tile_request *request)
{
    const struct machine *machine = bind->machine;
    const int64_t rows = request->rows, columns = request->columns;
    const bool wide = !request->alike && tile_is_wide(machine, columns);
    const bool three_quarters = !request->alike && tile_is_three_quarters(machine, columns);
    struct tile_name name = { .narrow = three_quarters ? TILE_THREE_QUARTERS
                                                       : tile_class(machine, columns),
                              .wide = wide,
                              .rows = rows,
                              .stepped = request->stepped,
                              .apart = machine->lanes != 1 && computes_functions(bind->region) };

    if (!machine->lanes) {
        name.suffix = suffix_of(bind->arena, &name);
    } else {
        const int64_t class = wide ? WIDE_TILE_PANEL : name.narrow;
        const struct tile_shape usual = classed(&name, tile_shape_of_machine(machine));
        const int64_t panel = wide ? WIDE_TILE_PANEL : tile_panel(machine);

        name.suffix = class ? arena_printf(bind->arena, "_%d", (int)class) : "";
        name.shape =
            chosen_shape(bind, wished_shape(machine, usual, panel, request), panel, request);
        if (name.shape.vectors != usual.vectors || name.shape.pixels != usual.pixels)
            name.suffix =
                arena_printf(bind->arena, "%s_%dx%d",
                             tile_is_short(machine, &name) || three_quarters ? name.suffix : "",
                             name.shape.vectors, name.shape.pixels);
    }
    name.pixels = arena_printf(bind->arena, "PIXELS%s", name.suffix);
    name.tile = arena_printf(bind->arena, "TILE%s", name.suffix);
    return name;
}

/* As names of functions have it. */
static const char *form_name(struct tile_form form)
{
    static const char *const by_pointers[] = { "taps", "ahead", "evenly" };
    const bool paced = form.fetch == FETCH_PACED;

    if (form.pairs)
        return form.input == TILE_ROWS       ? "pair_rows"
               : form.fetch == FETCH_NOTHING ? "pairs"
                                             : "pairs_ahead";
    switch (form.input) {
    case TILE_POINTERS: return form.adds ? "parts" : by_pointers[form.fetch];
    case TILE_OFFSETS: return "offsets";
    case TILE_ROWS: break;
    }
    return form.adds ? (paced ? "more_evenly" : "more") : paced ? "rows_evenly" : "rows";
}

/* The microkernel's name; see tile_name.h. */
const char *tile_fn_name(struct arena *arena, const struct tile_name *name, const char *half,
                         struct tile_form form, int64_t step)
{
    const char *some = name->end && name->end->some ? "_some" : "";
    const char *end = name->end ? arena_printf(arena, "_stores%s%s", some, name->end->name) : "";
    const char *fn = arena_printf(arena, "tile%s%s%s_%s%s", name->suffix, half,
                                  name->apart ? "_apart" : "", form_name(form), end);

    return step ? arena_printf(arena, "%s_by_%d", fn, (int)step) : fn;
}
