/* flatbuffer.h - reads FlatBuffers from bytes that may be anything: every offset, count and size is
 * checked against the file, nothing recurses, and nothing is assumed to be aligned.
 *
 * The first problem sticks: readers after it return what is absent, so that whoever decodes an
 * object asks once, at its end (flatbuffer_problem). */
#ifndef FRONTEND_TFLITE_FLATBUFFER_H
#define FRONTEND_TFLITE_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flatbuffer {
    const uint8_t *bytes;
    size_t n;
    const char *problem; /* NULL = none so far */
    size_t problem_at;   /* the byte that it is about */
};

/* A table; at = 0: absent, all its fields are. */
struct fb_table {
    struct flatbuffer *file;
    size_t at, size; /* of its fields, in the file */
    size_t vtable;   /* of the offsets of fields */
    int n_fields;    /* offsets in the vtable */
};

/* A vector of n elements; data lies in the file, NULL = absent. */
struct fb_vector {
    struct flatbuffer *file;
    const uint8_t *data;
    size_t n;
};

struct fb_table fb_root(struct flatbuffer *file);

/* What went wrong since the last call, NULL = nothing; the file may be read further then. */
const char *flatbuffer_problem(struct flatbuffer *file, size_t *at);

/* True if the field is written: fields of the default's value may be left out. */
bool fb_has(const struct fb_table *table, int field);

int64_t fb_int(const struct fb_table *table, int field, int bytes, int64_t missing);
double fb_float(const struct fb_table *table, int field, double missing);
struct fb_table fb_table(const struct fb_table *table, int field);

/* element_bytes: 4 for vectors of tables and strings. */
struct fb_vector fb_vector(const struct fb_table *table, int field, size_t element_bytes);
struct fb_table fb_element(const struct fb_vector *tables, size_t i);

/* Element i of a vector of integers of `bytes` bytes, and of f32. */
int64_t fb_int_at(const struct fb_vector *vector, size_t i, int bytes);
float fb_float_at(const struct fb_vector *vector, size_t i);

#endif
