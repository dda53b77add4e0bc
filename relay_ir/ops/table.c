#include "relay_ir/op.h"

#include <string.h>

#include "relay_ir/ops/ops.h"

static const struct op_row rows[OP_COUNT] = {
#define RELAY_OP(symbol, name, attrs, least, most, outputs, pattern, infer, evaluate, layout, ...) \
    [OP_##symbol] = { name,  ATTRS_##attrs, least,          most, outputs, PATTERN_##pattern,      \
                      infer, evaluate,      LAYOUT_##layout },
#include "relay_ir/ops.def"
#undef RELAY_OP
};

const struct op_row *op_row(enum op op)
{
    return &rows[op];
}

const char *op_name(enum op op)
{
    return rows[op].name;
}

enum op op_from_name(const char *name)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return (enum op)i;
    return OP_COUNT;
}

bool op_is_elementwise(enum op op)
{
    return rows[op].pattern == PATTERN_ELEMWISE || rows[op].pattern == PATTERN_BROADCAST;
}

bool op_takes_half(enum op op)
{
    switch (op) {
    case OP_BROADCAST_TO:
    case OP_CAST:
    case OP_CONCATENATE:
    case OP_COPY:
    case OP_DEPTH_TO_SPACE:
    case OP_EXPAND_DIMS:
    case OP_EXPECT:
    case OP_REINTERPRET:
    case OP_RESHAPE:
    case OP_SPACE_TO_DEPTH:
    case OP_SPLIT:
    case OP_SQUEEZE:
    case OP_STRIDED_SLICE:
    case OP_TILE:
    case OP_TRANSPOSE: return true;
    default: return false;
    }
}

int op_spatial_rank(enum op op)
{
    switch (op) {
    case OP_CONV1D:
    case OP_CONV1D_TRANSPOSE:
    case OP_QNN_CONV1D:
    case OP_MAX_POOL1D:
    case OP_AVG_POOL1D:
    case OP_QNN_AVG_POOL1D:
    case OP_LP_POOL1D: return 1;
    case OP_CONV2D:
    case OP_CONV2D_TRANSPOSE:
    case OP_QNN_CONV2D:
    case OP_MAX_POOL2D:
    case OP_AVG_POOL2D:
    case OP_QNN_AVG_POOL2D:
    case OP_LP_POOL2D: return 2;
    case OP_CONV3D:
    case OP_CONV3D_TRANSPOSE:
    case OP_QNN_CONV3D:
    case OP_MAX_POOL3D:
    case OP_AVG_POOL3D:
    case OP_QNN_AVG_POOL3D:
    case OP_LP_POOL3D: return 3;
    default: return 0;
    }
}
