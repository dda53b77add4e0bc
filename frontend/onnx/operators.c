/* operators.c - which operators there are, for those who ask before they have a model. */
#include "frontend/onnx/import.h"

static const struct onnx_operator operators[] = {
#define ONNX(domain, name, first, last, converter, arg) { domain, name, first, last },
#include "frontend/onnx/convert.def"
#undef ONNX
#define SPECIAL(domain, name, function)                                                            \
    { domain, name, sizeof domain > 1 ? 1 : 7, sizeof domain > 1 ? 1 : 28 },
#include "frontend/onnx/special.def"
#undef SPECIAL
};

const struct onnx_operator *onnx_operators(int *n)
{
    *n = (int)(sizeof operators / sizeof *operators);
    return operators;
}
