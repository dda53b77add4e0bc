#include <math.h>

/* v / (1 + |v|) */
static double softsign_f64(double v)
{
    return v / (1.0 + fabs(v));
}
