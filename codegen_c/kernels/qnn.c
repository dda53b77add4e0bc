/* qnn.c - products of quantised numbers: convolutions, dense layers, matrix products.
 *
 * Plain loops over the weights as they lie. A zero point that is known to be 0 costs nothing,
 * others a subtraction; both operands are then less than 2^17 and 2^9, so that a product is an int.
 */
#include <inttypes.h>

#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/dense.h"
#include "codegen_c/kernels/direct.h"

enum { X, W, X_ZERO, W_ZERO };

/* Binds x_zero or w_zero, the C expression of a zero point, and minus_x_zero or minus_w_zero, what
 * stands behind an element; both empty where it is known to be 0. `channel` is the index of the
 * output channel. */
static void bind_zero(struct bind *bind, const char *key, int input, const char *channel)
{
    struct value *value = bind->region->anchor->inputs[input];
    const char *minus = arena_printf(bind->arena, "minus_%s", key);
    double number;

    keys_offer(bind->keys, minus, arena_printf(bind->arena, " - %s", key));
    if (value->kind != VALUE_CONSTANT || !value_uniform(value, &number)) {
        bind_text(bind, key, "%s[%s]", bind_operand(bind, value),
                  type_elements(&value->type) == 1 ? "0" : channel);
    } else if (number != 0) {
        bind_int(bind, key, (int64_t)number);
    } else {
        bind_text(bind, key, "%s", "");
        keys_offer(bind->keys, minus, "");
    }
}

static void bind_factors(struct bind *bind, const char *channel)
{
    bind_type(bind);
    bind_text(bind, "tw", "%s", dtype_c_type(anchor_input(bind->region, W)->dtype));
    bind_zero(bind, "x_zero", X_ZERO, "0");
    bind_zero(bind, "w_zero", W_ZERO, channel);
}

bool accepts_qnn_conv(const struct region *region, const char **why)
{
    const struct conv_attrs *attrs = &region->anchor->attrs.conv;
    const struct window w = window_of_conv(region);

    return takes_any(region, why) && takes_window(&w, why) &&
           takes_channels_first(attrs->data_layout, attrs->kernel_layout, why);
}

bool bind_qnn_conv(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    struct position position;

    bind_direct(bind, &w, &position);
    bind_factors(bind, position.coord[1]);
    return bind_epilogue(bind, "acc", &position);
}

bool accepts_qnn_matmul(const struct region *region, const char **why)
{
    if (!takes_any(region, why))
        return false;
    if (anchor_input(region, X)->rank >= 2 && anchor_input(region, W)->rank >= 2)
        return true;
    *why = "an operand is a vector";
    return false;
}

bool bind_qnn_matmul(struct bind *bind)
{
    const struct product p = product_of(bind->region);

    bind_product(bind, &p);
    bind_factors(bind, "column");
    return bind_epilogue_at(bind, "acc", "at");
}
