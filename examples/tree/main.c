/* main.c - a random forest of scikit-learn on handwritten digits. */
#include "judge.h"
#include "net.h"

static unsigned char arena[NET_ARENA_BYTES + 1] __attribute__((aligned(NET_ARENA_ALIGN)));

static int answer(const unsigned char *sample, unsigned char *result)
{
    static float probabilities[NET_PROBABILITIES_LEN];
    int64_t label;

    if (net_run((const float *)(const void *)sample, &label, probabilities, arena) != NET_OK)
        return -1;
    for (int i = 0; i < NET_LABEL_BYTES; i++)
        result[i] = (unsigned char)((uint64_t)label >> 8 * i);
    return (int)label;
}

int main(void)
{
    static const char *const classes[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" };

    return judge(&(struct example){ .classes = classes,
                                    .sample_bytes = NET_PIXELS_BYTES,
                                    .result_bytes = NET_LABEL_BYTES,
                                    .answer = answer,
                                    .side = 8,
                                    .channels = 1,
                                    .floats = true,
                                    .arena_bytes = NET_ARENA_BYTES });
}
