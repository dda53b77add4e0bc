/* model.c - what every command with a model does first: read it, run the passes. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/graph_json.h"
#include "frontend/onnx/import.h"
#include "quantize/quantize.h"
#include "relay_ir/passes/pipeline.h"

/* "data=1,3,224,224": the last '=' divides, because names may hold one. */
static bool parse_shape(struct ctx *ctx, const char *text, struct shape_binding *out)
{
    const char *equals = strrchr(text, '=');
    const char *at = equals ? equals + 1 : text;

    if (!equals || equals == text)
        goto malformed;
    out->name = arena_strndup(&ctx->perm, text, (size_t)(equals - text));
    out->rank = 0;
    while (*at) {
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

/* "sr=16000", "anchors=1,2.5,4": the last '=' divides here, too. */
static bool parse_frozen(struct ctx *ctx, const char *text, struct frozen_input *out)
{
    const char *equals = strrchr(text, '=');
    const char *at = equals ? equals + 1 : "";
    double *numbers = arena_array(&ctx->perm, double, strlen(at) / 2 + 1);

    *out = (struct frozen_input){ .numbers = numbers };
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
    diag_help(ctx, "leave out the one that is not meant");
    return false;
}

/* What the options say of limits (base/limit.def); a name there is an option's name. */
static bool read_limits(struct cli *cli)
{
    static const enum option_id options[LIMIT_COUNT] = {
#define LIMIT(symbol, option, kind, base, scale, what) [LIMIT_##symbol] = OPTION_MAX_##symbol,
#include "base/limit.def"
#undef LIMIT
    };
    struct ctx *ctx = cli->ctx;
    bool ok = true;

    for (int i = 0; i < LIMIT_COUNT; i++) {
        long long count = 0;
        size_t bytes = 0;

        if (!has_option(&cli->args, options[i]))
            continue;
        ok &= limit_is_bytes((enum cost_limit)i)
                  ? option_bytes(ctx, &cli->args, options[i], 0, &bytes)
                  : option_integer(ctx, &cli->args, options[i], 0, &count);
        ctx->limits.given[i] = (int64_t)bytes + count;
        if (ok && !ctx->limits.given[i])
            ok = diag_error(ctx, DIAG_USAGE, NULL, "--%s: a limit of 0 takes no model",
                            option_name(options[i]));
    }
    return ok;
}

struct module *load_model(struct cli *cli)
{
    struct ctx *ctx = cli->ctx;
    const struct option_values *given = &cli->args.options[OPTION_SHAPE];
    struct shape_binding *shapes = arena_array(&ctx->perm, struct shape_binding, given->n);
    const struct option_values *fixed = &cli->args.options[OPTION_FREEZE];
    struct frozen_input *frozen = arena_array(&ctx->perm, struct frozen_input, fixed->n);
    const struct import_options options = {
        .n_shapes = given->n,
        .shapes = shapes,
        .n_frozen = fixed->n,
        .frozen = frozen,
        .external_data_dir = option_text(&cli->args, OPTION_EXTERNAL_DATA_DIR, NULL),
    };
    struct map shaped = { .arena = &ctx->perm }, frozen_names = shaped;
    struct module *module;
    bool ok = read_limits(cli);

    for (int i = 0; i < given->n; i++)
        ok &= parse_shape(ctx, given->at[i], &shapes[i]) &&
              is_new(ctx, "shape", shapes[i].name, &shaped);
    for (int i = 0; i < fixed->n; i++)
        ok &= parse_frozen(ctx, fixed->at[i], &frozen[i]) &&
              is_new(ctx, "freeze", frozen[i].name, &frozen_names);
    if (!ok)
        return NULL;
    ctx->diags.input_name = cli->args.operands[0];
    module = read_model(cli, &options);
    if (module && !choose_rounding(cli, module)) {
        module_free(module);
        return NULL;
    }
    return module;
}

/* Multiply-accumulates and elements up to which compile checks passes unasked: a MobileNetV2. */
#define CHECKED_UNASKED 4e8

/* NULL where nothing is to be checked. */
static struct validation *begin_validation(struct cli *cli, struct module *module)
{
    const struct arguments *args = &cli->args;
    const bool asked = has_option(args, OPTION_CHECK_PASSES) || args->command == COMMAND_VERIFY;
    const struct validation_options options = {
        .seed = 1,
        .limit = asked ? 0 : CHECKED_UNASKED,
        .log = has_option(args, OPTION_TIME_PASSES) && asked ? stderr : NULL,
    };

    if (has_option(args, OPTION_NO_CHECK_PASSES) || !(asked || args->command == COMMAND_COMPILE))
        return NULL;
    return validation_new(module, &options);
}

/* What was checked, and what could not be, for who asked. */
static void end_validation(struct cli *cli, struct validation *validation)
{
    if (validation && has_option(&cli->args, OPTION_CHECK_PASSES)) {
        if (validation_is_blind(validation))
            diag_warn(cli->ctx, DIAG_MEANING, NULL,
                      "--check-passes: the network cannot be evaluated on inputs made up for it, "
                      "so no pass was checked");
        else
            say(cli, "passes  %d steps keep what the network computes\n",
                validation_n_steps(validation));
    }
    validation_free(validation);
}

static bool run_all_passes(struct cli *cli, struct module *module, struct validation *validation)
{
    const struct pipeline_options options = {
        .dump_after = option_text(&cli->args, OPTION_DUMP_AFTER, NULL),
        .time_passes = has_option(&cli->args, OPTION_TIME_PASSES),
        .stats = has_option(&cli->args, OPTION_STATS),
        .keep_recurrent = precision_keeps_recurrent(cli),
        .log = stderr,
        .validation = validation,
    };
    struct pipeline_options part = options;

    collect_for_precision(cli, module);
    part.part = PIPELINE_PREPARE;
    if (!pipeline_run(module, &part) ||
        (precision_wanted(cli) && !run_precision(cli, module, &options)) ||
        (offload_wanted(cli) && !run_offload(cli, module, &options)))
        return false;
    part.part = PIPELINE_FUSE;
    if (!pipeline_run(module, &part) || !check_graph_regions(cli, module) ||
        (validation && !validation_end(validation, module)))
        return false;
    note_offload(cli, module);
    return true;
}

bool run_passes(struct cli *cli, struct module *module)
{
    struct validation *validation = begin_validation(cli, module);
    const bool ok = run_all_passes(cli, module, validation);

    if (ok)
        end_validation(cli, validation);
    else
        validation_free(validation);
    return ok;
}

/* All passes in order: quantisation and the partitioner stand before those that make regions. */
struct listed {
    const char *name, *purpose;
    const char *option; /* without which it does not run; NULL = it always does */
};

static void list_quantize(struct listed *list, int *n)
{
    for (int i = 0; quantize_step(i); i++)
        list[(*n)++] =
            (struct listed){ quantize_step(i)->name, quantize_step(i)->purpose, "precision" };
}

static struct listed *all_passes(struct arena *arena, int *n)
{
    int n_passes, n_steps, n_quantize = 0;
    const struct pass *passes = pipeline_passes(&n_passes);
    const struct partition_pass *steps = partition_passes(&n_steps);
    struct listed *list;

    while (quantize_step(n_quantize))
        n_quantize++;
    list = arena_array(arena, struct listed, n_passes + n_steps + n_quantize);
    *n = 0;
    for (int i = 0; i < n_passes; i++) {
        if (i == n_passes - PIPELINE_N_FUSE) {
            list_quantize(list, n);
            for (int j = 0; j < n_steps; j++)
                list[(*n)++] = (struct listed){ steps[j].name, steps[j].purpose, "offload" };
        }
        list[(*n)++] = (struct listed){ passes[i].name, passes[i].purpose, NULL };
    }
    return list;
}

static bool check_dump_of(struct cli *cli, const struct listed *pass)
{
    if (!pass->option || has_option(&cli->args, OPTION_OFFLOAD) ||
        has_option(&cli->args, OPTION_PRECISION) || has_option(&cli->args, OPTION_QTABLE))
        return true;
    return diag_error(cli->ctx, DIAG_USAGE, NULL, "--dump-after: '%s' does not run without --%s",
                      pass->name, pass->option);
}

bool check_dump_option(struct cli *cli)
{
    const char *wanted = option_text(&cli->args, OPTION_DUMP_AFTER, "all");
    int n;
    const struct listed *passes = all_passes(&cli->ctx->perm, &n);
    const char **names = arena_array(&cli->ctx->perm, const char *, n);
    const char *nearest;

    for (int i = 0; i < n; i++) {
        names[i] = passes[i].name;
        if (strcmp(names[i], wanted) == 0)
            return check_dump_of(cli, &passes[i]);
    }
    if (strcmp(wanted, "all") == 0)
        return true;
    diag_error(cli->ctx, DIAG_USAGE, NULL, "--dump-after: there is no pass '%s'",
               str_safe(&cli->ctx->perm, wanted, 80));
    nearest = str_nearest(wanted, names, (size_t)n);
    if (nearest)
        diag_help(cli->ctx, "did you mean '%s'?", nearest);
    else
        diag_help(cli->ctx, "--passes lists them");
    return false;
}

void list_passes(struct cli *cli)
{
    int n;
    const struct listed *passes = all_passes(&cli->ctx->perm, &n);

    for (int i = 0; i < n; i++)
        printf("%2d  %-21s %s%s%s%s\n", i + 1, passes[i].name, passes[i].purpose,
               passes[i].option ? " (--" : "", passes[i].option ? passes[i].option : "",
               passes[i].option ? ")" : "");
}
