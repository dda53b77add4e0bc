/* find.c - the NAME.json of a folder. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "report/facts.h"

static bool is_ours(struct ctx *ctx, const char *path)
{
    const struct diags before = diag_save(ctx);
    struct mapping file;
    bool found = false;

    if (file_map(ctx, path, &file)) {
        found = facts_are_in(arena_strndup(&ctx->perm, (const char *)file.data, file.size));
        file_unmap(&file);
    }
    diag_restore(ctx, before);
    return found;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_json(const struct dirent *entry)
{
    return str_ends(entry->d_name, ".json");
}

const char *facts_find(struct ctx *ctx, const char *folder)
{
    struct str all = { .arena = &ctx->perm };
    struct dirent **entries = NULL;
    const int n = scandir(folder, &entries, is_json, by_name);
    const char *found = NULL;
    int n_found = 0;

    if (n < 0) {
        diag_error(ctx, DIAG_FILE_READ, NULL, "cannot list %s: %s",
                   str_safe(&ctx->perm, folder, 400), strerror(errno));
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        const char *path = arena_printf(&ctx->perm, "%s/%s", folder, entries[i]->d_name);

        if (is_ours(ctx, path)) {
            found = path;
            str_printf(&all, "%s%s", n_found++ ? ", " : "",
                       str_safe(&ctx->perm, entries[i]->d_name, 100));
        }
        free(entries[i]);
    }
    free(entries);
    if (n_found == 1)
        return found;
    diag_error(ctx, DIAG_REPORT_FILE, NULL, "%s has %s", str_safe(&ctx->perm, folder, 400),
               n_found ? arena_printf(&ctx->perm, "%d compilations: %s", n_found, str_text(&all))
                       : "no NAME.json of relayc compile");
    diag_help(ctx, n_found ? "give one of these files" : "relayc compile writes it beside NAME.c");
    return NULL;
}
