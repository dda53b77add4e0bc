#include <stdint.h>

/* The index of a set of axes (bit i: axis i) among those that are allowed; -1 if it is none, an axis is out of range,
 * or there twice. Negative axes count from the rank. */
static int find_axes(const int64_t *axes, int n, int rank, const int64_t *allowed, int n_allowed)
{
    uint32_t set = 0u;

    for (int i = 0; i < n; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];

        if (axis < 0 || axis >= rank || (set >> (uint32_t)axis & 1u) != 0u)
            return -1;
        set |= (uint32_t)1 << (uint32_t)axis;
    }
    for (int i = 0; i < n_allowed; i++)
        if (allowed[i] == (int64_t)set)
            return i;
    return -1;
}
