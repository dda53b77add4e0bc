/* cmd_inspect.c - what is in a model: interface, operators, sizes; or the graph itself. */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "driver/commands/inspect.h"

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

static void show(struct cli *cli, const struct module *module)
{
    if (has_option(&cli->driver->args, OPTION_IR)) {
        const char *text = driver_module_text(cli->driver);

        if (cli->json)
            cJSON_AddStringToObject(cli->json, "ir", text);
        else
            fputs(text, stdout);
        return;
    }
    say(cli, "%s: ", str_safe(&cli->ctx->perm, cli->driver->args.operands[0], 4096));
    if (strcmp(module->format, "ONNX") == 0)
        say(cli, "opset %d%s", module->opset, *module->producer ? ", by " : "");
    say(cli, "%s\n", str_safe(&cli->ctx->perm, module->producer, 100));
    if (cli->json)
        cJSON_AddNumberToObject(cli->json, "opset", module->opset);
    print_interface(cli, module->main);
    print_operators(cli, module->main);
    print_constants(cli, module->main);
}

/* --- --operators ------------------------------------------------------------------------------ */

static void print_operator(struct cli *cli, cJSON *list, const struct known_operator *operator)
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
    const struct known_operator *operators = driver_onnx_operators(cli->driver, &n);

    for (int i = 0; i < n; i++)
        print_operator(cli, list, &operators[i]);
}

/* --- --preflight ------------------------------------------------------------------------------ */

static void print_part(struct cli *cli, const char *option, const char *value, int n,
                       const char *what)
{
    if (!value)
        return;
    say(cli, "  --%s %s  takes %d of its nodes: %s\n", option, value, n, what);
    if (cli->json)
        cJSON_AddStringToObject(cli->json, option, value);
}

static bool preflight(struct cli *cli)
{
    struct import_obstacles found = { 0 };
    const bool ok = driver_preflight(cli->driver, &found);
    const int n = cli->ctx->diags.n_errors;

    say(cli, "%s: ", str_safe(&cli->ctx->perm, cli->driver->args.operands[0], 4096));
    if (found.n_nodes)
        say(cli, "%d nodes, %d of them refused\n%s", found.n_nodes, found.n_refused,
            found.interface);
    if (found.n_open)
        say(cli, "  open dims are taken as 1 (examples) or %lld\n", (long long)found.open_length);
    print_part(cli, "cut", found.cut, found.n_cut, "what is in front of the refused ones");
    print_part(cli, "extract", found.extract, found.n_extract, "what is behind the refused ones");
    say(cli, n ? "  %d obstacle%s\n" : "  no obstacle: it compiles\n", n, str_plural(n));
    if (cli->json) {
        cJSON_AddNumberToObject(cli->json, "nodes", found.n_nodes);
        cJSON_AddNumberToObject(cli->json, "refused_nodes", found.n_refused);
        cJSON_AddNumberToObject(cli->json, "obstacles", n);
    }
    return ok;
}

bool command_inspect(struct cli *cli)
{
    bool ok;

    if (has_option(&cli->driver->args, OPTION_PASSES)) {
        list_passes(cli);
        return true;
    }
    if (has_option(&cli->driver->args, OPTION_OPERATORS)) {
        list_operators(cli);
        return true;
    }
    if (has_option(&cli->driver->args, OPTION_PREFLIGHT)) {
        ok = preflight(cli);
        module_free(cli->driver->module);
        return ok;
    }
    ok = driver_inspect(cli->driver);
    if (ok) {
        show(cli, cli->driver->module);
        ok = driver_inspect_passes(cli->driver);
    }
    module_free(cli->driver->module);
    return ok;
}
