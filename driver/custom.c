#include "driver/custom.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "relay_ir/ops/custom.h"

static bool malformed(struct driver_state *driver, const char *text, const char *what)
{
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--custom-op: '%s' %s",
               str_safe(&driver->ctx->perm, text, 120), what);
    diag_help(driver->ctx, "for example --custom-op my.domain::MyOp=my_op.h:my_op");
    return false;
}

/* Shapes behind the function: ":0.0,0.1*2:1=i64". */
static void read_shapes(struct arena *arena, const char *text, struct custom_op *custom)
{
    const char **at;
    int n = 0;

    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':'))
        n++;
    at = arena_array(arena, const char *, n);
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':'))
        at[custom->n_shapes++] = arena_strndup(arena, colon + 1, strcspn(colon + 1, ":"));
    custom->shapes = at;
}

/* "domain::Op=header.h:function[:SHAPE...]"; without "domain::", ONNX's own. */
static bool read_one(struct driver_state *driver, const char *text, struct custom_op *custom)
{
    struct arena *arena = &driver->ctx->perm;
    const char *equals = strchr(text, '='), *colons = strstr(text, "::"), *op = text, *path, *end;

    *custom = (struct custom_op){ .domain = "" };
    if (!equals)
        return malformed(driver, text, "has no =");
    if (colons && colons < equals) {
        custom->domain = arena_strndup(arena, text, (size_t)(colons - text));
        op = colons + 2;
    }
    path = equals + 1;
    end = strchr(path, ':');
    if (op == equals || !end || end == path || !end[1])
        return malformed(driver, text, "does not name an operator, a header and a function");
    custom->op = arena_strndup(arena, op, (size_t)(equals - op));
    custom->header = arena_strndup(arena, path, (size_t)(end - path));
    custom->function = arena_strndup(arena, end + 1, strcspn(end + 1, ":"));
    read_shapes(arena, end + 1, custom);
    custom->given = arena_strndup(arena, text, (size_t)(end + 1 - text) + strlen(custom->function));
    if (access(custom->header, R_OK) != 0)
        return malformed(driver, text, "names a header that cannot be read");
    if (strrchr(custom->header, '/'))
        custom->header = strrchr(custom->header, '/') + 1;
    if (!custom_is_header(custom->header))
        return malformed(driver, text, "names a header with strange characters");
    return custom_is_name(custom->function) || malformed(driver, text, "names no C function");
}

bool read_custom(struct driver_state *driver, struct import_options *options)
{
    const struct option_values *given = &driver->args.options[OPTION_CUSTOM_OP];
    struct custom_op *custom = arena_array(&driver->ctx->perm, struct custom_op, given->n);
    bool ok = true;

    for (int i = 0; i < given->n; i++) {
        ok = read_one(driver, given->at[i], &custom[i]) && ok;
        for (int k = 0; k < i && ok; k++)
            if (strcmp(custom[i].op, custom[k].op) == 0 &&
                strcmp(custom[i].domain, custom[k].domain) == 0)
                ok = malformed(driver, given->at[i], "is the second one for this operator");
    }
    options->n_custom = given->n;
    options->custom = custom;
    return ok;
}
