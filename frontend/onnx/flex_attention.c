/* flex_attention.c - FlexAttention of ai.onnx.preview: attention with graphs of the model between its steps, which are
 * written out where they stand: score_mod changes the products, prob_mod what softmax gives. */
#include <math.h>

#include "frontend/onnx/importer.h"

enum { Q, K, V, N_INPUTS };

struct flex {
    struct import *im;
    struct scope *scope;
    const Onnx__NodeProto *proto;
    const struct origin *origin;
    struct value *inputs[N_INPUTS];
    enum dtype precision; /* of the scores */
};

static struct value *make(const struct flex *f, enum op op, const union attrs *attrs,
                          const char *suffix, int n, struct value *const *inputs)
{
    const char *name = arena_printf(&f->im->ctx->perm, "%s%s", f->proto->output[0], suffix);

    return build(f->im->module->main, op, attrs, name, f->origin, NULL, n, inputs);
}

static struct value *cast_as(const struct flex *f, struct value *x, enum dtype dtype,
                             const char *suffix)
{
    const union attrs attrs = { .cast = { .dtype = dtype, .saturate = true } };

    return x && x->type.dtype != dtype ? make(f, OP_CAST, &attrs, suffix, 1, &x) : x;
}

static struct value *view(const struct flex *f, struct value *x, const struct ints *shape,
                          const char *suffix)
{
    const union attrs attrs = { .shape = { .shape = *shape } };

    return x ? make(f, OP_RESHAPE, &attrs, suffix, 1, &x) : NULL;
}

/* What the graph in this attribute makes of x: of its shape and type; x itself if there is no graph. */
static struct value *modified(const struct flex *f, const char *attr, struct value *x)
{
    const Onnx__AttributeProto *found = attribute_find(f->proto, attr);
    const Onnx__GraphProto *graph = found ? found->g : NULL;
    struct scope inner = { .parent = f->scope,
                           .n_opsets = f->scope->n_opsets,
                           .opsets = f->scope->opsets,
                           .call = f->scope->call,
                           .node_index = f->origin->index };
    struct value *y;

    if (!graph || !x)
        return x;
    if (graph->n_input != 1 || graph->n_output != 1) {
        diag_error(f->im->ctx, DIAG_ONNX_GRAPH, f->origin,
                   "%s has %zu inputs and %zu outputs, wanted one of each", attr, graph->n_input,
                   graph->n_output);
        return NULL;
    }
    if (!import_go_deeper(f->im, f->origin))
        return NULL;
    import_initializers(f->im, &inner, graph);
    scope_bind(f->im, &inner, graph->input[0]->name, x);
    import_nodes(f->im, &inner, graph->n_node, graph->node);
    f->im->depth--;
    y = scope_find(&inner, graph->output[0]->name);
    if (y == &f->im->failed)
        return NULL;
    if (!y || y == &f->im->absent || import_is_sequence(y) || y->type.dtype != x->type.dtype ||
        !type_same_shape(&y->type, &x->type)) {
        diag_error(f->im->ctx, DIAG_SHAPE, f->origin,
                   "%s does not give a tensor of its input's type, %s", attr,
                   type_text(&f->im->ctx->perm, &x->type));
        return NULL;
    }
    return y;
}

static bool check(struct flex *f)
{
    const Onnx__AttributeProto *precision = attribute_find(f->proto, "softmax_precision");
    struct ctx *ctx = f->im->ctx;

    for (int i = 0; i < N_INPUTS; i++)
        if (!f->inputs[i] || import_is_sequence(f->inputs[i]) || f->inputs[i]->type.rank != 4 ||
            !dtype_is_float(f->inputs[i]->type.dtype))
            return diag_error(ctx, DIAG_TYPE, f->origin,
                              "input %d is %s, wanted four dims of floats", i,
                              !f->inputs[i] || import_is_sequence(f->inputs[i])
                                  ? "no tensor"
                                  : type_text(&ctx->perm, &f->inputs[i]->type));
    if (f->inputs[K]->type.dim[1] < 1 || f->inputs[Q]->type.dim[1] % f->inputs[K]->type.dim[1] ||
        f->inputs[V]->type.dim[1] != f->inputs[K]->type.dim[1] ||
        f->inputs[Q]->type.dim[3] != f->inputs[K]->type.dim[3])
        return diag_error(ctx, DIAG_SHAPE, f->origin,
                          "Q, K and V have the shapes %s, %s and %s, which do not fit",
                          shape_text(&ctx->perm, &f->inputs[Q]->type),
                          shape_text(&ctx->perm, &f->inputs[K]->type),
                          shape_text(&ctx->perm, &f->inputs[V]->type));
    f->precision = f->inputs[Q]->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    if (precision)
        f->precision = precision->i > 0 && precision->i <= INT32_MAX
                           ? dtype_from_onnx((int32_t)precision->i)
                           : DTYPE_NONE;
    return dtype_is_float(f->precision) ||
           diag_error(ctx, DIAG_ONNX_ATTRIBUTE, f->origin,
                      "attribute softmax_precision is %lld, wanted a float type",
                      (long long)precision->i);
}

static struct value *scaled(const struct flex *f, struct value *q)
{
    const Onnx__AttributeProto *attr = attribute_find(f->proto, "scale");
    const struct type type = type_scalar(q->type.dtype);
    void *number = constant_alloc(f->im->module->main, &type);
    struct value *inputs[] = { q, NULL };

    dtype_store(type.dtype, number, 0, attr ? (double)attr->f : 1 / sqrt((double)q->type.dim[3]));
    inputs[1] = constant_new(f->im->module->main, "scale", &type, number);
    return make(f, OP_MULTIPLY, NULL, ":scaled", 2, inputs);
}

/* The queries that share a head of keys are the rows of one product. */
static struct value *attend(const struct flex *f)
{
    const union attrs transposed = { .matmul = { .transpose_b = true } },
                      plain = { .matmul = { 0 } };
    const union attrs last = { .axis = { .axis = 3 } };
    const struct type *q = &f->inputs[Q]->type, *k = &f->inputs[K]->type, *v = &f->inputs[V]->type;
    const int64_t rows = q->dim[1] / k->dim[1] * q->dim[2];
    const struct ints grouped = { 4, { q->dim[0], k->dim[1], rows, q->dim[3] } };
    const struct ints of_heads = { 4, { q->dim[0], q->dim[1], q->dim[2], k->dim[2] } };
    const struct ints of_groups = { 4, { q->dim[0], k->dim[1], rows, k->dim[2] } };
    const struct ints result = { 4, { q->dim[0], q->dim[1], q->dim[2], v->dim[3] } };
    struct value *x = scaled(f, f->inputs[Q]), *pair[2];

    pair[0] = view(f, x, &grouped, ":groups"), pair[1] = f->inputs[K];
    x = pair[0] ? make(f, OP_MATMUL, &transposed, ":products", 2, pair) : NULL;
    x = cast_as(f, view(f, x, &of_heads, ":scores"), f->precision, ":precise");
    x = modified(f, "score_mod", x);
    x = x ? make(f, OP_SOFTMAX, &last, ":weights", 1, &x) : NULL;
    x = modified(f, "prob_mod", x);
    pair[0] = view(f, x, &of_groups, ":grouped"),
    pair[1] = cast_as(f, f->inputs[V], f->precision, ":values");
    x = pair[0] && pair[1] ? make(f, OP_MATMUL, &plain, ":attended", 2, pair) : NULL;
    return view(f, cast_as(f, x, v->dtype, ":rounded"), &result, "");
}

bool import_flex_attention(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                           const struct origin *origin)
{
    struct flex f = { .im = im, .scope = scope, .proto = proto, .origin = origin };
    struct value *y;

    if (proto->n_input != N_INPUTS || proto->n_output != 1)
        return diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                          "FlexAttention has three inputs and one output");
    if (!import_operands(im, scope, proto, origin, f.inputs) || !check(&f))
        return false;
    y = attend(&f);
    if (y)
        scope_bind(im, scope, proto->output[0], y);
    return y != NULL;
}
