#include "runtime/engine/adapter.h"

#include "base/file.h"
#include "base/str.h"
#include "relay_ir/state.h"
#include "relay_ir/variants.h"

/* "in[0], out[0], base + 0, base + 4096" */
static const char *arguments(struct ctx *ctx, const struct function *fn, const char *name,
                             const struct adapter_memory *memory)
{
    const int n = count_variants(fn->module); /* each has parameters of its own */
    const int n_params = fn->n_params / n, n_results = fn->ret->n_inputs / n;
    struct str text = { .arena = &ctx->perm };
    size_t at = 0;

    for (int i = 0; i < n_params && !memory->in_at; i++)
        if (!state_of_param(fn->module, i))
            str_printf(&text, "in[%d], ", i);
    for (int i = 0; i < memory->n_sizes; i++)
        str_printf(&text, "((const int32_t *)in[%d])[%d], ", n_params, i);
    for (int i = 0; i < n_results && !memory->out_at; i++)
        if (!state_of_result(fn->module, i))
            str_printf(&text, "out[%d], ", i);
    if (fn->module->n_states)
        str_printf(&text, "(struct %s_state *)((unsigned char *)arena + %zu), ", name,
                   memory->state_place);
    if (!memory->n_pools)
        str_add(&text, "arena");
    for (int p = 0; p < memory->n_pools; p++) {
        str_printf(&text, "%s(unsigned char *)arena + %zu", p ? ", " : "", at);
        at += memory->pool_room[p];
    }
    return str_text(&text);
}

static const char *arena_bytes(struct ctx *ctx, const char *upper,
                               const struct adapter_memory *memory)
{
    size_t bytes = 0;

    for (int p = 0; p < memory->n_pools; p++)
        bytes += memory->pool_room[p];
    if (memory->state_bytes)
        return arena_printf(&ctx->perm, "%zu", memory->state_place + memory->state_bytes);
    return memory->n_pools ? arena_printf(&ctx->perm, "%zu", bytes)
                           : arena_printf(&ctx->perm, "%s_ARENA_BYTES", upper);
}

static size_t state_place(const struct function *fn, const struct adapter_memory *memory,
                          const struct state *state)
{
    return memory->state_place + memory->state_at[state - fn->module->states];
}

/* Where states, and inputs and outputs in the arena, are to be before the first region, and after the last. */
static void copy_inputs(struct writer *w, const struct function *fn,
                        const struct adapter_memory *memory)
{
    if (!memory->in_at && !fn->module->n_states)
        return;
    writer_text(w, "    if (region <= 0) {\n");
    for (int i = 0; i < fn->n_params; i++) {
        const struct state *state = state_of_param(fn->module, i);

        if (state || memory->in_at)
            writer_printf(w, "        memcpy((unsigned char *)arena + %zu, in[%d], %zu);\n",
                          state ? state_place(fn, memory, state) : memory->in_at[i], i,
                          type_bytes(&fn->params[i]->type));
    }
    writer_text(w, "    }\n");
}

static void copy_outputs(struct writer *w, const struct function *fn,
                         const struct adapter_memory *memory)
{
    if (!memory->out_at && !fn->module->n_states)
        return;
    writer_printf(w, "    if (region < 0 || region == %d) {\n", memory->n_regions - 1);
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        const struct state *state = state_of_result(fn->module, i);

        if (state || memory->out_at)
            writer_printf(w, "        memcpy(out[%d], (unsigned char *)arena + %zu, %zu);\n", i,
                          state ? state_place(fn, memory, state) : memory->out_at[i],
                          type_bytes(&fn->ret->inputs[i]->type));
    }
    writer_text(w, "    }\n");
}

bool adapter_write(struct ctx *ctx, const struct function *fn, const char *name, bool step,
                   const struct adapter_memory *memory, const char *path)
{
    struct output_set set = { .ctx = ctx };
    struct writer *w = output_open(&set, path);
    const char *passed = arguments(ctx, fn, name, memory);
    char *upper = arena_strdup(&ctx->perm, name);

    for (char *c = upper; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    writer_printf(w, "#include \"%s.h\"\n#include <stddef.h>\n#include <string.h>\n\n", name);
    writer_text(w, "size_t relayc_arena_bytes(void);\n"
                   "int relayc_call(int region, const void *const *in, void *const *out, "
                   "void *arena);\n\n");
    writer_printf(w, "size_t relayc_arena_bytes(void)\n{\n    return %s;\n}\n\n",
                  arena_bytes(ctx, upper, memory));
    writer_text(w, "int relayc_call(int region, const void *const *in, void *const *out, "
                   "void *arena)\n{\n    int code;\n\n    (void)region, (void)in, (void)out;\n");
    copy_inputs(w, fn, memory);
    if (step)
        writer_printf(w,
                      "    if (region >= 0)\n        code = %s_step(region, %s);\n    else\n    ",
                      name, passed);
    writer_printf(w, "    code = %s_run(%s);\n", name, passed);
    copy_outputs(w, fn, memory);
    writer_text(w, "    return code;\n}\n");
    return output_commit(&set);
}
