/* signal.h - tables and numbers of the operators of audio front ends, for evaluators, kernels and importers. */
#ifndef RELAY_IR_OPS_SIGNAL_H
#define RELAY_IR_OPS_SIGNAL_H

#include "relay_ir/ir.h"

enum { BANK_X, BANK_WEIGHTS, BANK_UNWEIGHTS, BANK_BINS, BANK_FIRST, BANK_WIDTHS };

enum {
    PCAN_GAINS = 125,    /* three for each power of two of 32 bits */
    SIGNAL_BULGES = 130, /* of 128 pieces, their ends, and one that is only read */
    FFT_LEAST = 4,       /* points */
    FFT_MOST = 65536
};

/* Whether an FFT may have this length: even, its half without factors but 2, 3 and 5. */
bool signal_fft_fits(int64_t length);

/* Whether all bands lie within the bins and the weights. */
bool signal_bands_fit(const struct tensor *starts, const struct tensor *first,
                      const struct tensor *widths, int64_t n_weights, int64_t n_bins);

/* What the curve of log2(1 + i / 128) lies above its chord, in 2^-16. */
void signal_bulges(uint16_t *bulges);

/* The factors of signal.rfft (signal.irfft, if `inverse`) of `length` points: of the transform of half as many complex
 * numbers exp(-2 pi i k / (length / 2)), k < length / 2; and exp(-2 pi i (k + 1) / length - pi i / 2), k < length / 4.
 * Real and imaginary parts side by side; of i16 and i32 in units of their greatest number. */
void signal_turns(enum dtype dtype, int64_t length, bool inverse, void *turns, void *halves);

#endif
