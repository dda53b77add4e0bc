#include "codegen_c/text/parallel.h"

#include <assert.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/emit/emit.h"
#include "codegen_c/select/configure.h"

/* Below that a region takes some ten microseconds on a fast core, and handing over parts a few. */
enum { LEAST_MACS = 1 << 18, LEAST_ELEMENTS = 1 << 15, GRAIN = 16 };

/* Its kernel's template says so, if it does. */
static bool has_parallel_loop(const struct codegen *codegen, const struct region *region)
{
    const struct embedded_file *template =
        region->config.kernel
            ? embedded_find(arena_printf(&codegen->ctx->scratch, "templates/kernels/%s.c.tmpl",
                                         region->config.kernel->name))
            : NULL;

    return template && strstr(template->text, "//#parallel");
}

bool region_is_split(const struct codegen *codegen, const struct region *region)
{
    return codegen->options->parts > 1 && has_parallel_loop(codegen, region) &&
           (codegen->emitted[region->index].macs >= LEAST_MACS ||
            type_elements(&region->fn->ret->inputs[0]->type) >= LEAST_ELEMENTS);
}

/* "for (int VAR = 0; VAR < LIMIT; VAR += STEP)", VAR++ or, of gemv, "for (int VAR = 0, n; ...; VAR
 * += n)".
 */
struct loop {
    const char *at, *end; /* in the text */
    const char *var, *limit, *step, *more;
};

static bool parse_loop(struct arena *arena, const char *at, struct loop *out)
{
    static const char head[] = "for (int ";
    const char *limit, *limit_end, *step, *end, *after;
    size_t n_var;

    at += strspn(at, " ");
    n_var = strcspn(at + strlen(head), " ");
    after = at + strlen(head) + n_var + strlen(" = 0");
    if (!str_starts(at, head) || !str_starts(after - strlen(" = 0"), " = 0"))
        return false;
    *out = (struct loop){ .at = at, .more = "" };
    out->var = arena_strndup(arena, at + strlen(head), n_var);
    limit = strstr(at, arena_printf(arena, "; %s < ", out->var));
    end = strchr(at, '\n');
    if (!limit || limit > end)
        return false;
    if (*after == ',')
        out->more = arena_strndup(arena, after, (size_t)(limit - after));
    limit += strlen("; ") + n_var + strlen(" < ");
    limit_end = strchr(limit, ';');
    step = limit_end + strlen("; ") + n_var;
    out->limit = arena_strndup(arena, limit, (size_t)(limit_end - limit));
    out->end = strchr(step, ')');
    if (str_starts(step, "++"))
        out->step = NULL;
    else
        out->step =
            arena_strndup(arena, step + strlen(" += "), (size_t)(out->end - step) - strlen(" += "));
    return true;
}

/* In two lines; the first goes on where the text stands. */
static void add_split_loop(struct arena *arena, struct str *out, const struct loop *loop,
                           int indent)
{
    const char *var = loop->var;
    const bool by_outputs = *loop->more && loop->step; /* gemv's: as many as it took */
    const char *grain = by_outputs              ? "GEMV"
                        : loop->step            ? loop->step
                        : strcmp(var, "i") == 0 ? arena_printf(arena, "%d", GRAIN)
                                                : "1";

    str_printf(out, "for (int %s = part_begin(this_part, %s, %s),\n%*s", var, loop->limit, grain,
               indent + (int)strlen("for (int "), "");
    str_printf(out, "this_end = part_begin(this_part + 1, %s, %s)%s; ", loop->limit, grain,
               loop->more);
    /* The second condition is for compilers: without it gcc 12 takes arrays for uninitialised. */
    str_printf(out, "%s < this_end && %s < %s; %s", var, var, loop->limit, var);
    if (loop->step)
        str_printf(out, " += %s", loop->step);
    else
        str_add(out, "++");
}

/* The parameters' declarations in the text: "const float *restrict x, float *restrict y". */
static const char *parameters_of(struct arena *arena, const char *text, const char *name)
{
    const char *begin = strstr(text, arena_printf(arena, " %s(", name)) + strlen(name) + 2;

    return arena_strndup(arena, begin, (size_t)(strstr(begin, ")\n{") - begin));
}

/* The parameters one by one: how many; a member for each; how a part gets them, "of->x, "; "x, y".
 */
static int read_parameters(struct arena *arena, const char *list, size_t part_scratch,
                           const char **items, struct str *members, struct str *of,
                           struct str *names)
{
    int n_items = 0;

    while (*list) {
        const size_t n = strcspn(list, ",");
        const char *one = arena_strndup(arena, list, n), *name = one + n, *restricted;

        while (name > one && name[-1] != ' ' && name[-1] != '*')
            name--;
        items[n_items++] = one;
        restricted = strstr(one, "restrict ");
        str_printf(members, "    %.*s%s;\n", (int)((restricted ? restricted : name) - one), one,
                   name);
        str_printf(names, "%s%s", names->n ? ", " : "", name);
        if (part_scratch && strcmp(name, "scratch") == 0)
            str_printf(of, "(unsigned char *)of->scratch + part * %zu, ", part_scratch);
        else
            str_printf(of, "of->%s, ", name);
        list += n;
        list += strspn(list, ", \n");
    }
    return n_items;
}

static void add_hand_over(struct codegen *codegen, struct str *out,
                          const struct region_function *function, const char *text)
{
    const struct region *region = function->region;
    struct arena *arena = &codegen->arena;
    struct str members = { .arena = arena }, of = { .arena = arena }, names = { .arena = arena };
    const char *list = parameters_of(arena, text, function->name), *fn = region->c_name, *head;
    const char **items = arena_array(arena, const char *,
                                     region->fn->n_params + region->fn->ret->n_inputs + 1 +
                                         codegen->emitted[region->index].n_arrays);
    const int n =
        read_parameters(arena, list, function->part_scratch, items, &members, &of, &names);

    str_printf(out, "struct %s_job {\n%s};\n\n", fn, str_text(&members));
    str_printf(out,
               "static void %s(void *job, int part)\n{\n    const struct %s_job *const of = "
               "job;\n\n    %s(%spart);\n}\n\n",
               function->run, fn, function->name, str_text(&of));
    head = arena_printf(arena, "static void %s(", fn);
    add_list(out, head, n, items, ")\n", (int)strlen(head));
    str_printf(
        out, "{\n    struct %s_job job = { %s };\n\n    %s_parallel_for(%s_PARTS, %s, &job);\n}\n",
        fn, str_text(&names), codegen->options->name, codegen->upper, function->run);
}

const char *split_region(struct codegen *codegen, const struct region_function *function,
                         const char *text)
{
    struct arena *arena = &codegen->arena;
    struct str out = { .arena = arena };
    struct loop loop;
    const char *parameters_end = strstr(text, ")\n{");
    int indent = 0;
    const bool found = parse_loop(arena, text + function->keys.parallel, &loop);

    assert(found && parameters_end && parameters_end < loop.at);
    if (!found || !parameters_end)
        return text;
    str_addn(&out, text, (size_t)(parameters_end - text));
    str_add(&out, ", int this_part");
    str_addn(&out, parameters_end, (size_t)(loop.at - parameters_end));
    for (const char *at = loop.at; at[-1] == ' '; at--)
        indent++;
    add_split_loop(arena, &out, &loop, indent);
    str_add(&out, loop.end);
    str_add(&out, "\n");
    add_hand_over(codegen, &out, function, text);
    return str_text(&out);
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
