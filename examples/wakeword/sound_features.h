/* sound_features.h - what a wake word hears: 40 numbers for every 10 or 20 ms of sound, in integers
 * only.
 *
 * A window of 30 ms, its spectrum, 40 bands on the mel scale, less the noise that stays, with a
 * gain that evens out loud and quiet, as logarithms: the features on which micro_speech of
 * TensorFlow Lite Micro and the wake words of ESPHome (microWakeWord) are trained, bit for bit. */
#ifndef SOUND_FEATURES_H
#define SOUND_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FEATURES_RATE = 16000,
    FEATURES_WINDOW = 480, /* samples */
    FEATURES_CHANNELS = 40,
    FEATURES_FFT = 512
};

struct features {
    int16_t window[FEATURES_WINDOW]; /* samples, oldest first */
    int n_window;
    uint32_t noise[FEATURES_CHANNELS]; /* what stays in each channel, in units of 2^-10 */
};

/* Working memory; its contents mean nothing between calls. */
struct features_scratch {
    int16_t wave[2 * (FEATURES_FFT / 2)]; /* complex: real parts, imaginary parts by turns */
    uint32_t energy[FEATURES_FFT / 2];
    uint64_t band[FEATURES_CHANNELS + 1];
};

void features_reset(struct features *f);

/* Takes the next n samples, no more than the window lacks: n divides FEATURES_WINDOW and `step`.
 * True when a window is full: then `out` has its features, from 0 to about 670, and the window
 * goes on by `step` samples. */
bool features_take(struct features *f, struct features_scratch *scratch, const int16_t *samples,
                   int n, int step, uint16_t out[FEATURES_CHANNELS]);

/* A feature as the networks read it: 26 units of 25.6 fill the range of int8. */
int8_t features_code(uint16_t feature);

#endif
