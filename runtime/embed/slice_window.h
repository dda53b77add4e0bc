#include <stdint.h>

#include "runtime/embed/within.h"

/* What a slice reads along each axis of x: where it begins, its step, and among which elements (from the first, how
 * many). Numbers as in ONNX: negative places count from the end, and what is beyond an end is that end. 0 if the result
 * does not have the shape y_dims, an axis is none or there twice, or a step is 0. */
static int slice_window(int rank, const int *x_dims, const int *y_dims, int n, const int64_t *starts,
                        const int64_t *ends, const int64_t *axes, const int64_t *steps, int (*window)[4])
{
    for (int k = 0; k < rank; k++) {
        window[k][0] = 0;
        window[k][1] = 0;
        window[k][2] = 0;
        window[k][3] = x_dims[k];
    }
    for (int i = 0; i < n; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];

        if (axis < 0 || axis >= rank || window[axis][1] != 0 || steps[i] == 0)
            return 0;

        const int64_t extent = x_dims[axis], step = within(steps[i], -extent - 1, extent + 1);
        const int64_t low = step > 0 ? (int64_t)0 : (int64_t)-1, high = step > 0 ? extent : extent - 1;
        const int64_t end = within(ends[i] < 0 ? ends[i] + extent : ends[i], low, high);
        const int64_t start =
            within(starts[i] < 0 ? starts[i] + extent : starts[i], extent > 0 ? 0 : low, high);
        const int64_t size = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;

        if ((size > 0 ? size : 0) != y_dims[axis])
            return 0;
        window[axis][0] = (int)start;
        window[axis][1] = (int)step;
    }
    for (int k = 0; k < rank; k++) {
        if (window[k][1] == 0 && x_dims[k] != y_dims[k])
            return 0;
        window[k][1] = window[k][1] == 0 ? 1 : window[k][1];
    }
    return 1;
}
