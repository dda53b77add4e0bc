#include "quantize/calib_zeros.h"

#include "base/str.h"

void calib_warn_zeros(struct ctx *ctx, const struct calib_table *table)
{
    const struct calib_tensor *first = NULL;
    int n = 0;

    for (int i = 0; i < table->n; i++) {
        const struct calib_tensor *tensor = &table->at[i];

        if (tensor->min != 0 || tensor->max != 0 || tensor->non_finite)
            continue;
        first = first ? first : tensor;
        n++;
    }
    if (!first)
        return;
    diag_warn(ctx, DIAG_CALIB_TABLE, NULL,
              "%d tensor%s contained only zeros, and get the scale 1; '%s' is the first", n,
              str_plural(n), str_safe(&ctx->perm, first->name, 200));
    diag_help(ctx, "check the data and its preprocessing");
}
