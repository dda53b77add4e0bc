/* Options of custom operators: numbers of all kinds, by what Python's flatbuffers 25.12 wrote; and bytes that may be
 * anything. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tflite/flexbuffer.h"

/* { "max_detections": 10, "big": -70000, "half": 0.25, "tenth": 0.1, "yes": True, "text": "no" } */
static const uint8_t wide[] = {
    109, 97,  120, 95,  100, 101, 116, 101, 99,  116, 105, 111, 110, 115, 0,   98,  105, 103,
    0,   104, 97,  108, 102, 0,   116, 101, 110, 116, 104, 0,   121, 101, 115, 0,   116, 101,
    120, 116, 0,   2,   110, 111, 0,   6,   29,  26,  46,  23,  14,  19,  0,   0,   0,   0,
    0,   0,   12,  0,   0,   0,   0,   0,   0,   0,   1,   0,   0,   0,   0,   0,   0,   0,
    6,   0,   0,   0,   0,   0,   0,   0,   144, 238, 254, 255, 255, 255, 255, 255, 0,   0,
    0,   0,   0,   0,   208, 63,  10,  0,   0,   0,   0,   0,   0,   0,   154, 153, 153, 153,
    153, 153, 185, 63,  72,  0,   0,   0,   0,   0,   0,   0,   1,   0,   0,   0,   0,   0,
    0,   0,   7,   15,  7,   15,  20,  107, 54,  39,  1
};

/* { "a": -300, "b": 1.5, "c": 200 }, a and b behind offsets */
static const uint8_t narrow[] = { 97, 0,  212, 254, 98, 0, 0,  0,  0,   0,  192, 63, 99, 0,  3,
                                  15, 12, 5,   3,   1,  3, 19, 14, 200, 25, 34,  8,  6,  36, 1 };

static double number(const struct flex_map *map, const char *key)
{
    double found = -1;

    ck_assert_msg(flex_number(map, key, &found), "%s", key);
    return found;
}

START_TEST(numbers_of_all_kinds_are_read)
{
    struct flex_map map;
    double none = 7;

    ck_assert(flex_map_of(wide, sizeof wide, &map));
    ck_assert(number(&map, "max_detections") == 10 && number(&map, "big") == -70000);
    ck_assert(number(&map, "half") == 0.25 && number(&map, "tenth") == 0.1);
    ck_assert(number(&map, "yes") == 1);
    ck_assert(!flex_number(&map, "text", &none) && !flex_number(&map, "max", &none) && none == 7);
    ck_assert(flex_map_of(narrow, sizeof narrow, &map));
    ck_assert(number(&map, "a") == -300 && number(&map, "b") == 1.5 && number(&map, "c") == 200);
}
END_TEST

static void read_all(const uint8_t *bytes, size_t n)
{
    static const char *const keys[] = { "a", "b", "c", "big", "half", "yes", "max_detections" };
    uint8_t *const copy = malloc(n ? n : 1); /* for AddressSanitizer */
    struct flex_map map = { 0 };
    struct flex_value value;
    const char *key;
    double found;

    memcpy(copy, bytes, n);
    if (flex_map_of(copy, n, &map))
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            flex_number(&map, keys[i], &found);
    for (size_t i = 0; i < map.count && i < 64 && map.keys; i++)
        if (flex_map_of(copy, n, &map) && flex_entry(&map, i, &key, &value) && key)
            ck_assert(strlen(key) < n);
    free(copy);
}

static void damage(const uint8_t *bytes, size_t n)
{
    uint8_t *const damaged = malloc(n);

    for (size_t len = 0; len < n; len++) {
        read_all(bytes, len);
        read_all(bytes + len, n - len);
    }
    for (size_t at = 0; at < n; at++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(damaged, bytes, n);
            damaged[at] = (uint8_t)byte;
            read_all(damaged, n);
        }
    free(damaged);
}

START_TEST(nothing_is_read_outside_of_damaged_bytes)
{
    damage(wide, sizeof wide);
    damage(narrow, sizeof narrow);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flexbuffer");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, numbers_of_all_kinds_are_read);
    tcase_add_test(tests, nothing_is_read_outside_of_damaged_bytes);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
