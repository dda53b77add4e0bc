/* operands.c - see operands.h. */
#include "codegen_c/kernels/operands.h"

#include <math.h>
#include <string.h>

#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/decode.h"
#include "codegen_c/kernels/panels.h"

enum {
    TILE = 4,
    CHUNK = 32,         /* positions of a panel that are decoded at a time */
    LONGEST_CHUNK = 64, /* for blocks of other lengths; the numbers are on the stack */
    NO_SCALE = 127      /* E8M0: 2^0 */
};

static enum dtype computed_in(const struct region *region)
{
    return anchor_output(region, 0)->dtype;
}

bool data_is_small(const struct region *region)
{
    return anchor_source(region, 0)->type.dtype != computed_in(region);
}

bool weight_is_small(const struct region *region)
{
    return anchor_input(region, 1)->dtype != computed_in(region);
}

bool shares_scales(const struct type *type)
{
    return type->quant && type->quant->kind == QTYPE_BLOCKS;
}

/* OCP's E8M0: 2^-127 .. 2^127. -1: no power of two. */
static int e8m0(float scale)
{
    int exponent;

    return frexpf(scale, &exponent) == 0.5f && exponent >= -126 && exponent <= 128 ? exponent + 126
                                                                                   : -1;
}

static bool takes_blocks(const struct type *type, const char **why)
{
    for (int64_t i = 0; i < type->quant->n; i++)
        if (e8m0(type->quant->scale[i]) < 0) {
            *why = "the scale of a block is no power of two from 2^-127 to 2^127";
            return false;
        }
    *why =
        "blocks that share a scale are no multiple of 4, or longer than 64 and no multiple of 32";
    return type->quant->block % (type->quant->block <= LONGEST_CHUNK ? TILE : CHUNK) == 0;
}

static bool takes_data(const struct region *region, const char **why)
{
    const struct type *type = anchor_input(region, 0);

    if (type->dtype == computed_in(region))
        return true;
    *why = "the data are neither f32, f64 nor codes of a byte that are decoded to f32";
    return computed_in(region) == DTYPE_F32 && decode_takes(type) && !shares_scales(type) &&
           dtype_bytes(type->dtype) == 1;
}

static bool takes_weight(const struct region *region, const char **why)
{
    const struct value *value = region->anchor->inputs[1];
    const struct type *type = &value->type;

    if (type->dtype == computed_in(region))
        return true;
    *why = "the weights are neither f32, f64 nor codes that are decoded to f32";
    if (computed_in(region) != DTYPE_F32 || !decode_takes(type))
        return false;
    if (shares_scales(type) && !takes_blocks(type, why))
        return false;
    *why = "weights that are computed are no codes of 8 bits";
    return value->kind == VALUE_CONSTANT || (type_packed_bits(type) == 8 && !shares_scales(type));
}

bool takes_operands(const struct region *region, const char **why)
{
    const enum dtype dtype = computed_in(region);

    if (dtype != DTYPE_F32 && dtype != DTYPE_F64) {
        *why = "the element type is neither f32 nor f64";
        return false;
    }
    return takes_data(region, why) && takes_weight(region, why) && takes_sizes(region, why);
}

/* Flags that not every template asks for. */
static void offer_flag(struct bind *bind, const char *key, bool on)
{
    keys_offer(bind->keys, key, on ? "1" : "");
}

void bind_data(struct bind *bind)
{
    const struct type *x = &anchor_source(bind->region, 0)->type;
    const enum dtype dtype = computed_in(bind->region);
    const char *get, *got;

    keys_offer(bind->keys, "tx", dtype_c_type(dtype));
    keys_offer(bind->keys, "suffix", dtype_name(dtype));
    keys_offer(bind->keys, "tin", dtype_c_type(x->dtype));
    offer_flag(bind, "coded", data_is_small(bind->region));
    if (!anchor_decoder(bind->region->anchor, 0)) {
        decode_element(bind, x, "get", "got");
        return;
    }
    bind_reads(bind, 0, &get, &got);
    bind_text(bind, "get", "(%s", get);
    bind_text(bind, "got", "%s)", got);
}

void bind_number_helper(struct bind *bind, const char *stem)
{
    bind_helper(bind,
                arena_printf(bind->arena, "%s_%s", stem, dtype_name(computed_in(bind->region))));
}

/* An empty sum still has its patch, of no length: the parameter must be there. */
void bind_scratch_numbers(struct bind *bind, int64_t n)
{
    bind_scratch(bind, (size_t)(n > 0 ? n : 1) * dtype_bytes(computed_in(bind->region)));
}

/* --- weights ---------------------------------------------------------------------------------- */

const char *stored_c_type(const struct type *type)
{
    if (type->dtype == DTYPE_F16 || type->dtype == DTYPE_BF16)
        return "uint16_t";
    return type_packed_bits(type) < 8 ? "uint8_t" : dtype_c_type(type->dtype);
}

struct type codes_type(struct bind *bind, const struct type *from, int rank, const int64_t *dims)
{
    struct type type = type_make(from->dtype, rank, dims);
    struct qtype *codec = arena_new(bind->arena, struct qtype);

    if (from->dtype == DTYPE_AFP) {
        codec->format = from->quant->format;
        type.quant = codec;
    }
    return type;
}

static void bind_scales(struct bind *bind, const struct value *value, int rank, const int64_t *dims,
                        uint8_t *bytes, const char *layout)
{
    const struct type type = type_make(DTYPE_U8, rank, dims);
    const char *name = arena_printf(bind->arena, "%s.scale", value->name);

    bind_text(bind, "scales", "%s", bind_codes(bind, name, &type, bytes, layout));
}

static int64_t scales_of_row(const struct type *type)
{
    const int64_t rows = type->rank > 0 ? type->dim[0] : 1;

    return rows ? type->quant->n / rows : 0;
}

static uint8_t *new_scales(struct bind *bind, int64_t n)
{
    const struct type type = type_make(DTYPE_U8, 1, &n);
    uint8_t *bytes = constant_alloc(bind->region->fn, &type);

    memset(bytes, NO_SCALE, (size_t)n);
    return bytes;
}

/* Row by row, as the constant's blocks lie. */
static void bind_row_scales(struct bind *bind, const struct value *value)
{
    const struct qtype *quant = value->type.quant;
    const int64_t dims[] = { value->type.rank > 0 ? value->type.dim[0] : 1,
                             scales_of_row(&value->type) };
    uint8_t *bytes = new_scales(bind, quant->n);

    for (int64_t i = 0; i < quant->n; i++)
        bytes[i] = (uint8_t)e8m0(quant->scale[i]);
    bind_scales(bind, value, 2, dims, bytes,
                arena_printf(bind->arena, "2^(n - 127) of each row and %lld elements",
                             (long long)quant->block));
}

/* Four rows of the panels side by side, as their codes. */
static void bind_panel_scales(struct bind *bind, const struct value *value, const struct panels *p)
{
    const struct qtype *quant = value->type.quant;
    const int64_t n = scales_of_row(&value->type), blocks = (p->n_rows + p->width - 1) / p->width;
    const int64_t dims[] = { p->groups * blocks, n, p->width };
    uint8_t *bytes = new_scales(bind, dims[0] * dims[1] * dims[2]);

    for (int64_t row = 0; row < p->groups * p->n_rows; row++)
        for (int64_t i = 0; i < n; i++) {
            const int64_t block = row / p->n_rows * blocks + row % p->n_rows / p->width;

            bytes[(block * n + i) * p->width + row % p->n_rows % p->width] =
                (uint8_t)e8m0(quant->scale[row * n + i]);
        }
    bind_scales(bind, value, 3, dims, bytes,
                arena_printf(bind->arena, "2^(n - 127) of each 4 rows and %lld elements",
                             (long long)quant->block));
}

/* Where the scales of a chunk lie, as C: of blocks along the panel's length, or across it. */
static void bind_chunk_scales(struct bind *bind, const struct value *value, const struct panels *p)
{
    const bool along = p->len_step == 1;

    bind_helper(bind, "scale_blocks");
    bind_int(bind, "n_scales", scales_of_row(&value->type));
    bind_int(bind, "block_len", value->type.quant->block);
    offer_flag(bind, "along", along);
    offer_flag(bind, "across", !along);
    if (along)
        bind_panel_scales(bind, value, p);
    else
        bind_row_scales(bind, value);
}

static int64_t chunk_of(const struct type *type, const struct panels *p)
{
    if (!shares_scales(type) || p->len_step != 1 || type->quant->block % CHUNK == 0)
        return CHUNK;
    return type->quant->block;
}

void bind_weight_panels(struct bind *bind, const struct panels *panels, const char *layout)
{
    struct value *value = bind->region->anchor->inputs[1];
    const bool small = weight_is_small(bind->region), blocks = small && shares_scales(&value->type);
    struct type type;

    bind_text(bind, "tw", "%s", stored_c_type(&value->type));
    bind_flag(bind, "small", small);
    bind_flag(bind, "blocks", blocks);
    if (!small) {
        bind_panels(bind, "weight", 1, panels, layout);
        return;
    }
    type = codes_type(bind, &value->type, 0, NULL);
    bind_text(
        bind, "weight", "%s",
        bind_codes(bind, value->name, &type, panels_make(bind, value, panels, &type), layout));
    bind_text(bind, "unpack", "%s", decode_unpack(bind, &value->type));
    bind_int(bind, "chunk", chunk_of(&value->type, panels));
    if (blocks)
        bind_chunk_scales(bind, value, panels);
}

/* Those of rows that lie side by side, whatever their order in the constant. */
static void bind_tap_scales(struct bind *bind, const struct value *value, const struct panels *p)
{
    const struct type *type = &value->type;
    const int64_t n = scales_of_row(type), row_len = type_span(type, 1, type->rank);
    const int64_t dims[] = { p->groups, n, p->width };
    uint8_t *bytes = new_scales(bind, p->groups * n * p->width);

    for (int64_t group = 0; group < p->groups; group++)
        for (int64_t row = 0; row < p->n_rows; row++)
            for (int64_t i = 0; i < n; i++) {
                const int64_t from = (group * p->group_step + row * p->row_step) / row_len;

                bytes[(group * n + i) * p->width + row] =
                    (uint8_t)e8m0(type->quant->scale[from * n + i]);
            }
    bind_scales(
        bind, value, 3, dims, bytes,
        arena_printf(bind->arena, "2^(n - 127) of each %lld taps", (long long)type->quant->block));
}

void bind_weight_taps(struct bind *bind, const struct panels *panels, const char *layout)
{
    struct value *value = bind->region->anchor->inputs[1];
    const bool small = weight_is_small(bind->region), blocks = small && shares_scales(&value->type);
    struct type type;

    bind_text(bind, "tw", "%s", stored_c_type(&value->type));
    bind_flag(bind, "small", small);
    offer_flag(bind, "blocks", blocks);
    if (!small) {
        bind_panels(bind, "weight", 1, panels, layout);
        return;
    }
    type = codes_type(bind, &value->type, 0, NULL);
    bind_text(
        bind, "weight", "%s",
        bind_codes(bind, value->name, &type, panels_make(bind, value, panels, &type), layout));
    bind_text(bind, "unpack", "%s", decode_unpack(bind, &value->type));
    if (blocks) {
        bind_helper(bind, "power_of_two_f32");
        bind_int(bind, "block_len", value->type.quant->block);
        bind_tap_scales(bind, value, panels);
    }
}

void bind_weight_tiles(struct bind *bind, const struct panels *panels, const char *layout)
{
    struct value *value = bind->region->anchor->inputs[1];
    const struct type *from = &value->type;
    const bool small = weight_is_small(bind->region), blocks = small && type_has_blocks(from);
    struct type type = small ? codes_type(bind, from, 0, NULL) : type_scalar(from->dtype);
    const void *packed = panels_make(bind, value, panels, &type);

    keys_offer(bind->keys, "tw", stored_c_type(from));
    offer_flag(bind, "small", small);
    offer_flag(bind, "blocks", blocks);
    bind_text(bind, "weight", "%s",
              small ? bind_codes(bind, value->name, &type, packed, layout)
                    : bind_packed(bind, value, &type, packed, layout));
    if (small)
        bind_text(bind, "unpack", "%s", decode_unpack(bind, from));
    if (blocks) {
        bind_helper(bind, "power_of_two_f32");
        bind_int(bind, "n_scales", scales_of_row(from));
        bind_int(bind, "block_len", from->quant->block);
        bind_row_scales(bind, value);
    }
}

void bind_weight_rows(struct bind *bind)
{
    struct value *value = bind->region->anchor->inputs[1];
    const struct type *type = &value->type;
    const bool small = weight_is_small(bind->region), blocks = small && shares_scales(type);

    keys_offer(bind->keys, "tw", stored_c_type(type));
    offer_flag(bind, "small", small);
    bind_flag(bind, "blocks", blocks);
    if (small && value->kind == VALUE_CONSTANT) {
        const struct type codes = codes_type(bind, type, type->rank, type->dim);

        bind_text(bind, "weight", "%s", bind_codes(bind, value->name, &codes, value->data, ""));
    } else {
        bind_input(bind, "weight", 1);
    }
    if (small)
        bind_text(bind, "unpack", "%s", decode_unpack(bind, type));
    if (blocks) {
        bind_helper(bind, "scale_row");
        bind_int(bind, "n_scales", scales_of_row(type));
        bind_int(bind, "block_len", type->quant->block);
        keys_offer(bind->keys, "row_len",
                   arena_printf(bind->arena, "%lld",
                                (long long)type_span(type, type->rank > 0 ? 1 : 0, type->rank)));
        bind_row_scales(bind, value);
    }
}

void bind_weight_elements(struct bind *bind)
{
    const struct type *type = anchor_input(bind->region, 1);

    keys_offer(bind->keys, "tw", stored_c_type(type));
    decode_element(bind, type, "get_weight", "got_weight");
}
