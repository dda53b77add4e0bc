/* pattern_image.h - the image whose decoding by other programs the tests know. */
#ifndef TESTS_SUPPORT_PATTERN_IMAGE_H
#define TESTS_SUPPORT_PATTERN_IMAGE_H

#include "frontend/tensors/image/image.h"

enum { PATTERN_WIDTH = 13, PATTERN_HEIGHT = 7 };

/* Number c of the pixel (x, y) is (37 x + 59 y + 83 c + 11 x y) mod 256. */
struct image pattern_image(struct arena *arena);

#endif
