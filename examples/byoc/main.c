/* main.c - handwritten digits; a vendor's library computes the regions that relayc gave to it (net_dsp.c). */
#include "judge.h"
#include "net.h"

static unsigned char arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGN)));

static int answer(const unsigned char *sample, unsigned char *result)
{
    static float scores[NET_SCORES_LEN];
    int best = 0;

    if (net_run((const float *)(const void *)sample, scores, arena) != NET_OK)
        return -1;
    for (int i = 1; i < NET_SCORES_LEN; i++)
        best = scores[i] > scores[best] ? i : best;
    return result[0] = (unsigned char)best;
}

int main(void)
{
    static const char *const classes[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" };

    return judge(&(struct example){ .classes = classes,
                                    .sample_bytes = NET_IMAGE_BYTES,
                                    .result_bytes = 1,
                                    .answer = answer,
                                    .side = 8,
                                    .channels = 1,
                                    .floats = true,
                                    .arena_bytes = NET_ARENA_BYTES });
}
