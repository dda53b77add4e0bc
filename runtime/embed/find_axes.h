#include <stdint.h>

/* The index of a set of axes (bit i: axis i) among those that are allowed; -1 if it is none, an axis is out of range,
 * or there twice. Negative axes count from the rank. */
static int find_axes(const int64_t *axes, int n, int rank, const int64_t *allowed, int n_allowed)
{
    int set = 0;

    for (int i = 0; i < n; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];

        if (axis < 0 || axis >= rank || (set >> axis & 1) != 0)
            return -1;
        set |= 1 << axis;
    }
    for (int i = 0; i < n_allowed; i++)
        if (allowed[i] == set)
            return i;
    return -1;
}
