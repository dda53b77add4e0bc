#include "frontend/expected.h"

static struct value *make(struct function *fn, const struct origin *origin, enum op op,
                          const union attrs *attrs, const char *name, int n,
                          struct value *const *inputs)
{
    return build(fn, op, attrs, name, origin, NULL, n, inputs);
}

struct value *expected_too(struct function *fn, const struct origin *origin, struct value *holds,
                           struct value *truth, bool wanted)
{
    const union attrs scalar = { .shape = { .shape = { 0 } } };

    if (truth && !wanted)
        truth = make(fn, origin, OP_LOGICAL_NOT, NULL, truth->name, 1, &truth);
    if (truth && truth->type.rank > 0)
        truth = make(fn, origin, OP_RESHAPE, &scalar, truth->name, 1, &truth);
    if (truth && holds)
        truth = make(fn, origin, OP_LOGICAL_AND, NULL, truth->name, 2,
                     (struct value *const[]){ holds, truth });
    return truth;
}

struct value *expected_value(struct function *fn, const struct origin *origin, struct value *value,
                             struct value *holds)
{
    const union attrs each = { .expect = { .mode = "each" } },
                      to_i64 = { .cast = { .dtype = DTYPE_I64, .saturate = true } };
    const union attrs list = { .shape = { .shape = { 1, { 1 } } } };
    const struct type one = type_make(DTYPE_I64, 2, (const int64_t[]){ 1, 1 });
    struct value *inputs[3] = { value, holds, NULL };
    int64_t *allowed;

    if (!value || !holds)
        return value;
    allowed = constant_alloc(fn, &one);
    *allowed = 1;
    inputs[1] = make(fn, origin, OP_CAST, &to_i64, value->name, 1, &inputs[1]);
    inputs[1] = inputs[1] ? make(fn, origin, OP_RESHAPE, &list, value->name, 1, &inputs[1]) : NULL;
    inputs[2] = constant_new(fn, "allowed", &one, allowed);
    return inputs[1] ? make(fn, origin, OP_EXPECT, &each, value->name, 3, inputs) : NULL;
}
