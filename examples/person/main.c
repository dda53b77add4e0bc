/* main.c - is there a person? The network of TensorFlow Lite Micro's example, int8, on photographs of 96x96 pixels. */
#include "judge.h"
#include "net.h"

static unsigned char arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGN)));

static int answer(const unsigned char *sample, unsigned char *result)
{
    int8_t *const scores = (int8_t *)result; /* no person, a person */

    return net_run((const int8_t *)sample, scores, arena) == NET_OK ? scores[1] > scores[0] : -1;
}

int main(void)
{
    static const char *const classes[] = { "nobody", "a person" };

    return judge(&(struct example){ .classes = classes,
                                    .sample_bytes = NET_INPUT_BYTES,
                                    .result_bytes = 2,
                                    .answer = answer,
                                    .side = 96,
                                    .channels = 1,
                                    .arena_bytes = NET_ARENA_BYTES });
}
