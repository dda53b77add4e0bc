/* main.c - image classification: ResNet-8 of MLPerf Tiny, int8, on images of CIFAR-10. */
#include "judge.h"
#include "net.h"

static unsigned char arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGN)));

static int answer(const unsigned char *sample, unsigned char *result)
{
    int8_t *const scores = (int8_t *)result;

    return net_run((const int8_t *)sample, scores, arena) == NET_OK
               ? judge_best(scores, NET_IDENTITY_INT8_LEN)
               : -1;
}

int main(void)
{
    static const char *const classes[] = { "airplane", "automobile", "bird",  "cat",  "deer",
                                           "dog",      "frog",       "horse", "ship", "truck" };

    return judge(&(struct example){ .classes = classes,
                                    .sample_bytes = NET_INPUT_1_INT8_BYTES,
                                    .result_bytes = NET_IDENTITY_INT8_BYTES,
                                    .answer = answer,
                                    .side = 32,
                                    .channels = 3,
                                    .arena_bytes = NET_ARENA_BYTES });
}
