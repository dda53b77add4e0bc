/* target_file.h - steps of loading a backend, shared by targets_load.c, target_json.c,
 * target_hooks.c, target_check.c and target_names.c. */
#ifndef PARTITION_TARGET_FILE_H
#define PARTITION_TARGET_FILE_H

#include "partition/target.h"

/* The files beside a target.json. */
struct target_folder {
    /* Text of a file, in ctx->perm. NULL: *reason says why ("no such file"). */
    const char *(*read)(void *user, const char *name, const char **reason);
    /* True if the file exists, whatever its content. */
    bool (*has)(void *user, const char *name, const char **reason);
    void *user;
};

/* target_parse with reasons for missing files. The text must live as long as ctx->perm. */
struct target *target_read(struct ctx *ctx, const char *file, const char *text,
                           const struct target_folder *folder);

/* Appends the hooks' rows, checks them, and sets target->hooks. `path` is their origin for
 * messages. False after errors. */
bool target_add_hooks(struct ctx *ctx, struct target *target, const struct target_hooks *hooks,
                      const char *path, const struct target_folder *folder);

/* Checks rows from `first` on, beyond parsing: names, earlier rows, limits of the backend. False
 * after errors. */
bool target_check_rows(struct ctx *ctx, const struct target *target, int first);

/* What templates or the emitter use this name for, so that captures and lets must not; NULL =
 * free. */
const char *reserved_name(const char *name);

/* Checks names in the row's expressions, and cycles among its lets. */
bool row_check_names(struct ctx *ctx, const struct composite_row *row);

bool is_identifier(const char *text); /* a C identifier of at most 64 bytes */

#endif
