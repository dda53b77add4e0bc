/* robustness.h - damaged files: each through the part of relayc that reads it, in a child process
 * with limits. Nothing may crash, hang, swallow memory, or fail without saying why. */
#ifndef TESTS_ROBUSTNESS_ROBUSTNESS_H
#define TESTS_ROBUSTNESS_ROBUSTNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum kind {
    KIND_MODEL,  /* ONNX: import, passes, C */
    KIND_TEXT,   /* a graph as text: parse, passes, C */
    KIND_JSON,   /* a graph with regions as JSON: read, passes, C */
    KIND_TENSORS /* .npy, .npz, .pb */
};

/* A sound file, of which damaged ones are made. */
struct subject {
    const char *name; /* for messages and file names */
    enum kind kind;
    const uint8_t *bytes;
    size_t size;
    uint64_t seed;
};

/* Case i of a subject: first every truncation (a selection, of a big file), then what the seed
 * gives. Bytes of malloc, exactly as long as the case, so that a sanitizer sees every read beyond.
 */
uint8_t *damage(const struct subject *subject, size_t i, size_t *size);
size_t n_truncations(const struct subject *subject);

/* One case; NULL = as it should be, otherwise what was wrong. Files are written to `dir`. */
const char *attempt(enum kind kind, const uint8_t *bytes, size_t size, const char *dir);

/* Cases first, first + step ... below end. */
struct sweep {
    size_t first, step, end;
};

/* These cases of a subject, in children; failures are printed and their files kept in `dir`. Returns how many failed. */
size_t run_cases(const struct subject *subject, const struct sweep *sweep, const char *dir);

/* Sound subjects: a model, its text, and the JSON that its passes leave (with a data file in `dir`)
 * from a file; tensor files made in `dir`. The number, or 0 after a message. */
int load_model_subjects(struct arena *arena, const char *path, const char *dir,
                        struct subject *out);
int make_tensor_subjects(struct arena *arena, const char *dir, struct subject *out);

enum { MOST_SUBJECTS_OF_A_MODEL = 3, N_TENSOR_SUBJECTS = 4 };

#endif
