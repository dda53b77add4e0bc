/* Where element i of a window (slice_window.h, pad_window.h) lies in x. Outside of x are, by mode: c nothing, -1; e its
 * last element; w x again; r x mirrored at its ends. */
static int window_index(int i, int rank, const int *x_dims, const int *y_dims, int (*window)[4], char mode)
{
    int index = 0, stride = 1, rest = i;

    for (int k = rank - 1; k >= 0; k--) {
        const int kept = window[k][3], round = mode == 'r' ? 2 * (kept - 1) : kept;
        int at = window[k][0] + rest % y_dims[k] * window[k][1];

        if (at < 0 || at >= kept) {
            if (mode == 'c')
                return -1;
            if (mode == 'e' || kept == 1)
                at = at < 0 ? 0 : kept - 1;
            else
                at = (at % round + round) % round;
            at = at < kept ? at : round - at;
        }
        index += (at + window[k][2]) * stride;
        stride *= x_dims[k];
        rest /= y_dims[k];
    }
    return index;
}
