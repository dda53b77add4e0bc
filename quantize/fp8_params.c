#include "quantize/fp8_params.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum field { INPUT_FORMAT, WEIGHT_FORMAT, INPUT_SCALE, WEIGHT_SCALE, N_FIELDS };

static const struct {
    const char *name, *otherwise;
} fields[N_FIELDS] = {
    [INPUT_FORMAT] = { "input_format", "F143" },
    [WEIGHT_FORMAT] = { "weight_format", "F143" },
    [INPUT_SCALE] = { "input_scale", "-1" },
    [WEIGHT_SCALE] = { "weight_scale", "-1" },
};

static const char form[] =
    "the form is input_format,weight_format,input_scale,weight_scale, such as "
    "F143,F143,-1,-1; formats are F143, F152 and relayc's own of 8 bits, scales "
    "are exponents of 2 from -126 to 127";

static const struct {
    const char *theirs, *ours;
} names[] = { { "f143", "f8e4m3fnuz" }, { "f152", "f8e5m2fnuz" } };

static bool parse_format(const char *text, struct number_format *out)
{
    char lower[24] = "";

    if (strlen(text) >= sizeof lower)
        return false;
    for (size_t i = 0; text[i]; i++)
        lower[i] = (char)tolower((unsigned char)text[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(lower, names[i].theirs) == 0)
            return number_format_parse(names[i].ours, out);
    return number_format_parse(lower, out) && number_format_is_fp8(out);
}

/* An exponent, as the rule that is its power of two. */
static bool parse_scale(struct ctx *ctx, const char *text, struct scale_rule *out)
{
    const char *digits = text + (*text == '-' || *text == '+');

    /* Few digits, so that strtol does not overflow. */
    if (!*digits || strlen(digits) > 3 || digits[strspn(digits, "0123456789")])
        return false;
    return scale_rule_parse(arena_printf(&ctx->perm, "pow2:%ld", strtol(text, NULL, 10)), out);
}

static bool parse_field(struct ctx *ctx, enum field field, const char *text, struct precision *out)
{
    switch (field) {
    case INPUT_FORMAT: return parse_format(text, &out->data);
    case WEIGHT_FORMAT: return parse_format(text, &out->weights);
    case INPUT_SCALE: return parse_scale(ctx, text, &out->data_scale);
    default: return parse_scale(ctx, text, &out->weight_scale);
    }
}

/* A power of two that needs no data: the scale itself. */
static void fix(struct scale_rule *rule)
{
    const struct scale_rule power = *rule;
    char text[sizeof rule->name];

    snprintf(text, sizeof text, "%.9g", ldexp(1, power.pow2_from));
    if (!scale_rule_parse(text, rule))
        *rule = power; /* cannot be: all these are normal numbers */
}

bool fp8_params_parse(struct ctx *ctx, const char *what, const char *text, struct precision *out)
{
    const char *at = text;
    bool ok = precision_parse(ctx, what, "fp8", out);

    for (int i = 0; i < N_FIELDS; i++) {
        const size_t n = at ? strcspn(at, ",") : 0;
        const char *given = at ? arena_strndup(&ctx->perm, at, n) : fields[i].otherwise;

        at = at && at[n] ? at + n + 1 : NULL;
        if (parse_field(ctx, (enum field)i, given, out))
            continue;
        ok = diag_error(ctx, DIAG_USAGE, NULL, "%s: \'%s\' is not a valid %s", what,
                        str_safe(&ctx->perm, given, 80), fields[i].name);
        diag_help(ctx, "%s", form);
    }
    if (at) {
        ok = diag_error(ctx, DIAG_USAGE, NULL, "%s: there are more than four fields: '%s'", what,
                        str_safe(&ctx->perm, at, 80));
        diag_help(ctx, "%s", form);
    }
    out->has_data_scale = true;
    if (ok) {
        fix(&out->data_scale);
        fix(&out->weight_scale);
    }
    return ok;
}
