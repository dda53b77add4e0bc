/* amx.c - see amx.h. */
#include "codegen_c/microkernel/amx.h"

#include <math.h>

#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/limits.h"

enum {
    MOST_ROWS = 16,
    LEAST_ROWS = 8,
    PART = 2, /* bytes */
    /* Bytes of weights that stay in the L1 from one block of pixels to the next (in the L2, those
     * of an NC block); and bytes that no cache has kept since the last inference. */
    FIRST_CACHE = 24 << 10,
    FAR_WEIGHTS = 256 << 10
};

/* Above this, terms or their sums overflow. */
static const double largest_weight = 1e30;

static const char *helper(struct bind *bind, const char *name)
{
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    return bind_new_helper(bind, name,
                           arena_printf(bind->arena, "templates/helpers/%s.c.tmpl", name), &keys);
}

void bind_amx(struct bind *bind)
{
    bind_include(bind, "stdint.h");
    helper(bind, "amx");
}

const char *bind_amx_products(struct bind *bind, const struct amx_shape *shape, bool splits)
{
    const char *shape_name = shape->high > 1 ? "amx_2_by_2" : "amx_1_by_4";
    const char *name = splits ? arena_printf(bind->arena, "%s_split", shape_name) : shape_name;
    const char *fn;
    struct keys keys;

    bind_amx(bind);
    bind_vector(bind);
    bind_bytes_helper(bind, "vector_u32");
    bind_helper(bind, "line_aligned");
    bind_helper(bind, "apart");
    helper(bind, "amx_floats");
    if (splits)
        helper(bind, "amx_put_rows");
    fn = bind_own_helper(bind, name);
    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set_flag(&keys, "splits", splits);
    return bind_new_helper(
        bind, name, arena_printf(bind->arena, "templates/helpers/%s.c.tmpl", shape_name), &keys);
}

const char *bind_amx_split(struct bind *bind)
{
    return helper(bind, "amx_split_taps");
}

static int64_t rounded_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

int64_t amx_inputs(int64_t in_c)
{
    return rounded_up(in_c, AMX_INPUTS);
}

int64_t amx_channels(int64_t out_c)
{
    return rounded_up(out_c, AMX_LANES);
}

/* --- time ------------------------------------------------------------------------------------- */

/* Cycles: loading a register from the L1, the L2, the L3; a product's throughput; splitting 32
 * inputs of a pixel, 1 x 4 and 2 x 2, where less of it is hidden; storing 16 sums of a pixel;
 * starting a block of pixels and channels. */
static const double first_load = 8, second_load = 22, third_load = 150, product_time = 52,
                    parts_time[] = { 2, 9 }, store_time = 3.2, begin_time = 50;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* For 32 inputs: the six products of `high` registers of pixels and `wide` of channels. A product takes
 * one cycle per row. The first term of the weights is loaded twice in the 2 x 2 shape. */
static double inputs_time(const struct amx_shape *shape, int high, int64_t wide, double load)
{
    const double rows = shape->rows, n = (double)wide * high;
    const double again = shape->high > 1 ? (double)wide : 0;

    return 6 * larger(n * rows, product_time) + first_load * (3 * high * rows / MOST_ROWS + again) +
           load * AMX_PARTS * (double)wide;
}

/* For a block of pixels in `registers` registers: all channels. */
static double block_time(const struct amx_shape *shape, int high, int64_t inputs, int64_t vectors,
                         double load)
{
    const int64_t wide = 4 / shape->high, left = vectors % wide;
    const double pixels = shape->high * shape->rows;
    double time = (double)(vectors / wide) * inputs_time(shape, high, wide, load);

    if (left)
        time += inputs_time(shape, high, left, load);
    return (double)inputs * (time + pixels * parts_time[shape->high - 1]) +
           (double)vectors * high * shape->rows * store_time +
           begin_time * (double)(1 + (vectors + wide - 1) / wide);
}

/* The first block reads its weights from wherever the last inference left them. */
static double shape_time(const struct amx_shape *shape, int64_t n, int64_t inputs, int64_t vectors)
{
    const int64_t bytes = AMX_PARTS * PART * AMX_INPUTS * inputs * AMX_LANES * vectors;
    const int64_t pixels = (int64_t)shape->high * shape->rows, left = n % pixels;
    const double load = bytes <= FIRST_CACHE ? first_load : second_load;
    const double first = bytes > FAR_WEIGHTS ? third_load : load;
    const double other_blocks = (double)((n - left) / pixels - 1);
    double time = 0;

    if (n >= pixels)
        time = block_time(shape, shape->high, inputs, vectors, first) +
               other_blocks * block_time(shape, shape->high, inputs, vectors, load);
    if (left)
        time +=
            block_time(shape, left > shape->rows ? 2 : 1, inputs, vectors, left < n ? load : first);
    return time;
}

struct amx_shape amx_shape_of(int64_t n, int64_t taps, int64_t in_c, int64_t out_c)
{
    const int64_t inputs = taps * amx_inputs(in_c) / AMX_INPUTS;
    const int64_t vectors = amx_channels(out_c) / AMX_LANES;
    struct amx_shape best = { 0 };

    for (int high = 2; high >= 1; high--)
        for (int rows = MOST_ROWS; rows >= LEAST_ROWS; rows--) {
            struct amx_shape shape = { .high = high, .rows = rows };

            shape.time = shape_time(&shape, n, inputs, vectors);
            if (best.rows == 0 || shape.time < best.time)
                best = shape;
        }
    return best;
}

/* --- weights ---------------------------------------------------------------------------------- */

bool amx_takes_weights(const struct value *weights)
{
    for (int64_t i = 0; i < type_elements(&weights->type); i++)
        if (!(fabs((double)decode_number(&weights->type, weights->data, i)) < largest_weight))
            return false;
    return true;
}

/* The terms of one weight, in a block of 32 inputs by 16 channels. */
static void put_parts(uint16_t *to, float number)
{
    for (int part = 0; part < AMX_PARTS; part++, to += AMX_INPUTS * AMX_LANES) {
        *to = bf16_from_f64((double)number);
        number -= bf16_to_f32(*to);
    }
}

const char *bind_amx_weights(struct bind *bind, const struct panels *p)
{
    const struct value *value = bind->region->anchor->inputs[1];
    const int64_t taps = p->len / p->inner, in_c = amx_inputs(p->inner);
    struct type type = type_scalar(DTYPE_BF16);
    uint16_t *numbers;

    type.rank = 1;
    type.dim[0] = amx_channels(p->n_rows) * taps * in_c * AMX_PARTS;
    numbers = constant_alloc(bind->region->fn, &type);
    for (int64_t row = 0; row < p->n_rows; row++)
        for (int64_t k = 0; k < p->len; k++) {
            const int64_t tap = k / p->inner, ic = k % p->inner, i = ic % AMX_INPUTS;
            const int64_t first = row / AMX_LANES * AMX_LANES * taps * in_c + /* of 32 inputs */
                                  (tap * in_c + ic - i) * AMX_LANES;
            const int64_t at = first * AMX_PARTS + i % AMX_LANES * AMX_INPUTS +
                               row % AMX_LANES * 2 + i / AMX_LANES;

            put_parts(&numbers[at],
                      decode_number(&value->type, value->data,
                                    row * p->row_step + tap * p->outer_step + ic * p->len_step));
        }
    return bind_quantized(bind, value->name, &type, numbers,
                          "[out_c / 16, kernel, in_c / 32, 3 parts, 16, 16 of out_c, 2 of in_c]");
}

const char *bind_amx_store(struct bind *bind, const struct amx_shape *shape, int vectors,
                           const struct epilogue_store *end, bool some)
{
    const int step = 4 / shape->high * AMX_LANES;
    const char *name = arena_printf(bind->arena, "store_sums_%d_of_%d%s%s", vectors * AMX_LANES,
                                    step, some ? "_some" : "", end->name);
    const char *fn = bind_own_helper(bind, name);
    struct str each = { .arena = bind->arena };
    struct keys keys;

    if (fn)
        return fn;
    for (int v = 0; v < vectors; v++)
        str_printf(&each, " DO(j, %d)", v);
    keys_init(&keys, bind->arena);
    keys_set(&keys, "each_vector", str_text(&each));
    keys_set_int(&keys, "sum_step", step);
    epilogue_store_keys(
        bind, end, arena_printf(bind->arena, "*(const vector_f32 *)&sum[j * %d + v * LANES]", step),
        some, false, &keys);
    return bind_new_helper(bind, name, "templates/helpers/store_sums.c.tmpl", &keys);
}
