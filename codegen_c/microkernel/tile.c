/* tile.c - see tile.h. */
#include "codegen_c/microkernel/tile.h"

#include "codegen_c/microkernel/limits.h"
#include "codegen_c/microkernel/tile_text.h"

struct tile bind_tile_f32(struct bind *bind, int64_t rows, int64_t columns, struct tile_form form)
{
    const struct tile_request request = { .rows = rows, .columns = columns, .alike = true };
    struct tile_name naming = tile_name_of(bind, &request);

    return bind_named_tile(bind, &naming, form, 0);
}

/* --- halves ----------------------------------------------------------------------------------- */

/* Whether at most half of this tile is left at the end of the columns. */
static bool leaves_half(const struct tile_shape *shape, int64_t columns)
{
    const int64_t tile = shape->vectors * shape->lanes, rest = columns % tile;

    return shape->lanes > 1 && shape->vectors > 1 && rest > 0 && rest <= tile / 2;
}

/* The same for any tile of a name. */
static bool needs_halves(const struct bind *bind, const struct tile_name *naming, int64_t columns)
{
    if (bind->machine->lanes)
        return leaves_half(&naming->shape, columns);
    for (int i = 0; i < N_TILE_SHAPES && !naming->narrow; i++) {
        const struct tile_shape shape = tile_named_shape(naming, i);

        if (leaves_half(&shape, columns))
            return true;
    }
    return false;
}

/* Adds the list of a half tile's vectors. */
static void bind_half_list(struct bind *bind, const struct tile_name *naming)
{
    const char *list = arena_printf(bind->arena, "EACH_VECTOR%s_HALF", naming->suffix);
    const char *name = arena_printf(bind->arena, "tile_half%s", naming->suffix);
    const int n = bind->machine->lanes ? 1 : N_TILE_SHAPES;
    struct str text = { .arena = bind->arena };
    struct keys keys;

    if (bind_own_helper(bind, name))
        return;
    for (int i = 0; i < n; i++) {
        const int vectors = (n == 1 ? naming->shape : tile_named_shape(naming, i)).vectors / 2;

        tile_add_condition(&text, n, i);
        tile_add_list(&text, list, vectors);
    }
    if (n > 1)
        str_add(&text, "#endif\n");
    keys_init(&keys, bind->arena);
    keys_set(&keys, "TILE", naming->tile);
    keys_set(&keys, "lists", str_text(&text));
    bind_new_helper(bind, name, "templates/helpers/tile_half.c.tmpl", &keys);
}

/* Adds and returns the function of a tile's first half if one is needed. Sets `halves` and
 * `half_fn`. */
static bool bind_half(struct bind *bind, const struct tile_name *naming, int64_t columns,
                      struct tile_form form, int64_t step)
{
    const bool halves = needs_halves(bind, naming, columns);

    keys_set_flag(bind->keys, "halves", halves);
    keys_offer(bind->keys, "half_fn", "");
    if (halves) {
        const char *name = tile_fn_name(bind->arena, naming, "_half", form, step);
        const char *fn = bind_own_helper(bind, name);

        bind_half_list(bind, naming);
        keys_offer(bind->keys, "half_fn",
                   fn ? fn : new_tile_fn(bind, name, naming, true, form, step));
    }
    return halves;
}

/* Whether the columns are whole tiles of this shape, the last perhaps half of one. */
static bool are_whole(const struct tile_shape *shape, int64_t columns)
{
    const int64_t tile = tile_channels(shape), rest = columns % tile;

    return rest == 0 || (rest * 2 == tile && leaves_half(shape, columns));
}

/* The same for all tiles of a name. */
static bool are_all_whole(const struct bind *bind, const struct tile_name *naming, int64_t columns)
{
    if (bind->machine->lanes)
        return are_whole(&naming->shape, columns);
    for (int i = 0; i < N_TILE_SHAPES; i++) {
        const struct tile_shape shape = tile_named_shape(naming, i);

        if (!are_whole(&shape, columns))
            return false;
    }
    return true;
}

/* Whether the last vector of a row may be stored under a mask. */
static bool has_masks(const struct bind *bind, const struct tile_name *naming)
{
    enum { MASKED_LANES = 16 };

    return bind->machine->lanes == MASKED_LANES && !tile_is_short(bind->machine, naming);
}

/* `some`: tiles have an epilogue store even if their last vector is not whole. */
static struct tile tile_that_stores(struct bind *bind, const struct tile_request *request,
                                    struct tile_form form, int64_t step, bool some,
                                    const struct tile_stores *stores)
{
    struct tile_name naming = tile_name_of(bind, request);
    const bool whole = are_all_whole(bind, &naming, request->columns);
    struct tile_place place = stores->place;
    struct epilogue_store end;
    struct tile tile;

    place.some = some && !whole;
    naming.apart = naming.apart || stores->gathered;
    naming.vector = bind_tile_vector(bind, &naming);
    if (vectors_are_compared(bind->machine) && !tile_is_mixed(bind->machine, &naming) &&
        (whole || (some && has_masks(bind, &naming))) &&
        epilogue_store_of(bind, stores->w, &place, naming.vector.type, naming.vector.lanes, &end))
        naming.end = &end;
    tile = bind_named_tile(bind, &naming, form, step);
    tile.stores = naming.end != NULL;
    keys_set_flag(bind->keys, "stores", tile.stores);
    if (tile.stores) {
        tile.place = epilogue_store_y(bind, &place);
        tile.args = end.args;
        tile.some = end.some;
    }
    tile.halves = bind_half(bind, &naming, request->columns, form, step);
    return tile;
}

static struct tile tile_of_rows(struct bind *bind, int64_t rows, int64_t columns,
                                struct tile_form form, int64_t step,
                                const struct tile_stores *stores)
{
    const struct window *w = stores->w;
    const int64_t len = form.input == TILE_OFFSETS ? 0 : window_k_len(w) * w->in_c / w->groups;
    const struct tile_request request = { .rows = bind->region->size_varies ? 0 : rows,
                                          .columns = columns,
                                          .len = len,
                                          .stepped = step > 0 };
    const struct tile tile = tile_that_stores(bind, &request, form, step, false, stores);

    bind_text(bind, "results", "%s",
              tile.stores ? arena_printf(bind->arena, "\n                    %s, n_pixels%s",
                                         tile.place, tile.args)
                          : " sum");
    return tile;
}

struct tile bind_tile_of_rows(struct bind *bind, int64_t rows, int64_t columns,
                              struct tile_form form, const struct tile_stores *stores)
{
    return tile_of_rows(bind, rows, columns, form, 0, stores);
}

struct tile bind_tile_by_steps(struct bind *bind, int64_t rows, int64_t columns, int64_t step,
                               const struct tile_stores *stores)
{
    return tile_of_rows(bind, rows, columns, (struct tile_form){ .input = TILE_OFFSETS }, step,
                        stores);
}

struct tile bind_tile_of_product(struct bind *bind, int64_t rows, int64_t columns,
                                 const struct tile_stores *stores)
{
    const struct tile_request request = { .rows = rows, .columns = columns, .alike = true };

    return tile_that_stores(bind, &request, TILE_TAPS, 0, true, stores);
}

struct tile bind_tile_of_sums(struct bind *bind, int64_t rows, int64_t columns, int64_t step)
{
    const struct tile_request request = { .rows = rows,
                                          .columns = columns,
                                          .stepped = true,
                                          .alike = tile_is_three_quarters(bind->machine, columns) };
    const struct tile_form offsets = { .input = TILE_OFFSETS };
    struct tile_name naming = tile_name_of(bind, &request);
    struct tile tile;

    /* The epilogue's functions have constants that gcc would keep in this tile's registers, at
     * twice the time for 7 x 7 on 3 channels. */
    naming.apart = true;
    tile = bind_named_tile(bind, &naming, offsets, step);
    bind_half(bind, &naming, columns, offsets, step);
    return tile;
}

struct tile bind_tile_of_parts(struct bind *bind, int64_t rows, int64_t columns)
{
    const struct tile_request request = { .rows = rows, .columns = columns };
    struct tile_name naming = tile_name_of(bind, &request);

    return bind_named_tile(bind, &naming, (struct tile_form){ .fetch = FETCH_PACED, .adds = true },
                           0);
}

/* The tile of the rows left over by whole tiles. */
static void bind_rest(struct bind *bind, const struct tile_name *whole, int64_t rows,
                      struct tile_form form, int64_t step)
{
    const int pixels = (int)(rows % whole->shape.pixels);
    struct tile_name rest = *whole;

    keys_set_flag(bind->keys, "rest", pixels > 0);
    if (pixels == 0)
        return;
    rest.shape.pixels = pixels;
    rest.suffix = arena_printf(bind->arena, "_%dx%d", rest.shape.vectors, pixels);
    rest.pixels = arena_printf(bind->arena, "PIXELS%s", rest.suffix);
    rest.tile = arena_printf(bind->arena, "TILE%s", rest.suffix);
    keys_offer(bind->keys, "rest_fn", named_tile(bind, &rest, form, step).fn);
}

/* The first half of a tile with an epilogue store. */
static void bind_store_half(struct bind *bind, const struct tile_name *naming,
                            struct tile_form form, int64_t step)
{
    const char *name = tile_fn_name(bind->arena, naming, "_half", form, step);
    const char *fn = bind_own_helper(bind, name);

    bind_half_list(bind, naming);
    keys_offer(bind->keys, "store_half_fn",
               fn ? fn : new_tile_fn(bind, name, naming, true, form, step));
}

struct tile bind_tile_of_pairs(struct bind *bind, int64_t rows, int64_t columns, bool ahead,
                               int64_t step, const struct epilogue_store *end)
{
    const struct tile_form form = { .fetch = ahead ? FETCH_LINE : FETCH_NOTHING, .pairs = true };
    const struct tile_request request = {
        .rows = rows, .columns = columns, .alike = true, .pairs = true, .rest = end != NULL
    };
    struct tile_name naming = tile_name_of(bind, &request), seldom = naming;
    struct tile tile;
    int64_t left, half;

    seldom.apart = true; /* one copy where few inputs repeat */
    tile = bind_named_tile(bind, &seldom, TILE_TAPS, 0);
    keys_offer(bind->keys, "tile_fn", tile.fn);
    naming.vector = tile.vector;
    left = columns % tile.most_channels;
    half = tile.most_channels / 2;
    keys_set_flag(bind->keys, "others", left > half);
    if (!end || left > half)
        keys_set(bind->keys, "pairs_fn", bind_named_tile(bind, &naming, form, end ? 0 : step).fn);
    keys_set_flag(bind->keys, "half_stores", end && left == half);
    keys_set_flag(bind->keys, "halves", false);
    if (!end || left != half || rows % naming.shape.pixels > 0)
        bind_half(bind, &naming, columns, form, end ? 0 : step);
    keys_set_flag(bind->keys, "rest", false);
    if (!end)
        return tile;
    naming.end = end;
    keys_set(bind->keys, "store_fn", bind_named_tile(bind, &naming, form, step).fn);
    bind_rest(bind, &naming, rows, form, step);
    if (left == half)
        bind_store_half(bind, &naming, form, step);
    return tile;
}

struct tile bind_tile_of_pair_rows(struct bind *bind, int64_t rows, int64_t columns, int64_t step)
{
    const struct tile_request request = {
        .rows = rows, .columns = columns, .alike = true, .pairs = true
    };
    const struct tile_form by_rows = { .input = TILE_ROWS, .fetch = FETCH_LINE };
    const struct tile_form pairs_of_rows = { TILE_ROWS, FETCH_LINE, .pairs = true };
    struct tile_name naming = tile_name_of(bind, &request), seldom = naming;
    const struct tile pairs = bind_named_tile(bind, &naming, pairs_of_rows, step);

    seldom.apart = true;
    keys_offer(bind->keys, "tile_fn", bind_named_tile(bind, &seldom, by_rows, 0).fn);
    bind_half(bind, &naming, columns, pairs_of_rows, step);
    return pairs;
}
