/* compile.h - compile, model by model: one, or several that share an arena. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "base/file.h"
#include "cli/budget.h"
#include "cli/graph_json.h"

/* A model on its way to files. */
struct compilation {
    struct codegen_options options;
    struct codegen_result result;
    struct budget budget;
    struct emit emit;
    struct module *module; /* the caller frees it (NULL is fine), whatever happened */
    bool fits;             /* into its budget; false only with --force */
};

/* The first operand, as the options say; its files are begun in the set. False after errors. */
bool compile_model(struct cli *cli, struct output_set *set, struct compilation *out);

/* What was made, once the files are there. */
void compile_report(struct cli *cli, const struct compilation *compilation);

/* share_arena.c: all operands, and SHARED_ARENA.h. */
bool compile_shared(struct cli *cli);

#endif
