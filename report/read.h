/* read.h - members of JSON objects, typed. A missing member is no error; one of another type is,
 * which names the file and the key. Texts are copied into ctx->perm and safe to print. */
#ifndef REPORT_READ_H
#define REPORT_READ_H

#include <cjson/cJSON.h>

#include "base/ctx.h"

struct reader {
    struct ctx *ctx;
    const char *path;
    bool failed; /* an error was reported; later ones are not */
};

/* The file, or the text, as JSON. NULL after an error; the caller deletes it. */
cJSON *read_json(struct reader *reader);
cJSON *read_json_text(struct reader *reader, const char *text);

bool read_error(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *read_text(struct reader *reader, const cJSON *object, const char *key); /* NULL */
double read_number(struct reader *reader, const cJSON *object, const char *key, double missing);
bool read_bool(struct reader *reader, const cJSON *object, const char *key); /* false */

/* Whether "schema" begins with the prefix; else an error says that the file is not the command's. */
bool read_schema(struct reader *reader, const cJSON *root, const char *prefix, const char *command);

/* NULL if it is missing. */
const cJSON *read_list(struct reader *reader, const cJSON *object, const char *key);
const cJSON *read_object(struct reader *reader, const cJSON *object, const char *key);

/* The text of an element of a list, NULL if it is none. */
const char *read_item(struct reader *reader, const cJSON *item);

#endif
