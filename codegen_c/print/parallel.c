#include "codegen_c/print/parallel.h"

#include <string.h>

#include "base/embedded.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"
#include "codegen_c/select/configure.h"

/* Below that a region takes some ten microseconds on a fast core, and handing over parts a few. */
enum { LEAST_MACS = 1 << 18, LEAST_ELEMENTS = 1 << 15 };

/* Its kernel's template says so, if it does. */
static bool has_parallel_loop(const struct codegen *codegen, const struct region *region)
{
    const struct embedded_file *template =
        region->config.kernel ? kernel_template(&codegen->ctx->scratch, region->config.kernel)
                              : NULL;

    return template && template_is_parallel(template->text);
}

bool region_is_split(const struct codegen *codegen, const struct region *region)
{
    return codegen->options->parts > 1 && has_parallel_loop(codegen, region) &&
           (codegen->emitted[region->index].macs >= LEAST_MACS ||
            type_elements(&region->fn->ret->inputs[0]->type) >= LEAST_ELEMENTS);
}

/* What the hand-over's function has of each parameter: a member of the job, what a part is given of
 * it, and its name. */
static void add_parameter(struct str *members, struct str *of, struct str *names,
                          const struct parameter *parameter, size_t part_scratch)
{
    str_printf(members, "    %s%s;\n", parameter->type, parameter->name);
    str_printf(names, "%s%s", names->n ? ", " : "", parameter->name);
    if (part_scratch && strcmp(parameter->name, "scratch") == 0)
        str_printf(of, "(unsigned char *)of->scratch + part * %zu, ", part_scratch);
    else
        str_printf(of, "of->%s, ", parameter->name);
}

void add_hand_over(struct codegen *codegen, struct str *out, const struct region_function *function)
{
    struct arena *arena = &codegen->arena;
    struct str members = { .arena = arena }, of = { .arena = arena }, names = { .arena = arena };
    const char *fn = function->region->c_name, *head = arena_printf(arena, "static void %s(", fn);
    const char **items = arena_array(arena, const char *, function->n_parameters);

    for (int i = 0; i < function->n_parameters; i++) {
        add_parameter(&members, &of, &names, &function->parameters[i], function->part_scratch);
        items[i] = parameter_text(arena, &function->parameters[i]);
    }
    str_printf(out, "\nstruct %s_job {\n%s};\n\n", fn, str_text(&members));
    str_printf(out,
               "static void %s(void *job, int part)\n{\n    const struct %s_job *const of = "
               "job;\n\n    %s(%spart);\n}\n\n",
               function->run, fn, function->name, str_text(&of));
    add_list(out, head, function->n_parameters, items, ")\n", (int)strlen(head));
    str_printf(
        out, "{\n    struct %s_job job = { %s };\n\n    %s_parallel_for(%s_PARTS, %s, &job);\n}\n",
        fn, str_text(&names), codegen->options->name, codegen->upper, function->run);
}

void add_parallel_header(struct codegen *codegen, struct str *out)
{
    const char *name = codegen->options->name, *upper = codegen->upper;

    str_printf(
        out,
        "/* Larger regions are divided into %s_PARTS parts. Where %s.c is compiled with "
        "%s_THREADS\n"
        " * defined, it calls this function, which is yours to write: it calls part(job, 0) ...\n"
        " * part(job, n - 1), each once, in any order, on any threads, and returns when all have\n"
        " * returned (and what they wrote is seen by the caller). `job` is to be passed on, and "
        "lives\n"
        " * until then. Calls are made by the thread that called %s_run, one after the other; two "
        "runs\n"
        " * at a time make calls at a time. Results are the same bits for any number of threads.\n"
        " * Without %s_THREADS the parts run one after the other, and nothing is to be written. "
        "*/\n"
        "#define %s_PARTS %d\n"
        "void %s_parallel_for(int n, void (*part)(void *job, int index), void *job);\n\n",
        upper, name, upper, name, upper, upper, codegen->options->parts, name);
}

void add_parallel_helpers(struct codegen *codegen, struct str *out)
{
    const char *name = codegen->options->name, *upper = codegen->upper;

    add_section(out, "parts");
    str_printf(
        out,
        "#ifndef %s_THREADS\n"
        "static void run_parts(int n, void (*part)(void *job, int index), void *job)\n"
        "{\n"
        "    for (int i = 0; i < n; i++)\n"
        "        part(job, i);\n"
        "}\n"
        "#define %s_parallel_for run_parts\n"
        "#endif\n\n"
        "/* Where a part of a loop over n in steps begins; the next begins where it ends. */\n"
        "static inline int part_begin(int part, int n, int step)\n"
        "{\n"
        "    const int64_t steps = ((int64_t)n + step - 1) / step;\n"
        "    const int64_t begin = steps * part / %s_PARTS * step;\n"
        "\n"
        "    return begin < n ? (int)begin : n;\n"
        "}\n\n",
        upper, name, upper);
}
