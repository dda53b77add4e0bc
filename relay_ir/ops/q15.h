/* q15.h - logistic and tanh of 16-bit numbers as TensorFlow Lite's reference kernels compute them: linear between the
 * entries of one table. Whoever must give the same bits (qnn.lstm_tables) goes through these. */
#ifndef RELAY_IR_OPS_Q15_H
#define RELAY_IR_OPS_Q15_H

#include <stdint.h>

enum { Q15_ENTRIES = 256 };

/* Entry i: logistic(i / 24) in units of 2^-16, lifted by half of what a chord to the next entry falls short of the
 * curve in its middle, so that the line errs as much above as below; the last is the greatest. */
uint16_t q15_entry(int i);

/* logistic and tanh, in units of 2^-15, of x / 3 in units of 2^-12. */
int16_t q15_logistic(const uint16_t *table, int32_t x);
int16_t q15_tanh(const uint16_t *table, int32_t x);

#endif
