#include "tests/support/toy_target.h"

#include <check.h>
#include <string.h>

#include "tests/support/expect.h"

static const char *read_file(void *user, const char *name)
{
    for (const struct toy_file *file = user; file->name; file++)
        if (strcmp(file->name, name) == 0)
            return file->text;
    return NULL;
}

struct target *toy_target(struct ctx *ctx, const char *json, const struct toy_file *files)
{
    struct target *target =
        target_parse(ctx, "toy/target.json", json, read_file, (void *)(uintptr_t)files);

    ck_assert_msg(target != NULL, "%s", expect_text(ctx));
    return target;
}

static const char *any_file(void *user, const char *name)
{
    (void)user;
    return name;
}

struct target *toy_target_quoted(struct ctx *ctx, const char *json)
{
    char *text = arena_strdup(&ctx->perm, json);
    struct target *target;

    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    target = target_parse(ctx, "t.json", text, any_file, NULL);
    ck_assert_msg(target != NULL, "%s", expect_text(ctx));
    return target;
}

struct targets *toy_targets(struct ctx *ctx, int n, struct target *const *targets)
{
    struct targets *list = arena_new(&ctx->perm, struct targets);

    for (int i = n; i-- > 0;) {
        targets[i]->next = list->first;
        list->first = targets[i];
    }
    return list;
}
