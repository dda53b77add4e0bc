/* load.c - the first stage: the model, as --shape, --freeze and the limits say. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "driver/graph_json.h"
#include "driver/custom.h"
#include "driver/part.h"
#include "frontend/onnx/import.h"
#include "relay_ir/variants.h"

/* "data=1,3,224,224": the last '=' divides, because names may hold one. */
static bool parse_shape(struct ctx *ctx, const char *text, struct shape_binding *out)
{
    const char *equals = strrchr(text, '=');
    const char *at = equals ? equals + 1 : text;

    if (!equals || equals == text)
        goto malformed;
    out->name = arena_strndup(&ctx->perm, text, (size_t)(equals - text));
    out->rank = strcmp(at, "none") == 0 ? -1 : 0; /* an empty sequence, an absent optional */
    while (out->rank >= 0 && *at) {
        char *end;

        errno = 0;
        if (out->rank == MAX_RANK)
            goto malformed;
        out->dim[out->rank] = strtoll(at, &end, 10);
        if (end == at || errno || out->dim[out->rank] < 0 || (*end && *end != ','))
            goto malformed;
        out->rank++;
        at = *end ? end + 1 : end;
        if (*end && !*at)
            goto malformed;
    }
    return true;
malformed:
    diag_error(ctx, DIAG_USAGE, NULL, "--shape: '%s' is not NAME=DIM,DIM,...",
               str_safe(&ctx->perm, text, 120));
    diag_help(ctx,
              "for example --shape data=1,3,224,224, or --shape batch=1 for a symbolic "
              "dimension; at most %d dimensions",
              MAX_RANK);
    return false;
}

/* Whether --vary gives it, as --shape of the compilation for one size. */
static bool is_size(const struct driver_state *driver, const char *name)
{
    for (int i = 0; driver->sizes && i < driver->sizes->n_symbols; i++)
        if (strcmp(driver->sizes->symbols[i].name, name) == 0)
            return true;
    return false;
}

/* "sr=16000", "anchors=1,2.5,4", "roi=" (without elements): the last '=' divides here, too. */
static bool parse_frozen(struct ctx *ctx, const char *text, struct frozen_input *out)
{
    const char *equals = strrchr(text, '=');
    const char *at = equals ? equals + 1 : "";
    double *numbers = arena_array(&ctx->perm, double, strlen(at) / 2 + 1);

    *out = (struct frozen_input){ .numbers = numbers };
    if (equals && equals > text && !*at) {
        out->name = arena_strndup(&ctx->perm, text, (size_t)(equals - text));
        return true;
    }
    for (bool more = equals && equals > text; more; at++) {
        char *end;

        numbers[out->n] = strtod(at, &end);
        if (end == at || isspace((unsigned char)*at) || (*end && *end != ','))
            break;
        out->n++;
        at = end;
        more = *end == ',';
        if (!more) {
            out->name = arena_strndup(&ctx->perm, text, (size_t)(equals - text));
            return true;
        }
    }
    diag_error(ctx, DIAG_USAGE, NULL, "--freeze: '%s' is not NAME=NUMBER,NUMBER,...",
               str_safe(&ctx->perm, text, 120));
    diag_help(ctx, "for example --freeze sr=16000: one number for all elements, or one for each");
    return false;
}

/* Each name once: who gives two, means one of them. */
static bool is_new(struct ctx *ctx, const char *option, const char *name, struct map *names)
{
    if (!map_get(names, name)) {
        map_set(names, name, ctx);
        return true;
    }
    diag_error(ctx, DIAG_USAGE, NULL, "--%s: '%s' is given twice", option,
               str_safe(&ctx->perm, name, 120));
    diag_help(ctx, "remove one of them");
    return false;
}

/* What the options say of limits (base/limit.def); a name there is an option's name. */
static bool read_limits(struct driver_state *driver)
{
    static const enum option_id options[LIMIT_COUNT] = {
#define LIMIT(symbol, option, kind, base, scale, what) [LIMIT_##symbol] = OPTION_MAX_##symbol,
#include "base/limit.def"
#undef LIMIT
    };
    struct ctx *ctx = driver->ctx;
    bool ok = true;

    for (int i = 0; i < LIMIT_COUNT; i++) {
        long long count = 0;
        size_t bytes = 0;

        if (!has_option(&driver->args, options[i]))
            continue;
        ok &= limit_is_bytes((enum cost_limit)i)
                  ? option_bytes(ctx, &driver->args, options[i], 0, &bytes)
                  : option_integer(ctx, &driver->args, options[i], 0, &count);
        ctx->limits.given[i] = (int64_t)bytes + count;
        if (ok && !ctx->limits.given[i])
            ok = diag_error(ctx, DIAG_USAGE, NULL, "--%s: found 0, expected at least 1",
                            option_name(options[i]));
    }
    return ok;
}

struct module *load_model(struct driver_state *driver)
{
    struct ctx *ctx = driver->ctx;
    const struct option_values *given = &driver->args.options[OPTION_SHAPE];
    struct shape_binding *shapes = arena_array(&ctx->perm, struct shape_binding, given->n);
    const struct option_values *fixed = &driver->args.options[OPTION_FREEZE];
    struct frozen_input *frozen = arena_array(&ctx->perm, struct frozen_input, fixed->n);
    struct import_options options = {
        .n_shapes = given->n,
        .shapes = shapes,
        .n_frozen = fixed->n,
        .frozen = frozen,
        .external_data_dir = option_text(&driver->args, OPTION_EXTERNAL_DATA_DIR, NULL),
        .obstacles = driver->obstacles,
    };
    struct map shaped = { .arena = &ctx->perm }, frozen_names = shaped;
    struct module *module;
    bool ok = read_limits(driver);

    for (int i = 0; i < given->n; i++)
        ok &= parse_shape(ctx, given->at[i], &shapes[i]) &&
              is_new(ctx, "shape", shapes[i].name, &shaped);
    for (int i = 0; i < given->n && ok; i++)
        shapes[i].is_size = is_size(driver, shapes[i].name);
    for (int i = 0; i < fixed->n; i++)
        ok &= parse_frozen(ctx, fixed->at[i], &frozen[i]) &&
              is_new(ctx, "freeze", frozen[i].name, &frozen_names);
    ok = read_custom(driver, &options) && ok;
    if (!read_part(driver, &options) || !ok)
        return NULL;
    ctx->diags.input_name = driver->args.operands[0];
    module = read_model(driver, &options);
    if (module && (!bind_states(driver, module) || !choose_rounding(driver, module))) {
        module_free(module);
        return NULL;
    }
    return module;
}

bool stage_load(struct driver_state *driver)
{
    driver->module = load_model(driver);
    return driver->module != NULL;
}
