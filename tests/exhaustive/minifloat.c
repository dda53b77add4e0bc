/* minifloat.c - exhaustive: encodes all 2^32 f32 into each FP8 format of ONNX and f8e3m4, both ways
 * of overflow.
 *
 * The model knows nothing of bits: positive f32 ascend as their bit patterns do, so each code has
 * one interval of patterns; its ends are half way between the decoded neighbours, a tie going to
 * the even code. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/minifloat.h"
#include "tests/exhaustive/exhaustive.h"

enum { CHUNK = 1 << 13, MAGNITUDES = 128 };

#define INFINITE UINT32_C(0x7F800000)

static const char *const names[] = { "f8e3m4", "f8e4m3", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz" };

/* The codes of positive f32: code[i] from pattern first[i] on. */
struct intervals {
    int n;
    uint32_t first[MAGNITUDES + 3];
    uint8_t code[MAGNITUDES + 3];
};

static void add_interval(struct intervals *intervals, uint32_t first, uint8_t code)
{
    intervals->first[intervals->n] = first;
    intervals->code[intervals->n++] = code;
}

/* The pattern of the first f32 above half way between two numbers, or of half way itself. */
static uint32_t boundary(float below, float above, bool tie_goes_up)
{
    const double half = ((double)below + (double)above) / 2;
    float first = (float)half;
    uint32_t bits;

    if ((double)first < half || ((double)first == half && !tie_goes_up))
        first = nextafterf(first, INFINITY);
    memcpy(&bits, &first, sizeof bits);
    return bits;
}

static struct intervals intervals_of(const struct minifloat *format, bool saturate)
{
    struct intervals intervals = { 0 };
    float number = 0, step = 0;
    uint8_t last = 0, overflow;

    add_interval(&intervals, 0, 0);
    for (int i = 1; i < MAGNITUDES; i++) {
        const float next = minifloat_decode(format, (unsigned)i);

        if (!isfinite(next))
            break;
        step = next - number;
        add_interval(&intervals, boundary(number, next, i % 2 == 0), (uint8_t)i);
        number = next;
        last = (uint8_t)i;
    }
    /* Beyond, the numbers would go on as the last ones did. */
    overflow = saturate                                     ? last
               : isinf(minifloat_decode(format, last + 1u)) ? (uint8_t)(last + 1)
               : last == 0x7F                               ? 0x80
                                                            : 0x7F;
    add_interval(&intervals, boundary(number, number + step, last % 2 == 1), overflow);
    add_interval(&intervals, INFINITE + 1, last == 0x7F ? 0x80 : 0x7F); /* NaN */
    return intervals;
}

static void expect(const struct intervals *intervals, bool has_zero_sign, uint32_t first,
                   uint8_t *codes)
{
    const uint32_t sign = first >> 31, from = first & 0x7FFFFFFF;

    for (int i = 0; i < intervals->n; i++) {
        const uint32_t end = i + 1 < intervals->n ? intervals->first[i + 1] : UINT32_C(0x80000000);
        const uint32_t begin = intervals->first[i] > from ? intervals->first[i] - from : 0;
        const uint32_t stop = end < from ? 0 : end - from > CHUNK ? CHUNK : end - from;
        const bool negative = sign && (intervals->code[i] || has_zero_sign);

        if (begin < stop)
            memset(codes + begin, intervals->code[i] | (negative ? 0x80 : 0), stop - begin);
    }
}

static int sweep(const struct minifloat *format, bool saturate)
{
    static uint32_t bits[CHUNK];
    static float values[CHUNK];
    static uint8_t codes[CHUNK], wanted[CHUNK];
    const struct intervals intervals = intervals_of(format, saturate);
    uint32_t first = 0;

    do {
        for (uint32_t i = 0; i < CHUNK; i++)
            bits[i] = first + i;
        memcpy(values, bits, sizeof values);
        minifloat_encode_array(format, values, codes, CHUNK, saturate);
        expect(&intervals, format->specials != MINIFLOAT_FNUZ, first, wanted);
        for (uint32_t i = 0; memcmp(codes, wanted, CHUNK) != 0 && i < CHUNK; i++)
            if (codes[i] != wanted[i]) {
                fprintf(stderr, "%s: f32 %08x (saturate %d) gives code %02x, expected %02x\n",
                        format->name, (unsigned)bits[i], saturate, codes[i], wanted[i]);
                return 1;
            }
        first += CHUNK;
    } while (first != 0);
    return 0;
}

int sweep_minifloats(void)
{
    int failed = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct minifloat format;
        const clock_t start = clock();

        if (!minifloat_from_name(names[i], &format))
            return 1;
        failed += sweep(&format, false) + sweep(&format, true);
        printf("%-12s 2 x 2^32 f32, %.0f s\n", names[i],
               (double)(clock() - start) / CLOCKS_PER_SEC);
    }
    return failed;
}
