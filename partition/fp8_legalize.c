/* fp8_legalize.c - what annotate_fp8 made FP8 for a target and ends on the host after all.
 *
 * needs    regions outlined: what is left in main is the host's
 * gives    no product and no maximum pooling of main reads FP8, unless a row of c takes it
 * method   codes are decoded in front of each reader, so that memory holds them as FP8 until then;
 *          weights are decoded here. Both is exact: the numbers are those of the annotated graph up
 *          to the order of summation
 *
 * Products that come in FP8, from a model or from quantize, are left alone: c has kernels for them.
 */
#include "base/minifloat.h"
#include "partition/fp8.h"

struct legalization {
    struct partition *partition;
    struct map constants; /* name of a constant of codes -> the value with its numbers */
    struct map lines;     /* name of what an annotated node computes -> its line of the report */
};

static bool is_fp8(const struct value *value)
{
    return dtype_minifloat(value->type.dtype) != NULL;
}

static bool host_takes(const struct partition *partition, const struct node *node)
{
    const struct target *host = partition->host;
    const enum dtype weights =
        node->n_inputs > 1 && node->inputs[1] ? node->inputs[1]->type.dtype : DTYPE_NONE;

    for (int i = 0; i < host->n_fp8; i++)
        if (fp8_row_takes(&host->fp8[i], node->op, node->inputs[0]->type.dtype, weights))
            return true;
    return false;
}

static struct value *numbers_of(struct legalization *l, struct value *codes)
{
    struct value *numbers = map_get(&l->constants, codes->name);
    struct type type = codes->type;
    float *data;

    if (numbers)
        return numbers;
    type.dtype = DTYPE_F32;
    data = constant_alloc(codes->fn, &type);
    minifloat_decode_array(dtype_minifloat(codes->type.dtype), codes->data, data,
                           (size_t)type_elements(&type));
    numbers = constant_new(codes->fn, codes->name, &type, data);
    map_set(&l->constants, codes->name, numbers);
    return numbers;
}

/* What the node is to read instead of its input. NULL after an error. */
static struct value *decode(struct legalization *l, struct node *node, struct value *input)
{
    const union attrs attrs = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    const char *name;

    if (!is_fp8(input))
        return input;
    if (input->kind == VALUE_CONSTANT)
        return numbers_of(l, input);
    name = arena_printf(&node->fn->module->arena, "%s.f32", input->name);
    return build(node->fn, OP_CAST, &attrs, name, node->origin, node, 1, &input);
}

/* What is decoded here weighs what it weighed before. */
static void note_weight(struct legalization *l, struct fp8_line *line, const struct value *codes,
                        const struct value *numbers)
{
    const size_t more = type_bytes(&numbers->type) - type_bytes(&codes->type);

    if (line)
        line->weight_bytes_after += more;
    if (l->partition->fp8 && !codes->uses)
        l->partition->fp8->weight_bytes_after += more;
}

static bool decode_inputs(struct legalization *l, struct node *node)
{
    struct fp8_line *const line = map_get(&l->lines, node->outputs[0]->name);
    struct value *stored[2] = { NULL }, *numbers[2] = { NULL };

    for (int i = 0; i < node->n_inputs; i++) {
        stored[i] = node->inputs[i];
        numbers[i] = i > 0 && stored[i] == stored[0] ? numbers[0] : decode(l, node, stored[i]);
        if (!numbers[i])
            return false;
    }
    for (int i = 0; i < node->n_inputs; i++)
        node_set_input(node, i, numbers[i]);
    for (int i = 0; i < node->n_inputs; i++) {
        if (stored[i]->kind != VALUE_CONSTANT || stored[i] == numbers[i])
            continue;
        note_weight(l, line, stored[i], numbers[i]);
        if (!stored[i]->uses)
            value_take_name(numbers[i], stored[i]);
    }
    if (line)
        line->on_host = true;
    return true;
}

static bool legalize_product(struct legalization *l, struct node *node)
{
    if (!decode_inputs(l, node))
        return false;
    *fp8_out_dtype(node) = DTYPE_NONE;
    return node_infer(l->partition->module->ctx, node);
}

/* max_pool(q) -> cast(max_pool(cast(q))): the maximum is one of the codes again. */
static bool legalize_pool(struct legalization *l, struct node *node)
{
    struct function *fn = node->fn;
    struct value *const stored = node->inputs[0];
    const enum dtype format = stored->type.dtype;
    const bool saturate = dtype_minifloat(format)->specials != MINIFLOAT_IEEE; /* see pool.c */
    const union attrs attrs = { .cast = { .dtype = format, .saturate = saturate } };
    const char *name = arena_printf(&fn->module->arena, "%s.max_pool", node->outputs[0]->name);
    struct value *x = decode(l, node, stored), *y;

    y = x ? build(fn, node->op, &node->attrs, name, node->origin, node, 1, &x) : NULL;
    y = y ? build(fn, OP_CAST, &attrs, name, node->origin, node, 1, &y) : NULL;
    if (!y)
        return false;
    value_supplant(node->outputs[0], y);
    node_remove(node);
    return true;
}

static void index_lines(struct legalization *l)
{
    struct fp8_report *report = l->partition->fp8;

    for (int i = 0; report && i < report->n; i++)
        if (report->lines[i].product)
            map_set(&l->lines, report->lines[i].product, &report->lines[i]);
}

bool partition_legalize(struct partition *partition)
{
    struct legalization l = { .partition = partition,
                              .constants = { .arena = &partition->arena },
                              .lines = { .arena = &partition->arena } };
    struct node *next;
    bool ok = true;

    index_lines(&l);
    for (struct node *node = partition->fn->first; node && ok; node = next) {
        next = node->next;
        if (node->n_inputs == 0 || !node->inputs[0] || !is_fp8(node->inputs[0]) ||
            host_takes(partition, node))
            continue;
        if (fp8_is_product(node->op) && *fp8_out_dtype(node) == DTYPE_F32)
            ok = !partition->fp8 || legalize_product(&l, node);
        else if (node->op == OP_MAX_POOL1D || node->op == OP_MAX_POOL2D ||
                 node->op == OP_MAX_POOL3D)
            ok = legalize_pool(&l, node);
    }
    return ok;
}
