/* template.h - the template language: text that reads as C.
 *
 *   ${key}                       replaced by the key's text; a text of several lines keeps the
 *                                indentation of the line it stands in; an empty text alone on its
 *                                line removes the line
 *   //#if key ... //#else ... //#end   the first branch when the key is set and not false, else the
 *                                other, which may be missing; //#if !key is the opposite; false are
 *                                flags that are off, 0 and "". A text "0" is an error, as nobody
 *                                knows whether it is meant: the least of a uint8_t is one
 *   code //#if key               one line in such a block: a loop that there may be or not
 *   //#for i N ... //#end        repeated with ${i} = 0 .. N-1; N a number or a key; inside,
 *                                ${a${i}} looks up a composed key
 *   //#parallel VAR LIMIT [GRAIN]
 *                                above the head of a loop, for (int VAR = 0; VAR < LIMIT; ...): where
 *                                that is asked for (keys.split), threads share it, at multiples of
 *                                GRAIN (1). Of those written the first counts
 *   //#body ... //#end           directly in an //#if: kept in any case, what is around it where
 *                                the branch is. A loop that there may be or not:
 *                                    //#if many
 *                                    for (int n = 0; n < BATCH; n++) {
 *                                        //#body
 *                                        ...
 *                                        //#end
 *                                    }
 *                                    //#end
 *   {                            alone on an indented line right behind //#end: ends the line
 *                                written before, if that is indented and ends in ')'. So branches
 *                                hold heads of loops, and the braces of the body stand outside
 *
 * Control lines stand alone on their lines and vanish; ${...} in their words is expanded. Unknown
 * keys, keys never used and open blocks are errors with template file and line (DIAG_TEMPLATE). A
 * key that stands in a block left out counts as used. Nothing more: values come from bind. A text
 * that would become endless is an error as well. */
#ifndef CODEGEN_C_TEXT_TEMPLATE_H
#define CODEGEN_C_TEXT_TEMPLATE_H

#include "base/ctx.h"
#include "base/map.h"
#include "base/str.h"

struct key {
    const char *text;
    bool is_text; /* neither a number nor a flag: a "0" is no answer to //#if */
    bool used;
    bool written; /* the text has gone, or will go, into an expansion */
};

struct keys {
    struct arena *arena;
    const struct origin *origin; /* of errors; NULL = none */
    struct map map;              /* key -> struct key */

    /* Keys that were not set, computed on demand; NULL = there are none. `written` is false where a
     * control line asks only whether the key is there, how true it is, or how often to repeat. NULL
     * for an unknown key; *why may then say more. What is written is computed once. */
    const char *(*compute)(void *user, const char *key, bool written, const char **why);
    void *user;

    bool split; /* a part runs the loop of //#parallel from part_begin(this_part, ...) on; a text
                   without such a loop is an error */
};

/* Keys and texts are copied. Setting a key again replaces its text. */
void keys_init(struct keys *keys, struct arena *arena);
void keys_set(struct keys *keys, const char *key, const char *text);
void keys_set_int(struct keys *keys, const char *key, long long value);
void keys_set_flag(struct keys *keys, const char *key, bool on);
/* A key that templates may leave unused (those that the emitter offers to every template). */
void keys_offer(struct keys *keys, const char *key, const char *text);
void keys_offer_flag(struct keys *keys, const char *key, bool on);

/* Whether the text has a loop to be shared. */
bool template_is_parallel(const char *text);

/* Appends the expansion of `text` (file `name`, for messages) to out. False after errors. */
bool template_expand(struct ctx *ctx, const char *name, const char *text, struct keys *keys,
                     struct str *out);

/* Walks the text as template_expand does, with its errors, but writes nothing: afterwards `keys` has
 * all that the expansion will write, and only conditions and counts are still computed. */
bool template_ask(struct ctx *ctx, const char *name, const char *text, struct keys *keys);

/* The keys that a text may have, for a check before they have values. */
struct template_names {
    bool (*known)(void *user, const char *key);
    const char *(*nearest)(void *user, const char *key); /* of an unknown one; NULL = none */
    void *user;
};

/* Whether blocks and braces are closed, control lines well, and (names not NULL) all keys known.
 * What stands behind "//#if key" of an unknown key is never written, so its keys are not looked at,
 * nor are composed ones. False after errors. */
bool template_check(struct ctx *ctx, const char *name, const char *text,
                    const struct template_names *names);

#endif
