/* edit.h - mutations that keep a file well-formed. */
#ifndef TESTS_ROBUSTNESS_EDIT_H
#define TESTS_ROBUSTNESS_EDIT_H

#include <stddef.h>
#include <stdint.h>

/* A number from 0 to n - 1 (0 for n = 0); *state is the generator's. */
size_t random_below(uint64_t *state, size_t n);

/* Mutated copies, by malloc; *size is the old size, then the new one. NULL if it is not a model. */
uint8_t *edit_model(const uint8_t *bytes, size_t *size, uint64_t *state);
uint8_t *edit_text(const uint8_t *bytes, size_t *size, uint64_t *state);

#endif
