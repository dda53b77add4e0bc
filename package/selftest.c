/* selftest.c - NAME_selftest.c: runs each model on inputs that a formula makes, and compares with what the same C computed
 * on the host when the package was made. */
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "base/temporary.h"
#include "package/package.h"
#include "runtime/engine/host_compile.h"

enum { MOST_NUMBERS = 64 }; /* of an output that are compared */

static int64_t numbers_of(const struct package_tensor *t)
{
    return t->elements < MOST_NUMBERS ? t->elements : MOST_NUMBERS;
}

/* The elements compared stand this far apart. */
static int64_t step_of(const struct package_tensor *t)
{
    return t->elements ? t->elements / numbers_of(t) : 1;
}

static bool is_plain_float(enum dtype dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F64;
}

/* An element of an input: floats from -1 to 1, codes of 8 bits from 0 to 127, else 0 or 1, which are indices that
 * most tensors have. */
static const char *random_element(struct arena *arena, enum dtype dtype)
{
    const char *type = dtype_c_type(dtype);

    switch (dtype) {
    case DTYPE_F32:
    case DTYPE_F64: return arena_printf(arena, "(%s)next_random() / 8388608.0f - 1.0f", type);
    case DTYPE_F16: return "(uint16_t)(0x3000u | (next_random() & 0x3ffu))";
    case DTYPE_BF16: return "(uint16_t)(0x3e00u | (next_random() & 0x7fu))";
    case DTYPE_I8:
    case DTYPE_U8: return arena_printf(arena, "(%s)(next_random() & 0x7fu)", type);
    default: break;
    }
    return arena_printf(arena, "(%s)(next_random() & %s)", type,
                        dtype_minifloat(dtype) ? "0x37u" : "1u");
}

/* "in_kws_features": a name that neither NAME.h nor the rest of the file has. */
static const char *name_of(struct arena *arena, const struct package_model *m,
                           const struct package_tensor *t)
{
    const bool input = t >= m->inputs && t < m->inputs + m->n_inputs;

    return arena_printf(arena, "%s_%s_%s", input ? "in" : "out", m->name, t->parameter);
}

/* NAME_run wants arrays aligned to their type, up to 4 bytes; compilers for AVR align to 1. */
static void write_arrays(struct arena *arena, const struct package_model *m,
                         const struct package_tensor *tensors, int n, struct str *s)
{
    for (int i = 0; i < n; i++) {
        const size_t bytes = dtype_bytes(tensors[i].dtype);

        if (tensors[i].function)
            continue;
        str_printf(s, "static %s %s[%lld]", dtype_c_type(tensors[i].dtype),
                   name_of(arena, m, &tensors[i]), (long long)tensors[i].elements);
        if (bytes > 1)
            str_printf(s, " __attribute__((aligned(%d)))", bytes < 4 ? 2 : 4);
        str_add(s, ";\n");
    }
}

static void write_state(const struct package_model *m, struct str *s)
{
    if (m->state_bytes)
        str_printf(s, "static struct %s_state state_of_%s;\n", m->name, m->name);
}

/* With --io-in-arena: pointers of the arrays' names. */
static void write_pointers(struct arena *arena, const struct package_model *m,
                           const struct package_tensor *tensors, int n, const char *qualifier,
                           struct str *s)
{
    for (int i = 0; i < n; i++)
        if (tensors[i].function)
            str_printf(s, "    %s%s *%s = %s(%s);\n", qualifier, dtype_c_type(tensors[i].dtype),
                       name_of(arena, m, &tensors[i]), tensors[i].function,
                       tensors[i].pool ? tensors[i].pool : "arena");
}

static const char *add_arguments(struct arena *arena, const struct package_model *m,
                                 const struct package_tensor *tensors, int n, const char *comma,
                                 struct str *s)
{
    for (int i = 0; i < n; i++)
        if (!tensors[i].function) {
            str_printf(s, "%s%s", comma, name_of(arena, m, &tensors[i]));
            comma = ", ";
        }
    return comma;
}

/* Declares, fills and runs; what follows compares or records. */
static void write_run(struct package *package, const struct package_model *m, struct str *s)
{
    struct arena *arena = &package->ctx->perm;
    const char *comma = "";

    write_pointers(arena, m, m->inputs, m->n_inputs, "", s);
    write_pointers(arena, m, m->outputs, m->n_outputs, "const ", s);
    str_add(s, "    uint32_t i;\n    int code;\n\n    random_state = 1;\n");
    for (int i = 0; i < m->n_inputs; i++)
        str_printf(s, "    for (i = 0; i < %lldu; i++)\n        %s[i] = %s;\n",
                   (long long)m->inputs[i].elements, name_of(arena, m, &m->inputs[i]),
                   random_element(arena, m->inputs[i].dtype));
    if (m->state_bytes)
        str_printf(s, "    %s_reset(&state_of_%s);\n", m->name, m->name);
    str_printf(s, "    code = %s_run(", m->name);
    comma = add_arguments(arena, m, m->inputs, m->n_inputs, comma, s);
    comma = add_arguments(arena, m, m->outputs, m->n_outputs, comma, s);
    if (m->state_bytes) {
        str_printf(s, "%s&state_of_%s", comma, m->name);
        comma = ", ";
    }
    for (int p = 0; p < m->n_pools; p++) {
        str_printf(s, "%s%s", comma, m->pools[p].parameter);
        comma = ", ";
    }
    str_add(s, ");\n    if (code != 0)\n        return code;\n");
}

static void write_signature(const struct package_model *m, struct str *s, const char *what,
                            const char *more)
{
    str_printf(s, "static int %s_%s(", what, m->name);
    for (int p = 0; p < m->n_pools; p++)
        str_printf(s, "%sunsigned char *%s", p ? ", " : "", m->pools[p].parameter);
    str_printf(s, "%s)\n{\n", more);
}

static void write_number(double number, bool real, struct str *s)
{
    if (isnan(number))
        str_add(s, "NAN");
    else if (isinf(number))
        str_add(s, number < 0 ? "-INFINITY" : "INFINITY");
    else
        str_printf(s, real ? "%.9ef" : "%.0f", number);
}

static void write_expected(struct arena *arena, const struct package_model *m,
                           const struct package_tensor *t, const double *numbers, struct str *s)
{
    const bool real = is_plain_float(t->dtype);
    const int per_line = real ? 6 : 12;

    str_printf(s, "static const %s expected_%s[%lld] = {", real ? "float" : dtype_c_type(t->dtype),
               name_of(arena, m, t), (long long)numbers_of(t));
    for (int64_t i = 0; i < numbers_of(t); i++) {
        str_add(s, i % per_line ? ", " : i ? ",\n    " : "\n    ");
        write_number(numbers[i], real, s);
    }
    str_add(s, "\n};\n");
}

static void write_comparison(struct arena *arena, const struct package_model *m,
                             const struct package_tensor *t, struct str *s)
{
    const char *name = name_of(arena, m, t);
    const bool is_code = dtype_bytes(t->dtype) == 1 && t->dtype != DTYPE_BOOL;
    const char *tolerance =
        is_plain_float(t->dtype)
            ? arena_printf(arena, "tolerance_of(expected_%s, %lld)", name, (long long)numbers_of(t))
        : is_code ? "1.0f"
                  : "0.0f";

    str_printf(s,
               "    for (i = 0; i < %lldu; i++)\n"
               "        if (!is_near((float)%s[i * %lldu], (float)expected_%s[i], %s))\n"
               "            return -1;\n",
               (long long)numbers_of(t), name, (long long)step_of(t), name, tolerance);
}

static void write_check(struct package *package, const struct package_model *m,
                        const double *numbers, struct str *s)
{
    struct arena *arena = &package->ctx->perm;

    str_printf(s, "/* --- %s */\n\n", m->name);
    write_arrays(arena, m, m->inputs, m->n_inputs, s);
    write_arrays(arena, m, m->outputs, m->n_outputs, s);
    write_state(m, s);
    for (int i = 0; i < m->n_outputs; numbers += numbers_of(&m->outputs[i++]))
        write_expected(arena, m, &m->outputs[i], numbers, s);
    str_add(s, "\n");
    write_signature(m, s, "check", "");
    write_run(package, m, s);
    for (int i = 0; i < m->n_outputs; i++)
        write_comparison(arena, m, &m->outputs[i], s);
    str_add(s, "    return 0;\n}\n\n");
}

/* --- the numbers, by the host ------------------------------------------------------------------ */

static void write_recorder(struct package *package, struct str *s)
{
    struct arena *arena = &package->ctx->perm;

    for (int i = 0; i < package->n_models; i++)
        str_printf(s, "#include \"%s.h\"\n", package->models[i].name);
    str_add(s, "#include <stdint.h>\n\nstatic uint32_t random_state;\n\nstatic uint32_t "
               "next_random(void)\n{\n"
               "    random_state = random_state * 1664525u + 1013904223u;\n    return random_state "
               ">> 8;\n}\n\n");
    for (int i = 0; i < package->n_models; i++) {
        const struct package_model *m = &package->models[i];

        write_arrays(arena, m, m->inputs, m->n_inputs, s);
        write_arrays(arena, m, m->outputs, m->n_outputs, s);
        write_state(m, s);
        write_signature(m, s, "record", ", double **to");
        write_run(package, m, s);
        for (int k = 0; k < m->n_outputs; k++)
            str_printf(
                s, "    for (i = 0; i < %lldu; i++)\n        *(*to)++ = (double)%s[i * %lldu];\n",
                (long long)numbers_of(&m->outputs[k]), name_of(arena, m, &m->outputs[k]),
                (long long)step_of(&m->outputs[k]));
        str_add(s, "    return 0;\n}\n\n");
    }
    str_add(s, "int relayc_record(unsigned char **memory, double *to);\n"
               "int relayc_record(unsigned char **memory, double *to)\n{\n    int code = 0;\n\n");
    for (int i = 0, at = 0; i < package->n_models; i++) {
        str_printf(s, "    code = code ? code : record_%s(", package->models[i].name);
        for (int p = 0; p < package->models[i].n_pools; p++)
            str_printf(s, "memory[%d], ", at++);
        str_add(s, "&to);\n");
    }
    str_add(s, "    return code;\n}\n");
}

static const char *build_recorder(struct package *package, const char *work)
{
    struct ctx *ctx = package->ctx;
    struct output_set set = { .ctx = ctx };
    const char *source = arena_printf(&ctx->perm, "%s/record.c", work);
    const char *built = arena_printf(&ctx->perm, "%s/record.so", work);
    const char **files;
    struct str text = { .arena = &ctx->perm };
    int n = 0, most = 2;

    write_recorder(package, &text);
    writer_text(output_open(&set, source), str_text(&text));
    if (!output_commit(&set))
        return NULL;
    for (int i = 0; i < package->n_models; i++)
        most += package->models[i].n_files;
    files = arena_array(&ctx->perm, const char *, most);
    files[n++] = source;
    for (int i = 0; i < package->n_models; i++)
        for (int k = 0; k < package->models[i].n_files; k++)
            if (str_ends(package->models[i].files[k], ".c"))
                files[n++] =
                    arena_printf(&ctx->perm, "%s/%s", package->from, package->models[i].files[k]);
    if (package->shares_kernels)
        files[n++] = arena_printf(&ctx->perm, "%s/relayc_kernels.c", package->from);
    const struct host_compile job = { .compiler = package->cc,
                                      .mode = "-std=c99 -shared -fPIC",
                                      .flags = package->cflags ? package->cflags : "-O1",
                                      .include_dir = package->from,
                                      .files = files,
                                      .n_files = n,
                                      .output = built };
    return host_compile(ctx, &job) ? built : NULL;
}

static double *record(struct package *package)
{
    struct ctx *ctx = package->ctx;
    const char *work = temporary_work_folder(ctx);
    const char *built = work ? build_recorder(package, work) : NULL;
    void *library = built ? dlopen(built, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*function)(unsigned char **, double *) = NULL;
    int64_t n = 0, n_pools = 0;
    unsigned char **memory;
    double *numbers = NULL;
    int code;

    if (library)
        *(void **)&function = dlsym(library, "relayc_record");
    for (int i = 0; i < package->n_models; i++) {
        n_pools += package->models[i].n_pools;
        for (int k = 0; k < package->models[i].n_outputs; k++)
            n += numbers_of(&package->models[i].outputs[k]);
    }
    memory = arena_array(&ctx->perm, unsigned char *, n_pools + 1);
    n_pools = 0;
    for (int i = 0; i < package->n_models; i++)
        for (int p = 0; p < package->models[i].n_pools; p++) {
            const size_t align = package->models[i].align ? package->models[i].align : 1;
            unsigned char *room =
                arena_alloc(&ctx->perm, package->models[i].pools[p].bytes + align);

            memory[n_pools++] = room + (align - (uintptr_t)room % align) % align;
        }
    if (function) {
        numbers = arena_array(&ctx->perm, double, n + 1);
        code = function(memory, numbers);
        if (code) {
            diag_error(ctx, DIAG_TOOLCHAIN, NULL, "the C of %s returned %d on this machine",
                       package->from, code);
            numbers = NULL;
        }
    } else if (built) {
        diag_error(ctx, DIAG_TOOLCHAIN, NULL, "cannot load the C that was built: %s", dlerror());
    }
    if (library)
        dlclose(library);
    if (work)
        temporary_remove(work);
    return numbers;
}

/* --- the file ---------------------------------------------------------------------------------- */

static void write_buffers(struct package *package, struct str *s)
{
    for (int i = 0; i < package->n_models; i++)
        for (int p = 0; p < package->models[i].n_pools; p++) {
            const struct package_model *m = &package->models[i];
            const char *pool = m->pools[p].parameter;
            const char *place = arena_printf(&package->ctx->perm, "%s_%s_PLACE", m->upper,
                                             package_upper(&package->ctx->perm, pool));

            if (package->shares_arena && i)
                return;
            str_printf(
                s,
                "#ifndef %s\n#define %s\n#endif\nstatic %s union {\n    unsigned char bytes[%zu];\n"
                "    double aligns;\n} %s_%s __attribute__((aligned(%zu)));\n\n",
                place, place, place,
                package->shares_arena ? package->models[i].arena_bytes : m->pools[p].bytes, m->name,
                pool, m->align);
        }
}

/* A shared arena has room for the largest. */
static void share(struct package *package)
{
    for (int i = 1; package->shares_arena && i < package->n_models; i++)
        if (package->models[0].arena_bytes < package->models[i].arena_bytes)
            package->models[0].arena_bytes = package->models[i].arena_bytes;
}

bool package_selftest(struct package *package, struct str *out)
{
    struct arena *arena = &package->ctx->perm;
    struct str includes = { .arena = arena }, buffers = { .arena = arena },
               checks = { .arena = arena };
    struct str calls = { .arena = arena };
    const double *numbers = record(package);

    if (!numbers)
        return false;
    share(package);
    write_buffers(package, &buffers);
    for (int i = 0; i < package->n_models; i++) {
        const struct package_model *m = &package->models[i];

        str_printf(&includes, "#include \"%s.h\"\n", m->name);
        write_check(package, m, numbers, &checks);
        str_printf(&calls, "    code = code ? code : check_%s(", m->name);
        for (int p = 0; p < m->n_pools; p++)
            str_printf(&calls, "%s%s_%s.bytes", p ? ", " : "",
                       package->models[package->shares_arena ? 0 : i].name, m->pools[p].parameter);
        str_add(&calls, ");\n");
        for (int k = 0; k < m->n_outputs; k++)
            numbers += numbers_of(&m->outputs[k]);
    }
    package_key(package, "selftest_includes", str_text(&includes));
    package_key(package, "selftest_buffers", str_text(&buffers));
    package_key(package, "selftest_checks", str_text(&checks));
    package_key(package, "selftest_calls", str_text(&calls));
    return package_expand(package, "selftest.c", out);
}
