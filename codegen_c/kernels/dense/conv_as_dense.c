/* conv_as_dense.c - convolutions that are a matrix product, for the kernels dense, dense_rows and gemv. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/dense/dense_accepts.h"

/* One output position whose kernel covers the whole input: then it is a matrix product. */
static bool is_dense(const struct region *region, bool many, const char **why)
{
    struct window w;

    if (!accepts_conv_small(region, why))
        return false;
    w = window_of_conv(region);
    *why = "the weights' rows are not in the order of the channels-last data";
    if (w.channels_last && window_k_len(&w) > 1)
        return false;
    *why = many ? "there is one image" : "there is more than one image";
    if ((w.batch > 1) != many)
        return false;
    *why = "there is more than one output position";
    return w.groups == 1 && window_out_len(&w) == 1 && !w.padded &&
           window_k_len(&w) == window_in_len(&w);
}

bool accepts_conv_dense(const struct region *region, const char **why)
{
    return is_dense(region, false, why);
}

bool accepts_conv_dense_rows(const struct region *region, const char **why)
{
    return is_dense(region, true, why);
}

bool bind_conv_dense(struct bind *bind)
{
    const struct dense dense = dense_of_conv(bind->region);

    return bind_dense_shape(bind, &dense);
}

bool accepts_conv_gemv(const struct region *region, const char **why)
{
    return takes_gemv(region, why) && accepts_conv_dense(region, why);
}

bool bind_conv_gemv(struct bind *bind)
{
    const struct dense dense = dense_of_conv(bind->region);

    return bind_gemv_shape(bind, &dense);
}
