/* native.c - see native.h.
 *
 * Quantising is arithmetic on f32. Whatever reads one byte is a table of 256 entries, filled by the
 * reference evaluator of the node itself: so dequantising, casts, clips and relus of all types of a
 * byte are one loop. */
#include "runtime/engine/native.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 }; /* elements that are worked on at a time */

struct native {
    const char *name; /* as oneDNN names its implementations */
    void (*run)(const struct native *native, const void *in, void *out, size_t n);
    size_t n;    /* elements, those that only fill blocks up included */
    float scale; /* quantise: the divisor */
    float low, high, zero;
    const struct minifloat *format;
    bool saturate;
    float numbers[256];      /* table to f32 */
    uint8_t codes[256];      /* table to bytes */
    int64_t inner, n_scales; /* of dequantize along an axis: `inner` elements share a scale */
    const float *scales;
};

void native_run(const struct native *native, const void *in, void *out)
{
    native->run(native, in, out, native->n);
}

struct mark native_mark(const struct native *native, struct mark mark)
{
    const float numbers[] = { native->scale, native->low, native->high, native->zero };
    const int64_t counts[] = { (int64_t)native->n, native->inner, native->n_scales,
                               native->saturate };

    mark = mark_add_text(mark, native->name);
    mark = mark_add(mark, numbers, sizeof numbers);
    mark = mark_add(mark, counts, sizeof counts);
    if (native->format) {
        const int codec[] = { native->format->exponent_bits, native->format->mantissa_bits,
                              native->format->bias, (int)native->format->specials,
                              (int)native->format->sign };

        mark = mark_add(mark, codec, sizeof codec);
    }
    mark = mark_add(mark, native->numbers, sizeof native->numbers);
    mark = mark_add(mark, native->codes, sizeof native->codes);
    return native->n_scales
               ? mark_add(mark, native->scales, (size_t)native->n_scales * sizeof *native->scales)
               : mark;
}

/* --- loops ------------------------------------------------------------------------------------ */

/* Of a block all: a constant count is what compilers vectorise at -O2 as well. */
static inline void divide(const float *restrict x, float scale, float *restrict out)
{
    for (int k = 0; k < BLOCK; k++)
        out[k] = x[k] / scale;
}

/* The next block of x, filled up with zeros behind its end. */
static const float *next_block(const float *x, size_t n, float room[BLOCK])
{
    if (n >= BLOCK)
        return x;
    memset(room, 0, BLOCK * sizeof *room);
    memcpy(room, x, n * sizeof *room);
    return room;
}

static void to_minifloat(const struct native *native, const void *in, void *out, size_t n)
{
    const float *x = in;
    uint8_t *codes = out;
    float quotients[BLOCK], room[BLOCK];

    if (native->scale == 1) {
        minifloat_encode_array(native->format, x, codes, n, native->saturate);
        return;
    }
    for (size_t i = 0; i < n; i += BLOCK) {
        divide(next_block(x + i, n - i, room), native->scale, quotients);
        minifloat_encode_array(native->format, quotients, codes + i, n - i < BLOCK ? n - i : BLOCK,
                               native->saturate);
    }
}

/* A block of i8 or u8. `low` and `high` are those of the type less the zero point, so that nothing
 * that matters is cut off before rounding. NaN becomes the code 0. To nearest, ties to even: what
 * is below one unit falls off the end of the sum with 1.5 * 2^23. */
static inline void round_block(const struct native *native, const float *restrict quotients,
                               uint8_t *restrict codes)
{
    const float low = native->low, high = native->high, magic = 0x1.8p23f;
    const int32_t zero = (int32_t)native->zero;
    int32_t whole[BLOCK];

    for (int k = 0; k < BLOCK; k++) {
        float q = quotients[k] == quotients[k] ? quotients[k] : -native->zero;

        q = q < low ? low : q;
        q = q > high ? high : q;
        whole[k] = (int32_t)((q + magic) - magic) + zero;
    }
    for (int k = 0; k < BLOCK; k++)
        codes[k] = (uint8_t)whole[k];
}

static void to_integer(const struct native *native, const void *in, void *out, size_t n)
{
    const float *x = in;
    uint8_t *codes = out, last[BLOCK];
    float quotients[BLOCK], room[BLOCK];

    for (size_t i = 0; i < n; i += BLOCK) {
        divide(next_block(x + i, n - i, room), native->scale, quotients);
        round_block(native, quotients, n - i < BLOCK ? last : codes + i);
        if (n - i < BLOCK)
            memcpy(codes + i, last, n - i);
    }
}

static void to_numbers(const struct native *native, const void *in, void *out, size_t n)
{
    const uint8_t *codes = in;
    float *y = out;

    for (size_t i = 0; i < n; i++)
        y[i] = native->numbers[codes[i]];
}

static void to_codes(const struct native *native, const void *in, void *out, size_t n)
{
    const uint8_t *codes = in;
    uint8_t *y = out;

    for (size_t i = 0; i < n; i++)
        y[i] = native->codes[codes[i]];
}

static void to_numbers_along(const struct native *native, const void *in, void *out, size_t n)
{
    const uint8_t *codes = in;
    const int64_t inner = native->inner, n_rows = (int64_t)n / inner;
    float *y = out;

    for (int64_t row = 0; row < n_rows; row++) {
        const float scale = native->scales[row % native->n_scales];

        for (int64_t i = row * inner; i < (row + 1) * inner; i++)
            y[i] = native->numbers[codes[i]] * scale;
    }
}

/* --- which nodes ------------------------------------------------------------------------------ */

static bool is_fixed(const struct slot *slot)
{
    return slot && slot->storage->home == HOME_FIXED;
}

/* The number of a fixed slot of one element. */
static bool one_number(const struct slot *slot, double *out)
{
    const struct tensor tensor = { slot->type, (void *)(uintptr_t)slot->storage->data };

    if (!is_fixed(slot) || !slot->plain || type_elements(&slot->type) != 1)
        return false;
    *out = tensor_at(&tensor, 0);
    return true;
}

static bool make_quantise(struct native *native, const struct node *node,
                          struct slot *const *inputs)
{
    const struct type *y = &node->outputs[0]->type;
    const bool is_cast = node->op == OP_CAST;
    double scale = 1, zero = 0;

    if ((!is_cast && node->op != OP_QNN_QUANTIZE) || node->inputs[0]->type.dtype != DTYPE_F32 ||
        dtype_bytes(y->dtype) != 1)
        return false;
    if (!is_cast && (!one_number(inputs[1], &scale) || !one_number(inputs[2], &zero)))
        return false;
    native->scale = (float)scale;
    native->format = type_minifloat(y);
    native->saturate = is_cast ? node->attrs.cast.saturate : node->attrs.quantize.saturate;
    if (native->format) {
        native->name = "native:minifloat";
        native->run = to_minifloat;
        return true;
    }
    if (is_cast || (y->dtype != DTYPE_I8 && y->dtype != DTYPE_U8))
        return false;
    native->name = "native:integer";
    native->run = to_integer;
    native->zero = (float)zero;
    native->low = (y->dtype == DTYPE_I8 ? -128 : 0) - native->zero;
    native->high = (y->dtype == DTYPE_I8 ? 127 : 255) - native->zero;
    return true;
}

/* A type of 256 elements, every code once. */
static struct type all_codes(const struct type *type)
{
    const int64_t n = 256;
    struct type all = type_make(type->dtype, 1, &n);

    all.quant = type->quant;
    return all;
}

/* Runs the node's evaluator on all codes; its other inputs are as they are. */
static bool fill_table(struct plan *plan, const struct node *node, struct slot *const *inputs,
                       struct native *native)
{
    uint8_t codes[256];
    struct tensor x = { all_codes(&node->inputs[0]->type), codes }, y, *others;
    const struct tensor **in = arena_array(&plan->arena, const struct tensor *, node->n_inputs);

    for (int i = 0; i < 256; i++)
        codes[i] = (uint8_t)i;
    others = arena_array(&plan->arena, struct tensor, node->n_inputs);
    in[0] = &x;
    for (int i = 1; i < node->n_inputs; i++) {
        others[i] = (struct tensor){ inputs[i]->type, slot_data(plan, inputs[i], NULL) };
        in[i] = &others[i];
    }
    y.type = all_codes(&node->outputs[0]->type);
    y.data = y.type.dtype == DTYPE_F32 ? (void *)native->numbers : native->codes;
    return op_row(node->op)->evaluate(plan->ctx, node, in, &y);
}

/* One byte to one byte or one f32, all else being the same for all elements. */
static bool make_table(struct native *native, const struct node *node, struct slot *const *inputs)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    double ignored;

    if (!op_is_elementwise(node->op) || dtype_bytes(x->dtype) != 1 || type_has_blocks(x) ||
        !type_same_shape(x, y) || (y->dtype != DTYPE_F32 && dtype_bytes(y->dtype) != 1))
        return false;
    for (int i = 1; i < node->n_inputs; i++)
        if (!inputs[i] || !one_number(inputs[i], &ignored))
            return false;
    native->name = y->dtype == DTYPE_F32 ? "native:numbers" : "native:codes";
    native->run = y->dtype == DTYPE_F32 ? to_numbers : to_codes;
    return true;
}

/* qnn.dequantize with a scale for each index of an axis, without zero points. */
static bool make_along(struct native *native, const struct node *node, struct slot *const *inputs)
{
    const struct type *x = &node->inputs[0]->type;
    const int axis = type_axis(x, node->attrs.axis.axis);

    if (node->op != OP_QNN_DEQUANTIZE || dtype_bytes(x->dtype) != 1 || type_has_blocks(x) ||
        axis < 0 || !is_fixed(inputs[1]) || !is_fixed(inputs[2]) ||
        inputs[1]->type.dtype != DTYPE_F32)
        return false;
    for (int64_t i = 0; i < type_elements(&inputs[2]->type); i++) {
        const struct tensor zeros = { inputs[2]->type,
                                      (void *)(uintptr_t)inputs[2]->storage->data };

        if (tensor_at(&zeros, i) != 0)
            return false;
    }
    native->name = "native:numbers";
    native->run = to_numbers_along;
    native->scales = inputs[1]->storage->data;
    native->n_scales = type_elements(&inputs[1]->type);
    native->inner = type_span(x, axis + 1, x->rank);
    for (int i = 0; i < 256; i++) {
        uint8_t code = (uint8_t)i;
        const struct tensor one = { type_scalar(x->dtype), &code };
        struct tensor typed = one;

        typed.type.quant = x->quant;
        native->numbers[i] = (float)tensor_at_any(&typed, 0);
    }
    return true;
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool is_padded(const struct slot *slot)
{
    return !slot->plain && memcmp(slot->layout.dims, slot->layout.padded_dims,
                                  (size_t)slot->layout.ndims * sizeof *slot->layout.dims) != 0;
}

static size_t count(const struct slot *slot)
{
    return slot->plain ? (size_t)type_elements(&slot->type)
                       : dnnl_memory_desc_get_size(&slot->layout) / dtype_bytes(slot->type.dtype);
}

/* What the step makes of the elements that fill blocks up; oneDNN wants zeros there in f32. */
static bool fill_of(const struct native *native, const struct slot *x, uint8_t *fill)
{
    const float nothing = 0;

    if (x->type.dtype == DTYPE_F32)
        native->run(native, &nothing, fill, 1);
    else if (native->run == to_codes)
        *fill = native->codes[x->fill];
    else
        return native->numbers[x->fill] == 0;
    return true;
}

static struct slot *add_step(struct plan *plan, const struct node *node, struct slot *x,
                             struct native *native)
{
    const struct type *type = &node->outputs[0]->type;
    struct slot *pair[2] = { x, NULL };
    dnnl_memory_desc_t layout;
    struct step *step;

    if (!x->plain && layout_plain(type, &layout)) {
        const dnnl_data_type_t element = layout.data_type;

        layout = x->layout;
        layout.data_type = element;
        pair[1] = slot_pool(plan, type, &layout);
    } else {
        pair[1] = slot_pool(plan, type, NULL);
    }
    if (is_padded(x))
        fill_of(native, x, &pair[1]->fill);
    native->n = count(x);
    step = plan_step(plan, node, NULL, 2, pair);
    step->native = native;
    step->impl = native->name;
    plan->n_onednn++;
    return pair[1];
}

struct slot *native_build(struct plan *plan, const struct node *node, struct slot *const *inputs,
                          bool *failed)
{
    struct native *native = arena_new(&plan->arena, struct native);
    struct slot *x = node->n_inputs > 0 ? inputs[0] : NULL;
    uint8_t fill;
    bool ok;

    *failed = false;
    if (!x || node->n_outputs != 1 || type_elements(&x->type) == 0)
        return NULL;
    ok = make_quantise(native, node, inputs);
    if (!ok && make_table(native, node, inputs)) {
        if (!fill_table(plan, node, inputs, native)) {
            *failed = true;
            return NULL;
        }
        ok = true;
    }
    if (!ok && make_along(native, node, inputs)) {
        x = slot_plain(plan, x);
        ok = true;
    } else if (ok && is_padded(x) && !fill_of(native, x, &fill)) {
        x = slot_plain(plan, x);
    }
    if (ok && x)
        return add_step(plan, node, x, native);
    *failed = ok; /* a reorder that oneDNN would not do */
    return NULL;
}

static struct slot *fold_with_reference(struct plan *plan, const struct node *node,
                                        struct slot *const *inputs)
{
    struct tensor *tensors = arena_array(&plan->arena, struct tensor, node->n_inputs), out;
    const struct tensor **in = arena_array(&plan->arena, const struct tensor *, node->n_inputs);

    for (int i = 0; i < node->n_inputs; i++) {
        tensors[i] = (struct tensor){ inputs[i]->type, slot_data(plan, inputs[i], NULL) };
        in[i] = &tensors[i];
    }
    out = tensor_new(&plan->fixed, &node->outputs[0]->type);
    if (!op_row(node->op)->evaluate(plan->ctx, node, in, &out))
        return NULL;
    return slot_fixed(plan, &out.type, out.data);
}

struct slot *native_fold(struct plan *plan, const struct node *node, struct slot *const *inputs,
                         bool *failed)
{
    struct native *native = arena_new(&plan->arena, struct native);
    struct slot *slot;

    *failed = false;
    if (!op_is_elementwise(node->op) || node->n_inputs == 0 || node->n_outputs != 1)
        return NULL;
    for (int i = 0; i < node->n_inputs; i++)
        if (!is_fixed(inputs[i]) || !inputs[i]->plain)
            return NULL;
    if (make_along(native, node, inputs)) {
        struct tensor out = tensor_new(&plan->fixed, &node->outputs[0]->type);

        native->run(native, inputs[0]->storage->data, out.data, count(inputs[0]));
        return slot_fixed(plan, &out.type, out.data);
    }
    slot = fold_with_reference(plan, node, inputs);
    *failed = !slot;
    return slot;
}
