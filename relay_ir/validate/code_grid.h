/* code_grid.h - the numbers of a stored format, listed from its decoder: an encoder is judged by
 * them. */
#ifndef RELAY_IR_VALIDATE_CODE_GRID_H
#define RELAY_IR_VALIDATE_CODE_GRID_H

#include "relay_ir/type.h"

struct code_grid {
    int n; /* 0 = the format has no grid here: halves and wide integers are evenly spaced */
    double at[256];
    double most;     /* greatest magnitude */
    double relative; /* n = 0: half a step by the magnitude; 0 = half_step holds everywhere */
    double half_step;
};

/* False if the type is not a stored format. Integers are symmetric: -127 .. 127. */
bool code_grid_of(const struct type *quantized, struct code_grid *out);

/* Distance of x from the nearest number of the format; beyond the greatest, from that. */
double code_grid_distance(const struct code_grid *grid, double x);

/* Index of the nearest number, of grids with n > 0. */
int code_grid_index(const struct code_grid *grid, double x);

/* Distance between the neighbours of index i, the greater one. */
double code_grid_step(const struct code_grid *grid, int i);

#endif
