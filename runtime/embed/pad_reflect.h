#include "runtime/embed/pad_wrap.h"

/* Which of n elements stands at place i when they go back and forth between the ends. */
static int pad_reflect(int i, int n)
{
    const int at = n == 1 ? 0 : pad_wrap(i, 2 * n - 2);

    return at < n ? at : 2 * n - 2 - at;
}
