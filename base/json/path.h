/* path.h - typed access to members of JSON objects; errors carry the path in the JSON:
 * "functions[0].nodes[3].inputs[1]: found 'w', wanted ...". For files so large that positions of all
 * items (place.h) would take too much memory. */
#ifndef BASE_JSON_PATH_H
#define BASE_JSON_PATH_H

#include <cjson/cJSON.h>

#include "base/ctx.h"

enum { JSON_MAX_ERRORS = 100 };

/* Where errors go, and how many there were before. */
struct json_errors {
    struct ctx *ctx;
    enum diag_code code;
    int n_before;
};

/* A path in the JSON, as a list on the stack. */
struct json_path {
    const struct json_path *up; /* NULL = the root */
    const char *key;            /* NULL = an element of a list */
    int index;
};

/* Record "PLACE: message", "PLACE: found ..., wanted WANTED"; item NULL = missing key. Both return
 * false. */
bool json_fail(struct json_errors *errors, const struct json_path *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool json_wrong(struct json_errors *errors, const struct json_path *place, const cJSON *item,
                const char *wanted);

/* Adds a note with the path to the error that was just reported. */
void json_note(struct json_errors *errors, const struct json_path *place);

bool json_too_many_errors(const struct json_errors *errors);

/* An object with these keys and no others, each once; keys ends with NULL. */
bool json_object(struct json_errors *errors, const struct json_path *place, const cJSON *item,
                 const char *const *keys);

/* The list under `key`, in *list. Returns its length, or -1 after an error. */
int json_list(struct json_errors *errors, const struct json_path *place, const cJSON *object,
              const char *key, const cJSON **list);

/* A text, in ctx->perm. A missing one is an error unless `fallback` is not NULL. */
bool json_text_member(struct json_errors *errors, const struct json_path *place,
                      const cJSON *object, const char *key, const char *fallback,
                      const char **text);

/* A number of least .. most; a missing one is an error if fallback < least. */
bool json_int_member(struct json_errors *errors, const struct json_path *place, const cJSON *object,
                     const char *key, int64_t fallback, int64_t least, int64_t most,
                     int64_t *number);

#endif
