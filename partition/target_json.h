/* target_json.h - shared by the files target_json*.c. */
#ifndef PARTITION_TARGET_JSON_H
#define PARTITION_TARGET_JSON_H

#include "base/map.h"
#include "base/json/read.h"
#include "partition/target_file.h"

struct loader {
    struct ctx *ctx;
    struct json_file json;
    struct target *target;
    const struct target_folder *folder;
    struct map texts; /* texts of files by name: composites share templates */
};

/* "c", "extern" ... by enum target_format. */
extern const char *const target_format_names[4];

/* Identifier under "name"; NULL after an error about `whose`: "a composite". */
const char *target_json_name(struct loader *loader, const cJSON *object, const char *whose);

/* Element type by name; NONE for NULL, and after an error at the item. */
enum dtype target_json_dtype(struct loader *loader, const cJSON *item, const char *text);

/* Operator by name as in ops.def, "nn." optional. OP_COUNT after an error. */
enum op target_json_op(struct loader *loader, const cJSON *item);

/* True for a name without folders that a compiler does not take for an option. */
bool is_file_name(const char *name);

/* Text of the file named under the key; NULL if there is none, or after an error. */
const char *target_json_file_of(struct loader *loader, const cJSON *object, const char *key);

/* Names and texts of all files of a list (NULL = none); returns their number. */
int target_json_files(struct loader *loader, const cJSON *list, const char ***names,
                      const char ***texts);

/* Parses the list of composites into target->rows. */
void target_json_rows(struct loader *loader, const cJSON *list);

#endif
