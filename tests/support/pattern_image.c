#include "tests/support/pattern_image.h"

struct image pattern_image(struct arena *arena)
{
    struct image image = { PATTERN_WIDTH, PATTERN_HEIGHT,
                           arena_alloc(arena, 3 * PATTERN_WIDTH * PATTERN_HEIGHT) };

    for (int y = 0; y < PATTERN_HEIGHT; y++)
        for (int x = 0; x < PATTERN_WIDTH; x++)
            for (int c = 0; c < 3; c++)
                image.pixels[(y * PATTERN_WIDTH + x) * 3 + c] =
                    (uint8_t)(x * 37 + y * 59 + c * 83 + x * y * 11);
    return image;
}
