/* main.c - runs the digits network on the test set; the same program for a PC and for a
 * microcontroller. Prints lines of "key value" for demo.sh, and a picture with '|' in front. */
#include <stddef.h>
#include <string.h>

#include "digits.h"
#include "platform.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, MOST_IMAGES = 1000, SHOWN = 4 };

_Static_assert((int)PIXELS == (int)DIGITS_IMAGE_LEN && (int)CLASSES == (int)DIGITS_SCORES_LEN,
               "the network is another one");

/* test_set.S: two .npy files. */
extern const unsigned char test_images[], test_labels[], test_labels_end[];

static unsigned char arena[DIGITS_ARENA_BYTES] __attribute__((aligned(DIGITS_ARENA_ALIGN)));
static char answers[MOST_IMAGES + 1]; /* '0' to '9' */

/* The numbers behind the header of an .npy file, version 1. */
static const unsigned char *npy_data(const unsigned char *file)
{
    return file + 10 + (file[8] | file[9] << 8);
}

static void print_number(const char *key, uint64_t number)
{
    char text[21], *at = text + sizeof text - 1;

    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    platform_print(key);
    platform_print(" ");
    platform_print(at);
    platform_print("\n");
}

static int best_of(const float *scores)
{
    int best = 0;

    for (int i = 1; i < CLASSES; i++)
        if (scores[i] > scores[best])
            best = i;
    return best;
}

/* FNV-1a over the bits of the scores: two machines that agree on it agree on every bit. */
static uint32_t hash(uint32_t so_far, const float *scores)
{
    unsigned char bytes[CLASSES * sizeof *scores];

    memcpy(bytes, scores, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        so_far = (so_far ^ bytes[i]) * 16777619u;
    return so_far;
}

/* Images side by side, two characters a pixel. */
static void print_images(const float *const *image, int n)
{
    static const char shades[] = " .:-=+*#%@";

    for (int row = 0; row < SIDE; row++) {
        char line[SHOWN * (2 * SIDE + 3) + 1] = "", *at = line;

        for (int i = 0; i < n; i++) {
            for (int column = 0; column < SIDE; column++) {
                const float grey = image[i][row * SIDE + column];
                const char shade = shades[(int)(grey * 9.0f + 0.5f)];

                *at++ = shade;
                *at++ = shade;
            }
            memcpy(at, "   ", 3);
            at += 3;
        }
        *at = '\0';
        platform_print("|");
        platform_print(line);
        platform_print("\n");
    }
}

/* A few digits and what the network says; the first mistake, if there is one, comes last. */
static void print_picture(const float *images, const unsigned char *labels, int n)
{
    const float *shown[SHOWN];
    int which[SHOWN], mistake = 0;

    while (mistake < n && answers[mistake] == '0' + labels[mistake])
        mistake++;
    for (int i = 0; i < SHOWN; i++) {
        which[i] = i == SHOWN - 1 && mistake < n ? mistake : i + (i >= mistake);
        shown[i] = images + which[i] * PIXELS;
    }
    print_images(shown, SHOWN);
    platform_print("|");
    for (int i = 0; i < SHOWN; i++) {
        char text[] = "  a X           -- ";
        const char label = (char)('0' + labels[which[i]]), answer = answers[which[i]];

        memcpy(text, answer == label ? "   it is a X    " : "  X? it is a Y  ", 2 * SIDE);
        memcpy(text + 2 * SIDE, "   ", 4);
        for (char *at = text; *at; at++)
            *at = *at == 'X' ? answer : *at == 'Y' ? label : *at;
        platform_print(text);
    }
    platform_print("\n");
}

int main(void)
{
    const float *images = (const void *)npy_data(test_images);
    const unsigned char *labels = npy_data(test_labels);
    const int n = (int)(test_labels_end - labels);
    uint32_t fingerprint = 2166136261u;
    uint64_t cheapest = 0;
    int n_right = 0;

    if (n > MOST_IMAGES)
        return 1;
    for (int round = 0; round < platform_rounds; round++) {
        uint64_t cost = 0;

        for (int i = 0; i < n; i++) {
            float scores[CLASSES];
            int code;

            platform_start();
            code = digits_run(images + i * PIXELS, scores, arena);
            cost += platform_stop();
            if (code != DIGITS_OK)
                return 1;
            answers[i] = (char)('0' + best_of(scores));
            if (round == 0) {
                n_right += answers[i] == '0' + labels[i];
                fingerprint = hash(fingerprint, scores);
            }
        }
        cheapest = round == 0 || cost < cheapest ? cost : cheapest;
    }
    print_picture(images, labels, n);
    print_number("images", (uint64_t)n);
    print_number("right", (uint64_t)n_right);
    print_number("fingerprint", fingerprint);
    print_number(platform_unit, cheapest / (uint64_t)n);
    print_number("arena", DIGITS_ARENA_BYTES);
    print_number("stack", platform_stack());
    platform_print("answers ");
    platform_print(answers);
    platform_print("\n");
    return 0;
}
