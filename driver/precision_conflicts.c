/* precision_conflicts.c - options of --precision that contradict each other, or change nothing. */
#include <string.h>

#include "driver/precision.h"
#include "quantize/format_search.h"
#include "relay_ir/ops/exact.h"

static bool says_nothing(struct driver_state *driver, enum option_id option, const char *without)
{
    return diag_error(driver->ctx, DIAG_USAGE, NULL, "--%s has no effect without %s",
                      option_name(option), without);
}

/* What is about quantised values only. */
static const enum option_id companions[] = {
    OPTION_SMOOTH,        OPTION_KEEP_F32,        OPTION_KEEP_FIRST, OPTION_KEEP_LAST,
    OPTION_TOPK,          OPTION_TOPK_PRECISION,  OPTION_CALIB,      OPTION_SCALE,
    OPTION_SCALE_WEIGHTS, OPTION_BIAS_CORRECTION, OPTION_ARITHMETIC, OPTION_QUANTIZED_IO,
    OPTION_QUANTIZE_LOG,  OPTION_FORMATS,         OPTION_LOSS,       OPTION_CALIB_DATA,
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

/* What --topk keeps reads f32 data, so that no scale of data has to be known. */
static bool check_kept(struct driver_state *driver, const struct precision_request *r)
{
    const struct precision *p = r->options.topk_precision;

    if (!p)
        return true;
    if (!r->options.topk)
        return says_nothing(driver, OPTION_TOPK_PRECISION, "--topk");
    if (!p->has_data)
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--topk-precision: %s stores data in few bits, too",
               precision_name(p->mode));
    diag_help(driver->ctx,
              "give fp8w, int8w, f16w, bf16w, afp, mxfp8 or mxfp6; a qtable gives each "
              "node any precision");
    return false;
}

/* Which a qtable may bring, row by row. */
static bool check_precision(struct driver_state *driver, const struct precision_request *r)
{
    const struct precision *p = &r->options.precision;
    bool ok = check_exact_formats(driver, &r->options);

    ok = check_kept(driver, r) && ok;
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
bool precision_check_request(struct driver_state *driver, const struct precision_request *r)
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
