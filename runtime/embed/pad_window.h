#include <stdint.h>

/* What a padded tensor reads along each axis of x, see slice_window.h; negative pads cut off. 0 if the result does not
 * have the shape y_dims, an axis is none, or there is nothing to repeat (`repeats`: padding repeats elements). */
static int pad_window(int rank, const int *x_dims, const int *y_dims, int n, const int64_t *pads, const int64_t *axes,
                      int repeats, int (*window)[4])
{
    for (int k = 0; k < rank; k++) {
        int64_t before = 0, after = 0;

        for (int i = 0; i < n; i++) {
            if (axes[i] < -rank || axes[i] >= rank || pads[i] < -INT32_MAX || pads[i] > INT32_MAX ||
                pads[n + i] < -INT32_MAX || pads[n + i] > INT32_MAX)
                return 0;
            if (axes[i] == k || axes[i] + rank == k) {
                before += pads[i];
                after += pads[n + i];
            }
        }

        const int64_t first = before < 0 ? -before : 0, kept = x_dims[k] - first + (after < 0 ? after : 0);

        if (kept < 0 || x_dims[k] + before + after != y_dims[k] ||
            (repeats && kept == 0 && (before > 0 || after > 0)))
            return 0;
        window[k][0] = before > 0 ? -(int)before : 0;
        window[k][1] = 1;
        window[k][2] = (int)first;
        window[k][3] = (int)kept;
    }
    return 1;
}
