/* vary.c - the options --vary and --max: names and values, and all combinations of these. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/driver.h"
#include "relay_ir/variants.h"

/* Each is compiled: minutes. */
enum { MAX_VARIANTS = 512 };

bool variants_wanted(const struct driver_state *driver)
{
    return has_option(&driver->args, OPTION_VARY) || has_option(&driver->args, OPTION_MAX);
}

static bool malformed(struct ctx *ctx, enum option_id option, const char *text)
{
    diag_error(ctx, DIAG_USAGE, NULL, "--%s: found '%s', expected NAME=%s", option_name(option),
               str_safe(&ctx->perm, text, 120), option == OPTION_MAX ? "N,..." : "VALUES");
    diag_help(ctx, option == OPTION_MAX ? "for example --max batch=8,time=200"
                                        : "for example --vary time=1..200, --vary time=16..400/16 "
                                          "or --vary time=100,200,400: ascending");
    return false;
}

static bool too_many(struct ctx *ctx, long long n)
{
    diag_error(ctx, DIAG_USAGE, NULL,
               "--vary: %lld combinations of values, each of which is compiled; at most %d", n,
               MAX_VARIANTS);
    diag_help(ctx, "give each 16th, as in --vary time=16..400/16, or a list, as in "
                   "--vary time=100,200,400, and pad the input");
    return false;
}

/* A number of 0 to INT32_MAX; -1 for anything else. */
static long long read_number(const char **at)
{
    char *end;
    long long number;

    if (**at < '0' || **at > '9')
        return -1;
    errno = 0;
    number = strtoll(*at, &end, 10);
    *at = end;
    return errno || number > INT32_MAX ? -1 : number;
}

static bool add_value(struct symbol *symbol, int64_t *values, long long value)
{
    if (value < 0 || (symbol->n && value <= values[symbol->n - 1]) || symbol->n == MAX_VARIANTS)
        return false;
    values[symbol->n++] = value;
    return true;
}

/* Of a range: each step-th up to the last. */
static bool add_range(struct ctx *ctx, struct symbol *symbol, int64_t *values, const char **at,
                      long long first, bool *well_formed)
{
    const long long last = (*at += 2, read_number(at));
    long long step = 1;

    if (**at == '/') {
        ++*at;
        step = read_number(at);
    }
    *well_formed = first >= 0 && last >= first && step > 0;
    if (!*well_formed)
        return false;
    if ((last - first) / step >= MAX_VARIANTS)
        return too_many(ctx, (last - first) / step + 1);
    for (long long value = first; value <= last; value += step)
        if (!add_value(symbol, values, value))
            return *well_formed = false;
    return true;
}

/* "1..200", "16..400/16", "100,200,400". */
static bool read_values(struct ctx *ctx, struct symbol *symbol, const char *at, bool *well_formed)
{
    int64_t *values = arena_array(&ctx->perm, int64_t, MAX_VARIANTS);

    symbol->values = values;
    *well_formed = true;
    for (;;) {
        const long long first = read_number(&at);

        if (str_starts(at, "..")) {
            if (!add_range(ctx, symbol, values, &at, first, well_formed))
                return false;
        } else if (!add_value(symbol, values, first)) {
            return *well_formed = false;
        }
        if (!*at)
            return true;
        if (*at++ != ',')
            return *well_formed = false;
    }
}

/* Two symbols must differ in C, too. */
static bool add_symbol(struct driver_state *driver, struct variants *variants, const char *name,
                       struct symbol *symbol)
{
    struct ctx *ctx = driver->ctx;

    symbol->name = name;
    symbol->c_name = c_identifier(&ctx->perm, name);
    for (int i = 0; i < variants->n_symbols; i++)
        if (strcmp(variants->symbols[i].c_name, symbol->c_name) == 0)
            return diag_error(ctx, DIAG_USAGE, NULL, "--vary: '%s' is given twice",
                              str_safe(&ctx->perm, name, 120));
    if (variants->n_symbols == MAX_SYMBOLS)
        return diag_error(ctx, DIAG_USAGE, NULL, "--vary: more than %d dimensions", MAX_SYMBOLS);
    variants->symbols[variants->n_symbols++] = *symbol;
    return true;
}

static bool read_vary(struct driver_state *driver, struct variants *variants, const char *text)
{
    struct ctx *ctx = driver->ctx;
    const char *equals = strrchr(text, '=');
    struct symbol symbol = { .n = 0 };
    bool well_formed = equals && equals > text;

    if (!well_formed || !read_values(ctx, &symbol, equals + 1, &well_formed))
        return well_formed ? false : malformed(ctx, OPTION_VARY, text);
    return add_symbol(driver, variants, arena_strndup(&ctx->perm, text, (size_t)(equals - text)),
                      &symbol);
}

/* "batch=8,time=200" */
static bool read_max(struct driver_state *driver, struct variants *variants, const char *text)
{
    struct ctx *ctx = driver->ctx;

    for (const char *at = text; *at;) {
        const char *equals = strchr(at, '='), *end = equals ? equals + 1 : "";
        const char *name = equals ? arena_strndup(&ctx->perm, at, (size_t)(equals - at)) : "";
        const long long most = read_number(&end);
        struct symbol symbol = { .n = 0 };
        int64_t *values;

        if (!*name || most <= 0 || (*end && *end != ',') || (*end && !end[1]))
            return malformed(ctx, OPTION_MAX, text);
        if (most > MAX_VARIANTS)
            return too_many(ctx, most);
        values = arena_array(&ctx->perm, int64_t, most);
        while (symbol.n < most) {
            values[symbol.n] = symbol.n + 1;
            symbol.n++;
        }
        symbol.values = values;
        if (!add_symbol(driver, variants, name, &symbol))
            return false;
        at = end + (*end == ',');
    }
    return *text || malformed(ctx, OPTION_MAX, text);
}

/* What is written for one shape. */
static bool check_options(struct driver_state *driver)
{
    static const struct {
        enum option_id option;
        const char *instead;
    } fixed[] = {
        { OPTION_STEP, "relayc verify --shape NAME=VALUE checks each region" },
        { OPTION_PARALLEL, "without it, one core runs the network" },
        { OPTION_IO_IN_ARENA, "without it, inputs and outputs are arrays of the caller" },
        { OPTION_POOL, "without it, there is one arena" },
        { OPTION_SHARE_ARENA, "networks that run one after the other may share the larger arena" },
        { OPTION_SHARED_KERNELS, "compile the networks one by one" },
        { OPTION_BOARD, "--target, --ram and --flash say what the board is" },
        { OPTION_GUARD, "compile with --shape NAME=VALUE and --guard to debug one value" },
        { OPTION_STATE, "states are of a fixed shape: --shape NAME=VALUE" },
        { OPTION_OFFLOAD, "without it, all regions are C" },
        { OPTION_EMIT, "the graph of one value: --shape NAME=VALUE" },
        { OPTION_CC, "measure the objects (size NAME.o); --shape NAME=VALUE verifies one size" },
        { OPTION_DATA, "relayc calibrate --shape NAME=VALUE makes a table for --calib" },
        { OPTION_INPUT, "--shape NAME=VALUE verifies one size with it" },
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (has_option(&driver->args, fixed[i].option)) {
            ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                            "--%s: not with dimensions that are known at run time only (--vary)",
                            option_name(fixed[i].option));
            diag_help(driver->ctx, "%s", fixed[i].instead);
        }
    return ok;
}

/* The combinations, the last values first: of one symbol 400, 200, 100. */
static void combine(struct driver_state *driver, struct variants *variants)
{
    struct arena *arena = &driver->ctx->perm;

    variants->at = arena_array(arena, struct variant, variants->n);
    for (int v = 0; v < variants->n; v++) {
        struct str label = { .arena = arena };
        int rest = variants->n - 1 - v;

        variants->at[v].row = rest;
        for (int s = variants->n_symbols; s-- > 0;) {
            const struct symbol *symbol = &variants->symbols[s];

            variants->at[v].values[s] = symbol->values[rest % symbol->n];
            rest /= symbol->n;
        }
        for (int s = 0; s < variants->n_symbols; s++)
            str_printf(&label, "%s%s_%lld", s ? "_" : "", variants->symbols[s].c_name,
                       (long long)variants->at[v].values[s]);
        variants->at[v].label = str_text(&label);
    }
}

struct variants *variants_read(struct driver_state *driver)
{
    const struct option_values *vary = &driver->args.options[OPTION_VARY];
    const struct option_values *most = &driver->args.options[OPTION_MAX];
    struct variants *variants = arena_new(&driver->ctx->perm, struct variants);
    long long n = 1;
    bool ok = check_options(driver);

    for (int i = 0; i < vary->n; i++)
        ok = read_vary(driver, variants, vary->at[i]) && ok;
    for (int i = 0; i < most->n; i++)
        ok = read_max(driver, variants, most->at[i]) && ok;
    for (int s = 0; s < variants->n_symbols; s++)
        n *= variants->symbols[s].n;
    if (ok && n > MAX_VARIANTS)
        ok = too_many(driver->ctx, n);
    if (!ok)
        return NULL;
    variants->n = (int)n;
    combine(driver, variants);
    return variants;
}

const char *vary_options(const struct driver_state *driver)
{
    static const enum option_id options[] = { OPTION_VARY, OPTION_MAX };
    struct str out = { .arena = &driver->ctx->perm };

    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        for (int i = 0; i < driver->args.options[options[k]].n; i++)
            str_printf(&out, " --%s %s", option_name(options[k]),
                       for_shell(driver, driver->args.options[options[k]].at[i]));
    return str_text(&out);
}
