/* dot.c - see dot.h. */
#include "codegen_c/microkernel/dot.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/number.h"
#include "codegen_c/core/packed.h"
#include "codegen_c/core/state.h"
#include "codegen_c/microkernel/amx.h"

enum { X, W, X_ZERO, W_ZERO };

/* The longest sum that fits 32 bits, as does the sum of its weights times 255. */
enum { LONGEST = 60000 };

enum { QUAD_LANES = 8 };   /* fewest lanes of the CPU's integer vectors */
enum { MOST_UNROLLS = 3 }; /* values of the knob: 1, 2, 4 steps of four products */
enum { SCALAR_SUMS = 4 };  /* for functions without vectors */

/* Scratch bytes per element of a patch: the bytes of each pixel of a tile; or 16 bits of each, and the bytes from which
 * these are made. A single row needs 3. */
enum { TILE_BYTES = 7, AMX_BYTES = 28, ROW_BYTES = 3 };

/* Pixels and scratch bytes of what dot.c.tmpl has under these macros, and of what any CPU can take. */
static const struct variant {
    const char *macro;
    int pixels, bytes;
} variants[] = {
    { "__AVX512VNNI__", 7, 7 }, { "__SSE2__", 3, 3 * 2 + 1 },  { "__ARM_FEATURE_DOTPROD", 7, 7 },
    { "__ARM_NEON", 3, 3 },     { "__ARM_FEATURE_MVE", 3, 3 }, { NULL, 2, 2 * 2 + 1 },
};

/* Bytes of these on the stack in the low-scratch form: a 3 x 3 x 16 patch is not cut, which would
 * cost it a twelfth. */
enum { MOST_LOCAL_BYTES = 1120 };

struct dot dot_of_conv(const struct window *w)
{
    const int64_t in_c = w->in_c / w->groups, taps = window_k_len(w);

    return (struct dot){ .groups = w->groups,
                         .channels = w->out_c / w->groups,
                         .len = in_c * taps,
                         .channel_step = in_c * taps,
                         .minor = w->channels_last && in_c > 0 ? in_c : 1,
                         .major_step = 1,
                         .minor_step = taps };
}

struct dot dot_of_conv_tiles(const struct region *region, const struct window *w)
{
    struct dot dot = dot_of_conv(w);

    dot.quads = machine_integer_lanes(region->machine) >= QUAD_LANES && !w->channels_last &&
                w->k[2] == 3 && w->dil[2] == 1 && w->in[2] > 3;
    if (dot.quads)
        dot.len = dot.len / 3 * 4;
    return dot;
}

static int64_t round_up_to_4(int64_t n)
{
    return (n + 3) / 4 * 4;
}

/* The most of all variants that the C for this CPU has. */
static struct variant most_of(const struct machine *machine)
{
    struct variant most = { .pixels = 0 };

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const struct variant *variant = &variants[i];

        if (variant->macro && machine_never_defines(machine, variant->macro))
            continue;
        most.pixels = variant->pixels > most.pixels ? variant->pixels : most.pixels;
        most.bytes = variant->bytes > most.bytes ? variant->bytes : most.bytes;
    }
    if (machine_has_amx(machine))
        most.pixels = most.bytes = AMX_BYTES;
    return most;
}

int dot_most_pixels(const struct machine *machine)
{
    return most_of(machine).pixels;
}

size_t dot_scratch(const struct machine *machine, const struct dot *dot, bool one_row)
{
    return (size_t)(round_up_to_4(dot->len) * (one_row ? ROW_BYTES : most_of(machine).bytes));
}

int64_t dot_most_part(bool one_row)
{
    return MOST_LOCAL_BYTES / (one_row ? ROW_BYTES : TILE_BYTES) / 4 * 4;
}

static bool is_byte(const struct type *type)
{
    return type->dtype == DTYPE_I8 || type->dtype == DTYPE_U8;
}

int64_t dot_weight(const struct region *region, const struct dot *dot, int64_t channel, int64_t k)
{
    const struct tensor w = value_tensor(region->anchor->inputs[W]);
    const struct tensor zero = value_tensor(region->anchor->inputs[W_ZERO]);
    const int64_t i = dot->quads ? k - k / 4 : k;
    const int64_t at = channel * dot->channel_step + i / dot->minor * dot->major_step +
                       i % dot->minor * dot->minor_step;

    if (dot->quads && k % 4 == 3)
        return 0;
    return (int64_t)tensor_at(&w, at) -
           (int64_t)tensor_at(&zero, type_elements(&zero.type) == 1 ? 0 : channel) - dot->centre;
}

static bool are_bytes(const struct region *region, const struct dot *dot)
{
    for (int64_t channel = 0; channel < dot->groups * dot->channels; channel++)
        for (int64_t k = 0; k < dot->len; k++) {
            const int64_t number = dot_weight(region, dot, channel, k);

            if (number < INT8_MIN || number > INT8_MAX)
                return false;
        }
    return true;
}

bool takes_dot(const struct region *region, const struct dot *dot, const char **why)
{
    const struct node *node = region->anchor;
    double zero;

    *why = "an operand is neither i8 nor u8";
    if (!is_byte(anchor_input(region, X)) || !is_byte(anchor_input(region, W)))
        return false;
    *why = "weights or zero points are not known";
    if (node->inputs[W]->kind != VALUE_CONSTANT || node->inputs[W_ZERO]->kind != VALUE_CONSTANT ||
        !(value_uniform(node->inputs[X_ZERO], &zero) ||
          (dot->any_zero && type_elements(&node->inputs[X_ZERO]->type) == 1)))
        return false;
    *why = "a sum is empty, or may leave 32 bits";
    if (dot->len < 1 || dot->len > LONGEST)
        return false;
    *why = dot->any_zero ? "weights less their zero points differ by more than a byte does"
                         : "a weight less its zero point is no byte";
    return are_bytes(region, dot);
}

/* Lanes by which the last panel is short of a vector. */
static int64_t lanes_left_over(int64_t stored)
{
    return stored % DOT_BLOCK == 0 ? 0 : DOT_BLOCK - stored % DOT_BLOCK;
}

/* All that the packed numbers depend on, besides the weights. */
static const char *packing_text(struct bind *bind, const struct dot *dot)
{
    const int64_t all[] = { dot->groups,       dot->channels, dot->len,
                            dot->channel_step, dot->minor,    dot->major_step,
                            dot->minor_step,   dot->quads,    dot->centre };
    struct str text = { .arena = bind->arena };

    str_printf(&text, "dot %08" PRIx32, packed_checksum(bind->region->anchor->inputs[W_ZERO]));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        str_printf(&text, " %" PRId64, all[i]);
    return str_text(&text);
}

static void bind_packed_weights(struct bind *bind, const struct dot *dot)
{
    const int64_t len = round_up_to_4(dot->len), stored = round_up_to_4(dot->channels);
    const int64_t n_sums = dot->groups * stored + lanes_left_over(stored);
    const int64_t n = dot->groups * stored * len + lanes_left_over(stored) * 4;
    const struct type type = type_make(DTYPE_I8, 1, &n);
    struct value *value = bind->region->anchor->inputs[W];
    bool made;
    int8_t *packed = packed_memory(bind, value, &type, packing_text(bind, dot), &made);
    int32_t *sums = table_new(bind, DTYPE_I32, n_sums);

    for (int64_t group = 0; group < dot->groups; group++)
        for (int64_t c = 0; c < dot->channels; c++) {
            const int64_t block = c / DOT_BLOCK * DOT_BLOCK;
            const int64_t width = stored - block < DOT_BLOCK ? stored - block : DOT_BLOCK;
            int8_t *const to = packed + (group * stored + block) * len + (c - block) * 4;

            for (int64_t k = 0; k < dot->len; k++) {
                int8_t *const at = &to[k / 4 * 4 * width + k % 4];

                if (!made)
                    *at = (int8_t)dot_weight(bind->region, dot, group * dot->channels + c, k);
                sums[group * stored + c] += *at;
            }
        }
    bind_text(bind, "weight", "%s",
              bind_packed(bind, value, &type, packed,
                          "blocks of up to 32 output channels: [LEN / 4, channels, 4]"));
    bind_table(bind, "sums", arena_printf(bind->arena, "%s_sums", value->name), DTYPE_I32, n_sums,
               sums);
    bind_int(bind, "len", len);
    bind_int(bind, "stored", stored);
}

/* The number of unrolled steps of four products: the largest that leaves none over. */
static int64_t dot_unroll(struct bind *bind, const struct dot *dot)
{
    int64_t values[MOST_UNROLLS];
    int n = 0;

    for (int64_t unroll = 1; n < MOST_UNROLLS; unroll *= 2)
        if (round_up_to_4(dot->len) / 4 % unroll == 0)
            values[n++] = unroll;
        else
            break;
    return bind_knob(bind, KNOB_UNROLL, 1, n, values);
}

/* The initial sums, and the index, of unrolled step u. */
static void add_step_keys(struct keys *keys, bool more, int u)
{
    keys_offer(keys, arena_printf(keys->arena, "times%d", u), u ? "0" : more ? "1" : "times");
    keys_offer(keys, arena_printf(keys->arena, "k%d", u),
               u ? arena_printf(keys->arena, "(k + %d)", 4 * u) : "k");
}

bool dot_is_plain(const struct machine *machine)
{
    static const char *const bytewise[] = { "__AVX512VNNI__", "__ARM_NEON", "__ARM_FEATURE_MVE" };
    bool plain = true;

    for (size_t i = 0; i < sizeof bytewise / sizeof *bytewise; i++)
        plain = plain && machine_never_defines(machine, bytewise[i]);
    return plain;
}

/* Requests the function; `more`: it adds to the tile's sums. */
static const char *dot_function(struct bind *bind, const char *kind, bool more, int64_t unroll)
{
    const char *path = arena_printf(bind->arena, "templates/helpers/%s.c.tmpl", kind);
    const char *name = more ? arena_printf(bind->arena, "%s_more", kind) : kind, *fn;
    const bool amx = machine_has_amx(bind->machine);
    struct keys keys;

    if (unroll > 1)
        name = arena_printf(bind->arena, "%s_by_%d", name, (int)unroll);
    fn = bind_own_helper(bind, name);

    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_offer_flag(&keys, "more", more);
    keys_offer_flag(&keys, "unrolled", unroll > 1);
    keys_offer(&keys, "unroll", arena_printf(bind->arena, "%d", (int)unroll));
    keys_offer(&keys, "step", arena_printf(bind->arena, "%d", (int)(4 * unroll)));
    for (int u = 0; u < unroll; u++)
        add_step_keys(&keys, more, u);
    keys_offer(&keys, "start", more ? "tile" : "sums");
    for (int c = 0; c < SCALAR_SUMS; c++) {
        const char *at = c ? arena_printf(bind->arena, "[i + %d]", c) : "[i]";

        keys_offer(&keys, arena_printf(bind->arena, "start_at%d", c),
                   arena_printf(bind->arena, more ? "tile%s" : "sums%s * times", at));
    }
    keys_offer_flag(&keys, "dsp", bind->machine->dot == DOT_SMLAD);
    keys_offer_flag(&keys, "plain", dot_is_plain(bind->machine));
    keys_offer_flag(&keys, "amx", amx);
    keys_offer(&keys, "name0", amx ? arena_printf(bind->arena, "%s_of_7", name) : name);
    keys_offer(&keys, "name1", name);
    keys_offer(&keys, "pixels0", "7");
    keys_offer(&keys, "pixels1", "3");
    return bind_new_helper(bind, name, path, &keys);
}

/* The patches: in the arena, or on the stack. */
static void bind_patches(struct bind *bind, const struct dot *dot, bool one_row, int64_t part)
{
    const bool low_scratch = bind->region->place.low_scratch;

    bind_flag(bind, "local", low_scratch);
    bind_flag(bind, "parts", low_scratch && part < round_up_to_4(dot->len));
    bind_int(bind, "part", part);
    if (!low_scratch)
        bind_scratch(bind, dot_scratch(bind->machine, dot, one_row));
}

/* How the bytes of a patch are gathered and where. What rounds its length up is 0, so that nothing is read that was not
 * written. */
static void bind_gathering(struct bind *bind, const struct dot *dot, bool one_row, bool parts)
{
    const bool plain = dot_is_plain(bind->machine);
    const char *pixels = one_row ? "1" : "DOT_PIXELS", *len = parts ? "PART" : "LEN";

    bind_flag(bind, "plain", plain);
    bind_flag(bind, "tail", !bind->region->place.low_scratch && dot->len % 4 != 0);
    bind_text(bind, "patches", "%s", pixels);
    bind_text(bind, "copy", plain ? "(void)memcpy" : "dot_copy");
    bind_text(bind, "copy_end", plain ? "" : ", X_SIGNED");
    if (plain) {
        bind_text(bind, "bytes", "bytes");
        bind_text(bind, "local_size", "%s * %s + %s / 2", pixels, len, len);
    } else {
        bind_text(bind, "bytes", "dot_bytes(scratch, %s, %s)", one_row ? "0" : "p",
                  parts ? "len" : "LEN");
        bind_text(bind, "local_size", "%s * %s + DOT_GATHERS * %s / 2", pixels, len, len);
    }
}

static bool is_ragged(int64_t channels)
{
    return channels > DOT_BLOCK && channels % DOT_BLOCK != 0;
}

/* Whether another region of the kernel has a last block of another kind: then both have the text for
 * any, and may share a function. */
static bool others_differ(const struct bind *bind, int64_t channels)
{
    const struct codegen *codegen = bind->codegen;

    for (int i = 0; i < codegen->n_regions; i++) {
        const struct region *other = &codegen->regions[i];
        int64_t its;

        if (other->config.kernel != bind->region->config.kernel || !other->anchor)
            continue;
        its = other->anchor->inputs[W]->type.dim[0];
        if (is_ragged(its) != is_ragged(channels) || (its > DOT_BLOCK) != (channels > DOT_BLOCK))
            return true;
    }
    return false;
}

void bind_dot(struct bind *bind, const struct dot *dot, bool one_row, int64_t part)
{
    const int64_t len = round_up_to_4(dot->len);
    const bool parts = bind->region->place.low_scratch && part < len;
    const char *kind = one_row ? "dot_row" : "dot_tile";
    const int64_t last = parts && len % part ? len % part : part;
    int64_t unroll = dot_unroll(bind, dot);
    const bool ragged = is_ragged(dot->channels) || (functions_are_shared(bind) && !one_row &&
                                                     others_differ(bind, dot->channels));
    double zero = 0;

    value_uniform(bind->region->anchor->inputs[X_ZERO], &zero);
    bind_include(bind, "string.h");
    bind_include_if(bind, "arm_acle.h",
                    "defined __ARM_FEATURE_DSP && defined __ARM_FEATURE_SIMD32");
    if (parts && (part % (4 * unroll) || last % (4 * unroll)))
        unroll = 1;
    if (machine_has_amx(bind->machine))
        bind_amx(bind);
    dot_function(bind, "dot", false, 1);
    if (!one_row && machine_has_amx(bind->machine))
        dot_function(bind, "dot_amx", false, 1);
    bind_text(bind, "dot", "%s", dot_function(bind, kind, false, unroll));
    bind_text(bind, "dot_more", "%s", parts ? dot_function(bind, kind, true, unroll) : "");
    bind_packed_weights(bind, dot);
    bind_patches(bind, dot, one_row, part);
    bind_gathering(bind, dot, one_row, parts);
    keys_offer(bind->keys, "x_zero",
               number_i32(bind->arena, bind->region->anchor, "x_zero", (int64_t)zero));
    bind_int(bind, "x_signed", anchor_input(bind->region, X)->dtype == DTYPE_I8);
    bind_flag(bind, "ragged", ragged);
    bind_text(bind, "channels", "%s",
              ragged                      ? "channels"
              : dot->channels > DOT_BLOCK ? "32"
                                          : "OUT_C");
}

bool bind_sums_epilogue(struct bind *bind, const char *acc, struct position *position, int lanes)
{
    position->lanes = lanes;
    bind_flag(bind, "vectors", lanes > 0);
    bind_int(bind, "lanes", lanes);
    bind_text(bind, "vector", "i32x%d", lanes);
    bind_text(bind, "y_type", "%s", dtype_name(bind->region->fn->ret->inputs[0]->type.dtype));
    return bind_epilogue(bind, acc, position);
}
