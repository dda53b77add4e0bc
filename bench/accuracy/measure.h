/* measure.h - a network with its data, and what a way to quantise does to it. */
#ifndef BENCH_ACCURACY_MEASURE_H
#define BENCH_ACCURACY_MEASURE_H

#include "bench/accuracy/configs.h"
#include "bench/accuracy/evaluate.h"

/* What all rows of a network's table share. */
struct subject {
    const struct network *network;
    struct ctx *ctx;
    const char *path; /* of the model */
    int n_threads;
    struct dataset dataset;
    struct calib_table table;
    struct score f32; /* of the reference's samples, or of the tested ones where these are fewer */
    size_t weight_bytes;
};

/* Reads model and data beneath `shared`, calibrates, and runs the f32 network. limit: at most so
 * many samples are tested; 0 = all. False after an error in subject->ctx; to be closed either way.
 */
bool subject_open(struct subject *subject, const char *shared, const struct network *network,
                  int64_t limit, int n_threads);
void subject_close(struct subject *subject);

struct measured {
    struct score score;
    struct quantize_report report;
    double seconds; /* processor time up to the runs, which score has */
};

/* Who says what a network answers. */
enum judge {
    JUDGE_GENERATED,  /* the C that it is compiled to */
    JUDGE_REALISED,   /* the engine, on the graph that this C is written from */
    JUDGE_SIMULATION, /* the engine, on the simulation in f32 */
};

/* Quantises the model afresh and runs it on the tested samples. Everything in *out is of ctx. */
bool measure(const struct subject *subject, const struct config *config, enum judge judge,
             struct ctx *ctx, struct measured *out);

#endif
