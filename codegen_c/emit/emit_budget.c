/* emit_budget.c - what fits: the peak for the command, checks in NAME.h for the target's compiler.
 */
#include "codegen_c/emit/emit_budget.h"

#include <inttypes.h>
#include <stdlib.h>

#include "codegen_c/core/state.h"
#include "relay_ir/state.h"
#include "relay_ir/variants.h"

static int by_bytes(const void *left, const void *right)
{
    const struct codegen_alive *a = left, *b = right;

    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* The first region during which most is alive, of the first n. */
static int greatest_region(const struct plan *plan, int n_regions, struct arena *arena,
                           size_t *most)
{
    const size_t *alive = plan_alive(plan, arena);
    int found = -1;

    *most = 0;
    for (int r = 0; r < n_regions; r++)
        if (alive[r] > *most) {
            *most = alive[r];
            found = r;
        }
    return found;
}

void find_peak(struct codegen *codegen)
{
    const struct function *main = codegen->module->main;
    const struct plan *plan = &codegen->plan;
    struct arena *arena = &codegen->ctx->perm;
    struct codegen_peak *peak = &codegen->result->peak;
    const int r = greatest_region(plan, codegen->n_listed, &codegen->arena, &peak->bytes);

    for (int i = 0; i < interface_params(codegen->module) && !plan->io_inside; i++)
        if (!state_of_param(codegen->module, i))
            codegen->result->io_bytes += type_bytes(&main->params[i]->type);
    for (int i = 0; i < interface_results(codegen->module) && !plan->io_inside; i++)
        if (!state_of_result(codegen->module, i))
            codegen->result->io_bytes += type_bytes(&main->ret->inputs[i]->type);
    if (r < 0)
        return;
    peak->region = arena_strdup(arena, codegen->regions[r].c_name);
    peak->alive = arena_array(arena, struct codegen_alive, plan->n_blocks);
    for (int i = 0; i < plan->n_blocks; i++) {
        const struct block *block = &plan->blocks[i];

        if (block->first <= r && r <= block->last)
            peak->alive[peak->n++] = (struct codegen_alive){
                block->value ? arena_strdup(arena, block->value->name) : NULL, block->bytes
            };
    }
    qsort(peak->alive, (size_t)peak->n, sizeof *peak->alive, by_bytes);
}

/* --- NAME.h ----------------------------------------------------------------------------------- */

/* What --cc said. */
static void add_measured(struct codegen *codegen, struct str *out)
{
    const struct codegen_measured *measured = codegen->options->measured;
    const char *upper = codegen->upper;

    if (!measured)
        return;
    str_printf(
        out,
        "/* Measured of what\n *    %s\n * makes of this code; other compilers and flags "
        "make others: bytes of flash besides the\n * weights, bytes of RAM besides the arena",
        comment_safe(&codegen->arena, measured->compiler, 200));
    if (measured->has_stack)
        str_printf(out, ", and the most that %s_run takes of the stack\n * (-fstack-usage)",
                   codegen->options->name);
    if (measured->has_stack && *measured->beyond)
        str_printf(out, ", to which these add what they take: %s",
                   comment_safe(&codegen->arena, measured->beyond, 400));
    str_printf(out, ". */\nenum {\n    %s_CODE_BYTES = %zu,\n    %s_DATA_BYTES = %" PRIu64, upper,
               measured->other_flash, upper, measured->data + measured->bss);
    if (measured->has_stack)
        str_printf(out, ",\n    %s_STACK_BYTES = %zu", upper, measured->stack);
    str_add(out, "\n};\n\n");
}

/* A budget: what has to fit into what. */
struct check {
    const char *budget; /* "RAM_BYTES": a macro that builds may set to less */
    size_t bytes;       /* 0 = no such budget */
    const char *needed; /* a sum of the header's constants */
    const char *name, *failure;
};

static void add_limit(struct codegen *codegen, struct str *out, const struct check *check)
{
    const char *upper = codegen->upper;

    if (check->bytes)
        str_printf(out, "#ifndef %s_%s\n#define %s_%s %zu\n#endif\n", upper, check->budget, upper,
                   check->budget, check->bytes);
}

static void add_assert(struct codegen *codegen, struct str *out, const struct check *check)
{
    if (check->bytes)
        str_printf(out, "_Static_assert(%s <= %s_%s,\n               \"%s: %s\");\n", check->needed,
                   codegen->upper, check->budget, codegen->options->name, check->failure);
}

/* Before C11: an array that has no size if the check fails. */
static void add_array(struct codegen *codegen, struct str *out, const struct check *check)
{
    if (check->bytes)
        str_printf(out, "typedef char %s_%s[%s <=\n                  %s_%s ? 1 : -1];\n",
                   codegen->options->name, check->name, check->needed, codegen->upper,
                   check->budget);
}

/* "KWS_ARENA_BYTES + KWS_STACK_BYTES" */
static const char *sum_of(struct codegen *codegen, const char *first, const char *second,
                          const char *third)
{
    const char *upper = codegen->upper;
    struct str sum = { .arena = &codegen->arena };

    str_printf(&sum, "%s_%s", upper, first);
    if (second)
        str_printf(&sum, " + %s_%s", upper, second);
    if (third)
        str_printf(&sum, " + %s_%s", upper, third);
    return str_text(&sum);
}

void add_budget(struct codegen *codegen, struct str *out)
{
    const struct codegen_options *options = codegen->options;
    const struct codegen_measured *measured = options->measured;
    const bool has_stack = measured && measured->has_stack;
    const struct check checks[] = {
        { "RAM_BYTES", options->ram_bytes,
          sum_of(codegen, "ARENA_BYTES", measured ? "DATA_BYTES" : NULL,
                 has_stack ? "STACK_BYTES" : NULL),
          "fits_ram", "there is not enough RAM" },
        { "FLASH_BYTES", options->flash_bytes,
          sum_of(codegen, "WEIGHT_BYTES", measured ? "CODE_BYTES" : NULL, NULL), "fits_flash",
          "there is not enough flash" },
    };

    add_measured(codegen, out);
    if (!options->ram_bytes && !options->flash_bytes)
        return;
    str_printf(out,
               "/* What there is. A build for a target that has less says so, with -D%s_%s=...,\n"
               " * and fails. */\n",
               codegen->upper, checks[options->ram_bytes ? 0 : 1].budget);
    for (int i = 0; i < 2; i++)
        add_limit(codegen, out, &checks[i]);
    str_add(out, "#if defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L\n");
    for (int i = 0; i < 2; i++)
        add_assert(codegen, out, &checks[i]);
    str_add(out, "#else\n");
    for (int i = 0; i < 2; i++)
        add_array(codegen, out, &checks[i]);
    str_add(out, "#endif\n\n");
}
