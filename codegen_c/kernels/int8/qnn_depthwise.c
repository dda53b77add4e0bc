/* qnn_depthwise.c - int8 depthwise convolutions with constant weights, channels last: along rows of
 * y on CPUs with dot products of bytes (qnn_depthwise_rows), else pixel by pixel. */
#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/core/number.h"
#include "codegen_c/expr/lanes.h"
#include "codegen_c/microkernel/dot.h"

enum { X, W, X_ZERO };
enum {
    MOST_UNROLLED = 25, /* most unrolled taps */
    LEAST_LANES = 8,    /* fewest lanes of pairs of products, and of rows, on x86 */
    WORD = 4,           /* bytes of a dot product */
    MOST_K = 8,         /* extent of the kernel */
    MOST_COLUMNS = 1 << 14,
    MOST_LOCAL_BYTES = 8 << 10,  /* on the stack, in the low-scratch form */
    DEEP_LOCAL_BYTES = 32 << 10, /* on a PC, always */
    SIGN = 128,
    MOST_BLOCK = 96, /* channels summed side by side */
    BLOCK_STEP = 8
};

static bool accepts_qnn_depthwise(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);
    const struct dot dot = dot_of_conv(&w);

    *why = "the convolution is not depthwise, with the channels last, in at most two dimensions";
    return w.rank < 3 && w.channels_last && w.out_channels_last && w.groups == w.in_c &&
           w.groups == w.out_c && takes_sizes(region, why) && takes_window(&w, why) &&
           takes_dot(region, &dot, why);
}

/* Whether two products of weights and int8 fit 16 bits in sum. */
static bool takes_pairs(struct bind *bind, const struct dot *dot, int lanes)
{
    if (lanes < LEAST_LANES || dot->len > MOST_UNROLLED)
        return false;
    for (int64_t c = 0; c < dot->groups; c++)
        for (int64_t k = 0; k < dot->len; k++)
            if (dot_weight(bind->region, dot, c, k) == INT8_MIN)
                return false;
    return true;
}

/* The taps 0 and 1, 2 and 3, ... */
static void bind_pairs(struct bind *bind, int64_t n)
{
    bind_int(bind, "pairs", n / 2);
    for (int p = 0; p < n / 2; p++) {
        bind_int(bind, arena_printf(bind->arena, "first%d", p), 2 * p);
        bind_int(bind, arena_printf(bind->arena, "second%d", p), 2 * p + 1);
    }
    bind_flag(bind, "odd", n % 2 != 0);
    bind_int(bind, "last", n - 1);
}

/* The start of sums of products without a zero point: minus its share. */
static void bind_start(struct bind *bind, const struct dot *dot, int64_t channels, int zero)
{
    int32_t *start;

    if (zero == 0) {
        keys_set(bind->keys, "start", "");
        return;
    }
    start = table_new(bind, DTYPE_I32, channels);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t k = 0; k < dot->len; k++)
            start[c] -= zero * (int32_t)dot_weight(bind->region, dot, c, k);
    bind_table(bind, "start",
               arena_printf(bind->arena, "%s_start", bind->region->anchor->inputs[W]->name),
               DTYPE_I32, channels, start);
}

/* The largest block of at most MOST_BLOCK channels that divides them, for vectorisation; 0:
 * none. */
static int64_t block_of(int64_t channels)
{
    int64_t block = MOST_BLOCK;

    while (block > 0 && channels % block != 0)
        block -= BLOCK_STEP;
    return block;
}

/* Without vector code, a tap's products are loops over a block of channels, which compilers
 * vectorise with 16-bit products, at -O2 as well (gcc 12, 3x3, 64 channels: 0.27 of the time
 * channel by channel with AVX2, 0.5 with SSE2). */
static int64_t bind_blocks(struct bind *bind, int64_t channels, int lanes)
{
    const bool scalars = bind->machine->lanes == 1 && bind->machine->dot != DOT_MVE;
    const int64_t block = scalars || lanes ? 0 : block_of(channels);
    const char *name = "CHANNELS_TOGETHER";
    struct keys keys;

    bind_flag(bind, "blocks", block > 0);
    bind_int(bind, "block", block);
    if (block > 0 && !bind_own_helper(bind, name)) {
        keys_init(&keys, bind->arena);
        bind_new_helper(bind, name, "templates/helpers/channels_at_a_time.c.tmpl", &keys);
    }
    bind_text(bind, "at_a_time", "%s", block > 0 ? bind_own_helper(bind, name) : "");
    return block;
}

/* Products without a zero point take fewer instructions: sums start with minus its share. Loops
 * over blocks, with 16-bit products, keep it. Pairs take int8. */
static void bind_depthwise_products(struct bind *bind, const struct dot *dot, int64_t channels,
                                    int zero, int lanes, bool pairs)
{
    const int64_t block = bind_blocks(bind, channels, lanes);

    if (pairs && anchor_input(bind->region, X)->dtype == DTYPE_U8)
        zero -= SIGN;
    bind_flag(bind, "paired", pairs);
    bind_pairs(bind, pairs ? dot->len : 0);
    bind_text(bind, "note", block ? " A product of bytes has 16\n * bits." : "");
    bind_start(bind, dot, channels, block ? 0 : zero);
}

static void bind_depthwise_weights(struct bind *bind, const struct window *w, const struct dot *dot)
{
    const int64_t dims[] = { w->k[1], w->k[2], w->in_c };
    const struct type type = type_make(DTYPE_I8, 3, dims);
    int8_t *packed = constant_alloc(bind->region->fn, &type);

    for (int64_t k = 0; k < dot->len; k++)
        for (int64_t c = 0; c < w->in_c; c++)
            packed[k * w->in_c + c] = (int8_t)dot_weight(bind->region, dot, c, k);
    bind_text(
        bind, "weight", "%s",
        bind_packed(bind, bind->region->anchor->inputs[W], &type, packed, "[K_H, K_W, channels]"));
}

static bool bind_qnn_depthwise(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct dot dot = dot_of_conv(&w);
    struct position position;
    double zero = 0;
    bool pairs;
    int lanes;

    position_by_division(bind, "at", &position);
    if (w.in_c > 1)
        position.coord[position.rank - 1] = "c";
    lanes = epilogue_lanes(bind, &position, w.in_c);
    pairs = takes_pairs(bind, &dot, lanes);
    value_uniform(bind->region->anchor->inputs[2], &zero);
    bind_type(bind);
    bind_input(bind, "x", X);
    bind_text(bind, "x_type", "%s", dtype_name(anchor_input(bind->region, X)->dtype));
    bind_depthwise_weights(bind, &w, &dot);
    bind_depthwise_products(bind, &dot, w.in_c, (int)zero, lanes, pairs);
    bind_window(bind, &w);
    bind_int(bind, "channels", w.in_c);
    bind_int(bind, "batch", w.batch);
    bind_text(bind, "x_zero", "%s",
              number_i32(bind->arena, bind->region->anchor, "x_zero", (int64_t)zero));
    bind_int(bind, "unrolled", dot.len <= MOST_UNROLLED ? dot.len : 0);
    bind_flag(bind, "rolled", dot.len > MOST_UNROLLED);
    bind_scratch(bind, (size_t)w.in_c);
    return bind_sums_epilogue(bind, "acc", &position, lanes);
}

/* --- along rows ------------------------------------------------------------------------------- */

/* Channels computed together; 0: no vectors for it, or channels are left over. Helium has registers
 * for half of it. */
static int lanes_of_rows(const struct region *region, const struct window *w)
{
    const struct machine *machine = region->machine;
    const int least = machine->arch == ARCH_X86_64 ? LEAST_LANES : WORD;
    int lanes = machine->dot == DOT_MVE ? 0 : machine_integer_lanes(machine);

    while (lanes >= least && w->in_c % lanes != 0)
        lanes /= 2;
    return lanes >= least ? lanes : 0;
}

/* Whether qnn_depthwise_rows reads everything under the windows of a row of y before it writes that
 * row: one vector holds all channels. Otherwise rows are read block of channels by block. */
static bool depthwise_rows_are_copied(const struct region *region, const struct window *w)
{
    return w->in_c == lanes_of_rows(region, w);
}

/* The XOR applied to bytes as they are moved: dot products take one signedness (dot.c.tmpl). */
static int turn_of(const struct bind *bind)
{
    const bool is_signed = anchor_input(bind->region, X)->dtype == DTYPE_I8;

    return is_signed == (bind->machine->arch == ARCH_X86_64) ? SIGN : 0;
}

/* Words of a kernel column. */
static int64_t words_of(const struct window *w)
{
    return (w->k[1] + WORD - 1) / WORD;
}

/* Columns that a row of y reads, padding included. */
static int64_t columns_of(const struct window *w)
{
    const int64_t read = (w->out[2] - 1) * w->stride[2] + (w->k[2] - 1) * w->dil[2] + 1;
    const int64_t there = w->pad[2] + w->in[2];

    return read > there ? read : there;
}

static size_t bytes_of_columns(const struct window *w, int lanes)
{
    return (size_t)(words_of(w) * columns_of(w) * lanes * WORD);
}

/* On a PC columns are on the stack in either form, never in the arena. */
static bool has_room_for_columns(const struct region *region, size_t bytes)
{
    return bytes <= DEEP_LOCAL_BYTES && machine_has_deep_stack(region->machine);
}

static size_t scratch_qnn_depthwise_rows(const struct region *region)
{
    const struct window w = window_of_conv(region);
    const size_t bytes = bytes_of_columns(&w, lanes_of_rows(region, &w));

    return bytes <= MOST_LOCAL_BYTES && !has_room_for_columns(region, bytes) ? bytes : 0;
}

static bool accepts_qnn_depthwise_rows(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!accepts_qnn_depthwise(region, why))
        return false;
    *why = "the machine has no dot products of bytes for so many channels";
    if (lanes_of_rows(region, &w) == 0)
        return false;
    *why = "the kernel is one row, or too large";
    if (w.k[1] == 1 || w.k[1] > MOST_K || w.k[2] > MOST_K)
        return false;
    *why = "a row with its padding is too long";
    return columns_of(&w) <= MOST_COLUMNS;
}

/* "2 * "; "" for 1. */
static const char *count_before(struct arena *arena, int64_t n, const char *by)
{
    return n == 1 ? "" : arena_printf(arena, "%" PRId64 "%s", n, by);
}

/* Packs the kernel's columns as words, for each tap; bytes beyond the kernel are 0. */
static void bind_words(struct bind *bind, const struct window *w, const struct dot *dot, int lanes)
{
    const int64_t words = words_of(w);
    const int64_t dims[] = { w->in_c / lanes, words, w->k[2], lanes, WORD };
    const struct type type = type_make(DTYPE_I8, 5, dims);
    int8_t *packed = constant_alloc(bind->region->fn, &type);

    for (int64_t c = 0; c < w->in_c; c++)
        for (int64_t k = 0; k < dot->len; k++) {
            const int64_t kh = k / w->k[2], kw = k % w->k[2];
            const int64_t tap = (c / lanes * words + kh / WORD) * w->k[2] + kw;

            packed[(tap * lanes + c % lanes) * WORD + kh % WORD] =
                (int8_t)dot_weight(bind->region, dot, c, k);
        }
    bind_text(bind, "weight", "%s",
              bind_packed(bind, bind->region->anchor->inputs[W], &type, packed,
                          arena_printf(bind->arena, "[channels / %d, %sK_W, %d, K_H up to 4]",
                                       lanes, count_before(bind->arena, words, ", "), lanes)));
    bind_text(bind, "dim", "%s", count_before(bind->arena, words, ", "));
    bind_text(bind, "times", "%s", count_before(bind->arena, words, " * "));
    bind_int(bind, "taps", words * w->k[2]);
    for (int64_t word = 0, tap = 0; word < words; word++)
        for (int64_t kw = 0; kw < w->k[2]; kw++, tap++)
            bind_text(bind, arena_printf(bind->arena, "at%" PRId64, tap), "%s%" PRId64 " * COLUMN",
                      word ? "PLANE + " : "", kw * w->dil[2]);
}

/* Requests the functions. */
static void bind_row_helpers(struct bind *bind, int lanes, int lines)
{
    const char *dot = arena_printf(bind->arena, "i32x%d_dot", lanes);
    const char *lay = arena_printf(bind->arena, "i32x%d_columns_of_%d", lanes, lines);
    struct keys keys;

    bind_lanes(bind, lanes);
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "n", lanes);
    keys_offer(&keys, "bytes", arena_printf(bind->arena, "%d", 4 * lanes));
    keys_offer(&keys, "bits", arena_printf(bind->arena, "%d", 32 * lanes));
    keys_offer(&keys, "mm", lanes == 16 ? "_mm512" : "_mm256");
    keys_offer(&keys, "cast",
               lanes == 16  ? ""
               : lanes == 8 ? "(const __m256i *)(const void *)"
                            : "(const __m128i *)(const void *)");
    keys_set_flag(&keys, "n16", lanes == 16);
    keys_set_flag(&keys, "n8", lanes == 8);
    keys_set_flag(&keys, "n4", lanes == 4);
    keys_offer(&keys, "sign", lanes == 4 ? "with" : "without");
    keys_offer(&keys, "byte", lanes == 4 ? "(int8_t)" : "");
    if (!bind_own_helper(bind, dot))
        bind_new_helper(bind, dot, "templates/helpers/lanes_dot.c.tmpl", &keys);
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "n", lanes);
    keys_set_int(&keys, "bytes", 4 * lanes);
    keys_set_int(&keys, "lines", lines);
    for (int i = 0; i < lines; i++)
        keys_set_int(&keys, arena_printf(bind->arena, "bit%d", i), 8 * i);
    if (!bind_own_helper(bind, lay))
        bind_new_helper(bind, lay, "templates/helpers/lanes_columns.c.tmpl", &keys);
    bind_text(bind, "lay", "%s", lay);
}

static bool bind_qnn_depthwise_rows(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct dot dot = dot_of_conv(&w);
    const int lanes = lanes_of_rows(bind->region, &w), lines = w.k[1] < WORD ? (int)w.k[1] : WORD;
    const int turn = turn_of(bind);
    const size_t bytes = bytes_of_columns(&w, lanes);
    const bool local = bind->region->place.low_scratch || has_room_for_columns(bind->region, bytes);
    struct position position;
    double zero = 0;
    bool vectors;

    position_by_division(bind, "at", &position);
    if (w.in_c > 1)
        position.coord[position.rank - 1] = "c";
    position.hoists = true;
    vectors = epilogue_lanes(bind, &position, w.in_c) > 0;
    value_uniform(bind->region->anchor->inputs[X_ZERO], &zero);
    bind_type(bind);
    bind_input(bind, "x", X);
    bind_include(bind, "string.h");
    bind_row_helpers(bind, lanes, lines);
    bind_words(bind, &w, &dot, lanes);
    bind_start(bind, &dot, w.in_c, (int)zero + (lanes >= LEAST_LANES ? turn : -turn));
    bind_window(bind, &w);
    bind_int(bind, "channels", w.in_c);
    bind_text(bind, "images", "%s", count_before(bind->arena, w.batch, " * "));
    bind_text(bind, "x_zero", "%s",
              number_i32(bind->arena, bind->region->anchor, "x_zero", (int64_t)zero));
    bind_int(bind, "turn", turn);
    bind_int(bind, "lines", lines);
    bind_int(bind, "columns", columns_of(&w));
    bind_int(bind, "column", lanes * WORD);
    bind_flag(bind, "local", local);
    if (!local)
        bind_scratch(bind, bytes);
    if (!bind_sums_epilogue(bind, vectors ? "acc" : "acc[i]", &position, vectors ? lanes : 0))
        return false;
    bind_int(bind, "lanes", lanes); /* lanes of the sums */
    bind_text(bind, "vector", "i32x%d", lanes);
    return true;
}

static bool overlaps_qnn_depthwise(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);

    overlap->bytes = overlap_of_windows(region, &w, 1);
    return window_is_last(&w);
}

/* Row by row, block of channels by block within a row. */
static bool overlaps_qnn_depthwise_rows(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);

    overlap->bytes = depthwise_rows_are_copied(region, &w)
                         ? overlap_of_copies(region, &w, w.out[2])
                         : overlap_of_windows(region, &w, GROUP_OF_ROW);
    return window_is_last(&w);
}

const struct kernel kernel_qnn_depthwise = {
    .name = "qnn_depthwise",
    .sums = SUMS_NONE,
    .overlaps = overlaps_qnn_depthwise,
    .forms = { { OPS(OP_QNN_CONV1D, OP_QNN_CONV2D), accepts_qnn_depthwise, bind_qnn_depthwise } },
};

const struct kernel kernel_qnn_depthwise_rows = {
    .name = "qnn_depthwise_rows",
    .sums = SUMS_NONE,
    .overlaps = overlaps_qnn_depthwise_rows,
    .spares = scratch_qnn_depthwise_rows,
    .forms = { { OPS(OP_QNN_CONV2D), accepts_qnn_depthwise_rows, bind_qnn_depthwise_rows } },
};
