#include "runtime/engine/adapter.h"

#include "base/file.h"

bool adapter_write(struct ctx *ctx, const struct function *fn, const char *name, bool step,
                   const char *path)
{
    struct output_set set = { .ctx = ctx };
    struct writer *w = output_open(&set, path);
    char *upper = arena_strdup(&ctx->perm, name);

    for (char *c = upper; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    writer_printf(w, "#include \"%s.h\"\n#include <stddef.h>\n\n", name);
    writer_text(w, "size_t relayc_arena_bytes(void);\n"
                   "int relayc_call(int region, const void *const *in, void *const *out, "
                   "void *arena);\n\n");
    writer_printf(w, "size_t relayc_arena_bytes(void)\n{\n    return %s_ARENA_BYTES;\n}\n\n",
                  upper);
    writer_text(w, "int relayc_call(int region, const void *const *in, void *const *out, "
                   "void *arena)\n{\n    (void)region, (void)in, (void)out;\n");
    for (int by_step = step; by_step >= 0; by_step--) {
        writer_printf(w, "    %sreturn %s_%s(%s", by_step ? "if (region >= 0)\n        " : "", name,
                      by_step ? "step" : "run", by_step ? "region, " : "");
        for (int i = 0; i < fn->n_params; i++)
            writer_printf(w, "in[%d], ", i);
        for (int i = 0; i < fn->ret->n_inputs; i++)
            writer_printf(w, "out[%d], ", i);
        writer_text(w, "arena);\n");
    }
    writer_text(w, "}\n");
    return output_commit(&set);
}
