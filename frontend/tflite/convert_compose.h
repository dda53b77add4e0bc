/* convert_compose.h - operators on quantised values as chains of integer operators: distances from zero points in i32,
 * fixed-point factors, and back to quantised values. */
#ifndef FRONTEND_TFLITE_CONVERT_COMPOSE_H
#define FRONTEND_TFLITE_CONVERT_COMPOSE_H

#include "frontend/tflite/convert.h"

struct value *tfl_two(struct tfl_node *node, enum op op, const char *suffix, struct value *a,
                      struct value *b);
struct value *tfl_cast(struct tfl_node *node, enum dtype dtype, const char *suffix,
                       struct value *x);
struct value *tfl_where(struct tfl_node *node, const char *suffix, struct value *condition,
                        struct value *a, struct value *b);

/* Input `input` as i32 distances from its zero point, times 2^shift. */
struct value *tfl_steps(struct tfl_node *node, int input, int shift, const char *suffix);

/* x, of i32, times a factor as struct fixed_point has it, rounded double; and the same as quantised values of output
 * 0, whose zero point is added: saturated. */
struct value *tfl_scaled(struct tfl_node *node, struct value *x, double factor, const char *suffix);
struct value *tfl_quantized(struct tfl_node *node, struct value *x, double factor,
                            const char *suffix);

/* The quantised values of UINT8 as they are in the file (to u8), or 128 less (to i8). */
struct value *tfl_flipped(struct tfl_node *node, struct value *x, enum dtype to);

/* n integers of a type, as a constant of this shape. */
struct value *tfl_integers(struct tfl_node *node, const struct type *type, const int64_t *at,
                           const char *suffix);

/* Integers without scales: arithmetic on them is plain. */
bool tfl_is_plain(const struct tfl_tensor *tensor);

/* The bits of the least and greatest code; all inputs and outputs have one type out of i8 and i16, and a scale
 * each (of i16 with the zero point 0). */
bool tfl_check_quantized(struct tfl_node *node);

/* An axis, non-negative and within rank; else an error. */
bool tfl_check_axis(struct tfl_node *node, int64_t axis, int rank, int64_t *out);

/* DIV of i8. */
bool tfl_divide_quantized(struct tfl_node *node);

/* SOFTMAX of i16. */
bool convert_tfl_wide_softmax(struct tfl_node *node, double beta);

/* A function of 8-bit quantised values of input 0, as a table of quantised values of output 0: of[i] belongs to code
 * i - 128, and is saturated. */
struct value *tfl_table(struct tfl_node *node, const int64_t of[256]);

#endif
