/* knob.h - what may be chosen about a region's code (knobs.def), and what was chosen.
 *
 * A kernel's bind function asks for a knob's value with the values that it could write code for; so
 * what may be chosen is said in one place, and `relayc tune` (tune/) finds out by generating code.
 * All values compute the same, up to the order of sums. Without a choice the usual value is taken.
 *
 * Values are texts ("64", "2x8", "conv"), as they stand in a tuning log. */
#ifndef CODEGEN_C_CORE_KNOB_H
#define CODEGEN_C_CORE_KNOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/map.h"

enum knob {
#define KNOB(symbol, name, what) KNOB_##symbol,
#include "codegen_c/core/knobs.def"
#undef KNOB
    KNOB_COUNT
};

const char *knob_name(enum knob knob);
const char *knob_what(enum knob knob);
enum knob knob_find(const char *name); /* KNOB_COUNT = there is none */

/* What is chosen for a region; NULL = the usual. */
struct choice {
    const char *value[KNOB_COUNT];
};

bool choice_equal(const struct choice *a, const struct choice *b);

/* "tile=2x6 nc=64"; "usual". In the arena. */
const char *choice_text(struct arena *arena, const struct choice *choice);

/* What there is to choose from, as the kernel said; n 0: it did not ask. */
struct knob_range {
    int n;
    const char *const *values;
    const char *usual, *taken;
};

/* Choices by the signature of a region (signature.h); values are struct choice. */
struct choices {
    struct map by_signature;
};

struct region;
struct bind;

/* The value for a region whose kernel can do with these, n > 0 in all; the usual one is among them.
 * A choice that is not is stale: a warning, and the usual one. Remembers the range in the region.
 * The texts must live as long as the region. */
const char *knob_take(struct ctx *ctx, struct region *region, enum knob knob, const char *usual,
                      int n, const char *const *values);

/* Warns of choices that the kernel of the region did not ask for. */
void knob_check(struct ctx *ctx, const struct region *region);

/* --- for bind functions ----------------------------------------------------------------------- */

/* The same for whole numbers; the usual one may be missing among the values. */
int64_t bind_knob(struct bind *bind, enum knob knob, int64_t usual, int n, const int64_t *values);

/* For two numbers, "2x8"; [n][2]. The result is in taken. */
void bind_knob_pair(struct bind *bind, enum knob knob, const int64_t usual[2], int n,
                    int64_t values[][2], int64_t taken[2]);

#endif
