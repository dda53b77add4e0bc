/* qtable_read.c - reads a qtable: line by line, field by field. */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "quantize/qtable.h"

enum { MAX_LINE = 1 << 16, MAX_BYTES = 64 << 20, MAX_ROWS = 1 << 17, MAX_ERRORS = 100 };

enum field { FIELD_WEIGHTS, FIELD_DATA, FIELD_SCALE, FIELD_WEIGHT_SCALE, N_FIELDS };

/* In the order in which they stand without keys. */
static const char *const field_keys[N_FIELDS] = {
    [FIELD_WEIGHTS] = "weights",
    [FIELD_DATA] = "data",
    [FIELD_SCALE] = "scale",
    [FIELD_WEIGHT_SCALE] = "scale-weights",
};

static const char row_help[] = "a row is: node_name mode [weights=FORMAT] [data=FORMAT] "
                               "[scale=RULE] [scale-weights=RULE]";

struct reader {
    struct ctx *ctx;
    const char *path; /* as messages show it */
    int line;
    int n_errors;
    int capacity, broken_capacity;
    struct qtable *out;
};

static bool row_error(struct reader *r, const char *format, const char *what)
{
    const char *text = arena_printf(&r->ctx->perm, format, str_safe(&r->ctx->perm, what, 80));

    r->n_errors++;
    return diag_error(r->ctx, DIAG_QTABLE, NULL, "%s:%d: %s", r->path, r->line, text);
}

/* --- fields ----------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* The byte that the escape at `at` (a backslash) stands for; its length, 0 if it is none. */
static int unescape(const char *at, char *out)
{
    if (at[1] == '"' || at[1] == '\\') {
        *out = at[1];
        return 2;
    }
    if (at[1] != 'x' || hex_digit(at[2]) < 0 || hex_digit(at[3]) < 0)
        return 0;
    *out = (char)(hex_digit(at[2]) * 16 + hex_digit(at[3]));
    return *out ? 4 : 0;
}

/* A name in double quotes, which become nothing; *at stands behind them then. NULL after an error.
 */
static const char *quoted(struct reader *r, char **at)
{
    char *from = *at + 1, *const name = from, *to = name;

    while (*from && *from != '"') {
        int length = 1;

        *to = *from;
        if (*from == '\\')
            length = unescape(from, to);
        if (length == 0) {
            row_error(r, "unknown escape in a name, expected \\\" \\\\ or \\xNN: %s", from);
            return NULL;
        }
        from += length;
        to++;
    }
    if (!*from) {
        row_error(r, "a quote is not closed%s", "");
        return NULL;
    }
    from++;
    if (*from && !is_blank(*from)) {
        row_error(r, "a blank is missing behind a name in quotes, before '%s'", from);
        return NULL;
    }
    *to = '\0';
    *at = from;
    return name;
}

/* The next field, ended by a NUL that takes the place of the blank behind it; NULL at the end. */
static char *next_field(char **at)
{
    char *start;

    while (is_blank(**at))
        ++*at;
    start = *at;
    if (!*start || *start == '#')
        return NULL;
    while (**at && !is_blank(**at))
        ++*at;
    if (**at)
        *(*at)++ = '\0';
    return start;
}

/* Which field the text is, by its key or by what came before it; the text behind the key. */
static const char *take_key(const char *text, int position, int *field)
{
    const size_t n = strcspn(text, "=");

    *field = position;
    if (!text[n])
        return text;
    for (int i = 0; i < N_FIELDS; i++)
        if (strlen(field_keys[i]) == n && memcmp(field_keys[i], text, n) == 0) {
            *field = i;
            return text + n + 1;
        }
    return text; /* "mxfp6=f6e3m2" is a format */
}

static bool field_error(struct reader *r, const char *format, const char *what)
{
    row_error(r, format, what);
    diag_help(r->ctx, "%s", row_help);
    return false;
}

static bool take_fields(struct reader *r, char *at, const char *given[N_FIELDS])
{
    const char *text;
    bool ok = true;

    for (int position = 0; (text = next_field(&at)); position++) {
        int field;
        const char *value = take_key(text, position, &field);

        if (value == text && strchr(text, '=') && !str_starts(text, "mxfp"))
            ok = field_error(r, "unknown field '%s'", text);
        else if (field >= N_FIELDS)
            return field_error(r, "one field too many: '%s'", text);
        else if (!*value)
            ok = field_error(r, "'%s' has no value", text);
        else if (given[field])
            ok = field_error(r, "the field has a second value: '%s'", text);
        else if (strcmp(value, "-") != 0)
            given[field] = value;
    }
    return ok;
}

/* --- precision -------------------------------------------------------------------------------- */

static const struct {
    const char *theirs, *ours;
} modes_of_tpu_mlir[] = {
    { "f32", "f32" },           { "int8", "int8" }, { "f8e4m3", "fp8=f8e4m3" },
    { "f8e5m2", "fp8=f8e5m2" }, { "f16", "f16w" },  { "bf16", "bf16w" },
};

static const char *our_mode(const char *text)
{
    char lower[16] = "";

    for (size_t i = 0; text[i] && i < sizeof lower - 1; i++)
        lower[i] = (char)tolower((unsigned char)text[i]);
    for (size_t i = 0; i < sizeof modes_of_tpu_mlir / sizeof *modes_of_tpu_mlir; i++)
        if (strlen(text) < sizeof lower && strcmp(lower, modes_of_tpu_mlir[i].theirs) == 0)
            return modes_of_tpu_mlir[i].ours;
    return text;
}

/* precision_parse speaks of a command line; here it is a line of the file. */
static bool parse_precision(struct reader *r, const char *text, struct precision *out)
{
    const char *what = arena_printf(&r->ctx->perm, "%s:%d", r->path, r->line);
    struct diag *last = r->ctx->diags.last;
    const bool ok = precision_parse(r->ctx, what, text, out);

    r->n_errors += !ok;
    for (struct diag *d = last ? last->next : r->ctx->diags.first; d; d = d->next) {
        d->code = DIAG_QTABLE;
        d->file = NULL; /* what names the file */
    }
    return ok;
}

/* weights= and data= go where --precision has them: mode=weights,data. */
static bool with_formats(struct reader *r, const char *mode, const char *const given[N_FIELDS],
                         struct precision *out)
{
    const char *weights = given[FIELD_WEIGHTS], *data = given[FIELD_DATA];
    struct arena *arena = &r->ctx->perm;

    if (str_ends(mode, "=") || str_ends(mode, ",") || strstr(mode, "=,"))
        return row_error(r, "the mode '%s' needs a format", mode);
    if (!parse_precision(r, mode, out))
        return false;
    if (!weights && !data)
        return true;
    if (strchr(mode, '=')) {
        row_error(r, "the mode '%s' sets the formats already", mode);
        diag_help(r->ctx, "write the mode without '=', or leave weights= and data= away");
        return false;
    }
    if (data && !out->has_data)
        return row_error(r, "%s does not quantise data: data= has no effect",
                         precision_name(out->mode));
    if (weights && !out->has_weights)
        return row_error(r, "%s does not quantise weights: weights= has no effect",
                         precision_name(out->mode));
    mode = arena_printf(arena, "%s=%s%s%s", mode, weights ? weights : out->weights.name,
                        out->has_data ? "," : "", data ? data : out->data.name);
    return parse_precision(r, mode, out);
}

static bool parse_rule(struct reader *r, const char *text, struct scale_rule *out)
{
    static const char *const names[] = { "unit", "max",   "percentile", "paper-percentile",
                                         "kl",   "mse",   "pow2",       "table",
                                         "auto", "search" };
    char word[32] = "";
    const char *near;

    if (scale_rule_parse(text, out))
        return true;
    row_error(r, "unknown scale rule '%s'", text);
    for (size_t i = 0; text[i] && text[i] != ':' && i < sizeof word - 1; i++)
        word[i] = text[i];
    near = str_nearest(word, names, sizeof names / sizeof *names);
    if (near && strcmp(near, word) != 0)
        diag_help(r->ctx, "did you mean '%s'? Rules are %s", near, scale_rule_list());
    else
        diag_help(r->ctx, "rules are %s", scale_rule_list());
    return false;
}

static bool with_rules(struct reader *r, const char *const given[N_FIELDS], struct precision *out)
{
    const char *data = given[FIELD_SCALE], *weights = given[FIELD_WEIGHT_SCALE];
    bool ok = true;

    if (data && !out->has_data) {
        ok = row_error(r, "%s does not quantise data: scale= has no effect",
                       precision_name(out->mode));
        if (out->has_weights)
            diag_help(r->ctx, "the rule for weights is scale-weights=");
    } else if (data) {
        ok = parse_rule(r, data, &out->data_scale);
        out->has_data_scale = true;
    }
    if (weights && !out->has_weights)
        ok = row_error(r, "%s does not quantise weights: scale-weights= has no effect",
                       precision_name(out->mode));
    else if (weights)
        ok = parse_rule(r, weights, &out->weight_scale) && ok;
    if (weights && out->weight_scale.kind == SCALE_AUTO)
        ok = row_error(r, "auto is a rule for data%s", "");
    return ok;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void append(struct ctx *ctx, const struct qtable_row *row, struct qtable_row **rows, int *n,
                   int *capacity)
{
    if (*n == *capacity) {
        struct qtable_row *grown;

        *capacity = *capacity ? 2 * *capacity : 64;
        grown = arena_array(&ctx->perm, struct qtable_row, *capacity);
        if (*n)
            memcpy(grown, *rows, (size_t)*n * sizeof *grown);
        *rows = grown;
    }
    (*rows)[(*n)++] = *row;
}

static void append_row(struct reader *r, const struct qtable_row *row)
{
    if (r->out->n == MAX_ROWS) {
        row_error(r, "too many rows%s", "");
        r->n_errors = MAX_ERRORS;
        return;
    }
    append(r->ctx, row, &r->out->rows, &r->out->n, &r->capacity);
}

/* Lines of rows by name while rows may still move: the map holds copies. */
static bool is_new(struct reader *r, const struct qtable_row *row)
{
    const struct qtable_row *first = map_get(&r->out->by_name, row->name);

    if (first)
        return row_error(r,
                         arena_printf(&r->ctx->perm,
                                      "a second row for '%%s', which has one in line %d",
                                      first->line),
                         row->name);
    map_set(&r->out->by_name, row->name, arena_memdup(&r->ctx->perm, row, sizeof *row));
    return true;
}

/* What stands behind the name. */
static bool take_precision(struct reader *r, char *at, struct qtable_row *row)
{
    const char *given[N_FIELDS] = { NULL };
    const char *mode = next_field(&at);

    if (mode)
        return take_fields(r, at, given) &&
               with_formats(r, our_mode(mode), given, &row->precision) &&
               with_rules(r, given, &row->precision);
    row_error(r, "'%s' has no mode", row->name);
    diag_help(r->ctx, "%s", row_help);
    return false;
}

/* `line` is ours to cut up, and lives as long as the table. */
static void take_row(struct reader *r, char *line)
{
    struct qtable_row row = { .line = r->line };

    row.name = *line == '"' ? quoted(r, &line) : next_field(&line);
    if (!row.name)
        return;
    if (!*row.name)
        row_error(r, "the name is empty%s", "");
    else if (!take_precision(r, line, &row))
        append(r->ctx, &row, &r->out->broken, &r->out->n_broken, &r->broken_capacity);
    else if (is_new(r, &row))
        append_row(r, &row);
}

static void take_line(struct reader *r, const char *text, size_t n)
{
    char *line;

    if (n > MAX_LINE || memchr(text, '\0', n)) {
        row_error(r, "it is not a line of text%s", "");
        return;
    }
    line = arena_strndup(&r->ctx->perm, text, n);
    while (is_blank(*line))
        line++;
    if (*line && *line != '#')
        take_row(r, line);
}

bool qtable_read_bytes(struct ctx *ctx, const char *path, const char *text, size_t n,
                       struct qtable *out)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, as some editors write it */
    struct reader r = { .ctx = ctx, .path = str_safe(&ctx->perm, path, 4096), .out = out };
    size_t at = n >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;

    *out = (struct qtable){ .path = path, .by_name = { .arena = &ctx->perm } };
    if (n > MAX_BYTES)
        return diag_error(ctx, DIAG_QTABLE, NULL, "%s: it is larger than %d MiB", r.path,
                          MAX_BYTES >> 20);
    while (at < n && r.n_errors < MAX_ERRORS) {
        const char *newline = memchr(text + at, '\n', n - at);
        const size_t length = newline ? (size_t)(newline - text) - at : n - at;

        r.line++;
        take_line(&r, text + at, length);
        at += length + 1;
    }
    if (r.n_errors >= MAX_ERRORS)
        diag_help(ctx, "too many errors: the rest of the file was not read");
    for (int i = 0; i < out->n; i++)
        map_set(&out->by_name, out->rows[i].name, &out->rows[i]);
    return r.n_errors == 0;
}

bool qtable_read(struct ctx *ctx, const char *path, struct qtable *out)
{
    struct mapping mapping;
    bool ok;

    if (!file_map(ctx, path, &mapping))
        return false;
    ok = qtable_read_bytes(ctx, path, (const char *)mapping.data, mapping.size, out);
    file_unmap(&mapping);
    return ok;
}
