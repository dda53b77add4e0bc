/* tflite_builder.h - makes TensorFlow Lite models in C, so that tests need neither Python nor files.
 *
 *   struct tflite_builder *b = tflite_new();
 *   tflite_tensor(b, "x", TFLITE_I8, "1,4,4,2", NULL, 0.5, -3);
 *   tflite_tensor(b, "y", TFLITE_I8, "1,2,2,2", NULL, 0.5, -3);
 *   tflite_operator(b, TFL_MAX_POOL_2D, 1, "0", "1", 5, "b1 i2 i2 i2 i2 b0");
 *   bytes = tflite_bytes(b, "0", "1", &n);
 *   tflite_free(b);
 *
 * Tensors and buffers have the numbers in which they are made. Options are fields in their order:
 * bN a byte, iN an integer, fN a float, - one that is left out. Everything lives until
 * tflite_free. */
#ifndef TESTS_SUPPORT_TFLITE_BUILDER_H
#define TESTS_SUPPORT_TFLITE_BUILDER_H

#include <stddef.h>
#include <stdint.h>

struct tflite_builder;

enum { TFLITE_F32 = 0, TFLITE_I32 = 2, TFLITE_U8 = 3, TFLITE_STRING = 5, TFLITE_BOOL = 6, TFLITE_I8 = 9 };

struct tflite_builder *tflite_new(void);
void tflite_free(struct tflite_builder *b);

/* data: NULL = computed; scale 0 = none. */
void tflite_tensor(struct tflite_builder *b, const char *name, int type, const char *shape,
                   const void *data, float scale, int64_t zero);
/* Of the newest tensor: several scales, along an axis, all with zero point 0; its flag. */
void tflite_scales(struct tflite_builder *b, int n, const float *scales, int axis);
void tflite_variable(struct tflite_builder *b);

void tflite_operator(struct tflite_builder *b, int code, int version, const char *inputs,
                     const char *outputs, int options_type, const char *options);
void tflite_custom(struct tflite_builder *b, const char *name, const char *inputs,
                   const char *outputs);

const uint8_t *tflite_bytes(struct tflite_builder *b, const char *inputs, const char *outputs,
                            size_t *n);

#endif
