/* The taps [window_begin, window_end) of a window that lie in the input: tap t reads coordinate first + t * step.
 * Empty if there is none. */
static int window_begin(int first, int step)
{
    return first < 0 ? (step - 1 - first) / step : 0;
}

static int window_end(int first, int step, int n_taps, int len)
{
    const int n = first < len ? (len - first + step - 1) / step : 0;

    return n < n_taps ? n : n_taps;
}
