/* signal.c - operators of audio front ends on integers, as the reference kernels of TensorFlow Lite Micro's `signal`
 * library compute them, bit for bit. signal_fft.c has its transforms.
 *
 * signal.auto_scale    x (i16, rank 1) -> y, x shifted up as far as its greatest magnitude allows; by how much (i32)
 * signal.filter_bank   x (u32, bins), weights, unweights (i16), and, of channels + 1 bands each, the first bin, the
 *                      first weight and how many there are (i16) -> y (u64, channels)
 * signal.square_root   x (u64), bits (i32) -> the root of x to nearest, shifted down by bits (u32)
 * signal.spectral_subtraction   x, noise before (u32) -> x less the noise; noise behind
 * signal.pcan          x, noise (u32), gains (i16) -> x by a gain that depends on the noise, compressed
 * signal.log           x (u32) -> ln(x << shift) * scale (i16) */
#include <math.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/signal.h"
#include "relay_ir/walk.h"

static bool check_input(struct ctx *ctx, struct node *node, int input, enum dtype dtype, int rank,
                        int64_t n)
{
    const struct type *type = input_type(node, input);

    if (type->dtype == dtype && (rank < 0 || type->rank == rank) &&
        (n < 0 || type_elements(type) == n))
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node), "input %d of %s is %s, expected %s%s",
                      input, op_name(node->op), type_text(&ctx->perm, type), dtype_name(dtype),
                      n < 0       ? ""
                      : rank == 0 ? ", one number"
                                  : arena_printf(&ctx->perm, ", %lld numbers", (long long)n));
}

/* Bits of x up to its highest 1; of 0 as many as the type has, as the library has it. */
static int width_of(uint64_t x, int none)
{
    int width = 0;

    for (; x; x >>= 1)
        width++;
    return width ? width : none;
}

/* --- scaling ---------------------------------------------------------------------------------- */

bool infer_signal_auto_scale(struct ctx *ctx, struct node *node)
{
    const struct type scalar = type_scalar(DTYPE_I32);

    if (!check_input(ctx, node, 0, DTYPE_I16, 1, -1))
        return false;
    set_output(node, 0, DTYPE_I16, input_type(node, 0));
    set_output(node, 1, DTYPE_I32, &scalar);
    return true;
}

bool eval_signal_auto_scale(struct ctx *ctx, const struct node *node,
                            const struct tensor *const *in, struct tensor *out)
{
    const int64_t n = type_elements(&in[0]->type);
    const int16_t *x = in[0]->data;
    int16_t *y = out[0].data;
    int most = 0, bits;

    (void)ctx;
    (void)node;
    for (int64_t i = 0; i < n; i++)
        if (x[i] > most)
            most = x[i];
        else if (-x[i] > most)
            most = x[i] == INT16_MIN ? INT16_MIN : -x[i]; /* 32768 wraps, and anything is more */
    bits = 15 - width_of(most < 0 ? UINT32_MAX : (uint64_t)most, 32);
    bits = bits < 0 ? 0 : bits;
    for (int64_t i = 0; i < n; i++)
        y[i] = (int16_t)(uint16_t)((uint32_t)x[i] << bits);
    *(int32_t *)out[1].data = bits;
    return true;
}

/* --- filter bank ------------------------------------------------------------------------------ */

bool signal_bands_fit(const struct tensor *starts, const struct tensor *first,
                      const struct tensor *widths, int64_t n_weights, int64_t n_bins)
{
    for (int64_t i = 0; i < type_elements(&starts->type); i++) {
        const int64_t bin = tensor_int_at(starts, i), weight = tensor_int_at(first, i);
        const int64_t width = tensor_int_at(widths, i);

        if (width > 0 &&
            (bin < 0 || weight < 0 || bin + width > n_bins || weight + width > n_weights))
            return false;
    }
    return true;
}

bool infer_signal_filter_bank(struct ctx *ctx, struct node *node)
{
    const int64_t n_weights = type_elements(input_type(node, BANK_WEIGHTS));
    const int64_t bands = type_elements(input_type(node, BANK_BINS));
    const struct type y = type_make(DTYPE_U64, 1, (const int64_t[]){ bands - 1 });

    if (!check_input(ctx, node, BANK_X, DTYPE_U32, 1, -1) ||
        !check_input(ctx, node, BANK_WEIGHTS, DTYPE_I16, 1, -1) ||
        !check_input(ctx, node, BANK_UNWEIGHTS, DTYPE_I16, 1, n_weights) ||
        !check_input(ctx, node, BANK_BINS, DTYPE_I16, 1, -1) ||
        !check_input(ctx, node, BANK_FIRST, DTYPE_I16, 1, bands) ||
        !check_input(ctx, node, BANK_WIDTHS, DTYPE_I16, 1, bands))
        return false;
    if (bands < 1)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s without bands",
                          op_name(node->op));
    for (int i = BANK_BINS; i <= BANK_WIDTHS; i++)
        if (node->inputs[i]->kind != VALUE_CONSTANT) {
            set_output(node, 0, DTYPE_U64, &y);
            return true;
        }
    const struct tensor bins = value_tensor(node->inputs[BANK_BINS]);
    const struct tensor first = value_tensor(node->inputs[BANK_FIRST]);
    const struct tensor widths = value_tensor(node->inputs[BANK_WIDTHS]);

    if (!signal_bands_fit(&bins, &first, &widths, n_weights,
                          type_elements(input_type(node, BANK_X))))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s has a band that does not lie within its bins and weights",
                          op_name(node->op));
    set_output(node, 0, DTYPE_U64, &y);
    return true;
}

bool eval_signal_filter_bank(struct ctx *ctx, const struct node *node,
                             const struct tensor *const *in, struct tensor *out)
{
    const int64_t channels = type_elements(&out->type);
    uint64_t *y = out->data, carried = 0;

    if (!signal_bands_fit(in[BANK_BINS], in[BANK_FIRST], in[BANK_WIDTHS],
                          type_elements(&in[BANK_WEIGHTS]->type), type_elements(&in[BANK_X]->type)))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s has a band that does not lie within its bins and weights",
                          op_name(node->op));
    for (int64_t c = 0; c <= channels; c++) { /* what rises in a band falls in the one before */
        uint64_t rising = 0, falling = 0;

        for (int64_t k = 0; k < tensor_int_at(in[BANK_WIDTHS], c); k++) {
            const int64_t w = tensor_int_at(in[BANK_FIRST], c) + k;
            const uint64_t bin =
                (uint64_t)tensor_int_at(in[BANK_X], tensor_int_at(in[BANK_BINS], c) + k);

            rising += (uint64_t)tensor_int_at(in[BANK_WEIGHTS], w) * bin;
            falling += (uint64_t)tensor_int_at(in[BANK_UNWEIGHTS], w) * bin;
        }
        if (c > 0)
            y[c - 1] = carried + rising;
        carried = falling;
    }
    return true;
}

/* --- functions of each element ---------------------------------------------------------------- */

bool infer_signal_square_root(struct ctx *ctx, struct node *node)
{
    if (!check_input(ctx, node, 0, DTYPE_U64, -1, -1) ||
        !check_input(ctx, node, 1, DTYPE_I32, 0, 1))
        return false;
    set_output(node, 0, DTYPE_U32, input_type(node, 0));
    return true;
}

/* The root to nearest. Of less than 2^32 it has 16 bits: 65535 at most, elsewhere 32. */
static uint32_t root_of(uint64_t x)
{
    const uint64_t most = x >> 32 ? UINT32_MAX : UINT16_MAX;
    uint64_t root = 0;

    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= x)
            root += bit;
    return (uint32_t)(root < most && x - root * root > root ? root + 1 : root);
}

bool eval_signal_square_root(struct ctx *ctx, const struct node *node,
                             const struct tensor *const *in, struct tensor *out)
{
    const int bits = (int)(tensor_int_at(in[1], 0) & 31);
    const uint64_t *x = in[0]->data;
    uint32_t *y = out->data;

    (void)ctx;
    (void)node;
    for (int64_t i = 0; i < type_elements(&out->type); i++)
        y[i] = root_of(x[i]) >> bits;
    return true;
}

bool infer_signal_spectral_subtraction(struct ctx *ctx, struct node *node)
{
    const struct subtraction_attrs *attrs = &node->attrs.subtraction;
    const int64_t n = type_elements(input_type(node, 0));
    const int64_t numbers[] = { attrs->smoothing, attrs->rest, attrs->odd_smoothing,
                                attrs->odd_rest, attrs->least };

    if (!check_input(ctx, node, 0, DTYPE_U32, 1, -1) || !check_input(ctx, node, 1, DTYPE_U32, 1, n))
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] < 0 || numbers[i] > UINT32_MAX)
            return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                              "a factor of %s is %lld, expected 32 bits", op_name(node->op),
                              (long long)numbers[i]);
    if (attrs->shift < 0 || attrs->shift > 31 || attrs->bits < 0 || attrs->bits > 63)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s shifts by %lld and %lld bits, expected 0 to 31 and 0 to 63",
                          op_name(node->op), (long long)attrs->shift, (long long)attrs->bits);
    set_output(node, 0, DTYPE_U32, input_type(node, 0));
    set_output(node, 1, DTYPE_U32, input_type(node, 0));
    return true;
}

bool eval_signal_spectral_subtraction(struct ctx *ctx, const struct node *node,
                                      const struct tensor *const *in, struct tensor *out)
{
    const struct subtraction_attrs *attrs = &node->attrs.subtraction;
    const uint32_t *x = in[0]->data, *before = in[1]->data;
    uint32_t *y = out[0].data, *behind = out[1].data;

    (void)ctx;
    for (int64_t i = 0; i < type_elements(&out->type); i++) {
        const bool odd = i % 2 == 1;
        const uint32_t raised = (uint32_t)((uint64_t)x[i] << attrs->shift);
        const uint64_t share =
            (uint64_t)raised * (uint64_t)(odd ? attrs->odd_smoothing : attrs->smoothing);
        const uint64_t rest = (uint64_t)before[i] * (uint64_t)(odd ? attrs->odd_rest : attrs->rest);
        const uint32_t noise = (uint32_t)((share + rest) >> attrs->bits);
        const uint32_t taken = noise < raised ? noise : raised;
        const uint32_t left = (raised - taken) >> attrs->shift;
        const uint32_t least = (uint32_t)(((uint64_t)x[i] * (uint64_t)attrs->least) >> attrs->bits);

        behind[i] = attrs->clamping ? taken : noise;
        y[i] = left > least ? left : least;
    }
    return true;
}

bool infer_signal_pcan(struct ctx *ctx, struct node *node)
{
    const int64_t n = type_elements(input_type(node, 0));
    const int64_t shift = node->attrs.pcan.shift;

    if (!check_input(ctx, node, 0, DTYPE_U32, 1, -1) ||
        !check_input(ctx, node, 1, DTYPE_U32, 1, n) || !check_input(ctx, node, 2, DTYPE_I16, 1, -1))
        return false;
    if (type_elements(input_type(node, 2)) < PCAN_GAINS)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s has %lld gains, expected %d or more", op_name(node->op),
                          (long long)type_elements(input_type(node, 2)), PCAN_GAINS);
    if (shift < 0 || shift > 63)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s shifts by %lld bits, expected 0 to 63", op_name(node->op),
                          (long long)shift);
    set_output(node, 0, DTYPE_U32, input_type(node, 0));
    return true;
}

static int32_t down(int32_t v, int n)
{
    return v < 0 ? ~(~v >> n) : v >> n;
}

/* The gain for a noise level: a parabola for each power of two, in ten bits of the level. All of it wraps as 32 bits
 * do, and the result is the lower 16 with their sign. */
static uint32_t gain_of(uint32_t noise, const int16_t *gains)
{
    const int width = width_of(noise, 32);
    const int16_t *piece = gains + 4 * width - 6;
    int32_t part, value;

    if (noise <= 2)
        return (uint32_t)gains[noise];
    part = (int32_t)((width < 11 ? noise << (11 - width) : noise >> (width - 11)) & 1023);
    value = down(piece[2] * part, 5);
    value = (int32_t)(((uint32_t)value + ((uint32_t)piece[1] << 5)) * (uint32_t)part + (1u << 14));
    return (uint32_t)(int16_t)(down(value, 15) + piece[0]);
}

bool eval_signal_pcan(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    const uint32_t *x = in[0]->data, *noise = in[1]->data;
    uint32_t *y = out->data;

    (void)ctx;
    for (int64_t i = 0; i < type_elements(&out->type); i++) {
        const uint64_t gain = gain_of(noise[i], in[2]->data);
        const uint32_t ratio = (uint32_t)((x[i] * gain) >> node->attrs.pcan.shift);

        y[i] = ratio < 8192 ? (ratio * ratio) >> 20 : (ratio >> 6) - 64;
    }
    return true;
}

bool infer_signal_log(struct ctx *ctx, struct node *node)
{
    const struct signal_log_attrs *attrs = &node->attrs.signal_log;

    if (!check_input(ctx, node, 0, DTYPE_U32, 1, -1))
        return false;
    if (attrs->shift < 0 || attrs->shift > 31 || attrs->scale < 0 || attrs->scale > UINT32_MAX)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s shifts by %lld bits and multiplies by %lld, expected 0 to 31 and 32 "
                          "bits",
                          op_name(node->op), (long long)attrs->shift, (long long)attrs->scale);
    set_output(node, 0, DTYPE_I16, input_type(node, 0));
    return true;
}

void signal_bulges(uint16_t *bulges)
{
    for (int i = 0; i < SIGNAL_BULGES; i++)
        bulges[i] = (uint16_t)lround(65536 * (log2(1 + i / 128.0) - i / 128.0));
}

/* ln(x) * scale, x not 0, by way of log2(x) in 2^-16. */
static uint32_t log_of(const uint16_t *bulges, uint32_t x, uint32_t scale)
{
    const int whole = width_of(x, 0) - 1;
    const uint32_t rest = x - ((uint32_t)1 << whole);
    const int32_t part = (int32_t)(whole < 16 ? rest << (16 - whole) : rest >> (whole - 16));
    const int32_t at = bulges[part / 512], step = bulges[part / 512 + 1] - at;
    const uint32_t two = (uint32_t)(whole * 65536 + part + at + down(step * (part % 512), 16));
    const uint32_t e = (uint32_t)((45426 * (uint64_t)two + 32768) >> 16); /* by ln 2 in 2^-16 */

    return (scale * e + 32768) >> 16;
}

bool eval_signal_log(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const struct signal_log_attrs *attrs = &node->attrs.signal_log;
    const uint32_t *x = in[0]->data;
    uint16_t bulges[SIGNAL_BULGES];
    int16_t *y = out->data;

    (void)ctx;
    signal_bulges(bulges);
    for (int64_t i = 0; i < type_elements(&out->type); i++) {
        const uint32_t raised = x[i] << attrs->shift;
        const uint32_t log = raised > 1 ? log_of(bulges, raised, (uint32_t)attrs->scale) : 0;

        y[i] = (int16_t)(log < INT16_MAX ? log : INT16_MAX);
    }
    return true;
}
