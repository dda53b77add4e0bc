#include "runtime/embed/overlap_of_spans.h"

/* Whether the area that two boxes share, by the area that they cover, is above a limit. A box is two corners
 * y, x, y, x in either order; an empty one overlaps nothing. */
static int boxes_overlap(const float a[4], const float b[4], float limit)
{
    const float size_a = (a[2] - a[0]) * (a[3] - a[1]), size_b = (b[2] - b[0]) * (b[3] - b[1]);
    const float area_a = size_a < 0.0f ? -size_a : size_a, area_b = size_b < 0.0f ? -size_b : size_b;
    const float height = overlap_of_spans(a[0], a[2], b[0], b[2]);
    const float width = overlap_of_spans(a[1], a[3], b[1], b[3]);
    const float shared = height * width;

    if (!(area_a > 0.0f && area_b > 0.0f && height > 0.0f && width > 0.0f))
        return 0;
    return shared / (area_a + area_b - shared) > limit;
}
