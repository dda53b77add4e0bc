/* judge.h - a network on samples that are linked in: draws a few, counts what is right, compares every result with the
 * reference's, and says what a run takes. The examples differ in what they hand to judge(). */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JUDGE_MOST_RESULT_BYTES = 1024, JUDGE_MOST_SAMPLES = 2000 };

struct example {
    const char *const *classes;
    size_t sample_bytes, result_bytes;

    /* Runs the network; returns the class, or -1 if the network failed. */
    int (*answer)(const unsigned char *sample, unsigned char *result);

    /* A sample as a picture: side x side pixels, int8 with zero point -128 or floats from 0 to 1. side = 0: none. */
    int side, channels;
    bool floats;
    void (*draw)(void); /* or a picture of the example's own; NULL: none */

    unsigned arena_bytes;
};

/* The exit code: 0 if every result is the reference's. */
int judge(const struct example *e);

/* Index of the greatest code. */
int judge_best(const int8_t *codes, int n);

/* The samples, one after another, their number and their labels. */
extern const unsigned char judge_samples[], judge_labels[];
int judge_count(void);

/* Prints `rows` lines of `columns` characters for each of n pictures, side by side; grey is from 0 to 255. */
void judge_picture(int n, int columns, int rows, int (*grey)(int which, int column, int row));

#endif
