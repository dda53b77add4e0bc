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

/* "store_4(&to[v][0], step, sums[0][v], sums[1][v], sums[2][v], sums[3][v]);", for all channels. */
static const char *store_text(struct bind *bind, const struct columns *columns)
{
    const int n = columns->joined ? columns->channels : FOUR;
    struct str out = { .arena = bind->arena };

    for (int c = 0; c < columns->channels; c += n) {
        str_printf(&out, "%sstore_%d(&to[v][%d]%s", c ? " " : "", n, c,
                   columns->joined ? "" : ", step");
        for (int i = c; i < c + n; i++)
            str_printf(&out, ", sums[%d][v]", i);
        str_add(&out, ");");
    }
    return str_text(&out);
}

/* What the comment says. */
static void set_comment(struct arena *arena, const struct columns *columns, bool ends,
                        struct keys *keys)
{
    keys_set_int(keys, "vectors", columns->vectors);
    keys_set_int(keys, "channels", columns->channels);
    keys_set(keys, "then", ends ? ", then the epilogue" : "");
    keys_set(keys, "splat", columns->splat ? "\n* Each weight is stored LANES times." : "");
    keys_set(keys, "becomes",
             columns->planar   ? "to[v][c * step + j]"
             : columns->joined ? arena_printf(arena, "to[v][j * %d + c]", columns->channels)
                               : "to[v][j * step + c]");
}

void columns_axes_set(const struct columns *columns, const char *fuse, struct microkernel *kernel)
{
    axis_set(kernel, "LONE", columns->planar && columns->channels == 1 ? "(void)step;" : "");
    axis_set(kernel, "WEIGHTS", columns->splat ? "width * LANES" : "width");
    axis_set(kernel, "WEIGHT", columns->splat ? "VECTOR" : "float");
    axis_set(kernel, "WEIGHT_OF(c)", columns->splat ? "*(const VECTOR *)&w[c * LANES]" : "w[c]");
    if (fuse)
        axis_setf(kernel, "ADD(sum, w, x)", "sum = %s(sum, w, x);", fuse);
    else
        axis_set(kernel, "ADD(sum, w, x)", "sum += w * x;");
    axis_set(kernel, "STORE(c, v)",
             columns->planar ? "*(VECTOR *)&to[v][c * step] = sums[c][v];" : "");
}

const char *bind_columns(struct bind *bind, const struct columns *columns,
                         const struct epilogue_store *end)
{
    struct arena *arena = bind->arena;
    const char *name =
        arena_printf(arena, "columns_%dx%d%s%s%s", columns->channels, columns->vectors,
                     columns->planar ? "_planar" : "", end ? "_stores" : "", end ? end->name : "");
    const char *fn = bind_own_helper(bind, name);
    struct microkernel kernel = { .axes = { .arena = arena },
                                  .pixels = "MR",
                                  .each_pixel = "EACH_CHANNEL",
                                  .each_vector = "EACH_VECTOR_OF",
                                  .mr = columns->channels,
                                  .nr = columns->vectors };
    struct keys keys;

    bind_vector(bind);
    if (fn)
        return fn;
    if (!columns->planar)
        bind_store_channels(bind, columns);
    axis_set(&kernel, "VECTOR", "vector_f32");
    columns_axes_set(columns,
                     !sums_are_fused(bind) ? NULL
                     : columns->splat      ? "fuse_vector"
                                           : "fuse",
                     &kernel);
    axis_setf(&kernel, "COLUMNS", "float *const *to%s%s", columns->joined ? "" : ", int step",
              end ? end->params : "");
    axis_set(&kernel, "SHARED", end ? end->shared : "");
    axis_set(&kernel, "COMPUTE(c, v)", end ? epilogue_store_set(bind, end, "sum##c##v") : "");
    axis_set(&kernel, "STORE_ALL(v)", columns->planar ? "" : store_text(bind, columns));
    keys_init(&keys, arena);
    set_comment(arena, columns, end != NULL, &keys);
    return bind_microkernel(bind, name, "tile_columns", &kernel, &keys);
}
