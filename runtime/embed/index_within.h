#include <stdint.h>

/* An index into `len` elements; a negative one counts from the end. An index out of range, which the operators
 * forbid, is clamped, so that nothing else is accessed. */
static int index_within(int64_t index, int len)
{
    const int64_t from_start = index < 0 ? index + len : index;

    return from_start < 0 ? 0 : from_start < len ? (int)from_start : len - 1;
}
