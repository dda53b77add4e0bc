#include "sound_features.h"

#include <string.h>

#include "tables.h"

enum {
    HALF = FEATURES_FFT / 2, /* points of the complex transform */
    NOISE_BITS = 10,         /* fraction of the noise */
    PART_BITS = 14,          /* of the parts below */
    PART_LEFT = 819,         /* 5 %: at least this much of a channel is signal */
    GAIN_SHIFT = 6,      /* the gain has 21 bits of fraction, the result 12, the channel 3 less */
    CORRECTION_BITS = 3, /* half of log2(512), less half of the weights' 12 bits */
    LOG2_E = 45426       /* 1 / log2(e), 2^-16 */
};

static const uint32_t part_new[2] = { 409,
                                      983 }; /* 2.5 % of the noise is new, of odd channels 6 % */

void features_reset(struct features *f)
{
    memset(f, 0, sizeof *f);
}

static int bits_of(uint32_t x)
{
    int n = 0;

    for (; x; x >>= 1) {
        n++;
    }
    return n;
}

/* --- the spectrum ----------------------------------------------------------------------------- */

/* a * b / 2^15, to nearest, ties up; a quarter and half of a number likewise. */
static int16_t scaled(int32_t product)
{
    return (int16_t)((product + (1 << 14)) >> 15);
}

static int16_t quarter(int16_t x)
{
    return scaled(x * (32767 / 4));
}

static int16_t half(int16_t x)
{
    return scaled(x * (32767 / 2));
}

/* The 480 samples under a Hann window, shifted left as far as 16 bits allow, go where a transform
 * of radix 4 reads them: complex number j to j's digits of base 4 in reverse. Returns the shift. */
static int windowed(const int16_t *samples, int16_t *wave)
{
    int32_t most = 0;
    int shift;

    for (int i = 0; i < FEATURES_WINDOW; i++) {
        const int32_t x = samples[i] * hann[i] >> 12;

        most |= x < 0 ? -x : x;
    }
    shift = 15 - bits_of((uint32_t)most);
    shift = most == 0 || shift < 0 ? 0 : shift;
    memset(wave, 0, 2 * HALF * sizeof *wave);
    for (int i = 0; i < FEATURES_WINDOW; i++) {
        const int j = i / 2;
        const int to = (j & 3) << 6 | (j >> 2 & 3) << 4 | (j >> 4 & 3) << 2 | j >> 6;

        wave[2 * to + i % 2] = (int16_t)((samples[i] * hann[i] >> 12) * (1 << shift));
    }
    return shift;
}

struct complex {
    int16_t re, im;
};

static struct complex turned(const int16_t *x, const int16_t *by)
{
    return (struct complex){ scaled(x[0] * by[0] - x[1] * by[1]),
                             scaled(x[0] * by[1] + x[1] * by[0]) };
}

/* Four numbers, m apart, become four of the next greater transform. */
static void butterfly(int16_t *x, int m, int turn)
{
    int16_t *at[4] = { x, x + 2 * m, x + 4 * m, x + 6 * m };
    struct complex a, b, c, even, odd, sum, difference;

    for (int i = 0; i < 4; i++) {
        at[i][0] = quarter(at[i][0]);
        at[i][1] = quarter(at[i][1]);
    }
    a = turned(at[1], &turns[2 * turn]);
    b = turned(at[2], &turns[4 * turn]);
    c = turned(at[3], &turns[6 * turn]);
    even = (struct complex){ (int16_t)(x[0] + b.re), (int16_t)(x[1] + b.im) };
    odd = (struct complex){ (int16_t)(x[0] - b.re), (int16_t)(x[1] - b.im) };
    sum = (struct complex){ (int16_t)(a.re + c.re), (int16_t)(a.im + c.im) };
    difference = (struct complex){ (int16_t)(a.re - c.re), (int16_t)(a.im - c.im) };
    at[0][0] = (int16_t)(even.re + sum.re);
    at[0][1] = (int16_t)(even.im + sum.im);
    at[1][0] = (int16_t)(odd.re + difference.im);
    at[1][1] = (int16_t)(odd.im - difference.re);
    at[2][0] = (int16_t)(even.re - sum.re);
    at[2][1] = (int16_t)(even.im - sum.im);
    at[3][0] = (int16_t)(odd.re - difference.im);
    at[3][1] = (int16_t)(odd.im + difference.re);
}

static void transform(int16_t *wave)
{
    for (int m = 1; m < HALF; m *= 4) {
        for (int block = 0; block < HALF; block += 4 * m) {
            for (int k = 0; k < m; k++) {
                butterfly(wave + 2 * (block + k), m, k * (HALF / 4 / m));
            }
        }
    }
}

static uint32_t energy_of(int32_t re, int32_t im)
{
    return (uint32_t)(re * re) + (uint32_t)(im * im);
}

/* The transform of even samples + i times odd ones comes apart into bins k and 256 - k of the
 * samples' own. Bins 0 and 256 are in no band. */
static void energies(const int16_t *wave, uint32_t *energy)
{
    for (int k = 1; k <= HALF / 2; k++) {
        const int16_t *p = wave + 2 * k, *q = wave + 2 * (HALF - k);
        const int16_t p_re = half(p[0]), p_im = half(p[1]), q_re = half(q[0]),
                      q_im = half((int16_t)-q[1]);
        const struct complex sum = { (int16_t)(p_re + q_re), (int16_t)(p_im + q_im) };
        const int16_t difference[2] = { (int16_t)(p_re - q_re), (int16_t)(p_im - q_im) };
        const struct complex t = turned(difference, &halves[2 * (k - 1)]);

        energy[k] = energy_of((sum.re + t.re) >> 1, (sum.im + t.im) >> 1);
        energy[HALF - k] = energy_of((sum.re - t.re) >> 1, (t.im - sum.im) >> 1);
    }
}

/* --- channels --------------------------------------------------------------------------------- */

/* band[1 ...] become the channels: each bin is shared between its band and the next one. */
static void accumulate(const uint32_t *energy, uint64_t *band)
{
    uint64_t next = 0;

    for (int i = 0, bin = FIRST_BIN; i <= FEATURES_CHANNELS; i++) {
        band[i] = next;
        next = 0;
        for (; bin < band_end[i]; bin++) {
            band[i] += (uint64_t)energy[bin] * (uint16_t)weight[bin - FIRST_BIN];
            next += (uint64_t)energy[bin] * (uint16_t)(4096 - weight[bin - FIRST_BIN]);
        }
    }
}

/* To nearest, but 65535 where x has 32 bits and 2^32 - 1 else are never passed. */
static uint32_t root(uint64_t x)
{
    const uint64_t most = x >> 32 ? 0xFFFFFFFFu : 0xFFFFu;
    uint64_t found = 0, bit = (uint64_t)1 << 62;

    while (bit > x) {
        bit >>= 2;
    }
    for (; bit; bit >>= 2) {
        const uint64_t trial = found + bit;

        found >>= 1;
        if (x >= trial) {
            x -= trial;
            found += bit;
        }
    }
    return (uint32_t)(found + (x > found && found < most));
}

/* The channel without what stays in it. */
static uint32_t without_noise(uint32_t *noise, uint32_t channel, uint32_t new_part)
{
    const uint32_t fine = channel << NOISE_BITS;
    const uint32_t least = (uint32_t)((uint64_t)channel * PART_LEFT >> PART_BITS);
    uint32_t left;

    *noise =
        (uint32_t)(((uint64_t)fine * new_part + (uint64_t)*noise * ((1 << PART_BITS) - new_part)) >>
                   PART_BITS);
    left = (fine - (*noise < fine ? *noise : fine)) >> NOISE_BITS;
    return left > least ? left : least;
}

/* The less noise, the more gain. */
static uint16_t gain_for(uint32_t noise)
{
    const int bits = bits_of(noise);
    const int16_t *row;
    int32_t along, sum;

    if (bits < 2) {
        return (uint16_t)gain_least[noise];
    }
    row = &gain[3 * (bits - 2)];
    along = (int32_t)((bits < 11 ? noise << (11 - bits) : noise >> (bits - 11)) & 0x3FF);
    sum = (row[2] * along >> 5) + row[1] * 32;
    return (uint16_t)(((sum * along + (1 << 14)) >> 15) + row[0]);
}

/* Soft below 2: a quarter of the square; less 1 from there on. 12 bits of fraction become 6. */
static uint32_t compressed(uint32_t x)
{
    return x < 2 << 12 ? x * x >> 20 : (x >> 6) - (1 << 6);
}

/* 64 ln(x), by log2 as chords of 128 parts and what the curve is above them. */
static uint16_t logarithm(uint32_t x)
{
    const int whole = bits_of(x) - 1;
    uint32_t part, log2, log;
    int32_t a, b;

    if (x < 2) {
        return 0;
    }
    part = x - ((uint32_t)1 << whole);
    part = whole < 16 ? part << (16 - whole) : part >> (whole - 16);
    a = log_above[part >> 9];
    b = log_above[(part >> 9) + 1];
    log2 = ((uint32_t)whole << 16) + part + (uint32_t)(a + ((b - a) * (int32_t)(part & 511) >> 16));
    log = (uint32_t)(((uint64_t)LOG2_E * log2 + (1 << 15)) >> 16);
    return (uint16_t)((64 * log + (1 << 15)) >> 16);
}

/* ---------------------------------------------------------------------------------------------- */

bool features_take(struct features *f, struct features_scratch *scratch, const int16_t *samples,
                   int n, int step, uint16_t out[FEATURES_CHANNELS])
{
    int shift;

    memcpy(f->window + f->n_window, samples, (size_t)n * sizeof *samples);
    f->n_window += n;
    if (f->n_window < FEATURES_WINDOW) {
        return false;
    }
    shift = windowed(f->window, scratch->wave);
    transform(scratch->wave);
    energies(scratch->wave, scratch->energy);
    accumulate(scratch->energy, scratch->band);
    for (int i = 0; i < FEATURES_CHANNELS; i++) {
        const uint32_t channel = root(scratch->band[i + 1]) >> shift;
        const uint32_t left = without_noise(&f->noise[i], channel, part_new[i % 2]);
        const uint64_t evened = (uint64_t)left * gain_for(f->noise[i]) >> GAIN_SHIFT;

        out[i] = logarithm(compressed((uint32_t)evened) << CORRECTION_BITS);
    }
    f->n_window -= step;
    memmove(f->window, f->window + step, (size_t)f->n_window * sizeof *f->window);
    return true;
}

int8_t features_code(uint16_t feature)
{
    const int code = (feature * 256 + 333) / 666 - 128;

    return (int8_t)(code > 127 ? 127 : code);
}
