/* main.c - does a machine sound as it should? The autoencoder of MLPerf Tiny, int8: what it cannot draw again is unusual.
 * The score of a window is the mean square of the difference, in dB; the first windows, which are known to be good, give
 * the threshold. */
#include <stdio.h>

#include "judge.h"
#include "net.h"

enum { COLUMNS = 64, ROWS = 8, KNOWN_GOOD = 8 }; /* KNOWN_GOOD: an eighth of the windows */

static unsigned char arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGN)));
static float scores[JUDGE_MOST_SAMPLES], threshold, highest;

static int answer(const unsigned char *sample, unsigned char *result)
{
    const int8_t *const x = (const int8_t *)sample;
    int8_t *const y = (int8_t *)result;
    const int i = (int)((sample - judge_samples) / NET_INPUT_1_BYTES);
    float score = 0.0f;

    if (net_run(x, y, arena) != NET_OK)
        return -1;
    for (int k = 0; k < NET_INPUT_1_LEN; k++) {
        const float was = (float)(x[k] - NET_INPUT_1_ZERO_POINT) * NET_INPUT_1_SCALE;
        const float is = (float)(y[k] - NET_IDENTITY_ZERO_POINT) * NET_IDENTITY_SCALE;

        score += (was - is) * (was - is) / NET_INPUT_1_LEN;
    }
    scores[i] = score;
    highest = score > highest ? score : highest;
    if (i < judge_count() / KNOWN_GOOD) {
        threshold = score * 1.25f > threshold ? score * 1.25f : threshold;
        return 0;
    }
    return score > threshold;
}

/* Bars; a line of dots at the threshold. */
static int grey(int which, int column, int row)
{
    const int n = judge_count();
    const float low = highest * (float)(ROWS - 1 - row) / ROWS, high = low + highest / ROWS;
    float score = 0.0f;

    (void)which;
    for (int i = column * n / COLUMNS; i < (column + 1) * n / COLUMNS; i++)
        score = scores[i] > score ? scores[i] : score;
    return score > (low + high) / 2 ? 200 : threshold > low && threshold <= high ? 30 : 0;
}

/* Area under the ROC curve: how often an anomaly has the higher score. */
static float area(void)
{
    const int n = judge_count();
    float won = 0.0f, pairs = 0.0f;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (judge_labels[i] && !judge_labels[j]) {
                won += scores[i] > scores[j] ? 1.0f : scores[i] == scores[j] ? 0.5f : 0.0f;
                pairs += 1.0f;
            }
    return pairs > 0 ? won / pairs : 0.0f;
}

static void draw(void)
{
    const int auc = (int)(area() * 10000.0f + 0.5f);

    judge_picture(1, COLUMNS, ROWS, grey);
    printf("  score over time (#), threshold (.)\n\n  AUC            %d.%04d\n", auc / 10000,
           auc % 10000);
}

int main(void)
{
    return judge(&(struct example){ .sample_bytes = NET_INPUT_1_BYTES,
                                    .result_bytes = NET_IDENTITY_BYTES,
                                    .answer = answer,
                                    .draw = draw,
                                    .arena_bytes = NET_ARENA_BYTES });
}
