/* cmd_inspect.c - what is in a model: interface, operators, sizes; or the graph itself. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "frontend/onnx/import.h"
#include "relay_ir/text.h"

static void print_value(struct cli *cli, cJSON *list, const char *label, const char *name,
                        const struct type *type)
{
    struct arena *arena = &cli->ctx->perm;
    cJSON *row, *dims;

    say(cli, "  %-7s %-28s %s\n", label, str_safe(arena, name, 200), type_text(arena, type));
    if (!list)
        return;
    row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", str_safe(arena, name, 4096));
    cJSON_AddStringToObject(row, "dtype", dtype_name(type->dtype));
    dims = cJSON_AddArrayToObject(row, "shape");
    for (int i = 0; i < type->rank; i++)
        cJSON_AddItemToArray(dims, cJSON_CreateNumber((double)type->dim[i]));
    cJSON_AddItemToArray(list, row);
}

static void print_interface(struct cli *cli, const struct function *fn)
{
    cJSON *inputs = cli->json ? cJSON_AddArrayToObject(cli->json, "inputs") : NULL;
    cJSON *outputs = cli->json ? cJSON_AddArrayToObject(cli->json, "outputs") : NULL;

    for (int i = 0; i < fn->n_params; i++)
        print_value(cli, inputs, "input", fn->params[i]->name, &fn->params[i]->type);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        print_value(cli, outputs, "output", fn->result_names[i], &fn->ret->inputs[i]->type);
}

/* Operators by name, with counts; enum order is alphabetical by symbol. */
static void print_operators(struct cli *cli, const struct function *fn)
{
    cJSON *list = cli->json ? cJSON_AddObjectToObject(cli->json, "operators") : NULL;
    int count[OP_COUNT] = { 0 }, n_nodes = 0;

    for (const struct node *n = fn->first; n; n = n->next, n_nodes++)
        count[n->op]++;
    say(cli, "  %d nodes:", n_nodes);
    for (int op = 0; op < OP_COUNT; op++)
        if (count[op]) {
            say(cli, " %s x%d", op_name((enum op)op), count[op]);
            if (list)
                cJSON_AddNumberToObject(list, op_name((enum op)op), count[op]);
        }
    say(cli, "\n");
}

static void print_constants(struct cli *cli, const struct function *fn)
{
    int64_t elements = 0, bytes = 0;
    int n = 0;

    for (const struct value *v = fn->constants; v; v = v->next, n++) {
        elements += type_elements(&v->type);
        bytes += (int64_t)type_bytes(&v->type);
    }
    say(cli, "  %d constants: %lld elements, %lld bytes\n", n, (long long)elements,
        (long long)bytes);
    if (cli->json) {
        cJSON_AddNumberToObject(cli->json, "constant_elements", (double)elements);
        cJSON_AddNumberToObject(cli->json, "constant_bytes", (double)bytes);
    }
}

static bool show(struct cli *cli, struct module *module)
{
    struct str text = { .arena = &cli->ctx->perm };

    module_sweep(module);
    if (has_option(&cli->driver->args, OPTION_IR)) {
        module_print(module, &text);
        if (cli->json)
            cJSON_AddStringToObject(cli->json, "ir", str_text(&text));
        else
            fputs(str_text(&text), stdout);
        return true;
    }
    say(cli, "%s: opset %d%s%s\n", str_safe(&cli->ctx->perm, cli->driver->args.operands[0], 4096),
        module->opset, *module->producer ? ", by " : "",
        str_safe(&cli->ctx->perm, module->producer, 100));
    if (cli->json)
        cJSON_AddNumberToObject(cli->json, "opset", module->opset);
    print_interface(cli, module->main);
    print_operators(cli, module->main);
    print_constants(cli, module->main);
    return true;
}

/* --- --operators ------------------------------------------------------------------------------ */

static int by_domain_and_name(const void *a, const void *b)
{
    const struct onnx_operator *x = a, *y = b;
    const int order = strcmp(x->domain, y->domain);

    return order ? order : strcmp(x->name, y->name);
}

static void print_operator(struct cli *cli, cJSON *list, const struct onnx_operator *operator)
{
    struct arena *arena = &cli->ctx->perm;
    const char *name = arena_printf(arena, "%s%s%s", operator->domain,
                                    *operator->domain ? "." : "", operator->name);
    cJSON *row;

    if (operator->first_opset == operator->last_opset)
        say(cli, "%-38s %d\n", name, operator->first_opset);
    else
        say(cli, "%-38s %d to %d\n", name, operator->first_opset, operator->last_opset);
    if (!list)
        return;
    row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "domain", operator->domain);
    cJSON_AddStringToObject(row, "name", operator->name);
    cJSON_AddNumberToObject(row, "first_opset", operator->first_opset);
    cJSON_AddNumberToObject(row, "last_opset", operator->last_opset);
    cJSON_AddItemToArray(list, row);
}

static void list_operators(struct cli *cli)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "operators") : NULL;
    int n;
    const struct onnx_operator *known = onnx_operators(&n);
    struct onnx_operator *sorted = arena_array(&cli->ctx->perm, struct onnx_operator, n);

    memcpy(sorted, known, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_domain_and_name);
    for (int i = 0; i < n; i++)
        print_operator(cli, list, &sorted[i]);
}

bool command_inspect(struct cli *cli)
{
    const bool passes = has_option(&cli->driver->args, OPTION_DUMP_AFTER) ||
                        has_option(&cli->driver->args, OPTION_TIME_PASSES) ||
                        has_option(&cli->driver->args, OPTION_STATS);
    struct module *module;
    bool ok;

    if (has_option(&cli->driver->args, OPTION_PASSES)) {
        list_passes(cli);
        return true;
    }
    if (has_option(&cli->driver->args, OPTION_OPERATORS)) {
        list_operators(cli);
        return true;
    }
    ok = check_dump_option(cli->driver);
    if (!prepare_offload(cli->driver) || !ok)
        return false;
    module = load_model(cli->driver);
    if (!module)
        return false;
    ok = show(cli, module) && (!passes || run_passes(cli->driver, module));
    module_free(module);
    return ok;
}
