/* convert_signal.c - the `signal` operators of TensorFlow Lite Micro that keep no samples: from a frame to the energies
 * of a filter bank (relay_ir/ops/signal.c), and back from a spectrum. Those that keep samples: convert_frames.c. */
#include <math.h>
#include <string.h>

#include "frontend/tflite/convert_recurrent.h"
#include "frontend/tflite/convert_signal.h"
#include "frontend/tflite/flexbuffer.h"
#include "relay_ir/ops/signal.h"
#include "relay_ir/walk.h"

bool tfl_option(struct tfl_node *node, const char *key, int64_t least, int64_t most, int64_t *out)
{
    const struct fb_vector *options = &node->op->custom_options;
    struct flex_map map;
    double number;

    if (!options->data || !flex_map_of(options->data, options->n, &map))
        return tfl_unsupported(node, "its options are no map of numbers");
    if (!flex_number(&map, key, &number))
        return tfl_unsupported(node, "option \"%s\" is absent", key);
    if (!(number >= (double)least && number <= (double)most) || number != floor(number))
        return tfl_unsupported(node, "option \"%s\" is %g, expected %lld to %lld", key, number,
                               (long long)least, (long long)most);
    *out = (int64_t)number;
    return true;
}

struct node *tfl_signal(struct tfl_node *node, enum op op, const union attrs *attrs, int n_inputs,
                        struct value *const *inputs)
{
    for (int i = 0; i < n_inputs; i++)
        if (!inputs[i])
            return NULL;
    return node_new(node->fn, &(struct node_args){ .op = op,
                                                   .n_inputs = n_inputs,
                                                   .inputs = (struct value **)(uintptr_t)inputs,
                                                   .attrs = attrs,
                                                   .origin = node->origin });
}

static bool set_outputs(struct tfl_node *node, struct node *made)
{
    bool ok = made != NULL;

    for (int i = 0; made && i < made->n_outputs; i++)
        ok = tfl_output(node, i, made->outputs[i]) && ok;
    return ok;
}

static bool are_constant(struct tfl_node *node, int from)
{
    struct tensor payload;

    for (int i = from; i < node->n_inputs; i++)
        if (!tfl_constant(node, i, &payload))
            return tfl_unsupported(node, "input %d is not in the file", i);
    return true;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* x * window >> shift, saturated. */
bool convert_tfl_window(struct tfl_node *node)
{
    const union attrs clip = { .clip = { INT16_MIN, INT16_MAX } };
    const struct type *x, *window;
    struct value *product;
    int64_t shift;

    if (!tfl_check(node, 2, 2, 1) || !tfl_option(node, "shift", 0, 31, &shift) ||
        !tfl_check_type(node, node->inputs[0], DTYPE_I16) ||
        !tfl_check_type(node, node->inputs[1], DTYPE_I16) ||
        !tfl_check_rank(node, node->inputs[0], 1, MAX_RANK) ||
        !tfl_check_rank(node, node->inputs[1], 1, 1))
        return false;
    x = &node->inputs[0]->type;
    window = &node->inputs[1]->type;
    if (x->dim[x->rank - 1] != window->dim[0])
        return tfl_unsupported(node, "a window of %lld for rows of %lld", (long long)window->dim[0],
                               (long long)x->dim[x->rank - 1]);
    product = tfl_two(node, OP_MULTIPLY, "products",
                      tfl_cast(node, DTYPE_I32, "wide", tfl_value(node, 0)),
                      tfl_cast(node, DTYPE_I32, "window", tfl_value(node, 1)));
    product = tfl_two(node, OP_RIGHT_SHIFT, "shifted", product,
                      tfl_number(node, DTYPE_I32, (double)shift, "shift"));
    product = tfl_build1(node, OP_CLIP, &clip, "clipped", product);
    return tfl_output(node, 0, tfl_cast(node, DTYPE_I16, "windowed", product));
}

bool convert_tfl_auto_scale(struct tfl_node *node)
{
    return tfl_check(node, 1, 1, 2) &&
           set_outputs(node, tfl_signal(node, OP_SIGNAL_AUTO_SCALE, NULL, 1,
                                        (struct value *const[]){ tfl_value(node, 0) }));
}

/* --- Fourier transforms ------------------------------------------------------------------------ */

/* Of floats: a product with the matrix of the transform. */
static struct value *float_transform(struct tfl_node *node, int64_t length, bool inverse)
{
    const struct type *x = &node->inputs[0]->type;
    const int64_t n_in = x->dim[x->rank - 1], n_out = inverse ? length : length + 2;
    const struct type type = type_make(DTYPE_F32, 2, (const int64_t[]){ n_in, n_out });
    float *matrix = tfl_payload(node, &type);

    for (int64_t i = 0; matrix && i < n_in; i++)
        for (int64_t k = 0; k < n_out; k++) {
            const int64_t bin = (inverse ? i : k) / 2, sample = inverse ? k : i;
            const double angle = 2 * acos(-1) * (double)(bin * sample % length) / (double)length;
            const double once =
                bin == 0 || 2 * bin == length ? 1 : 2; /* a bin stands for its conjugate */
            const double part = (inverse ? i : k) % 2 ? -sin(angle) : cos(angle);

            matrix[i * n_out + k] = (float)(inverse ? part * once / (double)length : part);
        }
    return tfl_two(node, OP_MATMUL, "numbers", tfl_value(node, 0),
                   tfl_made(node, &type, matrix, "transform"));
}

static struct value *factors(struct tfl_node *node, int64_t length, bool inverse,
                             struct value **halves)
{
    const enum dtype dtype = node->inputs[0]->type.dtype;
    const struct type type = type_make(dtype, 2, (const int64_t[]){ length / 2, 2 });
    const struct type half_type = type_make(dtype, 2, (const int64_t[]){ length / 4, 2 });
    void *turns = tfl_payload(node, &type), *half = tfl_payload(node, &half_type);

    if (!turns || !half)
        return NULL;
    signal_turns(dtype, length, inverse, turns, half);
    *halves = tfl_made(node, &half_type, half, "halves");
    return tfl_made(node, &type, turns, "turns");
}

static bool transform(struct tfl_node *node, enum op op, bool inverse)
{
    const struct type *x, *y;
    union attrs attrs = { .fft = { 0 } };
    struct value *inputs[3];
    int64_t length, last;

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_rank(node, node->inputs[0], 1, MAX_RANK) ||
        !tfl_option(node, "fft_length", FFT_LEAST, FFT_MOST, &length))
        return false;
    x = &node->inputs[0]->type;
    y = &node->outputs[0]->type;
    last = x->dim[x->rank - 1];
    if (!signal_fft_fits(length))
        return tfl_unsupported(node,
                               "fft_length is %lld, expected an even number with the factors "
                               "2, 3 and 5",
                               (long long)length);
    if (inverse ? last != length + 2 : last < 1 || last > length)
        return tfl_unsupported(node, "rows of %lld for fft_length %lld", (long long)last,
                               (long long)length);
    if (x->dtype == DTYPE_F32 && y->rank > 0)
        return tfl_output(node, 0, float_transform(node, length, inverse));
    if (x->dtype != DTYPE_I16 && x->dtype != DTYPE_I32)
        return tfl_unsupported(node, "transforms of %s", dtype_name(x->dtype));
    attrs.fft.length = length;
    inputs[0] = tfl_value(node, 0);
    inputs[1] = factors(node, length, inverse, &inputs[2]);
    return inputs[1] && set_outputs(node, tfl_signal(node, op, &attrs, 3, inputs));
}

bool convert_tfl_rfft(struct tfl_node *node)
{
    return transform(node, OP_SIGNAL_RFFT, false);
}

bool convert_tfl_irfft(struct tfl_node *node)
{
    return transform(node, OP_SIGNAL_IRFFT, true);
}

/* re^2 + im^2 of the bins that the options name; of the others, which the kernel leaves unset, 0. */
bool convert_tfl_energy(struct tfl_node *node)
{
    static const char *const suffixes[] = { "re", "im" };
    union attrs attrs;
    struct value *squares[2], *energy;
    int64_t begin, end, n;

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_type(node, node->inputs[0], DTYPE_I16) ||
        !tfl_check_rank(node, node->inputs[0], 1, 1) ||
        !tfl_check_rank(node, node->outputs[0], 1, 1))
        return false;
    n = node->inputs[0]->type.dim[0] / 2;
    if (node->outputs[0]->type.dim[0] < n)
        n = node->outputs[0]->type.dim[0];
    if (!tfl_option(node, "start_index", 0, n, &begin) ||
        !tfl_option(node, "end_index", begin, n, &end))
        return false;
    for (int i = 0; i < 2; i++) {
        attrs.slice = (struct slice_attrs){ .begin = { .n = 1, .at = { 2 * begin + i } },
                                            .strides = { .n = 1, .at = { 2 } },
                                            .size = { .n = 1, .at = { end - begin } } };
        squares[i] = tfl_build1(node, OP_STRIDED_SLICE, &attrs, suffixes[i], tfl_value(node, 0));
        squares[i] = tfl_cast(node, DTYPE_I32, "wide", squares[i]);
        squares[i] = tfl_two(node, OP_MULTIPLY, "square", squares[i], squares[i]);
        squares[i] = tfl_cast(node, DTYPE_U32, "unsigned", squares[i]);
    }
    energy = tfl_two(node, OP_ADD, "energy", squares[0], squares[1]);
    attrs.pad =
        (struct pad_attrs){ .pad_before = { .n = 1, .at = { begin } },
                            .pad_after = { .n = 1, .at = { node->outputs[0]->type.dim[0] - end } },
                            .mode = "constant" };
    if (begin > 0 || attrs.pad.pad_after.at[0] > 0)
        energy = tfl_build1(node, OP_PAD, &attrs, "padded", energy);
    return tfl_output(node, 0, energy);
}

/* --- filter bank ------------------------------------------------------------------------------ */

bool convert_tfl_filter_bank(struct tfl_node *node)
{
    struct value *inputs[6];
    int64_t channels;

    if (!tfl_check(node, 6, 6, 1) || !are_constant(node, 1) ||
        !tfl_option(node, "num_channels", 1, 1 << 15, &channels))
        return false;
    for (int i = BANK_BINS; i <= BANK_WIDTHS; i++)
        if (type_elements(&node->inputs[i]->type) != channels + 1)
            return tfl_unsupported(node,
                                   "input %d has %lld numbers for %lld channels, expected "
                                   "one more",
                                   i, (long long)type_elements(&node->inputs[i]->type),
                                   (long long)channels);
    for (int i = 0; i < 6; i++)
        inputs[i] = tfl_value(node, i);
    return set_outputs(node, tfl_signal(node, OP_SIGNAL_FILTER_BANK, NULL, 6, inputs));
}

bool convert_tfl_filter_bank_root(struct tfl_node *node)
{
    return tfl_check(node, 2, 2, 1) &&
           set_outputs(
               node, tfl_signal(node, OP_SIGNAL_SQUARE_ROOT, NULL, 2,
                                (struct value *const[]){ tfl_value(node, 0), tfl_value(node, 1) }));
}

/* The noise is kept from run to run, and is a result, too. */
bool convert_tfl_spectral_subtraction(struct tfl_node *node)
{
    union attrs attrs = { .subtraction = { 0 } };
    struct subtraction_attrs *of = &attrs.subtraction;
    int64_t clamping, channels;
    struct tfl_kept *noise;
    struct node *made;

    if (!tfl_check(node, 1, 1, 2) || !tfl_check_type(node, node->inputs[0], DTYPE_U32) ||
        !tfl_check_rank(node, node->inputs[0], 1, 1) ||
        !tfl_option(node, "num_channels", 1, 1 << 24, &channels) ||
        !tfl_option(node, "smoothing", 0, INT32_MAX, &of->smoothing) ||
        !tfl_option(node, "one_minus_smoothing", 0, INT32_MAX, &of->rest) ||
        !tfl_option(node, "alternate_smoothing", 0, INT32_MAX, &of->odd_smoothing) ||
        !tfl_option(node, "alternate_one_minus_smoothing", 0, INT32_MAX, &of->odd_rest) ||
        !tfl_option(node, "min_signal_remaining", 0, INT32_MAX, &of->least) ||
        !tfl_option(node, "smoothing_bits", 0, 31, &of->shift) ||
        !tfl_option(node, "spectral_subtraction_bits", 0, 63, &of->bits) ||
        !tfl_option(node, "clamping", 0, 1, &clamping))
        return false;
    if (channels != node->inputs[0]->type.dim[0])
        return tfl_unsupported(node, "%lld channels of %lld numbers", (long long)channels,
                               (long long)node->inputs[0]->type.dim[0]);
    of->clamping = clamping != 0;
    noise = tfl_memory(node, "noise", &node->inputs[0]->type, NULL);
    made = tfl_signal(node, OP_SIGNAL_SPECTRAL_SUBTRACTION, &attrs, 2,
                      (struct value *const[]){ tfl_value(node, 0), tfl_memory_before(noise) });
    return made && tfl_memory_set(node, noise, made->outputs[1]) && set_outputs(node, made);
}

bool convert_tfl_pcan(struct tfl_node *node)
{
    union attrs attrs = { .pcan = { 0 } };

    if (!tfl_check(node, 3, 3, 1) || !tfl_option(node, "snr_shift", 0, 63, &attrs.pcan.shift))
        return false;
    return set_outputs(node,
                       tfl_signal(node, OP_SIGNAL_PCAN, &attrs, 3,
                                  (struct value *const[]){ tfl_value(node, 0), tfl_value(node, 1),
                                                           tfl_value(node, 2) }));
}

bool convert_tfl_filter_bank_log(struct tfl_node *node)
{
    union attrs attrs = { .signal_log = { 0 } };

    if (!tfl_check(node, 1, 1, 1) ||
        !tfl_option(node, "output_scale", 0, INT32_MAX, &attrs.signal_log.scale) ||
        !tfl_option(node, "input_correction_bits", 0, 31, &attrs.signal_log.shift))
        return false;
    return set_outputs(node, tfl_signal(node, OP_SIGNAL_LOG, &attrs, 1,
                                        (struct value *const[]){ tfl_value(node, 0) }));
}
