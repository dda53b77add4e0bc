/* epilogue_store.c - see epilogue_store.h. */
#include "codegen_c/microkernel/epilogue_store.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/codec.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/pixel_stride.h"

/* How an operand's elements relate to the tile's sums. */
enum beside {
    BESIDE_NOTHING, /* otherwise: there is no text for it */
    BESIDE_SUMS,    /* a sum, or computed from sums */
    BESIDE_ALL,     /* one number for all sums */
    BESIDE_CHANNELS,
    BESIDE_RESULTS /* one element per result; not with pixel vectors */
};

struct ending {
    struct bind *bind;
    const struct window *w;
    const struct tile_place *place;
    const char *vector, *lanes;
    struct str name, params, shared, channel, fetch, nodes, args;
    struct map variables; /* name of a computed value -> its variable, v_3 */
    const char
        *whole; /* the last variable that is an expression still, with no variable; NULL = none */
    const char *text; /* the expression */
    int n;            /* number of nodes */
};

static const struct type *result_type(const struct ending *e)
{
    return &e->bind->region->fn->ret->inputs[0]->type;
}

static enum beside lies(const struct ending *e, const struct node *node, int input)
{
    const struct value *value = node->inputs[input];
    const struct type *type = &value->type, *result = result_type(e);
    const int channels = e->w->out_channels_last ? result->rank - 1 : 1; /* the channel dim */
    const int own = type->rank - result->rank + channels;
    const int64_t n = type_elements(type);
    double number;

    if (map_get(&e->variables, value->name))
        return BESIDE_SUMS;
    if (type->dtype != DTYPE_F32 || value->kind == VALUE_OUTPUT)
        return BESIDE_NOTHING;
    if (value->kind == VALUE_CONSTANT && value_uniform(value, &number))
        return BESIDE_ALL;
    if (node->op == OP_BIAS_ADD && input == 1)
        return node->attrs.axis.axis == channels ? BESIDE_CHANNELS : BESIDE_NOTHING;
    if (type_same_shape(type, result))
        return e->place->across ? BESIDE_NOTHING : BESIDE_RESULTS;
    return own >= 0 && n == e->w->out_c && type->dim[own] == n ? BESIDE_CHANNELS : BESIDE_NOTHING;
}

/* Adds a parameter for a number that all sums share; returns the name of its vector. */
static const char *add_number(struct ending *e, const char *stem, double number)
{
    struct arena *arena = e->bind->arena;
    const char *name = arena_printf(arena, "%s_%d", stem, e->n);

    str_printf(&e->params, ", float %s", name);
    str_printf(&e->shared, "const %s %s_all = %s - (%s){ 0 };\n", e->vector, name, name, e->vector);
    str_printf(&e->args, ", %s", bind_literal(e->bind, DTYPE_F32, number));
    if (isinf(number))
        bind_include(e->bind, "math.h");
    return arena_printf(arena, "%s_all", name);
}

/* The index of the tile's first sum in an array with this pixel stride: "(first + j) * 64 +
 * block". */
static const char *first_index(struct ending *e, const char *pixel_stride)
{
    return arena_printf(e->bind->arena, "%s * %s + %s", e->place->pixel, pixel_stride,
                        e->place->channel);
}

/* The pixel stride of an operand, in C; by name if pixels are dense. */
static const char *pixel_step_of(struct ending *e, const struct value *value)
{
    const struct operand operand = operand_of(e->bind->region, value);

    return operand.apart ? arena_printf(e->bind->arena, "%" PRId64, operand.pixel_step)
                         : e->place->channels;
}

/* From one pixel of the tile to the next, in elements. */
static const char *step_of(struct bind *bind, const struct tile_place *place,
                           const char *pixel_stride)
{
    return place->apart ? arena_printf(bind->arena, "%s * %s", place->apart, pixel_stride)
                        : pixel_stride;
}

/* Adds a parameter for an array with one element per result. */
static void add_results(struct ending *e, struct value *value, const char *type, const char *name)
{
    const char *pixel_stride = pixel_step_of(e, value);

    str_printf(&e->params, ", const %s *%s, int %s_step", type, name, name);
    str_printf(&e->args, ", &%s[%s], %s", bind_operand(e->bind, value),
               first_index(e, pixel_stride), step_of(e->bind, e->place, pixel_stride));
}

static void add_variable(struct ending *e, const char *name, const char *text)
{
    str_printf(&e->nodes, "%s %s = %s; ", e->vector, name, text);
}

/* The last value so far becomes a variable. */
static void settle(struct ending *e)
{
    if (e->whole)
        add_variable(e, e->whole, e->text);
    e->whole = NULL;
}

/* A value that one node reads, once, needs no variable. Products get one: compilers that fuse a product and a sum of
 * one expression only would otherwise round less often than the scalar text. */
static void add_value(struct ending *e, const struct node *node, const char *name, const char *text,
                      bool is_product)
{
    settle(e);
    if (is_product || value_n_uses(node->outputs[0]) > 1) {
        add_variable(e, name, text);
        return;
    }
    e->whole = name;
    e->text = text;
}

/* The variable, or the expression it would be. */
static const char *take(struct ending *e, const char *variable)
{
    if (!e->whole || strcmp(variable, e->whole) != 0)
        return variable;
    e->whole = NULL;
    return e->text;
}

static const char *read_input(struct ending *e, const struct node *node, int input)
{
    struct arena *arena = e->bind->arena;
    struct value *value = node->inputs[input];
    const char *known = map_get(&e->variables, value->name);
    const char *name = arena_printf(arena, "%c_%d", 'a' + input, e->n);
    double number = 0;

    /* The usual operands: the node before, and one number per channel. */
    switch (lies(e, node, input)) {
    case BESIDE_SUMS:
        if (input > 0 || strcmp(known, arena_printf(arena, "v_%d", e->n - 1)) != 0)
            str_printf(&e->name, "_%s", known);
        return take(e, known);
    case BESIDE_ALL:
        str_printf(&e->name, "_%s", input ? "number" : "of_number");
        value_uniform(value, &number);
        return add_number(e, arena_printf(arena, "%c", 'a' + input), number);
    case BESIDE_CHANNELS:
        if (input == 0)
            str_add(&e->name, "_of_channels");
        str_printf(&e->params, ", const float *%s", name);
        str_printf(&e->args, ", &%s[%s]", bind_operand(e->bind, value), e->place->channel);
        if (e->place->across) {
            bind_helper(e->bind, "read_here");
            str_printf(&e->shared, "READ_HERE(%s)\n", name);
            return arena_printf(arena, "(%s[c] - (%s){ 0 })", name, e->vector);
        }
        if (e->place->some || e->place->twice)
            bind_bytes_helper(e->bind, e->place->some ? "load_some" : "load_twice");
        if (e->place->some)
            str_printf(&e->channel,
                       " const %s %s_##v = load_some(&%s[v * %s], n_channels - v * %s);", e->vector,
                       name, name, e->lanes, e->lanes);
        else if (e->place->twice)
            str_printf(&e->channel, " const %s %s_##v = load_twice(%s);", e->vector, name, name);
        else
            str_printf(&e->channel, " const %s %s_##v = *(const %s *)&%s[v * %s];", e->vector, name,
                       e->vector, name, e->lanes);
        return arena_printf(arena, "%s_##v", name);
    case BESIDE_RESULTS:
        str_printf(&e->name, "_%s", input ? "results" : "of_results");
        add_results(e, value, "float", name);
        if (e->bind->machine->far_l3)
            str_printf(&e->fetch, " __builtin_prefetch(&%s[j * %s_step + v * %s], 0, 2);", name,
                       name, e->lanes);
        if (e->place->some)
            bind_bytes_helper(e->bind, "load_some");
        if (e->place->some)
            return arena_printf(arena, "load_some(&%s[j * %s_step + v * %s], n_channels - v * %s)",
                                name, name, e->lanes, e->lanes);
        return arena_printf(arena, "*(const %s *)&%s[j * %s_step + v * %s]", e->vector, name, name,
                            e->lanes);
    case BESIDE_NOTHING: break;
    }
    return NULL;
}

/* A call of a function of vectors (expr/vector.h). */
static const char *call(struct ending *e, const char *stem, const char *v, const char *other)
{
    return arena_printf(e->bind->arena, "%s(%s, %s)", bind_vector_fn(e->bind, stem, e->vector), v,
                        other);
}

static const char *zeros(struct ending *e)
{
    return arena_printf(e->bind->arena, "(%s){ 0 }", e->vector);
}

static const char *within_0_and_1(struct ending *e, const char *v)
{
    return call(e, "at_most", call(e, "at_least", v, zeros(e)),
                arena_printf(e->bind->arena, "1 - %s", zeros(e)));
}

/* Absent limits are left out; the upper one wins if they cross, as in scalar.c. */
static const char *clip(struct ending *e, const struct node *node, const char *v)
{
    const double most = isnan(node->attrs.clip.a_max) ? INFINITY : node->attrs.clip.a_max;
    const double low = isnan(node->attrs.clip.a_min) ? -INFINITY : node->attrs.clip.a_min;
    const double least = low > most ? most : low;

    if (least > -INFINITY && most < INFINITY) {
        str_add(&e->name, "_within");
        v = call(e, "at_least", v, add_number(e, "low", least));
        return call(e, "at_most", v, add_number(e, "high", most));
    }
    if (least > -INFINITY) {
        str_add(&e->name, "_at_least");
        return call(e, "at_least", v, add_number(e, "low", least));
    }
    if (most < INFINITY) {
        str_add(&e->name, "_at_most");
        return call(e, "at_most", v, add_number(e, "high", most));
    }
    return v;
}

/* An expression as the operand of an operator. */
static const char *operand(struct arena *arena, const char *text)
{
    int depth = 0;

    for (const char *at = text; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at == ' ' && depth == 0)
            return arena_printf(arena, "(%s)", text);
    }
    return text;
}

static const char *sign_of(enum op op)
{
    switch (op) {
    case OP_ADD:
    case OP_BIAS_ADD: return "+";
    case OP_SUBTRACT: return "-";
    case OP_MULTIPLY: return "*";
    default: return NULL;
    }
}

/* "relu" of "nn.relu". */
static const char *short_name(enum op op)
{
    const char *dot = strrchr(op_name(op), '.');

    return dot ? dot + 1 : op_name(op);
}

/* Dequantises an operand with one element per result. */
static bool add_decoder(struct ending *e, const struct node *node)
{
    struct arena *arena = e->bind->arena;
    struct value *value = node->inputs[0];
    const char *name = arena_printf(arena, "v_%d", ++e->n),
               *quantized = arena_printf(arena, "a_%d", e->n);
    const char *load = e->place->some ? "load_some_bytes" : "load_bytes";
    const char *rest = e->place->some ? arena_printf(arena, ", n_channels - v * %s", e->lanes) : "";

    if (!e->place->quantized || value->kind != VALUE_PARAM ||
        !decode_has_vectors(e->bind, &value->type) ||
        !type_same_shape(&value->type, result_type(e)) || node->outputs[0]->type.dtype != DTYPE_F32)
        return false;
    if (e->place->some)
        bind_bytes_helper(e->bind, load);
    str_printf(&e->name, "_%s", decode_name(e->bind, &value->type));
    add_results(e, value, "uint8_t", quantized);
    add_variable(e, name,
                 arena_printf(arena, "%s(%s(&%s[j * %s_step + v * %s]%s))",
                              e->place->some ? decode_of_bytes(e->bind, &value->type)
                                             : decode_of_loaded(e->bind, &value->type),
                              load, quantized, quantized, e->lanes, rest));
    map_set(&e->variables, node->outputs[0]->name, arena_strdup(arena, name));
    return true;
}

/* Quantises the results, if no node follows. */
static bool add_encoder(struct ending *e, const struct node *node)
{
    struct arena *arena = e->bind->arena;
    const struct type *type = &node->outputs[0]->type;
    const char *name = arena_printf(arena, "v_%d", ++e->n), *quantized;

    if (!e->place->quantized || node->next || !decode_has_vectors(e->bind, type) ||
        !node->attrs.cast.saturate || lies(e, node, 0) != BESIDE_SUMS)
        return false;
    settle(e);
    quantized = codec_encode(e->bind, decode_format(type));
    if (!quantized)
        return false;
    str_printf(&e->name, "_to_%s", decode_name(e->bind, type));
    str_printf(&e->nodes, "const vector_u32 %s = %s(%s); ", name, quantized,
               read_input(e, node, 0));
    map_set(&e->variables, node->outputs[0]->name, arena_strdup(arena, name));
    return true;
}

/* Adds the text of a node, with the arithmetic of scalar_ops.def. */
static bool add_node(struct ending *e, const struct node *node)
{
    struct arena *arena = e->bind->arena;
    const char *name, *sign = sign_of(node->op);
    const char *a, *b = NULL, *text;
    bool is_product = node->op == OP_MULTIPLY;

    if (node->op == OP_CAST)
        return node->inputs[0]->type.dtype == DTYPE_F32 ? add_encoder(e, node)
                                                        : add_decoder(e, node);
    name = arena_printf(arena, "v_%d", ++e->n);
    if (node->n_outputs != 1 || !type_same_shape(&node->outputs[0]->type, result_type(e)) ||
        node->outputs[0]->type.dtype != DTYPE_F32)
        return false;
    for (int i = 0; i < node->n_inputs; i++)
        if (i > 1 || lies(e, node, i) == BESIDE_NOTHING)
            return false;
    if (node->op != OP_CLIP)
        str_printf(&e->name, "_%s", short_name(node->op));
    if (node->op == OP_LEAKY_RELU || node->op == OP_PRELU || node->op == OP_HARD_SWISH)
        settle(e); /* read twice */
    a = read_input(e, node, 0);
    if (node->n_inputs > 1)
        b = read_input(e, node, 1);
    if (sign && b) {
        text = arena_printf(arena, "%s %s %s", operand(arena, a), sign, operand(arena, b));
    } else if (node->op == OP_RELU) {
        text = call(e, "at_least", a, zeros(e));
    } else if (node->op == OP_CLIP) {
        text = clip(e, node, a);
    } else if (node->op == OP_LEAKY_RELU) {
        b = add_number(e, "slope", node->attrs.alpha_beta.alpha);
        text = call(e, "where_negative", a, arena_printf(arena, "%s * %s", b, a));
    } else if (node->op == OP_PRELU && b) {
        text = call(e, "where_negative", a, arena_printf(arena, "%s * %s", a, b));
    } else if (node->op == OP_HARD_SIGMOID) {
        b = add_number(e, "slope", node->attrs.alpha_beta.alpha);
        text =
            within_0_and_1(e, arena_printf(arena, "%s * %s + %s", b, operand(arena, a),
                                           add_number(e, "middle", node->attrs.alpha_beta.beta)));
    } else if (node->op == OP_HARD_SWISH) {
        text = arena_printf(arena, "%s * %s", a,
                            within_0_and_1(e, arena_printf(arena, "%s / 6.0f + 0.5f", a)));
        is_product = true;
    } else {
        return false;
    }
    add_value(e, node, name, text, is_product);
    map_set(&e->variables, node->outputs[0]->name, arena_strdup(arena, name));
    return true;
}

static struct str empty_text(struct bind *bind)
{
    return (struct str){ .arena = bind->arena };
}

bool epilogue_store_of(struct bind *bind, const struct window *w, const struct tile_place *place,
                       const char *vector, const char *lanes, struct epilogue_store *out)
{
    const struct region *region = bind->region;
    const char *result;
    struct ending e = { .bind = bind,
                        .w = w,
                        .place = place,
                        .vector = vector,
                        .lanes = lanes,
                        .name = empty_text(bind),
                        .params = empty_text(bind),
                        .shared = empty_text(bind),
                        .channel = empty_text(bind),
                        .fetch = empty_text(bind),
                        .nodes = empty_text(bind),
                        .args = empty_text(bind),
                        .variables = { .arena = bind->arena } };

    if ((!w->out_channels_last && !place->across) || region->fn->ret->n_inputs != 1 ||
        (!place->quantized &&
         (region->fn->first != region->anchor || result_type(&e)->dtype != DTYPE_F32)) ||
        region->anchor->outputs[0]->type.dtype != DTYPE_F32)
        return false;
    map_set(&e.variables, region->anchor->outputs[0]->name,
            arena_strdup(bind->arena, EPILOGUE_SUM));
    for (const struct node *node = region->fn->first; node; node = node->next)
        if (node != region->anchor && !add_node(&e, node))
            return false;
    result = map_get(&e.variables, region->fn->ret->inputs[0]->name);
    if (!result)
        return false;
    result = take(&e, result);
    settle(&e);
    *out = (struct epilogue_store){
        .name = str_text(&e.name),
        .params = str_text(&e.params),
        .shared = str_text(&e.shared),
        .channel = str_text(&e.channel),
        .fetch = str_text(&e.fetch),
        .nodes = str_text(&e.nodes),
        .result = result,
        .vector = vector,
        .lanes = lanes,
        .args = str_text(&e.args),
    };
    out->quantized = result_type(&e)->dtype != DTYPE_F32;
    out->some = place->some;
    return true;
}

const char *epilogue_store_y(struct bind *bind, const struct tile_place *place)
{
    const char *pixel_stride = pixel_stride_of_y(bind->region, place->channels);

    return arena_printf(bind->arena, "&y[%s * %s + %s], %s", place->pixel, pixel_stride,
                        place->channel, step_of(bind, place, pixel_stride));
}
