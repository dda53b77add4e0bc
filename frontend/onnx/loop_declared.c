/* loop_declared.c - Loop whose count, or condition, is known at run time only: where the file declares how long its stacked
 * outputs are, it is written out for as many rounds, and what it gives is checked. */
#include "frontend/expected.h"
#include "frontend/onnx/body.h"

int64_t loop_declared_rounds(const struct rounds *r)
{
    for (size_t i = r->n_carried; i < r->proto->n_output && !r->im->depth; i++) {
        const Onnx__TypeProto__Tensor *tensor = import_declared_shape(r->im, r->proto->output[i]);
        const Onnx__TensorShapeProto *shape = tensor ? tensor->shape : NULL;

        if (shape && shape->n_dim && shape->dim[0]->has_dim_value && shape->dim[0]->dim_value > 0)
            return shape->dim[0]->dim_value;
    }
    return 0;
}

/* The rounds are those declared only if this truth value is `wanted`, too. */
static bool must_be(struct rounds *r, struct value *condition, bool wanted)
{
    r->holds = expected_too(r->im->module->main, r->origin, r->holds, condition, wanted);
    return r->holds != NULL;
}

bool loop_run_declared(struct rounds *r, struct value *count, struct value *condition)
{
    struct value *number_of;
    double goes_on;
    bool is_known;

    if (!limit_check(r->im->ctx, LIMIT_NODES, r->origin, (double)r->declared))
        return false;
    if (count && type_elements(&count->type) != 1)
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                          "the count has the shape %s, expected one number",
                          shape_text(&r->im->ctx->perm, &count->type));
    number_of = body_number(r, DTYPE_I64, r->declared, "rounds");
    if (count && (count->type.dtype != DTYPE_I64 ||
                  !must_be(r,
                           body_make(r, OP_EQUAL, NULL, count->name, 2,
                                     (struct value *const[]){ count, number_of }),
                           true)))
        return false;
    while ((int64_t)r->n_rounds < r->declared) {
        if (!body_condition(r, condition, &is_known, &goes_on) ||
            (!is_known && !must_be(r, condition, true)))
            return false;
        if (is_known && goes_on == 0)
            return diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                              "it ends after %zu rounds, the file declares %lld", r->n_rounds,
                              (long long)r->declared);
        if (!loop_round(r, condition))
            return false;
        condition = r->outputs[0];
        for (size_t i = 0; i < r->n_carried; i++)
            r->inputs[FIRST_CARRIED + i] = r->outputs[1 + i];
    }
    return count || (body_condition(r, condition, &is_known, &goes_on) && !is_known &&
                     must_be(r, condition, false));
}

struct value *loop_if_expected(struct rounds *r, struct value *value)
{
    if (!value || import_is_sequence(value))
        return value;
    return expected_value(r->im->module->main, r->origin, value, r->holds);
}
