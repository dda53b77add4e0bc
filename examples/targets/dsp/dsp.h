/* dsp.h - the vendor's library of the example target: what an engineer has before relayc comes in.
 * Plain C here, so that it runs anywhere. */
#ifndef DSP_H
#define DSP_H

#include <stddef.h>

/* y[out][h][w] = relu?(conv3x3(x[in][h][w], w[out][in][3][3]) + b[out]), padded by one zero all
 * around. work: DSP_CONV3X3_WORK(in, h, w) bytes, aligned to 4. Returns 0, or 1 when a pointer is
 * missing. */
#define DSP_CONV3X3_WORK(in, h, w) ((size_t)(in) * ((h) + 2) * ((w) + 2) * sizeof(float))
int dsp_conv3x3_f32(const float *x, const float *w, const float *b, float *y, int in, int out,
                    int height, int width, int relu, void *work);

/* y[out] = relu?(w[out][in] * x[in] + b[out]); b may be NULL. */
int dsp_fully_connected_f32(const float *x, const float *w, const float *b, float *y, int in,
                            int out, int relu);

#endif
