#include "driver/commands/eval_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* --- options ---------------------------------------------------------------------------------- */

static bool add_metric(struct driver_state *driver, struct eval_request *r, const char *name)
{
    enum metric metric;

    if (!metric_parse(name, &metric)) {
        diag_error(driver->ctx, DIAG_USAGE, NULL, "--metric: unknown metric '%s'",
                   str_safe(&driver->ctx->perm, name, 80));
        diag_help(driver->ctx, "metrics are %s", metric_list(&driver->ctx->perm));
        return false;
    }
    if (!r->task.wanted[metric])
        r->metrics[r->n_metrics++] = metric;
    r->task.wanted[metric] = true;
    return true;
}

static bool parse_metrics(struct driver_state *driver, struct eval_request *r)
{
    const char *at = option_text(&driver->args, OPTION_METRIC, NULL);
    bool ok = true;

    if (!at) {
        diag_error(driver->ctx, DIAG_USAGE, NULL, "'relayc %s' needs --metric",
                   command_name(driver->args.command));
        diag_help(driver->ctx, "metrics are %s", metric_list(&driver->ctx->perm));
        return false;
    }
    while (ok && at) {
        const char *comma = strchr(at, ',');
        const size_t n = comma ? (size_t)(comma - at) : strlen(at);

        ok = add_metric(driver, r, arena_strndup(&driver->ctx->perm, at, n));
        at = comma ? comma + 1 : NULL;
    }
    return ok;
}

static bool needs(const struct eval_request *r, enum labels labels)
{
    for (int i = 0; i < r->n_metrics; i++)
        if (metric_labels(r->metrics[i]) == labels)
            return true;
    return false;
}

/* "CLASS" or "CLASS:SHARE" */
static bool parse_present(struct driver_state *driver, struct eval_request *r)
{
    const char *text = option_text(&driver->args, OPTION_PRESENT, NULL);
    char *end;
    long class;

    if (!text)
        return true;
    r->is_present = true;
    class = strtol(text, &end, 10);
    if (end != text && *end == ':') {
        text = end + 1;
        r->present_share = strtod(text, &end);
    }
    r->present_class = (int)class;
    if (end != text && !*end && class >= 0 && class < 1 << 20 && r->present_share >= 0 &&
        r->present_share <= 1)
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--present: '%s' is neither CLASS nor CLASS:SHARE",
               str_safe(&driver->ctx->perm, option_text(&driver->args, OPTION_PRESENT, ""), 80));
    diag_help(driver->ctx, "0:0.005 means boxes of class 0 that cover half a percent of the image");
    return false;
}

static bool parse_decoding(struct driver_state *driver, struct eval_request *r)
{
    const char *text = option_text(&driver->args, OPTION_DECODE, NULL);
    struct decoding *d = &r->task.decoding;
    long long most;
    bool ok;

    *d = decoding_default();
    ok = option_real(driver->ctx, &driver->args, OPTION_LEAST_SCORE, d->least_score,
                     &d->least_score);
    ok = option_real(driver->ctx, &driver->args, OPTION_IOU, d->iou, &d->iou) && ok;
    ok = option_integer(driver->ctx, &driver->args, OPTION_BOXES, d->most, &most) && ok;
    d->most = most < 1 << 20 ? most : 1 << 20;
    if (text && !decoder_parse(text, &d->decoder)) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--decode: unknown decoder '%s'",
                        str_safe(&driver->ctx->perm, text, 80));
        diag_help(driver->ctx, "decoders are %s", decoder_list(&driver->ctx->perm));
    } else if (needs(r, LABELS_BOXES) && !text) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "map and map50 need --decode, the output format of the detector");
        diag_help(driver->ctx, "decoders are %s (docs/guide/eval.md)",
                  decoder_list(&driver->ctx->perm));
    }
    return ok;
}

static bool check_labels(struct driver_state *driver, const struct eval_request *r)
{
    const bool is_search = driver->args.command == COMMAND_SEARCH;
    const bool classes = needs(r, LABELS_CLASSES), boxes = needs(r, LABELS_BOXES);
    bool ok = true;

    if (!r->data)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "'relayc %s' needs --data",
                        command_name(driver->args.command));
    if (is_search && needs(r, LABELS_FLOATS))
        ok = diag_error(
            driver->ctx, DIAG_USAGE, NULL,
            "relayc search compares with the float model by --measure, without --metric");
    if (!r->labels && (classes || boxes)) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--labels are needed to judge answers");
        diag_help(driver->ctx, "a file of lines 'FILE LABEL', or for boxes a folder of YOLO's .txt "
                               "files (docs/guide/eval.md)");
    }
    if (classes && boxes && !r->is_present)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "metrics for classes and for boxes cannot be combined");
    if (r->is_present && !classes)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--present has no effect without top1, accuracy or auc");
    if (has_option(&driver->args, OPTION_DECODE) && !boxes)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--decode has no effect without map or map50");
    return ok;
}

bool eval_request_parse(struct driver_state *driver, struct eval_request *r)
{
    const struct arguments *args = &driver->args;
    const char *how = option_text(args, OPTION_PREPROCESS, NULL);
    bool ok;

    *r = (struct eval_request){ .data = option_text(args, OPTION_DATA, NULL),
                                .labels = option_text(args, OPTION_LABELS, NULL),
                                .has_how = how != NULL };
    ok = parse_metrics(driver, r);
    ok = parse_present(driver, r) && ok;
    ok = parse_decoding(driver, r) && ok;
    ok = option_integer(driver->ctx, args, OPTION_LIMIT, 0, &r->limit) && ok;
    ok = split_parse(driver, &r->split) && ok;
    r->split.calibrates_others = has_option(args, OPTION_CALIB_DATA) && r->data &&
                                 strcmp(option_text(args, OPTION_CALIB_DATA, ""), r->data) != 0;
    ok = option_real(driver->ctx, args, OPTION_CUT, 0.5, &r->task.cut) && ok;
    ok = check_labels(driver, r) && ok;
    return (!how || preprocessing_read(driver->ctx, how, &r->how)) && ok;
}

/* --- data ------------------------------------------------------------------------------------- */

/* Evenly: classes may stand one behind the other. */
static int64_t place_of(const struct eval_data *data, int64_t index)
{
    const int64_t at = index * data->n_part / data->source.n;

    return data->part ? data->part[at] : at;
}

static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct eval_data *data = user;

    return samples_load(data->samples, ctx, bulk, place_of(data, index), inputs);
}

static const char **list_paths(struct driver_state *driver, const struct eval_data *data, bool all)
{
    const int64_t n = all ? data->n_there : data->source.n;
    const char **paths = arena_array(&driver->ctx->perm, const char *, n);

    for (int64_t i = 0; i < n; i++) {
        paths[i] = samples_path(data->samples, all ? i : place_of(data, i));
        if (!paths[i])
            return NULL;
    }
    return paths;
}

/* Of all samples, so that a label of none of them shows; then of those that are chosen. */
static bool read_classes(struct driver_state *driver, const struct eval_request *r,
                         struct eval_data *data)
{
    const int *all;

    if (!truth_read_classes(driver->ctx, r->labels, list_paths(driver, data, true), data->n_there,
                            &data->truth))
        return false;
    all = data->truth.classes;
    data->truth.n = data->source.n;
    data->truth.classes = arena_array(&driver->ctx->perm, int, data->source.n);
    for (int64_t i = 0; i < data->source.n; i++)
        data->truth.classes[i] = all[place_of(data, i)];
    return true;
}

static bool read_labels(struct driver_state *driver, const struct eval_request *r,
                        struct eval_data *data)
{
    if (needs(r, LABELS_CLASSES) && !r->is_present)
        return read_classes(driver, r, data);
    if (!r->is_present && !needs(r, LABELS_BOXES))
        return true;
    if (!truth_read_boxes(driver->ctx, r->labels, list_paths(driver, data, false), data->source.n,
                          &data->truth))
        return false;
    if (r->is_present)
        truth_is_present(driver->ctx, &data->truth, r->present_class, r->present_share);
    return true;
}

bool eval_data_open(struct driver_state *driver, struct eval_request *r, const struct function *fn,
                    struct eval_data *data)
{
    *data = (struct eval_data){ .samples = samples_open(driver->ctx, r->data, fn,
                                                        r->has_how ? &r->how : NULL) };
    if (!data->samples)
        return false;
    data->n_there = data->n_part = samples_count(data->samples);
    if (r->split.part != SPLIT_ALL) {
        data->part = split_samples(driver->ctx, &r->split, data->samples, &data->n_part);
        if (!data->part)
            return false;
    }
    data->source = (struct calibration_source){ .n = data->n_part, .load = load, .user = data };
    if (r->limit > 0 && r->limit < data->n_part)
        data->source.n = r->limit;
    r->task.truth = &data->truth;
    r->task.decoding.how = r->has_how ? &r->how : NULL;
    if (needs(r, LABELS_FLOATS))
        r->task.reference = reference_new(driver->ctx, fn, data->source.n);
    if (needs(r, LABELS_FLOATS) && !r->task.reference)
        return false;
    data->reference = r->task.reference;
    return read_labels(driver, r, data) && task_check(driver->ctx, &r->task, fn);
}

void eval_data_close(struct eval_data *data)
{
    reference_free(data->reference);
    samples_close(data->samples);
}
