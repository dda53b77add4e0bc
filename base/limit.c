#include "base/limit.h"

#include "base/ctx.h"

enum kind { COUNT, BYTES };

static const struct {
    const char *option;
    enum kind kind;
    int64_t base, scale;
    const char *what;
} rows[LIMIT_COUNT] = {
#define LIMIT(symbol, option, kind, base, scale, what) { option, kind, base, scale, what },
#include "base/limit.def"
#undef LIMIT
};

bool limit_is_bytes(enum cost_limit limit)
{
    return rows[limit].kind == BYTES;
}

int64_t limit_value(const struct ctx *ctx, enum cost_limit limit)
{
    const struct cost_limits *limits = &ctx->limits;
    int64_t scaled;

    if (limits->given[limit])
        return limits->given[limit];
    if (__builtin_mul_overflow(rows[limit].scale, limits->model_bytes, &scaled) ||
        __builtin_add_overflow(scaled, rows[limit].base, &scaled))
        return INT64_MAX;
    return scaled;
}

bool limit_check(struct ctx *ctx, enum cost_limit limit, const struct origin *origin, double found)
{
    const int64_t most = limit_value(ctx, limit);

    if (found <= (double)most)
        return true;
    diag_error(ctx, DIAG_LIMIT, origin, "%.0f%s %s; the limit is %lld", found,
               rows[limit].kind == BYTES ? " bytes of" : "", rows[limit].what, (long long)most);
    diag_help(ctx, "--%s N raises it; relayc explain R%04d lists all limits", rows[limit].option,
              DIAG_LIMIT);
    return false;
}

bool limit_spend(struct ctx *ctx, const struct origin *origin, double work)
{
    const double spent = (double)ctx->limits.work + work;

    ctx->limits.work = spent < 9e18 ? (int64_t)spent : INT64_MAX;
    return limit_check(ctx, LIMIT_CONSTANT_WORK, origin, spent);
}

void limits_print(FILE *out)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const int64_t base = rows[i].base;
        const bool mega = rows[i].kind == BYTES && base % (1 << 20) == 0;
        char number[48];

        snprintf(number, sizeof number, rows[i].scale ? "%lld%s + %lld per byte" : "%lld%s",
                 (long long)(mega ? base >> 20 : base), mega ? "M" : "", (long long)rows[i].scale);
        fprintf(out, "  --%-20s %-26s %s\n", rows[i].option, number, rows[i].what);
    }
}
