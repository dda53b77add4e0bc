#include "judge.h"

#include <stdio.h>
#include <string.h>

#include "platform.h"

enum { SHOWN = 3, MOST_COLUMNS = 32, GAP = 2 };

/* samples.S: what samples.py wrote. */
extern const unsigned char judge_labels_end[], judge_results[];

static const struct example *judged;
static int shown[SHOWN], darkest[SHOWN], brightest[SHOWN];
static short answers[JUDGE_MOST_SAMPLES];

int judge_count(void)
{
    return (int)(judge_labels_end - judge_labels);
}

int judge_best(const int8_t *codes, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        best = codes[i] > codes[best] ? i : best;
    return best;
}

void judge_picture(int n, int columns, int rows, int (*grey)(int which, int column, int row))
{
    static const char shades[] = " .:-=+*#%@";

    for (int row = 0; row < rows; row++) {
        printf("  ");
        for (int which = 0; which < n; which++) {
            for (int column = 0; column < columns; column++)
                putchar(shades[grey(which, column, row) * 9 / 255]);
            printf("%*s", which == n - 1 ? 0 : GAP, "");
        }
        putchar('\n');
    }
}

/* Pixel (x, y) as 0 to 255: the mean of its channels. */
static int pixel(const unsigned char *sample, int x, int y)
{
    const int at = (y * judged->side + x) * judged->channels;
    int sum = 0;

    if (judged->floats) {
        float value;

        memcpy(&value, sample + (size_t)at * sizeof value, sizeof value);
        return (int)(value * 255.0f + 0.5f);
    }
    for (int channel = 0; channel < judged->channels; channel++)
        sum += (int8_t)sample[at + channel] + 128;
    return sum / judged->channels;
}

static int picture_columns(void)
{
    return 2 * judged->side < MOST_COLUMNS ? 2 * judged->side : MOST_COLUMNS;
}

/* A character is twice as high as wide; it shows the mean of the pixels behind it. */
static int mean(int which, int column, int row)
{
    const int columns = picture_columns(), rows = columns / 2, side = judged->side;
    const int x0 = column * side / columns, x1 = (column + 1) * side / columns;
    const int y0 = row * side / rows, y1 = (row + 1) * side / rows;
    int sum = 0, n = 0;

    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1 || x == x0; x++) {
            sum += pixel(judge_samples + (size_t)shown[which] * judged->sample_bytes, x, y);
            n++;
        }
    return sum / n;
}

/* With the contrast of its picture stretched. */
static int grey(int which, int column, int row)
{
    const int range = brightest[which] - darkest[which];

    return range ? (mean(which, column, row) - darkest[which]) * 255 / range : 0;
}

static void find_range(int which)
{
    const int columns = picture_columns();

    darkest[which] = 255;
    brightest[which] = 0;
    for (int i = 0; i < columns * columns / 2; i++) {
        const int value = mean(which, i % columns, i / columns);

        darkest[which] = value < darkest[which] ? value : darkest[which];
        brightest[which] = value > brightest[which] ? value : brightest[which];
    }
}

/* Two that are right, and the first mistake. */
static void draw(int n)
{
    int n_shown = 0;

    for (int i = 0; i < n && n_shown < SHOWN - 1; i++)
        if (answers[i] == judge_labels[i] &&
            (n_shown == 0 || judge_labels[shown[0]] != judge_labels[i]))
            shown[n_shown++] = i;
    for (int i = 0; i < n; i++)
        if (answers[i] != judge_labels[i]) {
            shown[n_shown++] = i;
            break;
        }
    for (int i = 0; i < n_shown; i++)
        find_range(i);
    judge_picture(n_shown, picture_columns(), picture_columns() / 2, grey);
    for (int i = 0; i < n_shown; i++) {
        const int label = judge_labels[shown[i]], answer = answers[shown[i]];
        char text[80];

        snprintf(text, sizeof text, "%s%s%s", judged->classes[answer],
                 answer == label ? "" : "? no: ", answer == label ? "" : judged->classes[label]);
        printf("  %-*s", picture_columns(), text);
    }
    printf("\n\n");
}

int judge(const struct example *e)
{
    static unsigned char result[JUDGE_MOST_RESULT_BYTES];
    const int n = judge_count();
    uint64_t cost = 0;
    int right = 0, same = 0;

    if (n == 0 || n > JUDGE_MOST_SAMPLES || e->result_bytes > sizeof result)
        return 1;
    judged = e;
    for (int i = 0; i < n; i++) {
        platform_start();
        answers[i] = (short)e->answer(judge_samples + (size_t)i * e->sample_bytes, result);
        cost += platform_stop();
        if (answers[i] < 0) {
            printf("FAIL: the network returned an error\n");
            return 1;
        }
        right += answers[i] == judge_labels[i];
        same += memcmp(result, judge_results + (size_t)i * e->result_bytes, e->result_bytes) == 0;
    }
    if (e->side > 0)
        draw(n);
    if (e->draw)
        e->draw();
    printf("  accuracy       %d of %d = %d.%d %%\n", right, n, right * 100 / n,
           right * 1000 / n % 10);
    printf("  reference      %d of %d results are those of %s, in every byte\n", same, n,
           REFERENCE);
    printf("  %-14s %lu for one sample\n", platform_unit, (unsigned long)(cost / (uint64_t)n));
    printf("  RAM, bytes     %u arena, %lu stack\n", e->arena_bytes, platform_stack());
    printf(same == n ? "PASS\n" : "FAIL\n");
    return same != n;
}
