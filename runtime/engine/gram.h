/* gram.h - products of a matrix with itself, by oneDNN. */
#ifndef RUNTIME_ENGINE_GRAM_H
#define RUNTIME_ENGINE_GRAM_H

#include <stdbool.h>
#include <stdint.h>

/* sum[k, k] += transpose(x) * x, x [n, k], row-major. False if oneDNN fails. */
bool engine_gram(const float *x, int64_t n, int64_t k, float *sum);

#endif
