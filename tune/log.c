/* log.c - see log.h. */
#include "tune/log.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

enum { VERSION = 1, MOST_ERRORS = 10 };

static const char *const verdicts[] = {
    [VERDICT_OK] = "ok", [VERDICT_WRONG] = "wrong", [VERDICT_FAILED] = "failed"
};

double trial_score(const struct trial *trial)
{
    return trial->cold_ratio > 0 ? cbrt(trial->warm_ratio * trial->warm_ratio * trial->cold_ratio)
                                 : trial->warm_ratio;
}

bool trial_same_key(const struct trial *trial, const struct tune_key *key)
{
    return strcmp(trial->key.target, key->target) == 0 &&
           strcmp(trial->key.compiler, key->compiler) == 0 &&
           strcmp(trial->key.flags, key->flags) == 0 && strcmp(trial->key.cpu, key->cpu) == 0 &&
           strcmp(trial->key.runner, key->runner) == 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct line {
    struct ctx *ctx;
    const char *path;
    int number;
    const cJSON *json;
    bool ok;
};

/* Once for a line. */
static void complain(struct line *line, const char *what, const char *member)
{
    if (line->ok)
        diag_error(line->ctx, DIAG_TUNE_LOG, NULL, "%s:%d: %s%s", line->path, line->number, what,
                   member);
    line->ok = false;
}

static const char *read_text(struct line *line, const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    if (cJSON_IsString(item))
        return arena_strdup(&line->ctx->perm, item->valuestring);
    complain(line, "there is no text ", name);
    return "";
}

/* 0 where it may be missing, and is. */
static double read_number(struct line *line, const char *name, bool needed)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line->json, name);

    if (!item && !needed)
        return 0;
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble) && item->valuedouble >= 0)
        return item->valuedouble;
    complain(line, "missing number >= 0: ", name);
    return 0;
}

static void read_knobs(struct line *line, struct trial *trial)
{
    const cJSON *knobs = cJSON_GetObjectItemCaseSensitive(line->json, "knobs");
    const cJSON *item;

    if (!cJSON_IsObject(knobs)) {
        complain(line, "missing object ", "knobs");
        return;
    }
    cJSON_ArrayForEach(item, knobs)
    {
        const enum knob knob = knob_find(item->string);

        if (!cJSON_IsString(item))
            complain(line, "expected a text as the value of the knob ",
                     str_safe(&line->ctx->perm, item->string, 60));
        else if (knob == KNOB_COUNT)
            trial->unknown = arena_strdup(&line->ctx->perm, item->string);
        else
            trial->choice.value[knob] = arena_strdup(&line->ctx->perm, item->valuestring);
    }
}

static enum verdict read_verdict(struct line *line)
{
    const char *text = read_text(line, line->json, "verdict");

    for (int i = 0; i < (int)(sizeof verdicts / sizeof *verdicts); i++)
        if (strcmp(verdicts[i], text) == 0)
            return (enum verdict)i;
    complain(line, "verdict is ok, wrong or failed, not ", str_safe(&line->ctx->perm, text, 60));
    return VERDICT_FAILED;
}

static struct trial read_trial(struct line *line)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(line->json, "relayc_tune");
    struct trial trial = { .reason = "" };

    if (!cJSON_IsNumber(version) || version->valueint != VERSION) {
        complain(line,
                 "it is not a line of a tuning log of this version: ", "relayc_tune is not 1");
        return trial;
    }
    trial.region = read_text(line, line->json, "region");
    trial.key = (struct tune_key){ .target = read_text(line, line->json, "target"),
                                   .compiler = read_text(line, line->json, "compiler"),
                                   .flags = read_text(line, line->json, "flags"),
                                   .cpu = read_text(line, line->json, "cpu"),
                                   .runner = read_text(line, line->json, "runner") };
    read_knobs(line, &trial);
    trial.kernel = read_text(line, line->json, "kernel");
    trial.confirmed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line->json, "confirmed")) != 0;
    trial.verdict = read_verdict(line);
    if (trial.verdict == VERDICT_FAILED)
        trial.reason = read_text(line, line->json, "reason");
    trial.error = read_number(line, "error", trial.verdict == VERDICT_WRONG);
    trial.warm = read_number(line, "warm_us", trial.verdict == VERDICT_OK) * 1e-6;
    trial.usual_warm = read_number(line, "usual_warm_us", trial.verdict == VERDICT_OK) * 1e-6;
    trial.warm_ratio = read_number(line, "warm_ratio", trial.verdict == VERDICT_OK);
    trial.cold = read_number(line, "cold_us", false) * 1e-6;
    trial.usual_cold = read_number(line, "usual_cold_us", false) * 1e-6;
    trial.cold_ratio = read_number(line, "cold_ratio", false);
    return trial;
}

void tune_log_add(struct ctx *ctx, struct tune_log *log, const struct trial *trial)
{
    if (log->n == log->capacity) {
        const int capacity = log->capacity ? 2 * log->capacity : 64;
        struct trial *grown = arena_array(&ctx->perm, struct trial, capacity);

        if (log->n)
            memcpy(grown, log->at, (size_t)log->n * sizeof *grown);
        log->at = grown;
        log->capacity = capacity;
    }
    log->at[log->n++] = *trial;
}

static bool read_line(struct ctx *ctx, const char *path, int number, const char *text, size_t n,
                      struct tune_log *log)
{
    struct line line = { .ctx = ctx, .path = path, .number = number, .ok = true };
    cJSON *json = cJSON_ParseWithLength(text, n);
    struct trial trial;

    line.json = json;
    if (!cJSON_IsObject(json)) {
        complain(&line, "the line is no JSON object", "");
    } else {
        trial = read_trial(&line);
        if (line.ok)
            tune_log_add(ctx, log, &trial);
    }
    cJSON_Delete(json);
    return line.ok;
}

bool tune_log_read(struct ctx *ctx, const char *path, struct tune_log *log)
{
    const char *name = str_safe(&ctx->perm, path, 400);
    struct mapping file;
    int number = 0, n_bad = 0;

    if (!file_map(ctx, path, &file))
        return false;
    for (size_t at = 0; at < file.size && n_bad < MOST_ERRORS;) {
        const char *text = (const char *)file.data + at;
        const char *end = memchr(text, '\n', file.size - at);
        const size_t n = end ? (size_t)(end - text) : file.size - at;

        number++;
        if (end && n && !read_line(ctx, name, number, text, n, log)) /* else it was not finished */
            n_bad++;
        at += n + 1;
    }
    file_unmap(&file);
    if (n_bad)
        diag_help(ctx, "remove the line, or tune into a new file");
    return n_bad == 0;
}

const struct trial *tune_log_find(const struct tune_log *log, const struct tune_key *key,
                                  const char *region, const struct choice *choice, bool confirmed)
{
    for (int i = log->n; i-- > 0;)
        if (log->at[i].confirmed == confirmed && strcmp(log->at[i].region, region) == 0 &&
            !log->at[i].unknown && choice_equal(&log->at[i].choice, choice) &&
            trial_same_key(&log->at[i], key))
            return &log->at[i];
    return NULL;
}

/* --- writing ---------------------------------------------------------------------------------- */

struct tune_file {
    struct ctx *ctx;
    const char *path;
    FILE *out;
};

/* Cuts off what stands behind the last end of a line. */
static bool cut_torn_line(FILE *file)
{
    long end;
    int c = 0;

    if (fseek(file, 0, SEEK_END) || (end = ftell(file)) < 0)
        return false;
    while (end > 0 && c != '\n') {
        if (fseek(file, --end, SEEK_SET))
            return false;
        c = fgetc(file);
    }
    if (c == '\n')
        end++;
    return fflush(file) == 0 && ftruncate(fileno(file), end) == 0 && fseek(file, 0, SEEK_END) == 0;
}

static bool cannot_write(struct tune_file *file)
{
    return diag_error(file->ctx, DIAG_FILE_WRITE, NULL, "cannot write %s: %s",
                      str_safe(&file->ctx->perm, file->path, 400), strerror(errno));
}

struct tune_file *tune_file_open(struct ctx *ctx, const char *path)
{
    struct tune_file *file = arena_new(&ctx->perm, struct tune_file);

    *file = (struct tune_file){ .ctx = ctx, .path = path, .out = fopen(path, "r+b") };
    if (!file->out && errno == ENOENT)
        file->out = fopen(path, "w+bx");
    if (!file->out || !cut_torn_line(file->out)) {
        cannot_write(file);
        if (file->out)
            fclose(file->out);
        return NULL;
    }
    return file;
}

static void add_times(cJSON *json, const struct trial *trial)
{
    cJSON_AddNumberToObject(json, "error", trial->error);
    cJSON_AddNumberToObject(json, "warm_us", trial->warm * 1e6);
    cJSON_AddNumberToObject(json, "usual_warm_us", trial->usual_warm * 1e6);
    cJSON_AddNumberToObject(json, "warm_ratio", trial->warm_ratio);
    if (trial->cold_ratio > 0) {
        cJSON_AddNumberToObject(json, "cold_us", trial->cold * 1e6);
        cJSON_AddNumberToObject(json, "usual_cold_us", trial->usual_cold * 1e6);
        cJSON_AddNumberToObject(json, "cold_ratio", trial->cold_ratio);
    }
    features_add_json(&trial->features, json);
}

static cJSON *trial_json(const struct trial *trial)
{
    cJSON *json = cJSON_CreateObject(), *knobs;

    cJSON_AddNumberToObject(json, "relayc_tune", VERSION);
    cJSON_AddStringToObject(json, "region", trial->region);
    cJSON_AddStringToObject(json, "target", trial->key.target);
    cJSON_AddStringToObject(json, "compiler", trial->key.compiler);
    cJSON_AddStringToObject(json, "flags", trial->key.flags);
    cJSON_AddStringToObject(json, "cpu", trial->key.cpu);
    cJSON_AddStringToObject(json, "runner", trial->key.runner);
    knobs = cJSON_AddObjectToObject(json, "knobs");
    for (int k = 0; k < KNOB_COUNT; k++)
        if (trial->choice.value[k])
            cJSON_AddStringToObject(knobs, knob_name((enum knob)k), trial->choice.value[k]);
    cJSON_AddStringToObject(json, "kernel", trial->kernel);
    cJSON_AddBoolToObject(json, "confirmed", trial->confirmed);
    cJSON_AddStringToObject(json, "verdict", verdicts[trial->verdict]);
    if (trial->verdict == VERDICT_FAILED)
        cJSON_AddStringToObject(json, "reason", trial->reason);
    else if (trial->verdict == VERDICT_WRONG)
        cJSON_AddNumberToObject(json, "error", trial->error);
    else
        add_times(json, trial);
    return json;
}

bool tune_file_append(struct tune_file *file, const struct trial *trial)
{
    cJSON *json = trial_json(trial);
    char *text = cJSON_PrintUnformatted(json);
    bool ok;

    if (!text)
        out_of_memory(0);
    ok = fprintf(file->out, "%s\n", text) > 0 && fflush(file->out) == 0;
    cJSON_free(text);
    cJSON_Delete(json);
    return ok || cannot_write(file);
}

bool tune_file_close(struct tune_file *file)
{
    return !file || fclose(file->out) == 0 || cannot_write(file);
}

/* --- applying --------------------------------------------------------------------------------- */

static bool is_winner(const struct trial *trial, const char *target)
{
    return trial->confirmed && trial->verdict == VERDICT_OK &&
           strcmp(trial->key.target, target) == 0 && trial_score(trial) <= 1 - TUNE_LEAST_GAIN;
}

static void warn_unknown(struct ctx *ctx, const struct trial *trial)
{
    diag_warn(ctx, DIAG_TUNE_STALE, NULL, "the tuning log has an unknown knob: '%s'",
              str_safe(&ctx->perm, trial->unknown, 60));
    diag_help(ctx, "it is from another version of relayc; tune again");
}

struct choices tune_log_best(struct ctx *ctx, const struct tune_log *log, const char *target)
{
    struct map best = { .arena = &ctx->perm };
    struct choices choices = { .by_signature = { .arena = &ctx->perm } };

    for (int i = 0; i < log->n; i++) {
        struct trial *trial = &log->at[i];
        const struct trial *other;

        if (!is_winner(trial, target))
            continue;
        if (trial->unknown) {
            warn_unknown(ctx, trial);
            continue;
        }
        other = map_get(&best, trial->region);
        if (!other || trial_score(trial) < trial_score(other))
            map_set(&best, trial->region, trial);
    }
    for (size_t i = 0; i < best.n; i++)
        map_set(&choices.by_signature, best.entries[i].key,
                &((struct trial *)best.entries[i].value)->choice);
    return choices;
}
