/* peak.h - see peak.c. */
#ifndef PEAK_H
#define PEAK_H

double peak_flops(long rounds); /* operations of peak_run; 2 for a product with a sum */

/* factor below 1: the numbers stay finite and normal. */
float peak_run(long rounds, float factor, float term);

#endif
