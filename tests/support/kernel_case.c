#include "tests/support/kernel_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/kernel.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/op_case.h"
#include "tests/support/run_generated.h"

enum { MAX_INPUTS = 24, MAX_REGIONS = 400 };

/* The network under construction. */
struct network {
    struct ctx *ctx;
    struct module *module;
    struct bulk bulk;
    unsigned seed;
    enum winograd winograd;
    const struct machine *machine;
    int n_inputs, n_regions;
    struct tensor *inputs;            /* of main, in the order of its parameters */
    const char *kernels[MAX_REGIONS]; /* expected of result i */
};

/* --- attributes ------------------------------------------------------------------------------- */

/* The text of field `name` in "a=1, b=[2,3]", NULL if it is not there. */
static const char *field_text(struct arena *arena, const char *attrs, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = attrs; at && *at; at += strspn(at, ", ")) {
        const bool wanted = strncmp(at, name, n) == 0 && at[n] == '=';
        const char *value = at + strcspn(at, "=") + 1, *end = value + strcspn(value, ",");

        if (*value == '[')
            end = value + strcspn(value, "]") + 1;
        if (*value == '"')
            end = value + 1 + strcspn(value + 1, "\"") + 1;
        if (wanted)
            return arena_strndup(arena, value, (size_t)(end - value));
        at = end;
    }
    return NULL;
}

/* All fields of an operator's attributes from the text of a few. */
static union attrs complete_attrs(struct arena *arena, enum op op, const char *given)
{
    static const char *const missing[] = {
        [ATTR_BOOL] = "false", [ATTR_DTYPE] = NULL, [ATTR_INT] = "0",     [ATTR_INTS] = "[]",
        [ATTR_REAL] = "0",     [ATTR_REALS] = "[]", [ATTR_WORD] = "\"\"",
    };
    const struct attr_schema *schema = attrs_schema(op_row(op)->attrs);
    struct str text = { .arena = arena };
    const char *reason = "", *at;
    union attrs attrs;
    int n = 0;

    for (int i = 0; i < schema->n_fields; i++) {
        const struct attr_field *field = &schema->fields[i];
        const char *value = field_text(arena, given, field->name);

        if (!value)
            value = missing[field->kind];
        if (value)
            str_printf(&text, "%s%s=%s", n++ ? ", " : "{", field->name, value);
    }
    str_add(&text, n ? "}" : "");
    at = str_text(&text);
    ck_assert_msg(attrs_parse(arena, op_row(op)->attrs, &at, &attrs, &reason), "%s: %s", given,
                  reason);
    return attrs;
}

/* --- operands --------------------------------------------------------------------------------- */

static struct value *add_operand(struct network *net, const struct tensor *tensor, bool constant)
{
    struct function *fn = net->module->main;

    if (constant) {
        void *data = constant_alloc(fn, &tensor->type);

        memcpy(data, tensor->data, type_bytes(&tensor->type));
        return constant_new(fn, "c", &tensor->type, data);
    }
    net->inputs[fn->n_params] = *tensor;
    return param_new(fn, "p", &tensor->type);
}

static struct value *random_operand(struct network *net, const struct type *type, bool constant)
{
    const bool is_unsigned = dtype_kind(type->dtype) == KIND_UINT;
    const struct tensor tensor = tensor_new(&net->bulk, type);

    fill_random(&tensor, is_unsigned ? 0 : -2, is_unsigned ? 9 : 2, &net->seed);
    return add_operand(net, &tensor, constant);
}

/* Whether an extent in "f32[2,0]" is 0. */
static bool is_empty(const char *type)
{
    for (const char *at = strchr(type, '['); *at != ']'; at++)
        if ((at[0] == '[' || at[0] == ',') && at[1] == '0' && (at[2] == ',' || at[2] == ']'))
            return true;
    return false;
}

static struct value *read_operand(struct network *net, const char *text)
{
    const bool constant = str_starts(text, "const ");
    const char *type = text + (constant ? strlen("const ") : 0);
    const char *numbers;
    struct tensor tensor;

    if (*type == '_')
        return NULL;
    numbers = strchr(type, ']') + 1;
    if (numbers[strspn(numbers, " ")] || is_empty(type)) {
        tensor = tensor_from_text(&net->bulk, type);
        return add_operand(net, &tensor, constant);
    }
    tensor = tensor_from_text(&net->bulk, arena_printf(&net->ctx->perm, "%s 0", type));
    return random_operand(net, &tensor.type, constant);
}

static int read_operands(struct network *net, const char *text, struct value **operands)
{
    int n = 0;

    for (; *text; text += strspn(text, "; ")) {
        const size_t length = strcspn(text, ";");

        ck_assert_int_lt(n, MAX_INPUTS);
        operands[n++] = read_operand(net, arena_strndup(&net->ctx->perm, text, length));
        text += length;
    }
    return n;
}

/* --- what follows in the same loop nest ------------------------------------------------------- */

static struct value *then(struct network *net, enum op op, const union attrs *attrs,
                          struct value *a, struct value *b)
{
    struct value *y = build(net->module->main, op, attrs, "then", NULL, NULL, b ? 2 : 1,
                            (struct value *[]){ a, b });

    ck_assert_msg(y != NULL, "%s", expect_text(net->ctx));
    return y;
}

static struct value *bias_and_relu(struct network *net, struct value *y)
{
    const int axis = y->type.rank > 1 ? 1 : 0;
    const union attrs attrs = { .axis = { .axis = axis } };
    const struct type bias = type_make(y->type.dtype, 1, &y->type.dim[axis]);

    y = then(net, OP_BIAS_ADD, &attrs, y, random_operand(net, &bias, true));
    return then(net, OP_RELU, NULL, y, NULL);
}

static struct value *residual(struct network *net, struct value *y)
{
    y = then(net, OP_ADD, NULL, y, random_operand(net, &y->type, false));
    return then(net, OP_RELU, NULL, y, NULL);
}

/* A factor for each element of one image, then bool: the type changes on the way. */
static struct value *factors_and_sign(struct network *net, struct value *y)
{
    struct type factors = y->type;
    const struct type zero = type_scalar(y->type.dtype);

    if (factors.rank > 0)
        factors.dim[0] = 1;
    y = then(net, OP_MULTIPLY, NULL, y, random_operand(net, &factors, true));
    return then(
        net, OP_GREATER, NULL, y,
        add_operand(net, &(struct tensor){ zero, bulk_alloc(&net->bulk, dtype_bytes(zero.dtype)) },
                    true));
}

/* --- rows ------------------------------------------------------------------------------------- */

/* What follows row `number`: each in turn, where the operator lets others into its loop nest. */
static struct value *follow(struct network *net, enum op op, int number, struct value *y)
{
    const bool is_float = dtype_is_float(y->type.dtype);

    if (op_row(op)->pattern != PATTERN_OUT_FUSABLE || y->type.dtype == DTYPE_BOOL ||
        dtype_kind(y->type.dtype) == KIND_MINIFLOAT) /* no arithmetic */
        return y;
    switch (number % 4) {
    case 0: return is_float && y->type.rank > 0 ? bias_and_relu(net, y) : y;
    case 1: return residual(net, y);
    case 2: return factors_and_sign(net, y);
    default: return y;
    }
}

static void add_region(struct network *net, const struct kernel_case *row, int number)
{
    const enum op op = op_from_name(row->op);
    struct value *operands[MAX_INPUTS];
    struct node_args args = { .op = op, .inputs = operands };
    union attrs attrs;
    struct node *node;

    ck_assert_msg(op != OP_COUNT, "no operator '%s'", row->op);
    attrs = complete_attrs(&net->ctx->perm, op, row->attrs);
    args.attrs = &attrs;
    args.n_inputs = read_operands(net, row->inputs, operands);
    node = node_new(net->module->main, &args);
    ck_assert_msg(node != NULL, "row %d: %s", number, expect_text(net->ctx));
    for (int i = 0; i < node->n_outputs; i++) {
        ck_assert_int_lt(net->n_regions, MAX_REGIONS);
        net->kernels[net->n_regions++] = row->kernel;
        result_add(net->module->main, follow(net, op, number, node->outputs[i]),
                   arena_printf(&net->module->arena, "row %d: %s {%s} (%s)", number, row->op,
                                row->attrs, row->inputs));
    }
}

/* The kernel that takes the region behind result i. */
static void check_kernel(struct network *net, int i)
{
    struct node *call = net->module->main->ret->inputs[i]->def;
    struct region region = { .call = call };
    const struct kernel *kernel;

    while (call->op != OP_CALL) /* a view of the region's result */
        call = call->inputs[0]->def;
    region = (struct region){ .fn = call->callee,
                              .call = call,
                              .anchor = region_anchor(call->callee),
                              .machine = net->machine,
                              .winograd = net->winograd,
                              .amx = net->machine && machine_has_amx(net->machine) &&
                                     net->winograd != WINOGRAD_OFF };
    kernel = kernel_choose(net->ctx, &region);
    ck_assert_msg(kernel != NULL, "%s", expect_text(net->ctx));
    ck_assert_msg(strcmp(kernel->name, net->kernels[i]) == 0, "%s: kernel %s, wanted %s",
                  net->module->main->result_names[i], kernel->name, net->kernels[i]);
}

/* Two regions, one of which reads what the other computes. */
static void add_tiny_value(struct network *net)
{
    const struct type type = type_make(DTYPE_F32, 2, (int64_t[]){ 2, 2 });
    const union attrs attrs = { .axes = { .axes = { .n = 2, .at = { 1, 0 } } } };
    struct value *x = random_operand(net, &type, false);

    for (int i = 0; i < 2; i++)
        x = then(net, OP_TRANSPOSE, &attrs, x, NULL);
    net->kernels[net->n_regions++] = "copy";
    result_add(net->module->main, x, "tiny");
}

/* Whether no scratch is larger; with 0, none but what fits where the tiny value is. */
static void check_spared(struct network *net, size_t most_scratch)
{
    const struct codegen_options options = { .name = "net",
                                             .dir = ".",
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = net->machine };
    struct codegen_result result;

    ck_assert_msg(codegen_sizes(net->module, &options, &result), "%s", expect_text(net->ctx));
    ck_assert_uint_le(result.arena_bytes, most_scratch ? most_scratch : 16);
}

/* Tables take turns with the builds (run_generated.h). */
static unsigned seed_of(const struct kernel_case *row, int n)
{
    unsigned seed = (unsigned)n;

    for (const char *c = row->inputs; *c; c++)
        seed = seed * 31 + (unsigned char)*c;
    return seed;
}

static void check_rows(struct network *net, const struct kernel_case *rows, int n, double tolerance,
                       bool tight, size_t most_scratch)
{
    const struct generated_case how = { .tolerance = tolerance,
                                        .seed = seed_of(rows, n),
                                        .winograd = net->winograd,
                                        .machine = net->machine };

    net->ctx = ctx_new("net.onnx");
    net->module = module_new(net->ctx);
    net->inputs = arena_array(&net->ctx->perm, struct tensor, (n + 1) * 4 * MAX_INPUTS);
    for (int i = 0; i < n; i++)
        add_region(net, &rows[i], i);
    if (tight)
        add_tiny_value(net);
    ck_assert_msg(pipeline_run_one(net->module, "fuse_ops"), "%s", expect_text(net->ctx));
    for (int i = 0; i < net->n_regions; i++)
        check_kernel(net, i);
    if (tight)
        check_spared(net, most_scratch);
    generated_check_module(net->module, &how, net->inputs);
    bulk_release(&net->bulk);
    module_free(net->module);
    ctx_free(net->ctx);
}

void kernel_cases_check(const struct kernel_case *rows, int n, double tolerance)
{
    kernel_cases_check_as(rows, n, tolerance, WINOGRAD_AUTO, NULL);
}

void kernel_cases_check_as(const struct kernel_case *rows, int n, double tolerance,
                           enum winograd winograd, const struct machine *machine)
{
    struct network net = { .seed = 7,
                           .winograd = winograd,
                           .machine = machine ? machine : &machines[0] };

    check_rows(&net, rows, n, tolerance, false, 0);
}

void kernel_cases_check_low_scratch(const struct kernel_case *rows, int n, double tolerance,
                                    size_t most_scratch, const struct machine *machine)
{
    struct network net = { .seed = 7, .machine = machine ? machine : &machines[0] };

    check_rows(&net, rows, n, tolerance, true, most_scratch);
}
