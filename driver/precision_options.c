/* precision_options.c - --precision and related options: what is asked for. */
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "driver/precision.h"
#include "quantize/format_search.h"
#include "quantize/fp8_params.h"
#include "relay_ir/ops/exact.h"

static bool parse_rule(struct driver_state *driver, enum option_id option, const char *name,
                       struct scale_rule *out, bool *given)
{
    const char *text = option_text(&driver->args, option, NULL);

    *given = text != NULL;
    if (!text || scale_rule_parse(text, out))
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--%s: unknown rule '%s'", name,
               str_safe(&driver->ctx->perm, text, 80));
    diag_help(driver->ctx, "rules are %s", scale_rule_list());
    return false;
}

/* --keep-f32 a,b --keep-f32 c */
static void parse_keep(struct driver_state *driver, struct quantize_options *options)
{
    const struct option_values *given = &driver->args.options[OPTION_KEEP_F32];
    size_t most = 0;
    const char **names;

    for (int i = 0; i < given->n; i++)
        most += strlen(given->at[i]) + 1;
    names = arena_array(&driver->ctx->perm, const char *, most);
    for (int i = 0; i < given->n; i++)
        for (const char *at = given->at[i]; *at;) {
            const size_t n = strcspn(at, ",");

            if (n)
                names[options->n_keep++] = arena_strndup(&driver->ctx->perm, at, n);
            at += n + (at[n] == ',');
        }
    options->keep = names;
}

/* "fp8=", "fp8=,f8e4m3", "fp8=f8e3m4," */
static bool check_format_named(struct driver_state *driver, const char *text)
{
    const char *formats = strchr(text, '=');

    if (!formats || (formats[1] && formats[1] != ',' && !str_ends(formats, ",")))
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--precision: '%s' needs a format",
               str_safe(&driver->ctx->perm, text, 80));
    diag_help(driver->ctx, "for example fp8=f8e3m4, fp8=f8e3m4,f8e4m3 or int8w=i4");
    return false;
}

enum option_id data_option(const struct driver_state *driver)
{
    return driver->args.command == COMMAND_EVAL ? OPTION_CALIB_DATA : OPTION_DATA;
}

enum option_id limit_option(const struct driver_state *driver)
{
    return driver->args.command == COMMAND_EVAL ? OPTION_CALIB_LIMIT : OPTION_LIMIT;
}

/* Do samples choose scales and correct biases by default? Not for compare --calib: it describes compile --calib. */
static bool data_decides(const struct driver_state *driver, const struct precision_request *r)
{
    return r->data &&
           (driver->args.command != COMMAND_COMPARE || !has_option(&driver->args, OPTION_CALIB));
}

static bool parse_precision(struct driver_state *driver, struct precision_request *r)
{
    const char *text = option_text(&driver->args, OPTION_PRECISION, NULL);
    struct precision *p = &r->options.precision;
    const char *params = option_text(&driver->args, OPTION_FP8_PARAMS, NULL);
    struct scale_rule data, weights;
    bool has_data, has_weights, ok;

    if (params && text && strcmp(text, "fp8") != 0 && strcmp(text, "fp8w") != 0)
        return diag_error(driver->ctx, DIAG_USAGE, NULL,
                          "--fp8-params is for --precision fp8, or fp8w");
    if (params && (has_option(&driver->args, OPTION_SCALE) ||
                   has_option(&driver->args, OPTION_SCALE_WEIGHTS)))
        return diag_error(driver->ctx, DIAG_USAGE, NULL,
                          "--fp8-params sets both scales: leave out --scale and --scale-weights");
    ok = params ? fp8_params_parse(driver->ctx, "--fp8-params", params, p)
                : precision_parse(driver->ctx, "--precision", precision_asked_for(driver), p);
    if (params && text && strcmp(text, "fp8w") == 0) {
        p->mode = PRECISION_FP8W;
        p->has_data = false;
    }
    ok = ok && check_format_named(driver, text ? text : "");
    p->chooses_formats = chooses_formats(driver);
    ok = parse_rule(driver, OPTION_SCALE, "scale", &data, &has_data) && ok;
    ok = parse_rule(driver, OPTION_SCALE_WEIGHTS, "scale-weights", &weights, &has_weights) && ok;
    if (has_data) {
        p->data_scale = data;
        p->has_data_scale = true;
    } else {
        r->options.choose_data_scale =
            data_decides(driver, r) && driver->args.command != COMMAND_SEARCH;
    }
    if (has_weights)
        p->weight_scale = weights;
    if (has_weights && weights.kind == SCALE_AUTO)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--scale-weights: auto is a rule for data");
    if (has_data && data.kind == SCALE_AUTO && driver->args.command == COMMAND_SEARCH) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--scale auto: search tries rules itself");
        diag_help(driver->ctx, "--rules selects them, for --strategy sensitive");
    } else if (has_data && data.kind == SCALE_AUTO && !r->data) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--scale auto needs --%s",
                        option_name(data_option(driver)));
    }
    return ok;
}

static bool parse_formats(struct driver_state *driver, struct quantize_options *options)
{
    const char *text = option_text(&driver->args, OPTION_FORMATS, NULL), *wrong;

    if (!text || search_formats_parse(&driver->ctx->perm, text, &options->formats,
                                      &options->n_formats, &wrong))
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--formats: unknown format '%s'",
               str_safe(&driver->ctx->perm, wrong, 80));
    diag_help(driver->ctx, "formats are %s, except block formats",
              number_format_list(&driver->ctx->perm));
    return false;
}

static bool parse_words(struct driver_state *driver, struct precision_request *r)
{
    static const char *const biases[] = { "none", "data", "batch-norm", NULL };
    static const char *const rounds[] = { "nearest", "adaround", "gptq", NULL };
    static const char *const arithmetics[] = { "float", "integer", NULL };
    const char *loss = option_text(&driver->args, OPTION_LOSS, "mse");
    int bias, arithmetic, round;
    bool ok = option_word(driver->ctx, &driver->args, OPTION_BIAS_CORRECTION, biases,
                          data_decides(driver, r) ? BIAS_BY_DATA
                          : is_data_free(driver)  ? BIAS_DATA_FREE
                                                  : BIAS_AS_IS,
                          &bias);

    ok = option_word(driver->ctx, &driver->args, OPTION_ARITHMETIC, arithmetics, 0, &arithmetic) &&
         ok;
    ok = option_word(driver->ctx, &driver->args, OPTION_ROUND, rounds, ROUND_NEAREST, &round) && ok;
    r->options.round = (enum rounding)round;
    if (round != ROUND_NEAREST && !r->data)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--round %s needs --%s", rounds[round],
                        option_name(data_option(driver)));
    r->options.bias = (enum bias_correction)bias;
    r->options.data_free = is_data_free(driver);
    r->options.choose_formats = chooses_formats(driver);
    r->options.exact = arithmetic == 1;
    if (!loss_parse(loss, &r->options.loss))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--loss: '%s' is not mse, mae, snr, kld or cos",
                        str_safe(&driver->ctx->perm, loss, 80));
    if (r->options.bias == BIAS_BY_DATA && !r->data)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--bias-correction data needs --%s",
                        option_name(data_option(driver)));
    ok = option_real(driver->ctx, &driver->args, OPTION_SMOOTH, 0, &r->options.smooth) && ok;
    if (r->options.smooth > 1)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--smooth: %g is not in 0 .. 1",
                        r->options.smooth);
    if (r->options.smooth > 0 && !r->data)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--smooth needs --%s",
                        option_name(data_option(driver)));
    if (r->options.smooth > 0 && has_option(&driver->args, OPTION_CALIB))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--smooth changes the ranges of tensors, so that no --calib table fits");
    if (r->options.equalize && has_option(&driver->args, OPTION_CALIB))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--equalize changes the ranges of tensors, so that no --calib table fits");
    return ok;
}

static bool parse_numbers(struct driver_state *driver, struct precision_request *r)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long long topk, threads;
    bool ok = option_integer(driver->ctx, &driver->args, OPTION_TOPK, 0, &topk);

    ok = option_integer(driver->ctx, &driver->args, OPTION_THREADS, 0, &threads) && ok;
    ok = option_integer(driver->ctx, &driver->args, limit_option(driver), 0, &r->limit) && ok;
    r->options.topk = topk < 1 << 20 ? (int)topk : 1 << 20;
    r->options.n_threads = threads > 0 && threads < 1024 ? (int)threads
                           : cores > 0                   ? (int)cores
                                                         : 1;
    return ok;
}

/* --topk-precision */
static bool parse_kept(struct driver_state *driver, struct precision_request *r)
{
    const char *text = option_text(&driver->args, OPTION_TOPK_PRECISION, NULL);
    struct precision *p = arena_new(&driver->ctx->perm, struct precision);

    if (!text)
        return true;
    r->options.topk_precision = p;
    if (!precision_parse(driver->ctx, "--topk-precision", text, p))
        return false;
    p->chooses_formats = chooses_formats(driver) && !strchr(text, '=');
    return true;
}

/* What else is wrong with a qtable that could not be read: names that the model does not have. */
static void check_names(struct driver_state *driver, const struct qtable *qtable)
{
    struct module *module = load_model(driver);

    if (module && check_no_regions(driver, module, "--qtable") &&
        simplify_floats(driver, module, false))
        qtable_check(driver->ctx, qtable, module->main);
    module_free(module);
}

/* Of eval, --samples is what it tests on: the same data calibrates with another part. */
static bool parse_split(struct driver_state *driver, struct precision_request *r)
{
    const char *judged = option_text(&driver->args, OPTION_DATA, NULL);
    const bool ok = split_parse(driver, &r->split);

    if (driver->args.command == COMMAND_EVAL && r->split.part != SPLIT_ALL)
        r->split.part =
            r->data && judged && strcmp(r->data, judged) == 0 ? SPLIT_CALIBRATION : SPLIT_ALL;
    return ok;
}

static bool read_files(struct driver_state *driver, struct precision_request *r)
{
    const char *qtable = option_text(&driver->args, OPTION_QTABLE, NULL);
    const char *calib = option_text(&driver->args, OPTION_CALIB, NULL);
    const char *how = option_text(&driver->args, OPTION_PREPROCESS, NULL);
    bool ok = true;

    if (qtable) {
        ok = qtable_read(driver->ctx, qtable, &r->qtable);
        if (r->qtable.n || r->qtable.n_broken)
            r->has_broken_qtable = !ok;
        r->options.qtable = &r->qtable;
    }
    if (calib) {
        ok = calib_read(driver->ctx, calib, &r->calib) && ok;
        r->options.calib = &r->calib;
    }
    if (how) {
        ok = preprocessing_read(driver->ctx, how, &r->how) && ok;
        r->has_how = true;
    }
    return ok;
}

bool prepare_precision(struct driver_state *driver)
{
    struct precision_request *r = arena_new(&driver->ctx->perm, struct precision_request);
    bool ok;

    driver->precision = r;
    r->data = option_text(&driver->args, data_option(driver), NULL);
    parse_keep(driver, &r->options);
    r->options.keep_first = has_option(&driver->args, OPTION_KEEP_FIRST);
    r->options.keep_last = has_option(&driver->args, OPTION_KEEP_LAST);
    r->options.equalize = has_option(&driver->args, OPTION_EQUALIZE);
    r->options.quantized_io = has_option(&driver->args, OPTION_QUANTIZED_IO);
    ok = parse_precision(driver, r);
    ok = parse_formats(driver, &r->options) && ok;
    ok = parse_words(driver, r) && ok;
    ok = parse_numbers(driver, r) && ok;
    ok = parse_kept(driver, r) && ok;
    ok = parse_split(driver, r) && ok;
    ok = read_files(driver, r) && ok;
    ok = ok && precision_check_request(driver, r);
    if (r->has_broken_qtable)
        check_names(driver, &r->qtable);
    return ok;
}
