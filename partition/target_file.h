/* target_file.h - the steps of loading a target, between targets_load.c, target_json.c,
 * target_hooks.c, target_check.c and target_names.c. */
#ifndef PARTITION_TARGET_FILE_H
#define PARTITION_TARGET_FILE_H

#include "partition/target.h"

/* The files beside a target.json. */
struct target_folder {
    /* The text of a file, in ctx->perm. NULL: *reason says why ("no such file"). */
    const char *(*read)(void *user, const char *name, const char **reason);
    /* Whether there is such a file, of any content. */
    bool (*has)(void *user, const char *name, const char **reason);
    void *user;
};

/* target_parse, with reasons. The text must live as long as ctx->perm. */
struct target *target_read(struct ctx *ctx, const char *file, const char *text,
                           const struct target_folder *folder);

/* Appends the hooks' rows, checks them, and sets target->hooks. `path` names where they come from,
 * for messages. False after errors. */
bool target_add_hooks(struct ctx *ctx, struct target *target, const struct target_hooks *hooks,
                      const char *path, const struct target_folder *folder);

/* What no parser sees: each row from `first` on against its own names, the rows before it, and what
 * the target says about all. False after errors. */
bool target_check_rows(struct ctx *ctx, const struct target *target, int first);

/* Whether templates or the emitter use this name themselves, so that no capture and no let may have
 * it; what for, in words, or NULL. */
const char *reserved_name(const char *name);

/* Names in the row's expressions, and circles among its lets. */
bool row_check_names(struct ctx *ctx, const struct composite_row *row);

bool is_identifier(const char *text); /* of C, at most 64 bytes */

#endif
