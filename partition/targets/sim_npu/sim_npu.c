/* sim_npu.c - the sample accelerator in software; see sim_npu.h. Knows nothing of relayc. */
#include "sim_npu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sim_npu_statistics *sim_npu_watch;

enum { LANES = 8, ARRAY = 8, MAX_OPERANDS = 32 };

struct machine {
    uint8_t *sram;
    const uint8_t *constants;
    uint32_t constant_bytes;
    const struct sim_npu_buffer *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
    uint8_t *scratch;
    uint32_t scratch_bytes;
    enum sim_npu_result result;
    struct sim_npu_statistics counts;
};

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static uint32_t crc32_of(const uint8_t *bytes, uint32_t n)
{
    uint32_t crc = 0xFFFFFFFFU;

    for (uint32_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xEDB88320U & (0U - (crc & 1U)));
    }
    return ~crc;
}

/* --- numbers -----------------------------------------------------------------------------------
 */

static int mantissa_bits(uint32_t format)
{
    return format == SIM_NPU_E4M3 ? 3 : 2;
}

static int exponent_bias(uint32_t format)
{
    return format == SIM_NPU_E4M3 ? 7 : 15;
}

static double decode(uint32_t format, uint8_t code)
{
    const int bits = mantissa_bits(format), bias = exponent_bias(format);
    const int exponent = (code & 0x7F) >> bits, mantissa = code & ((1 << bits) - 1);
    const int top = 0x7F >> bits;
    double magnitude;

    if (format == SIM_NPU_E4M3 && (code & 0x7F) == 0x7F)
        return (double)NAN;
    if (format == SIM_NPU_E5M2 && exponent == top)
        return mantissa ? (double)NAN : code & 0x80 ? -HUGE_VAL : HUGE_VAL;
    magnitude = exponent ? ldexp((double)((1 << bits) + mantissa), exponent - bias - bits)
                         : ldexp((double)mantissa, 1 - bias - bits);
    return code & 0x80 ? -magnitude : magnitude;
}

/* To nearest, ties to even, saturated. The step between neighbours is a power of two, so that
 * rint() in units of it does the rounding. */
static uint8_t encode(uint32_t format, float number)
{
    const int bits = mantissa_bits(format), bias = exponent_bias(format);
    const uint8_t sign = signbit(number) ? 0x80 : 0;
    const uint8_t greatest = format == SIM_NPU_E4M3 ? 0x7E : 0x7B;
    const double magnitude = fabs((double)number);
    int exponent;
    double units;

    if (isnan(number))
        return (uint8_t)(sign | 0x7F);
    if (magnitude >= decode(format, greatest))
        return (uint8_t)(sign | greatest);
    if (magnitude < ldexp(1.0, 1 - bias))
        return (uint8_t)(sign | (int)rint(ldexp(magnitude, bias + bits - 1)));
    frexp(magnitude, &exponent); /* magnitude = [0.5, 1) * 2^exponent */
    exponent--;
    units = rint(ldexp(magnitude, bits - exponent)); /* 2^bits .. 2^(bits + 1) */
    if (units == ldexp(1.0, bits + 1)) {
        units /= 2;
        exponent++;
    }
    return (uint8_t)(sign | ((exponent + bias) << bits) | ((int)units - (1 << bits)));
}

static int32_t saturate_i32(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

static int64_t shifted_down(int64_t x, int n)
{
    const int64_t unit = (int64_t)1 << n;

    return x / unit - (x % unit < 0);
}

/* x * multiplier * 2^(shift - 31): the high product to nearest, halves up; for shift < 0 the rest
 * of the shift again to nearest, halves away from zero. */
static int32_t scaled(int64_t x, int32_t multiplier, int32_t shift)
{
    const int right = shift < 0 ? -shift : 0, down = 31 - shift - right;
    const int64_t product = (int64_t)saturate_i32(x) * multiplier;
    const int64_t half = down > 0 ? (int64_t)1 << (down - 1) : 0;
    const int64_t high = saturate_i32(shifted_down(product + half, down));
    const int64_t rest = right > 0 ? (int64_t)1 << (right - 1) : 0;

    return (int32_t)(high < 0 ? -shifted_down(-high + rest, right)
                              : shifted_down(high + rest, right));
}

static int8_t saturate_i8(int64_t x)
{
    return (int8_t)(x < -128 ? -128 : x > 127 ? 127 : x);
}

static uint32_t format_bytes(uint32_t format)
{
    return format == SIM_NPU_F32 ? 4 : 1;
}

/* --- memory ------------------------------------------------------------------------------------
 */

static void fail(struct machine *m, enum sim_npu_result result)
{
    if (m->result == SIM_NPU_OK)
        m->result = result;
}

/* n things of `bytes` bytes at an address of the SRAM; NULL after an error. */
static void *sram(struct machine *m, uint32_t address, uint64_t n, uint32_t bytes)
{
    if (address % SIM_NPU_ALIGN != 0 || n > SIM_NPU_SRAM_BYTES || address > SIM_NPU_SRAM_BYTES ||
        n * bytes > SIM_NPU_SRAM_BYTES - address) {
        fail(m, SIM_NPU_BAD_ADDRESS);
        return NULL;
    }
    return m->sram + address;
}

static uint64_t product(const uint32_t *numbers, int n)
{
    uint64_t all = 1;

    for (int i = 0; i < n; i++) {
        if (numbers[i] > SIM_NPU_SRAM_BYTES)
            return UINT64_MAX;
        all *= numbers[i];
        if (all > SIM_NPU_SRAM_BYTES)
            return UINT64_MAX; /* sram() refuses it */
    }
    return all;
}

static void transfer(struct machine *m, const uint32_t *a, int is_load)
{
    const uint32_t space = a[0] & 0xFF, index = a[0] >> 8, offset = a[1], bytes = a[3];
    uint8_t *on_chip = sram(m, a[2], bytes, 1), *host = NULL;
    uint32_t host_bytes = 0;

    if (space == SIM_NPU_SCRATCH) {
        host = m->scratch;
        host_bytes = m->scratch_bytes;
    } else if (is_load && space == SIM_NPU_CONSTANTS) {
        host = (uint8_t *)(uintptr_t)m->constants;
        host_bytes = m->constant_bytes;
    } else if (is_load && space == SIM_NPU_INPUT && index < m->n_inputs) {
        host = m->inputs[index].data;
        host_bytes = m->inputs[index].bytes;
    } else if (space == SIM_NPU_OUTPUT && index < m->n_outputs) {
        host = m->outputs[index].data;
        host_bytes = m->outputs[index].bytes;
    }
    if (!on_chip || !host || offset > host_bytes || bytes > host_bytes - offset) {
        fail(m, SIM_NPU_BAD_ADDRESS);
        return;
    }
    if (is_load)
        memcpy(on_chip, host + offset, bytes);
    else
        memcpy(host + offset, on_chip, bytes);
    *(is_load ? &m->counts.bytes_loaded : &m->counts.bytes_stored) += bytes;
    m->counts.cycles += (bytes + 7) / 8;
}

/* --- the array ---------------------------------------------------------------------------------
 */

struct conv {
    uint32_t x, w, y, formats, batch, in_c, in_h, in_w, out_c, out_h, out_w, kernel_h, kernel_w;
    uint32_t stride_h, stride_w, top, left, dilation_h, dilation_w, groups, x_zero, w_zero;
};

/* One output element; the sums are exact for E4M3 (f64) and wrap for int8. */
static void convolve_one(const struct conv *c, const uint8_t *x, const uint8_t *w, double *real,
                         uint32_t *integer, const double *x_table, const double *w_table,
                         uint32_t oh, uint32_t ow)
{
    const uint32_t group_in = c->in_c / c->groups;

    *real = 0;
    *integer = 0;
    for (uint32_t ic = 0; ic < group_in; ic++)
        for (uint32_t kh = 0; kh < c->kernel_h; kh++)
            for (uint32_t kw = 0; kw < c->kernel_w; kw++) {
                const int64_t ih =
                    (int64_t)oh * c->stride_h + (int64_t)kh * c->dilation_h - (int64_t)c->top;
                const int64_t iw =
                    (int64_t)ow * c->stride_w + (int64_t)kw * c->dilation_w - (int64_t)c->left;
                const uint32_t at = (ic * c->kernel_h + kh) * c->kernel_w + kw;
                uint8_t code;

                if (ih < 0 || iw < 0 || ih >= (int64_t)c->in_h || iw >= (int64_t)c->in_w)
                    continue;
                code = x[((uint64_t)ic * c->in_h + (uint64_t)ih) * c->in_w + (uint64_t)iw];
                if (x_table)
                    *real += x_table[code] * w_table[w[at]];
                else
                    *integer += ((uint32_t)(int8_t)code - c->x_zero) *
                                ((uint32_t)(int8_t)w[at] - c->w_zero);
            }
}

static void fill_table(double table[256], uint32_t format)
{
    for (int code = 0; code < 256; code++)
        table[code] = decode(format, (uint8_t)code);
}

static void convolve(struct machine *m, const uint32_t *a)
{
    const struct conv c = { a[0],  a[1],  a[2],  a[3],  a[4],  a[5],  a[6],  a[7],
                            a[8],  a[9],  a[10], a[11], a[12], a[13], a[14], a[15],
                            a[16], a[17], a[18], a[19], a[20], a[21] };
    const uint32_t x_format = c.formats & 0xFF, w_format = c.formats >> 8;
    const uint32_t x_size[] = { c.batch, c.in_c, c.in_h, c.in_w };
    const uint32_t y_size[] = { c.batch, c.out_c, c.out_h, c.out_w };
    double x_table[256], w_table[256];
    uint64_t w_size;
    const uint8_t *x, *w;
    uint8_t *y;

    if (c.groups == 0 || c.in_c % c.groups || c.out_c % c.groups || !c.stride_h || !c.stride_w ||
        (x_format == SIM_NPU_I8) != (w_format == SIM_NPU_I8) || x_format > SIM_NPU_I8 ||
        w_format > SIM_NPU_I8) {
        fail(m, SIM_NPU_BAD_OPERAND);
        return;
    }
    w_size = product((const uint32_t[]){ c.out_c, c.in_c / c.groups, c.kernel_h, c.kernel_w }, 4);
    x = sram(m, c.x, product(x_size, 4), 1);
    w = sram(m, c.w, w_size, 1);
    y = sram(m, c.y, product(y_size, 4), 4);
    if (!x || !w || !y)
        return;
    if (x_format != SIM_NPU_I8) {
        fill_table(x_table, x_format);
        fill_table(w_table, w_format);
    }
    for (uint32_t n = 0; n < c.batch; n++)
        for (uint32_t oc = 0; oc < c.out_c; oc++) {
            const uint32_t group = oc / (c.out_c / c.groups);
            const uint8_t *from =
                x +
                ((uint64_t)n * c.in_c + (uint64_t)group * (c.in_c / c.groups)) * c.in_h * c.in_w;
            const uint8_t *kernel = w + oc * (w_size / c.out_c);

            for (uint32_t at = 0; at < c.out_h * c.out_w; at++, y += 4) {
                double real;
                uint32_t integer;
                float rounded;

                convolve_one(&c, from, kernel, &real, &integer,
                             x_format == SIM_NPU_I8 ? NULL : x_table, w_table, at / c.out_w,
                             at % c.out_w);
                rounded = (float)real;
                memcpy(y, x_format == SIM_NPU_I8 ? (void *)&integer : (void *)&rounded, 4);
            }
        }
    m->counts.macs += product(y_size, 4) * (w_size / (c.out_c ? c.out_c : 1));
    m->counts.cycles += product(y_size, 4) / (c.out_c ? c.out_c : 1) * c.groups *
                        ((c.out_c / c.groups + ARRAY - 1) / ARRAY) *
                        ((w_size / (c.out_c ? c.out_c : 1) + ARRAY - 1) / ARRAY);
}

/* --- the vector unit ---------------------------------------------------------------------------
 */

static void count_vector(struct machine *m, uint64_t n)
{
    m->counts.cycles += (n + LANES - 1) / LANES;
}

static void channel(struct machine *m, const uint32_t *a)
{
    const uint64_t n = product(&a[2], 3);
    float *y = sram(m, a[0], n, 4);
    const float *vector = sram(m, a[1], a[3], 4);

    if (!y || !vector || a[4] == 0 || a[3] == 0)
        return;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = i / a[4] % a[3];

        if (a[5] == SIM_NPU_MUL_F32) {
            y[i] *= vector[at];
        } else if (a[5] == SIM_NPU_ADD_F32) {
            y[i] += vector[at];
        } else if (a[5] == SIM_NPU_ADD_I32) {
            uint32_t sum, term;

            memcpy(&sum, &y[i], 4);
            memcpy(&term, &vector[at], 4);
            sum += term;
            memcpy(&y[i], &sum, 4);
        } else {
            fail(m, SIM_NPU_BAD_OPERAND);
            return;
        }
    }
    count_vector(m, n);
}

static void add(struct machine *m, const uint32_t *a)
{
    const float *left = sram(m, a[0], a[3], 4), *right = sram(m, a[1], a[3], 4);
    float *y = sram(m, a[2], a[3], 4);

    if (!left || !right || !y)
        return;
    for (uint32_t i = 0; i < a[3]; i++)
        y[i] = left[i] + right[i];
    count_vector(m, a[3]);
}

static void clamp(struct machine *m, const uint32_t *a)
{
    void *y = sram(m, a[0], a[1], format_bytes(a[2]));
    float least, greatest;

    memcpy(&least, &a[3], 4);
    memcpy(&greatest, &a[4], 4);
    if (!y)
        return;
    for (uint32_t i = 0; i < a[1]; i++)
        if (a[2] == SIM_NPU_F32) {
            float *x = (float *)y + i;

            *x = *x < least ? least : *x > greatest ? greatest : *x; /* NaN stays */
        } else if (a[2] == SIM_NPU_I8) {
            int8_t *x = (int8_t *)y + i;
            const int32_t low = (int32_t)a[3], high = (int32_t)a[4];

            *x = saturate_i8(*x < low ? low : *x > high ? high : *x);
        } else {
            fail(m, SIM_NPU_BAD_OPERAND);
            return;
        }
    count_vector(m, a[1]);
}

static void convert(struct machine *m, const uint32_t *a)
{
    const void *x = sram(m, a[0], a[2], format_bytes(a[3]));
    void *y = sram(m, a[1], a[2], format_bytes(a[4]));

    if (!x || !y)
        return;
    if (a[3] == SIM_NPU_I8 || a[4] == SIM_NPU_I8 || a[3] > SIM_NPU_F32 || a[4] > SIM_NPU_F32) {
        fail(m, SIM_NPU_BAD_OPERAND);
        return;
    }
    for (uint32_t i = 0; i < a[2]; i++) {
        const float number = a[3] == SIM_NPU_F32 ? ((const float *)x)[i]
                                                 : (float)decode(a[3], ((const uint8_t *)x)[i]);

        if (a[4] == SIM_NPU_F32)
            ((float *)y)[i] = number;
        else
            ((uint8_t *)y)[i] = encode(a[4], number);
    }
    count_vector(m, a[2]);
}

static int is_shift(uint32_t shift)
{
    return (int32_t)shift >= -31 && (int32_t)shift <= 30;
}

static void requantize(struct machine *m, const uint32_t *a)
{
    const uint64_t n = product(&a[2], 3);
    const int32_t *x = sram(m, a[0], n, 4), *table = sram(m, a[5], (uint64_t)a[6] * 2, 4);
    int8_t *y = sram(m, a[1], n, 1);

    if (!x || !y || !table)
        return;
    for (uint32_t i = 0; i < a[6]; i++)
        if (!is_shift((uint32_t)table[2 * i + 1]))
            fail(m, SIM_NPU_BAD_OPERAND);
    if ((a[6] != 1 && a[6] != a[3]) || a[4] == 0)
        fail(m, SIM_NPU_BAD_OPERAND);
    if (m->result != SIM_NPU_OK)
        return;
    for (uint64_t i = 0; i < n; i++) {
        const int32_t *row = table + (a[6] == 1 ? 0 : 2 * (i / a[4] % a[3]));

        y[i] = saturate_i8((int64_t)scaled((int64_t)x[i] - (int32_t)a[7], row[0], row[1]) +
                           (int32_t)a[8]);
    }
    count_vector(m, n);
}

static void add_i8(struct machine *m, const uint32_t *a)
{
    const int8_t *left = sram(m, a[0], a[3], 1), *right = sram(m, a[1], a[3], 1);
    int8_t *y = sram(m, a[2], a[3], 1);

    if (!left || !right || !y)
        return;
    if (a[4] > 22 || !is_shift(a[6]) || !is_shift(a[8]) || !is_shift(a[10])) {
        fail(m, SIM_NPU_BAD_OPERAND);
        return;
    }
    for (uint32_t i = 0; i < a[3]; i++) {
        const int64_t unit = (int64_t)1 << a[4];
        const int64_t sum =
            (int64_t)scaled(((int64_t)left[i] - (int32_t)a[11]) * unit, (int32_t)a[5],
                            (int32_t)a[6]) +
            scaled(((int64_t)right[i] - (int32_t)a[12]) * unit, (int32_t)a[7], (int32_t)a[8]);

        y[i] = saturate_i8((int64_t)scaled(sum, (int32_t)a[9], (int32_t)a[10]) + (int32_t)a[13]);
    }
    count_vector(m, a[3]);
}

static double pool_number(const void *x, uint64_t at, uint32_t format)
{
    if (format == SIM_NPU_F32)
        return (double)((const float *)x)[at];
    if (format == SIM_NPU_I8)
        return ((const int8_t *)x)[at];
    return decode(format, ((const uint8_t *)x)[at]);
}

static void max_pool(struct machine *m, const uint32_t *a)
{
    const uint32_t in_h = a[4], in_w = a[5], out_h = a[6], out_w = a[7], bytes = format_bytes(a[2]);
    const uint8_t *x = sram(m, a[0], product((const uint32_t[]){ a[3], in_h, in_w }, 3), bytes);
    uint8_t *y = sram(m, a[1], product((const uint32_t[]){ a[3], out_h, out_w }, 3), bytes);

    if (!x || !y)
        return;
    for (uint64_t at = 0; at < (uint64_t)a[3] * out_h * out_w; at++, y += bytes) {
        const uint64_t plane = at / ((uint64_t)out_h * out_w);
        const int64_t oh = (int64_t)(at / out_w % out_h), ow = (int64_t)(at % out_w);
        int64_t best = -1;

        for (int64_t kh = 0; kh < a[8]; kh++)
            for (int64_t kw = 0; kw < a[9]; kw++) {
                const int64_t ih = oh * a[10] + kh - a[12], iw = ow * a[11] + kw - a[13];
                const int64_t from = ((int64_t)plane * in_h + ih) * in_w + iw;

                if (ih < 0 || iw < 0 || ih >= in_h || iw >= in_w)
                    continue;
                if (best < 0 ||
                    pool_number(x, (uint64_t)from, a[2]) > pool_number(x, (uint64_t)best, a[2]))
                    best = from;
            }
        if (best < 0) {
            fail(m, SIM_NPU_BAD_OPERAND); /* a window in the padding */
            return;
        }
        memcpy(y, x + (uint64_t)best * bytes, bytes);
        count_vector(m, (uint64_t)a[8] * a[9]);
    }
}

/* --- streams -----------------------------------------------------------------------------------
 */

/* Operands of each command. */
static const uint8_t n_operands[SIM_NPU_OPCODES] = { 0, 4, 4, 22, 6, 4, 5, 5, 9, 14, 14 };

static void step(struct machine *m, enum sim_npu_opcode opcode, const uint32_t *operands)
{
    switch (opcode) {
    case SIM_NPU_LOAD: transfer(m, operands, 1); break;
    case SIM_NPU_STORE: transfer(m, operands, 0); break;
    case SIM_NPU_CONV: convolve(m, operands); break;
    case SIM_NPU_CHANNEL: channel(m, operands); break;
    case SIM_NPU_ADD: add(m, operands); break;
    case SIM_NPU_CLAMP: clamp(m, operands); break;
    case SIM_NPU_CONVERT: convert(m, operands); break;
    case SIM_NPU_REQUANTIZE: requantize(m, operands); break;
    case SIM_NPU_ADD_I8: add_i8(m, operands); break;
    case SIM_NPU_MAX_POOL: max_pool(m, operands); break;
    default: fail(m, SIM_NPU_BAD_STREAM); break;
    }
    m->counts.commands++;
}

static void run(struct machine *m, const uint8_t *commands, uint32_t n_words)
{
    uint32_t at = 0;

    while (m->result == SIM_NPU_OK) {
        uint32_t operands[MAX_OPERANDS], head, opcode, n;

        if (at >= n_words) {
            fail(m, SIM_NPU_BAD_STREAM); /* no END */
            return;
        }
        head = word_at(commands + 4 * (size_t)at);
        opcode = head & 0xFF;
        n = head >> 8;
        if (opcode >= SIM_NPU_OPCODES || n != 1U + n_operands[opcode] || n > n_words - at) {
            fail(m, SIM_NPU_BAD_STREAM);
            return;
        }
        if (opcode == SIM_NPU_END)
            return;
        for (uint32_t i = 1; i < n; i++)
            operands[i - 1] = word_at(commands + 4 * (size_t)(at + i));
        step(m, (enum sim_npu_opcode)opcode, operands);
        at += n;
    }
}

static void note(const struct sim_npu_statistics *counts)
{
    if (!sim_npu_watch)
        return;
    sim_npu_watch->streams++;
    sim_npu_watch->commands += counts->commands;
    sim_npu_watch->cycles += counts->cycles;
    sim_npu_watch->macs += counts->macs;
    sim_npu_watch->bytes_loaded += counts->bytes_loaded;
    sim_npu_watch->bytes_stored += counts->bytes_stored;
}

enum sim_npu_result sim_npu_execute(const uint8_t *stream, uint32_t stream_bytes,
                                    const struct sim_npu_buffer *inputs, uint32_t n_inputs,
                                    const struct sim_npu_buffer *outputs, uint32_t n_outputs,
                                    void *scratch, uint32_t scratch_bytes)
{
    const uint32_t header = 4 * SIM_NPU_HEADER_WORDS;
    struct machine m = { .inputs = inputs,
                         .outputs = outputs,
                         .n_inputs = n_inputs,
                         .n_outputs = n_outputs,
                         .scratch = scratch,
                         .scratch_bytes = scratch_bytes };
    uint32_t n_words;

    if (!stream || stream_bytes < header || word_at(stream) != SIM_NPU_MAGIC ||
        word_at(stream + 4) != SIM_NPU_VERSION)
        return SIM_NPU_BAD_STREAM;
    n_words = word_at(stream + 16);
    m.constant_bytes = word_at(stream + 20);
    if (n_words > (stream_bytes - header) / 4 ||
        m.constant_bytes != stream_bytes - header - 4 * n_words ||
        word_at(stream + 24) > SIM_NPU_SRAM_BYTES ||
        word_at(stream + 32) != crc32_of(stream + header, stream_bytes - header))
        return SIM_NPU_BAD_STREAM;
    if (word_at(stream + 8) != n_inputs || word_at(stream + 12) != n_outputs ||
        word_at(stream + 28) > scratch_bytes)
        return SIM_NPU_BAD_INTERFACE;
    m.constants = stream + header + 4 * (size_t)n_words;
    m.sram = malloc(SIM_NPU_SRAM_BYTES);
    if (!m.sram)
        return SIM_NPU_NO_MEMORY;
    memset(m.sram, 0xFF, SIM_NPU_SRAM_BYTES); /* NaN: reading what was never written shows */
    run(&m, stream + header, n_words);
    free(m.sram);
    note(&m.counts);
    return m.result;
}
