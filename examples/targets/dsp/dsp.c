#include "dsp.h"

#include <string.h>

int dsp_conv3x3_f32(const float *x, const float *w, const float *b, float *y, int in, int out,
                    int height, int width, int relu, void *work)
{
    const int rows = height + 2, columns = width + 2;
    float *padded = work;

    if (!x || !w || !b || !y || !work)
        return 1;
    memset(padded, 0, DSP_CONV3X3_WORK(in, height, width));
    for (int c = 0; c < in; c++)
        for (int i = 0; i < height; i++)
            memcpy(&padded[(c * rows + i + 1) * columns + 1], &x[(c * height + i) * width],
                   (size_t)width * sizeof *x);
    for (int o = 0; o < out; o++)
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++) {
                float sum = b[o];

                for (int c = 0; c < in; c++)
                    for (int k = 0; k < 9; k++)
                        sum += padded[(c * rows + i + k / 3) * columns + j + k % 3] *
                               w[(o * in + c) * 9 + k];
                y[(o * height + i) * width + j] = relu && sum < 0 ? 0 : sum;
            }
    return 0;
}

int dsp_fully_connected_f32(const float *x, const float *w, const float *b, float *y, int in,
                            int out, int relu)
{
    if (!x || !w || !y)
        return 1;
    for (int o = 0; o < out; o++) {
        float sum = b ? b[o] : 0;

        for (int i = 0; i < in; i++)
            sum += x[i] * w[o * in + i];
        y[o] = relu && sum < 0 ? 0 : sum;
    }
    return 0;
}
