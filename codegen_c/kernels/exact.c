/* exact.c - products of small floats in integers (relay_ir/ops/exact.h): convolutions, dense
 * layers, matrix products.
 *
 * Codes are read as they lie; a table of 256 numbers, one for each format of a network, says what
 * they stand for. */
#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/dense.h"
#include "codegen_c/kernels/qnn.h"
#include "codegen_c/kernels/window.h"
#include "relay_ir/ops/exact.h"

enum { X, W, CODES = 256 };

/* Whether both factors are small floats in bytes of their own: weights of fewer bits are packed. */
static bool takes_codes(const struct region *region, const char **why)
{
    for (int i = X; i <= W; i++) {
        const struct minifloat *format = type_minifloat(anchor_input(region, i));

        *why = "the operands are no small floats of 8 bits";
        if (!format || minifloat_bits(format) != 8)
            return false;
    }
    return takes_any(region, why);
}

/* Binds x_steps or w_steps, the table of the operand's format. */
static void bind_steps(struct bind *bind, const char *key, int input)
{
    const struct type *type = anchor_input(bind->region, input);
    int32_t *steps = table_new(bind, DTYPE_I32, CODES);

    for (unsigned code = 0; code < CODES; code++)
        steps[code] = exact_steps(type_minifloat(type), code);
    bind_table(bind, key, arena_printf(bind->arena, "%s_steps", dtype_name(type->dtype)), DTYPE_I32,
               CODES, steps);
}

static void bind_factors(struct bind *bind)
{
    bind_type(bind);
    bind_text(bind, "tw", "%s", dtype_c_type(anchor_input(bind->region, W)->dtype));
    bind_steps(bind, "x_steps", X);
    bind_steps(bind, "w_steps", W);
}

bool accepts_exact_conv(const struct region *region, const char **why)
{
    return takes_codes(region, why) && accepts_qnn_conv(region, why);
}

bool bind_exact_conv(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const int64_t n_patch = w.in_c / w.groups * window_k_len(&w);
    struct position position;

    bind_qnn_places(bind, &w, &position);
    bind_scratch(bind, (size_t)(n_patch > 0 ? n_patch : 1) * sizeof(int32_t));
    bind_factors(bind);
    bind_flag(bind, "blocks", false);
    return bind_epilogue(bind, "acc", &position);
}

bool accepts_exact_matmul(const struct region *region, const char **why)
{
    return takes_codes(region, why) && accepts_qnn_matmul(region, why);
}

bool bind_exact_matmul(struct bind *bind)
{
    const struct product p = product_of(bind->region);

    bind_product(bind, &p);
    bind_factors(bind);
    return bind_epilogue_at(bind, "acc", "at");
}
