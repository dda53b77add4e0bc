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

static enum option_id limit_option(const struct driver_state *driver)
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
                : precision_parse(driver->ctx, "--precision", text ? text : "f32", p);
    if (params && text && strcmp(text, "fp8w") == 0) {
        p->mode = PRECISION_FP8W;
        p->has_data = false;
    }
    ok = ok && check_format_named(driver, text ? text : "");
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

/* What is about quantised values only. */
static const enum option_id companions[] = {
    OPTION_SMOOTH,     OPTION_KEEP_F32,      OPTION_KEEP_FIRST,
    OPTION_KEEP_LAST,  OPTION_TOPK,          OPTION_CALIB,
    OPTION_SCALE,      OPTION_SCALE_WEIGHTS, OPTION_BIAS_CORRECTION,
    OPTION_ARITHMETIC, OPTION_QUANTIZED_IO,  OPTION_QUANTIZE_LOG,
    OPTION_FORMATS,    OPTION_LOSS,          OPTION_CALIB_DATA,
    OPTION_ROUND
};

static bool searches_data(const struct precision *p)
{
    return p->has_data_scale && p->data_scale.kind == SCALE_SEARCH;
}

static bool searches(const struct precision *p)
{
    return p->weight_scale.kind == SCALE_SEARCH || searches_data(p);
}

/* Whether the search may choose each of --formats for something. */
static bool check_formats(struct driver_state *driver, const struct quantize_options *options)
{
    const struct precision *p = &options->precision;
    int n_data = 0;
    bool ok = true;

    for (int i = 0; i < options->n_formats; i++) {
        const struct number_format *format = &options->formats[i];
        const bool data = searches_data(p) && search_takes(p, format, true);

        n_data += data;
        if (!data && (p->weight_scale.kind != SCALE_SEARCH || !search_takes(p, format, false)))
            ok = diag_error(
                driver->ctx, DIAG_USAGE, NULL,
                "--formats: precision %s cannot compute with %s of %s", precision_name(p->mode),
                p->weight_scale.kind == SCALE_SEARCH ? "weights" : "data", format->name);
    }
    if (ok && searches_data(p) && options->n_formats && !n_data)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--formats: no format for data, which --scale search needs");
    if (!ok)
        diag_help(driver->ctx, "%s",
                  p->mode == PRECISION_INT8 ? "int8 computes with i8 alone"
                                            : "data can be of FP8: f8e4m3, f8e3m4, f8e5m2 ...");
    return ok;
}

static bool says_nothing(struct driver_state *driver, enum option_id option, const char *without)
{
    return diag_error(driver->ctx, DIAG_USAGE, NULL, "--%s has no effect without %s",
                      option_name(option), without);
}

/* Whether integers can compute with the format; an error that says where it was named, else. Other
 * numbers than narrow floats are no concern of --arithmetic. */
static bool has_integers(struct driver_state *driver, const char *where,
                         const struct number_format *format)
{
    const struct minifloat *codec = &format->codec;

    if (dtype_kind(format->dtype) != KIND_MINIFLOAT || format->chooses_bias ||
        (minifloat_bits(codec) == 8 && exact_greatest(codec) > 0))
        return true;
    return diag_error(driver->ctx, DIAG_USAGE, NULL,
                      minifloat_bits(codec) == 8
                          ? "%s: %s has no --arithmetic integer: its range is so large that a "
                            "product needs more than 64 bits"
                          : "%s: %s has no --arithmetic integer: it needs an 8-bit format",
                      where, format->name);
}

/* With --arithmetic integer all formats of FP8 must have an exact form. */
static bool check_exact_formats(struct driver_state *driver, const struct quantize_options *options)
{
    const struct qtable *qtable = options->qtable;
    const struct precision *p = &options->precision;
    bool ok = true;

    if (!options->exact)
        return true;
    if (p->mode == PRECISION_FP8) {
        ok = has_integers(driver, "--precision", &p->data) && ok;
        if (strcmp(p->data.name, p->weights.name) != 0)
            ok = has_integers(driver, "--precision", &p->weights) && ok;
    }
    for (int i = 0; i < options->n_formats; i++)
        ok = has_integers(driver, "--formats", &options->formats[i]) && ok;
    for (int i = 0; qtable && i < qtable->n; i++) {
        const struct qtable_row *row = &qtable->rows[i];
        const char *where = arena_printf(&driver->ctx->perm, "%s:%d", qtable->path, row->line);

        if (row->precision.mode == PRECISION_FP8)
            ok = has_integers(driver, where, &row->precision.data) &&
                 has_integers(driver, where, &row->precision.weights) && ok;
    }
    if (!ok)
        diag_help(
            driver->ctx,
            "f8e4m3, f8e3m4, f8e2m5, f8e4m3fnuz, hfp8_143 and, for data, u8e4m4, u8e3m5 and u8e2m6 "
            "have it (docs/guide/fp8.md); or do without --arithmetic integer");
    return ok;
}

/* Which a qtable may bring, row by row. */
static bool check_precision(struct driver_state *driver, const struct precision_request *r)
{
    const struct precision *p = &r->options.precision;
    bool ok = check_exact_formats(driver, &r->options);

    if (r->options.qtable)
        return ok;
    if (has_option(&driver->args, OPTION_SCALE) && !p->has_data) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--scale has no effect with --precision %s, whose data is f32",
                        precision_name(p->mode));
        diag_help(driver->ctx, "the rule for weights is --scale-weights");
    }
    if (r->options.exact && p->mode != PRECISION_FP8)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--arithmetic integer is for --precision fp8, not %s",
                        precision_name(p->mode));
    if (has_option(&driver->args, OPTION_FORMATS) && !searches(p))
        ok = says_nothing(driver, OPTION_FORMATS, "--scale search or --scale-weights search");
    else if (has_option(&driver->args, OPTION_FORMATS))
        ok = check_formats(driver, &r->options) && ok;
    if (has_option(&driver->args, OPTION_LOSS) && driver->args.command != COMMAND_SEARCH &&
        !searches(p) && !r->options.topk && !has_option(&driver->args, OPTION_QUANTIZE_LOG))
        ok = says_nothing(driver, OPTION_LOSS, "--topk, a search or --quantize-log");
    return ok;
}

/* What changes nothing is a mistake. */
static bool check_companions(struct driver_state *driver, const struct precision_request *r)
{
    const bool is_eval = driver->args.command == COMMAND_EVAL;
    bool ok = true;

    if (!r->data && !is_eval && has_option(&driver->args, OPTION_PREPROCESS))
        ok = says_nothing(driver, OPTION_PREPROCESS, "--data");
    if (!r->data && has_option(&driver->args, limit_option(driver)))
        ok = says_nothing(driver, limit_option(driver), is_eval ? "--calib-data" : "--data");
    if (!r->data && !is_eval && has_option(&driver->args, OPTION_SAMPLES))
        ok = says_nothing(driver, OPTION_SAMPLES, "--data");
    if (quantize_wanted(&r->options))
        return check_precision(driver, r) && ok;
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++)
        if (has_option(&driver->args, companions[i]))
            ok = says_nothing(driver, companions[i], "--precision or --qtable");
    if (!is_eval && driver->args.command != COMMAND_VERIFY &&
        has_option(&driver->args, OPTION_DATA))
        ok = says_nothing(driver, OPTION_DATA, "--precision or --qtable");
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
    ok = parse_split(driver, r) && ok;
    ok = read_files(driver, r) && ok;
    ok = ok && check_companions(driver, r);
    if (r->has_broken_qtable)
        check_names(driver, &r->qtable);
    return ok;
}
