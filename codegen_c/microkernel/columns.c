/* columns.c - see columns.h. */
#include "codegen_c/microkernel/columns.h"

#include "base/str.h"
#include "codegen_c/expr/shuffle.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/limits.h"

enum {
    MANY_REGISTERS = 32,
    MANY_SUMS = 16, /* sums of a tile with 32 registers, … */
    SUMS = 8,       /* … and with 16 (12 are slower) */
    MOST_CHANNELS = 8,
    MOST_VECTORS = 8, /* each takes a pointer */
    FOUR = 4,         /* channels stored together */
    WIDE_LANES = 16   /* store whole vectors: gcc -O2 moves halves through the stack */
};

struct columns columns_of(const struct machine *machine, int64_t out_c, bool planar)
{
    const bool many = machine->registers >= MANY_REGISTERS;
    /* SSE2 needs two instructions to broadcast. */
    const bool splat = machine->arch == ARCH_X86_64 && machine->lanes == FOUR;
    const int sums = many ? MANY_SUMS : SUMS, most = many || splat ? MOST_CHANNELS : FOUR;
    const int64_t blocks = (out_c + most - 1) / most;
    const int64_t even = (out_c + blocks - 1) / blocks;
    const int channels = (int)(planar ? even : (even + FOUR - 1) / FOUR * FOUR);

    return (struct columns){ .channels = channels,
                             .vectors =
                                 sums / channels < MOST_VECTORS ? sums / channels : MOST_VECTORS,
                             .planar = planar,
                             .splat = splat,
                             .joined = !planar && machine->lanes == WIDE_LANES };
}

const char *bind_halve_row(struct bind *bind)
{
    static const char name[] = "halve_row";
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "evens", bind_half(bind, false));
    keys_set(&keys, "odds", bind_half(bind, true));
    return bind_new_helper(bind, name, "templates/helpers/halve_row.c.tmpl", &keys);
}

/* The functions that store pixel vectors channels last. */
static void bind_store_channels(struct bind *bind, const struct columns *columns)
{
    static const char name[] = "store_channels";
    const int group = columns->joined ? bind->machine->lanes : FOUR;
    struct keys keys;

    bind_vector(bind);
    if (!columns->joined)
        bind_row_vector(bind, FOUR);
    if (bind_own_helper(bind, name))
        return;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "zip_front", bind_zip(bind, group, false));
    keys_set(&keys, "zip_back", bind_zip(bind, group, true));
    keys_set_flag(&keys, "joined", columns->joined);
    keys_offer(&keys, "halves", bind->machine->lanes > FOUR ? "1" : "");
    bind_new_helper(bind, name, "templates/helpers/store_channels.c.tmpl", &keys);
}

/* "store_4(&to[v][0], step, sum0##v, sum1##v, sum2##v, sum3##v);", for all channels. */
static const char *store_text(struct bind *bind, const struct columns *columns)
{
    const int n = columns->joined ? columns->channels : FOUR;
    struct str out = { .arena = bind->arena };

    for (int c = 0; c < columns->channels; c += n) {
        str_printf(&out, "%sstore_%d(&to[v][%d]%s", c ? " " : "", n, c,
                   columns->joined ? "" : ", step");
        for (int i = c; i < c + n; i++)
            str_printf(&out, ", sum%d##v", i);
        str_add(&out, ");");
    }
    return str_text(&out);
}

/* "DO(c, 0) DO(c, 1)" of "c, ". */
static const char *each(struct bind *bind, const char *before, int n)
{
    struct str out = { .arena = bind->arena };

    for (int i = 0; i < n; i++)
        str_printf(&out, "%sDO(%s%d)", i ? " " : "", before, i);
    return str_text(&out);
}

/* The keys of the epilogue. */
static void bind_end(struct bind *bind, const struct columns *columns,
                     const struct epilogue_store *end, struct keys *keys)
{
    struct arena *arena = bind->arena;

    keys_set_flag(keys, "ends", end != NULL);
    keys_set_flag(keys, "planar", columns->planar);
    keys_set(
        keys, "params",
        arena_printf(arena, "%s%s", columns->joined ? "" : ", int step", end ? end->params : ""));
    keys_set(keys, "then", end ? ", then the epilogue" : "");
    keys_set(keys, "becomes",
             columns->planar   ? "to[v][c * step + j]"
             : columns->joined ? arena_printf(arena, "to[v][j * %d + c]", columns->channels)
                               : "to[v][j * step + c]");
    keys_offer(keys, "end_shared", end ? end->shared : "");
    keys_offer(keys, "end", end ? epilogue_store_set(bind, end, "sum##c##v") : "");
    keys_offer(keys, "store", columns->planar ? "" : store_text(bind, columns));
    if (!columns->planar)
        bind_store_channels(bind, columns);
}

const char *bind_columns(struct bind *bind, const struct columns *columns,
                         const struct epilogue_store *end)
{
    struct arena *arena = bind->arena;
    const char *name =
        arena_printf(arena, "columns_%dx%d%s%s%s", columns->channels, columns->vectors,
                     columns->planar ? "_planar" : "", end ? "_stores" : "", end ? end->name : "");
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    bind_vector(bind);
    if (fn)
        return fn;
    keys_init(&keys, arena);
    bind_end(bind, columns, end, &keys);
    keys_set_int(&keys, "vectors", columns->vectors);
    keys_set_int(&keys, "channels", columns->channels);
    keys_set_flag(&keys, "lone", columns->planar && columns->channels == 1);
    keys_set(&keys, "each_channel", each(bind, "", columns->channels));
    keys_set(&keys, "each_vector", each(bind, "c, ", columns->vectors));
    keys_set_flag(&keys, "splat", columns->splat);
    keys_offer(&keys, "fuse", columns->splat ? "fuse_vector" : "fuse");
    return bind_new_helper(bind, name, "templates/helpers/tile_columns.c.tmpl", &keys);
}
