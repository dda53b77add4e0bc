/* target_json.h - what the files target_json*.c share. */
#ifndef PARTITION_TARGET_JSON_H
#define PARTITION_TARGET_JSON_H

#include "base/map.h"
#include "partition/json_read.h"
#include "partition/target_file.h"

struct loader {
    struct ctx *ctx;
    struct json_file json;
    struct target *target;
    const struct target_folder *folder;
    struct map texts; /* of files, by name: many composites have the same template */
};

/* "c", "extern" ... by enum target_format. */
extern const char *const target_format_names[4];

/* The identifier under "name"; NULL after an error about `whose`: "a composite". */
const char *target_json_name(struct loader *loader, const cJSON *object, const char *whose);

/* The element type of this name, NONE after an error at the item; NONE for NULL. */
enum dtype target_json_dtype(struct loader *loader, const cJSON *item, const char *text);

/* The operator that the item names, as in ops.def; "nn." may be left out. OP_COUNT after an error.
 */
enum op target_json_op(struct loader *loader, const cJSON *item);

/* Names that become files elsewhere too, so no folders and nothing that a compiler takes for an
 * option. */
bool is_file_name(const char *name);

/* The text of the file that is named under the key; NULL when there is none, or after an error. */
const char *target_json_file_of(struct loader *loader, const cJSON *object, const char *key);

/* Names and texts of all files of a list (NULL = none); returns how many. */
int target_json_files(struct loader *loader, const cJSON *list, const char ***names,
                      const char ***texts);

/* The list of composites, into target->rows. */
void target_json_rows(struct loader *loader, const cJSON *list);

#endif
