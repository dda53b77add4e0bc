#include "quantize/precision.h"

#include <string.h>

#include "base/str.h"

static const struct {
    const char *name, *weights, *data, *purpose;
} rows[PRECISION_COUNT] = {
#define PRECISION(symbol, name, weights, data, purpose) { name, weights, data, purpose },
#include "quantize/precision.def"
#undef PRECISION
};

const char *precision_name(enum precision_mode mode)
{
    return rows[mode].name;
}

const char *precision_purpose(enum precision_mode mode)
{
    return rows[mode].purpose;
}

static bool unknown_mode(struct ctx *ctx, const char *what, const char *name)
{
    const char *names[PRECISION_COUNT], *near;
    struct str list = { .arena = &ctx->perm };

    for (int i = 0; i < PRECISION_COUNT; i++) {
        names[i] = rows[i].name;
        str_printf(&list, "%s%s", i ? ", " : "", rows[i].name);
    }
    near = str_nearest(name, names, PRECISION_COUNT);
    diag_error(ctx, DIAG_USAGE, NULL, "%s: unknown precision '%s'", what,
               str_safe(&ctx->perm, name, 80));
    if (near)
        diag_help(ctx, "did you mean '%s'? There are %s", near, str_text(&list));
    else
        diag_help(ctx, "there are %s; fp8=f8e5m2 and the like name another format",
                  str_text(&list));
    return false;
}

static bool parse_format(struct ctx *ctx, const char *what, const char *text,
                         struct number_format *out)
{
    if (number_format_parse(text, out))
        return true;
    diag_error(ctx, DIAG_USAGE, NULL, "%s: unknown number format '%s'", what,
               str_safe(&ctx->perm, text, 80));
    diag_help(ctx, "formats are %s", number_format_list(&ctx->perm));
    return false;
}

static bool holds_weights(enum precision_mode mode, const struct number_format *format)
{
    const enum dtype dtype = format->dtype;

    switch (mode) {
    case PRECISION_AFP: return dtype == DTYPE_AFP;
    case PRECISION_BF16W: return dtype == DTYPE_BF16;
    case PRECISION_F16W: return dtype == DTYPE_F16;
    case PRECISION_F32: return false;
    case PRECISION_FP8:
    case PRECISION_FP8W: /* of 4, 6 or 8 bits, with a sign */
        return dtype_minifloat(dtype) && !format->block && !number_format_is_unsigned(format);
    case PRECISION_INT8: return dtype == DTYPE_I8;
    case PRECISION_INT8W: return dtype == DTYPE_I8 || dtype == DTYPE_I4;
    default: /* mxfp8=f8e5m2, not mxfp8=mxfp4 */
        return format->block > 0 && str_starts(format->name, rows[mode].name);
    }
}

bool precision_takes(const struct precision *p, const struct number_format *format, bool for_data)
{
    if (!for_data)
        return p->has_weights && holds_weights(p->mode, format);
    return p->has_data &&
           (p->mode == PRECISION_INT8 ? format->dtype == DTYPE_I8 : number_format_is_fp8(format));
}

/* Those of check_formats, for people. */
static const char *formats_of(enum precision_mode mode)
{
    switch (mode) {
    case PRECISION_AFP: return "afp3 ... afp8, afp<e,m>, afp<e,m,k>";
    case PRECISION_BF16W: return "bf16";
    case PRECISION_F16W: return "f16";
    case PRECISION_FP8:
        return "auto, f8e4m3, f8e3m4, f8e2m5, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, hfp8_143, data also "
               "u8e4m4, u8e3m5, u8e2m6, weights also f6e3m2, f6e2m3, f4e2m1";
    case PRECISION_FP8W:
        return "auto, f8e4m3, f8e3m4, f8e2m5, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, hfp8_143, f6e3m2, "
               "f6e2m3, f4e2m1";
    case PRECISION_INT8: return "i8";
    case PRECISION_INT8W: return "i8, i4";
    default: return "blocks of its own number of bits, of f8e4m3, f8e5m2, f6e3m2, f6e2m3, f4e2m1";
    }
}

/* Which formats a mode may have. */
static bool check_formats(struct ctx *ctx, const char *what, const struct precision *p)
{
    const char *wrong = NULL;

    if (p->has_weights && !precision_takes(p, &p->weights, false))
        wrong = p->weights.name;
    else if (p->has_data && !precision_takes(p, &p->data, true))
        wrong = p->data.name;
    if (!wrong)
        return true;
    diag_error(ctx, DIAG_USAGE, NULL, "%s: precision %s cannot have the format %s", what,
               rows[p->mode].name, wrong);
    diag_help(ctx, "it can have %s (docs/guide/quantize.md)", formats_of(p->mode));
    return false;
}

/* "a,b" at the comma that is in no angle brackets. */
static const char *next_comma(const char *text)
{
    int depth = 0;

    for (; *text && (*text != ',' || depth > 0); text++)
        depth += (*text == '<') - (*text == '>');
    return text;
}

bool precision_parse(struct ctx *ctx, const char *what, const char *text, struct precision *out)
{
    const size_t n = strcspn(text, "=");
    const char *name = arena_strndup(&ctx->perm, text, n), *weights, *data;
    int mode = 0;

    *out = (struct precision){ .mode = PRECISION_F32 };
    while (mode < PRECISION_COUNT && strcmp(rows[mode].name, name) != 0)
        mode++;
    if (mode == PRECISION_COUNT)
        return unknown_mode(ctx, what, name);
    out->mode = (enum precision_mode)mode;
    scale_rule_parse("max", &out->weight_scale);
    scale_rule_parse("max", &out->data_scale);
    weights = rows[mode].weights;
    data = rows[mode].data;
    if (text[n]) {
        const char *comma = next_comma(text + n + 1);

        weights = arena_strndup(&ctx->perm, text + n + 1, (size_t)(comma - text) - n - 1);
        if (*comma)
            data = comma + 1;
        else if (*data)
            data = weights;
        /* "mxfp6=f6e3m2" is a format itself */
        if (str_starts(name, "mxfp") && !str_starts(weights, "mxfp"))
            weights = arena_printf(&ctx->perm, "%s=%s", name, weights);
        if (mode == PRECISION_F32 || (*comma && !*rows[mode].data))
            return diag_error(ctx, DIAG_USAGE, NULL, "%s: precision %s takes no format '%s'", what,
                              name, str_safe(&ctx->perm, *comma ? comma + 1 : weights, 80));
    }
    out->has_weights = *weights;
    out->has_data = *data;
    if ((*weights && !parse_format(ctx, what, weights, &out->weights)) ||
        (*data && !parse_format(ctx, what, data, &out->data)))
        return false;
    if (*data && data == weights) /* one format named: weights need a sign */
        out->weights = number_format_signed(&out->weights);
    return check_formats(ctx, what, out);
}

const char *precision_text(struct arena *arena, const struct precision *p)
{
    const char *name = rows[p->mode].name;
    const bool same_weights =
        !p->has_weights || strcmp(p->weights.name, rows[p->mode].weights) == 0;
    const bool same_data = !p->has_data || strcmp(p->data.name, rows[p->mode].data) == 0;

    if (same_weights && same_data)
        return name;
    if (p->weights.block)
        return p->weights.name; /* "mxfp6=f6e2m3" */
    if (!p->has_data || strcmp(p->weights.name, number_format_signed(&p->data).name) == 0)
        return arena_printf(arena, "%s=%s", name, p->has_data ? p->data.name : p->weights.name);
    return arena_printf(arena, "%s=%s,%s", name, p->weights.name, p->data.name);
}
