/* norm.c - what several normalisations of floats bind. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/kernels/norm/norm.h"

void bind_number(struct bind *bind, const char *key, double number)
{
    bind_text(bind, key, "%s", bind_literal(bind, anchor_input(bind->region, 0)->dtype, number));
}

void bind_row_statistics(struct bind *bind, int64_t len)
{
    const bool by_rows = reads_rows(bind->region, len);

    bind_flag(bind, "by_rows", by_rows);
    if (by_rows) {
        bind_helper(bind, "row_sum_f32");
        bind_helper(bind, "row_spread_f32");
    }
}
