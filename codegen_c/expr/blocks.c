/* blocks.c - see blocks.h. */
#include "codegen_c/expr/blocks.h"

#include <math.h>

#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/expr/vector.h"

enum {
    KC = 32,       /* elements of a row that are dequantised at a time */
    NO_SCALE = 127 /* E8M0: 2^0 */
};

bool blocks_take(const struct type *type, const char **why)
{
    *why = "blocks that share a scale are no multiple of 4, or longer than 64 and no multiple of "
           "32";
    return type_block_is_regular(type->quant->block);
}

int64_t blocks_kc(const struct type *type, const struct panels *panels)
{
    if (!type_has_blocks(type) || panels->len_step != 1 || type->quant->block % KC == 0)
        return KC;
    return type->quant->block;
}

/* E8M0 of a power of two. */
static uint8_t e8m0(float scale)
{
    int exponent;

    (void)frexpf(scale, &exponent);
    return (uint8_t)(exponent + 126);
}

static int64_t blocks_of_row(const struct type *type)
{
    const int64_t rows = type->rank > 0 ? type->dim[0] : 1;

    return rows ? type->quant->n / rows : 0;
}

/* --- arrays ----------------------------------------------------------------------------------- */

/* An array with one element per block: the index of the block, -1 for padding rows. */
struct order {
    int rank;
    int64_t dims[3];
    int64_t *block;
};

static struct order order_new(struct bind *bind, int rank, int64_t a, int64_t b, int64_t c)
{
    struct order order = { rank, { a, b, c }, NULL };

    order.block = arena_array(bind->arena, int64_t, a * b * c);
    for (int64_t i = 0; i < a * b * c; i++)
        order.block[i] = -1;
    return order;
}

static void *array_of(struct bind *bind, const struct order *order, enum dtype dtype,
                      struct type *type)
{
    *type = type_make(dtype, order->rank, order->dims);
    return constant_alloc(bind->region->fn, type);
}

static void bind_scales(struct bind *bind, const struct value *value, const struct order *order,
                        const char *of_what)
{
    const struct qtype *quant = value->type.quant;
    const bool bytes = type_has_byte_scales(&value->type);
    const char *name = arena_printf(bind->arena, "%s.scale", value->name);
    struct type type;
    void *data = array_of(bind, order, bytes ? DTYPE_U8 : DTYPE_F32, &type);

    for (int64_t i = 0; i < type_elements(&type); i++) {
        const float scale = order->block[i] < 0 ? 1 : quant->scale[order->block[i]];

        if (bytes)
            ((uint8_t *)data)[i] = order->block[i] < 0 ? NO_SCALE : e8m0(scale);
        else
            ((float *)data)[i] = scale;
    }
    bind_text(bind, "scale_type", "%s", bytes ? "uint8_t" : "float");
    bind_text(bind, "scale_note", "%s", bytes ? ": 2^(n - 127)" : "");
    bind_text(bind, "scales", "%s",
              bind_quantized(
                  bind, name, &type, data,
                  arena_printf(bind->arena, "%s%s", bytes ? "2^(n - 127) of " : "of ", of_what)));
}

static void bind_zeros(struct bind *bind, const struct value *value, const struct order *order,
                       const char *of_what)
{
    const struct qtype *quant = value->type.quant;
    const char *name = arena_printf(bind->arena, "%s.zero", value->name);
    struct type type;
    int8_t *data;

    bind_flag(bind, "zeros", quant->zero);
    if (!quant->zero)
        return;
    data = array_of(bind, order, DTYPE_I8, &type);
    for (int64_t i = 0; i < type_elements(&type); i++)
        data[i] = (int8_t)(order->block[i] < 0 ? 0 : quant->zero[order->block[i]]);
    bind_text(bind, "zero", "%s",
              bind_quantized(bind, name, &type, data, arena_printf(bind->arena, "of %s", of_what)));
}

static void bind_arrays(struct bind *bind, const struct value *value, const struct order *order,
                        const char *of_what)
{
    bind_int(bind, "block_len", value->type.quant->block);
    bind_scales(bind, value, order, of_what);
    bind_zeros(bind, value, order, of_what);
}

/* Requests the helper of this name, and the one for zero points. */
static void bind_functions(struct bind *bind, const struct value *value, const char *what)
{
    const char *fn = arena_printf(bind->arena, "scale_%s%s", what,
                                  type_has_byte_scales(&value->type) ? "" : "_f32");

    bind_helper(bind, fn);
    bind_text(bind, "scale_fn", "%s", fn);
    if (value->type.quant->zero)
        bind_helper(bind, arena_printf(bind->arena, "centre_%s", what));
}

static void bind_element(struct bind *bind, const struct value *value)
{
    const bool bytes = type_has_byte_scales(&value->type);

    if (bytes)
        bind_helper(bind, "power_of_two_f32");
    bind_text(bind, "scale_get", "%s", bytes ? "power_of_two_f32(" : "");
    bind_text(bind, "scale_got", "%s", bytes ? ")" : "");
}

/* --- orders ----------------------------------------------------------------------------------- */

static void bind_in_rows(struct bind *bind, const struct value *value)
{
    const struct qtype *quant = value->type.quant;
    const int64_t n = blocks_of_row(&value->type);
    struct order order = order_new(bind, 2, value->type.rank > 0 ? value->type.dim[0] : 1, n, 1);

    for (int64_t i = 0; i < quant->n; i++)
        order.block[i] = i;
    bind_int(bind, "n_scales", n);
    bind_arrays(bind, value, &order,
                arena_printf(bind->arena, "each row and %lld elements", (long long)quant->block));
}

/* Four rows of a panel side by side, as the values are. */
static void bind_in_panels(struct bind *bind, const struct value *value, const struct panels *p)
{
    const int64_t n = blocks_of_row(&value->type), blocks = (p->n_rows + p->width - 1) / p->width;
    struct order order = order_new(bind, 3, p->groups * blocks, n, p->width);

    for (int64_t row = 0; row < p->groups * p->n_rows; row++)
        for (int64_t i = 0; i < n; i++) {
            const int64_t block = row / p->n_rows * blocks + row % p->n_rows / p->width;

            order.block[(block * n + i) * p->width + row % p->n_rows % p->width] = row * n + i;
        }
    bind_int(bind, "n_scales", n);
    bind_arrays(bind, value, &order,
                arena_printf(bind->arena, "each 4 rows and %lld elements",
                             (long long)value->type.quant->block));
}

void bind_blocks_of_panels(struct bind *bind, const struct value *value,
                           const struct panels *panels)
{
    const bool along = panels->len_step == 1;

    keys_offer(bind->keys, "along", along ? "1" : "");
    keys_offer(bind->keys, "across", along ? "" : "1");
    bind_functions(bind, value, "blocks");
    if (along)
        bind_in_panels(bind, value, panels);
    else
        bind_in_rows(bind, value);
}

void bind_blocks_of_taps(struct bind *bind, const struct value *value, const struct panels *p)
{
    const struct type *type = &value->type;
    const int64_t n = blocks_of_row(type), row_len = type_span(type, 1, type->rank);
    struct order order = order_new(bind, 3, p->groups, n, p->width);

    for (int64_t group = 0; group < p->groups; group++)
        for (int64_t row = 0; row < p->n_rows; row++)
            for (int64_t i = 0; i < n; i++) {
                const int64_t from = (group * p->group_step + row * p->row_step) / row_len;

                order.block[(group * n + i) * p->width + row] = from * n + i;
            }
    bind_element(bind, value);
    bind_arrays(bind, value, &order,
                arena_printf(bind->arena, "each %lld taps", (long long)type->quant->block));
}

void bind_blocks_of_outputs(struct bind *bind, const struct value *value, int64_t n_rows)
{
    const int64_t n = blocks_of_row(&value->type);
    struct order order = order_new(bind, 2, n, n_rows, 1);

    for (int64_t i = 0; i < n * n_rows; i++)
        order.block[i] = i % n_rows * n + i / n_rows;
    bind_arrays(bind, value, &order,
                arena_printf(bind->arena, "each %lld of in_c and of out_c",
                             (long long)value->type.quant->block));
}

/* The keys of loads of one vector of scales, converted to floats. */
static void bind_scale_vectors(struct bind *bind, bool bytes, bool zeros)
{
    bind_bytes_helper(bind, bytes || zeros ? "load_bytes" : "vector_u32");
    if (bytes)
        bind_helper(bind, "power_of_two_f32");
}

const char *blocks_function(struct bind *bind, const struct value *value, const char *stem,
                            bool centred)
{
    const bool bytes = type_has_byte_scales(&value->type),
               zeros = centred && value->type.quant->zero;
    const char *name =
        arena_printf(bind->arena, "%s%s%s", stem, bytes ? "" : "_f32", zeros ? "_centred" : "");
    struct keys keys;

    if (bind_own_helper(bind, name))
        return name;
    bind_scale_vectors(bind, bytes, zeros);
    keys_init(&keys, bind->arena);
    keys_set_flag(&keys, "bytes", bytes);
    keys_offer(&keys, "zeros", zeros ? "1" : "");
    keys_set(&keys, "scale_type", bytes ? "uint8_t" : "float");
    keys_offer(&keys, "zero_argument", zeros ? "const int8_t *zero, " : "");
    keys_offer(&keys, "difference", zeros ? "(number[i] - (float)zero[i])" : "number[i]");
    keys_set(&keys, "scale", bytes ? "power_of_two_f32(scale[i])" : "scale[i]");
    return bind_new_helper(bind, name,
                           arena_printf(bind->arena, "templates/helpers/%s.c.tmpl", stem), &keys);
}

void bind_blocks_of_tiles(struct bind *bind, const struct value *value)
{
    bind_blocks_of_outputs(bind, value, value->type.dim[0]);
    bind_int(bind, "scaled_rows", value->type.dim[0]);
    keys_offer(bind->keys, "zero_at", value->type.quant->zero ? "&zero[at], " : "");
    bind_text(bind, "scale_fn", "%s", blocks_function(bind, value, "scale_channels", true));
}

void bind_blocks_of_rows(struct bind *bind, const struct value *value)
{
    bind_functions(bind, value, "row");
    bind_in_rows(bind, value);
}
