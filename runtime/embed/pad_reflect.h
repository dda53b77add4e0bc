#include "runtime/embed/pad_wrap.h"

/* The index, of n elements, of element i of the sequence that is reflected at both ends. */
static int pad_reflect(int i, int n)
{
    const int at = n == 1 ? 0 : pad_wrap(i, 2 * n - 2);

    return at < n ? at : 2 * n - 2 - at;
}
