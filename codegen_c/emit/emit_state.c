#include "codegen_c/emit/emit_state.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"
#include "codegen_c/text/literal.h"

static const struct value *param_of(const struct codegen *codegen, int i)
{
    return codegen->module->main->params[codegen->module->states[i].param];
}

static size_t element_bytes(const struct codegen *codegen, int i)
{
    return dtype_bytes(param_of(codegen, i)->type.dtype);
}

bool has_state(const struct codegen *codegen)
{
    return codegen->module->n_states > 0;
}

/* Whether field i stands before field k. */
static bool is_before(const struct codegen *codegen, int i, int k)
{
    const size_t a = element_bytes(codegen, i), b = element_bytes(codegen, k);

    return a != b ? a > b : i < k;
}

size_t state_offset(const struct codegen *codegen, int i)
{
    size_t offset = 0;

    for (int k = 0; k < codegen->module->n_states; k++)
        if (is_before(codegen, k, i))
            offset += type_bytes(&param_of(codegen, k)->type);
    return offset;
}

static size_t greatest_element(const struct codegen *codegen)
{
    size_t greatest = 1;

    for (int i = 0; i < codegen->module->n_states; i++)
        if (element_bytes(codegen, i) > greatest)
            greatest = element_bytes(codegen, i);
    return greatest;
}

size_t state_bytes(const struct codegen *codegen)
{
    const size_t align = greatest_element(codegen);
    size_t bytes = 0;

    for (int i = 0; i < codegen->module->n_states; i++)
        bytes += type_bytes(&param_of(codegen, i)->type);
    return (bytes + align - 1) / align * align;
}

size_t state_alignment(const struct codegen *codegen)
{
    const size_t align = greatest_element(codegen);

    return align < 4 ? align : 4;
}

const char *state_field(const struct codegen *codegen, int i)
{
    return codegen->input_names[codegen->module->states[i].param] + strlen("state->");
}

/* --- NAME.h ----------------------------------------------------------------------------------- */

void add_state_struct(struct codegen *codegen, struct str *out)
{
    const int n = codegen->module->n_states;

    if (!has_state(codegen))
        return;
    str_printf(out, "/* What the network keeps from one run to the next. */\nstruct %s_state {\n",
               codegen->options->name);
    for (int place = 0; place < n; place++)
        for (int i = 0; i < n; i++) {
            const struct type *type = &param_of(codegen, i)->type;
            int before = 0;

            for (int k = 0; k < n; k++)
                before += is_before(codegen, k, i);
            if (before == place)
                str_printf(out, "    %s %s[%" PRId64 "]; /* %s \"%s\" */\n",
                           dtype_c_type(type->dtype), state_field(codegen, i), type_elements(type),
                           shape_comment(&codegen->arena, type),
                           comment_safe(&codegen->arena, param_of(codegen, i)->name, 60));
        }
    str_add(out, "};\n\n");
}

void add_state_functions(struct codegen *codegen, struct str *out)
{
    const char *name = codegen->options->name;

    if (!has_state(codegen))
        return;
    str_printf(
        out,
        "/* Makes the state that of a network that has not run yet: before the first run, and "
        "wherever a new\n * sequence begins. Each sequence (a microphone, a channel) has a "
        "struct %s_state of its own; all may\n * share one arena, one run after the other. "
        "*/\n"
        "void %s_reset(struct %s_state *state);\n\n",
        name, name, name);
}

/* --- NAME.c ----------------------------------------------------------------------------------- */

static void add_reset_of(struct codegen *codegen, struct str *out, int i)
{
    const struct value *param = param_of(codegen, i);
    const char *field = codegen->input_names[codegen->module->states[i].param];
    bool needs_math = false;
    double number;

    if (!codegen->initials[i]) {
        state_is_uniform(codegen->module, &codegen->module->states[i], &number);
        str_printf(out, "    for (int i = 0; i < %" PRId64 "; i++)\n        %s[i] = %s;\n",
                   type_elements(&param->type), field,
                   literal_of_number(&codegen->arena, param->type.dtype, number, &needs_math));
    } else {
        str_printf(out, "    (void)memcpy(%s, %s, %zu);\n", field, codegen->initials[i],
                   type_bytes(&param->type));
    }
    if (needs_math)
        map_set(&codegen->includes, "math.h", codegen);
}

void add_state_reset(struct codegen *codegen, struct str *out)
{
    const char *name = codegen->options->name;

    if (!has_state(codegen))
        return;
    str_printf(out, "void %s_reset(struct %s_state *state)\n{\n", name, name);
    for (int i = 0; i < codegen->module->n_states; i++)
        add_reset_of(codegen, out, i);
    str_add(out, "}\n\n");
}

void add_state_copies(struct codegen *codegen, struct str *out, int indent)
{
    const struct function *main = codegen->module->main;

    for (int i = 0; i < codegen->module->n_states; i++) {
        const struct state *state = &codegen->module->states[i];
        const struct value *value = main->ret->inputs[state->result];

        if (codegen->plan.place[value->id].kind != PLACE_ARENA)
            continue;
        str_printf(
            out, "%*smemcpy(%s, %s, %zu);\n", indent, "", codegen->output_names[state->result],
            codegen->local_names[codegen->plan.root[value->id]->id], type_bytes(&value->type));
    }
}
