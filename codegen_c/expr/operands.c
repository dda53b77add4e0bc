/* operands.c - see operands.h. */
#include "codegen_c/expr/operands.h"

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/blocks.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/halves.h"
#include "codegen_c/expr/panels.h"

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

static bool takes_data(const struct region *region, const char **why)
{
    const struct type *type = anchor_input(region, 0);

    if (type->dtype == computed_in(region))
        return true;
    *why = "the data are neither f32, f64 nor codes of a byte that are decoded to f32";
    return computed_in(region) == DTYPE_F32 && decode_takes(type) && !type_has_blocks(type) &&
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
    if (type_has_blocks(type) && !blocks_take(type, why))
        return false;
    *why = "weights that are computed are no codes of 8 bits";
    return value->kind == VALUE_CONSTANT || (type_packed_bits(type) == 8 && !type_has_blocks(type));
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

/* A flag that not every template reads. */
static void offer_flag(struct bind *bind, const char *key, bool on)
{
    keys_offer(bind->keys, key, on ? "1" : "");
}

void bind_data(struct bind *bind)
{
    const struct type *x = &anchor_source(bind->region, 0)->type;
    const enum dtype dtype = computed_in(bind->region);
    const char *get, *got;

    keys_offer(bind->keys, "suffix", dtype_name(dtype));
    keys_offer(bind->keys, "tin", dtype_c_type(x->dtype));
    offer_flag(bind, "coded", data_is_small(bind->region));
    if (!anchor_decoder(bind->region->anchor, 0)) {
        decode_element(bind, x, &get, &got);
        offer_reads(bind, dtype, get, got);
        return;
    }
    bind_reads(bind, 0, &get, &got);
    offer_reads(bind, dtype, arena_printf(bind->arena, "(%s", get),
                arena_printf(bind->arena, "%s)", got));
}

void bind_number_helper(struct bind *bind, const char *stem)
{
    bind_helper(bind,
                arena_printf(bind->arena, "%s_%s", stem, dtype_name(computed_in(bind->region))));
}

/* An empty sum still has a patch, of length 0: the parameter must exist. */
void bind_scratch_numbers(struct bind *bind, int64_t n)
{
    bind_scratch(bind, (size_t)(n > 0 ? n : 1) * dtype_bytes(computed_in(bind->region)));
}

/* --- weights ---------------------------------------------------------------------------------- */

const char *stored_c_type(const struct type *type)
{
    return type_packed_bits(type) < 8 ? "uint8_t" : dtype_c_type(type->dtype);
}

struct type quantized_type(struct bind *bind, const struct type *from, int rank,
                           const int64_t *dims)
{
    struct type type = type_make(from->dtype, rank, dims);
    struct qtype *codec = arena_new(bind->arena, struct qtype);

    if (from->dtype == DTYPE_AFP) {
        codec->format = from->quant->format;
        type.quant = codec;
    }
    return type;
}

const char *panels_of_quantized(struct bind *bind, const struct value *weight,
                                const struct panels *panels, const char *layout)
{
    const struct value stored = halves_stored(bind, weight);
    struct type type = quantized_type(bind, &weight->type, 0, NULL);
    const void *quantized =
        panels_make(bind, stored.data == weight->data ? weight : &stored, panels, &type);

    return bind_quantized(bind, weight->name, &type, quantized,
                          halves_layout(bind, weight, layout));
}

void bind_weight_panels(struct bind *bind, const struct panels *panels, const char *layout)
{
    struct value *value = bind->region->anchor->inputs[1];
    const bool small = weight_is_small(bind->region),
               blocks = small && type_has_blocks(&value->type);

    bind_text(bind, "tw", "%s", stored_c_type(&value->type));
    bind_flag(bind, "small", small);
    bind_flag(bind, "blocks", blocks);
    if (!small) {
        bind_panels(bind, "weight", 1, panels, layout);
        return;
    }
    bind_text(bind, "weight", "%s", panels_of_quantized(bind, value, panels, layout));
    bind_text(bind, "unpack", "%s", decode_unpack_weight(bind, value));
    bind_int(bind, "kc", blocks_kc(&value->type, panels));
    if (blocks)
        bind_blocks_of_panels(bind, value, panels);
}

void bind_weight_taps(struct bind *bind, const struct panels *panels, const char *layout)
{
    struct value *value = bind->region->anchor->inputs[1];
    const bool small = weight_is_small(bind->region),
               blocks = small && type_has_blocks(&value->type);

    bind_text(bind, "tw", "%s", stored_c_type(&value->type));
    bind_flag(bind, "small", small);
    offer_flag(bind, "blocks", blocks);
    if (!small) {
        bind_panels(bind, "weight", 1, panels, layout);
        return;
    }
    bind_text(bind, "weight", "%s", panels_of_quantized(bind, value, panels, layout));
    bind_text(bind, "unpack", "%s", decode_unpack_weight(bind, value));
    if (blocks)
        bind_blocks_of_taps(bind, value, panels);
}

void bind_weight_tiles(struct bind *bind, const struct panels *panels, const char *layout)
{
    struct value *value = bind->region->anchor->inputs[1];
    const struct type *from = &value->type;
    const bool small = weight_is_small(bind->region), blocks = small && type_has_blocks(from);

    keys_offer(bind->keys, "tw", stored_c_type(from));
    offer_flag(bind, "small", small);
    offer_flag(bind, "blocks", blocks);
    if (!small) {
        bind_panels(bind, "weight", 1, panels, layout);
        return;
    }
    bind_text(bind, "weight", "%s", panels_of_quantized(bind, value, panels, layout));
    bind_text(bind, "unpack", "%s", decode_unpack_weight(bind, value));
    if (blocks)
        bind_blocks_of_tiles(bind, value);
}

void bind_weight_rows(struct bind *bind)
{
    struct value *value = bind->region->anchor->inputs[1];
    const struct type *type = &value->type;
    const bool small = weight_is_small(bind->region), blocks = small && type_has_blocks(type);

    keys_offer(bind->keys, "tw", stored_c_type(type));
    offer_flag(bind, "small", small);
    bind_flag(bind, "blocks", blocks);
    if (small && value->kind == VALUE_CONSTANT) {
        const struct type quantized = quantized_type(bind, type, type->rank, type->dim);
        const struct value stored = halves_stored(bind, value);

        bind_text(bind, "weight", "%s",
                  bind_quantized(bind, value->name, &quantized, stored.data,
                                 halves_layout(bind, value, "")));
    } else {
        bind_input(bind, "weight", 1);
    }
    if (small)
        bind_text(bind, "unpack", "%s", decode_unpack_weight(bind, value));
    if (blocks) {
        bind_blocks_of_rows(bind, value);
        keys_offer(bind->keys, "row_len",
                   arena_printf(bind->arena, "%lld",
                                (long long)type_span(type, type->rank > 0 ? 1 : 0, type->rank)));
    }
}

void bind_weight_elements(struct bind *bind)
{
    const struct type *type = anchor_input(bind->region, 1);
    const char *get, *got;

    decode_element(bind, type, &get, &got);
    keys_offer(bind->keys, "tw", stored_c_type(type));
    keys_offer(bind->keys, "get_weight", get);
    keys_offer(bind->keys, "got_weight", got);
}
