/* network_driver.c - writes main() for a generated network: reads the data of a set, runs the
 * network twice on differently filled arenas, and prints the largest error. Plain C99, for any
 * hosted machine. Built with -DCOUNTED, it prints the instructions of each run (systick.h). */
#include <string.h>

#include "base/file.h"
#include "driver/driver.h"
#include "tests/support/network.h"

enum { SMALL_BYTES = 64 * 1024 };

/* Where a sanitizer watches, nothing else stands around the arena. */
static const char head[] =
    "#ifdef __SANITIZE_ADDRESS__\n"
    "enum { GUARD = 0 };\n"
    "static unsigned char memory[NET_ARENA_BYTES + 1] "
    "__attribute__((aligned(NET_ARENA_ALIGN)));\n\n"
    "static int is_intact(void)\n"
    "{\n"
    "    return 1;\n"
    "}\n"
    "#else\n"
    "enum { GUARD = 4 * NET_ARENA_ALIGN };\n"
    "static unsigned char memory[GUARD + NET_ARENA_BYTES + GUARD] "
    "__attribute__((aligned(NET_ARENA_ALIGN)));\n\n"
    "static int is_intact(void)\n"
    "{\n"
    "    int i = 0;\n"
    "\n"
    "    while (i < GUARD && memory[i] == 0x5A && memory[sizeof memory - 1 - (size_t)i] == 0x5A)\n"
    "        i++;\n"
    "    return i == GUARD;\n"
    "}\n"
    "#endif\n\n"
    "/* Nobody may use what the arena holds at first. */\n"
    "#define FORGET(at, bytes) (void)0\n"
    "#ifdef __has_feature\n"
    "#if __has_feature(memory_sanitizer)\n"
    "#include <sanitizer/msan_interface.h>\n"
    "#undef FORGET\n"
    "#define FORGET(at, bytes) __msan_poison(at, bytes)\n"
    "#endif\n"
    "#endif\n\n"
    "#ifdef COUNTED\n"
    "#include \"systick.h\"\n"
    "#define START() systick_start()\n"
    "#define STOP() printf(\"instructions %lu\\n\", (unsigned long)systick_instructions())\n"
    "#else\n"
    "#define START() (void)0\n"
    "#define STOP() (void)0\n"
    "#endif\n\n";

static const char body[] =
    "#ifdef EMBEDDED\n"
    "#include \"data.h\"\n\n"
    "static void load(const char *folder, const char *name, void *to, size_t bytes)\n"
    "{\n"
    "    size_t i = 0;\n"
    "\n"
    "    (void)folder;\n"
    "    while (strcmp(files[i].name, name) != 0)\n"
    "        i++;\n"
    "    memcpy(to, files[i].data, bytes);\n"
    "}\n"
    "#else\n"
    "static void load(const char *folder, const char *name, void *to, size_t bytes)\n"
    "{\n"
    "    char path[1024];\n"
    "    FILE *file;\n"
    "\n"
    "    snprintf(path, sizeof path, \"%s/%s\", folder, name);\n"
    "    file = fopen(path, \"rb\");\n"
    "    if (!file || fread(to, 1, bytes, file) != bytes) {\n"
    "        fprintf(stderr, \"cannot read %s\\n\", path);\n"
    "        exit(3);\n"
    "    }\n"
    "    fclose(file);\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* Largest difference over largest magnitude; NaN agrees with NaN. */\n"
    "static double compare(const double *want, const double *found, size_t n)\n"
    "{\n"
    "    double largest = 0, worst = 0;\n"
    "\n"
    "    for (size_t i = 0; i < n; i++) {\n"
    "        const double d = want[i] == found[i] ? 0 : fabs(want[i] - found[i]);\n"
    "\n"
    "        if (want[i] != want[i] && found[i] != found[i])\n"
    "            continue;\n"
    "        if (fabs(want[i]) > largest && fabs(want[i]) <= DBL_MAX)\n"
    "            largest = fabs(want[i]);\n"
    "        if (!(d <= worst))\n"
    "            worst = d <= DBL_MAX ? d : DBL_MAX;\n"
    "    }\n"
    "    return largest > 0 ? worst / largest : worst;\n"
    "}\n\n";

static void write_arrays(struct writer *w, const struct function *fn)
{
    for (int i = 0; i < fn->n_params; i++)
        writer_printf(w, "static %s in%d[%lld];\n", dtype_c_type(fn->params[i]->type.dtype), i,
                      (long long)(type_elements(&fn->params[i]->type) + 1));
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        const struct type *type = &fn->ret->inputs[i]->type;
        const long long n = (long long)type_elements(type) + 1;

        writer_printf(w, "static %s want%d[%lld], first%d[%lld], out%d[%lld];\n",
                      dtype_c_type(type->dtype), i, n, i, n, i, n);
        writer_printf(w, "static double want_real%d[%lld], out_real%d[%lld];\n", i, n, i, n);
    }
}

static void write_call(struct writer *w, const struct function *fn, const char *name,
                       const char *fill)
{
    writer_printf(w,
                  "    memset(memory, 0x5A, sizeof memory);\n"
                  "    memset(memory + GUARD, %s, NET_ARENA_BYTES);\n"
                  "    FORGET(memory + GUARD, NET_ARENA_BYTES);\n    START();\n"
                  "    code = %s_run(",
                  fill, name);
    for (int i = 0; i < fn->n_params; i++)
        writer_printf(w, "in%d, ", i);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        writer_printf(w, "out%d, ", i);
    writer_text(w, "memory + GUARD);\n    STOP();\n    if (code != 0) {\n"
                   "        printf(\"returned %d\\n\", code);\n        return 3;\n    }\n"
                   "    if (!is_intact()) {\n"
                   "        printf(\"something was written beside the arena\\n\");\n"
                   "        return 5;\n    }\n");
}

static void write_test(struct writer *w, const struct function *fn, const char *name)
{
    writer_text(w, "static int test(const char *folder, const char *set)\n{\n"
                   "    char name[64];\n    double error = 0, e;\n    int code;\n\n");
    for (int i = 0; i < fn->n_params; i++)
        writer_printf(w,
                      "    snprintf(name, sizeof name, \"%%s_in%d.bin\", set);\n"
                      "    load(folder, name, in%d, sizeof in%d - sizeof *in%d);\n",
                      i, i, i, i);
    write_call(w, fn, name, "0xFF");
    for (int i = 0; i < fn->ret->n_inputs; i++)
        writer_printf(w, "    memcpy(first%d, out%d, sizeof out%d);\n", i, i, i);
    write_call(w, fn, name, "0");
    for (int i = 0; i < fn->ret->n_inputs; i++)
        writer_printf(
            w,
            "    if (out%d[sizeof out%d / sizeof *out%d - 1] != 0) {\n"
            "        printf(\"output %d is written beyond its end\\n\");\n"
            "        return 5;\n    }\n"
            "    if (memcmp(first%d, out%d, sizeof out%d) != 0) {\n"
            "        printf(\"output %d depends on what was in the arena\\n\");\n"
            "        return 4;\n    }\n"
            "    snprintf(name, sizeof name, \"%%s_want%d.bin\", set);\n"
            "    load(folder, name, want%d, sizeof want%d - sizeof *want%d);\n"
            "    for (size_t i = 0; i < sizeof out%d / sizeof *out%d; i++) {\n"
            "        want_real%d[i] = (double)want%d[i];\n        out_real%d[i] = "
            "(double)out%d[i];\n"
            "    }\n    e = compare(want_real%d, out_real%d, sizeof out%d / sizeof *out%d - 1);\n"
            "    error = e > error ? e : error;\n",
            i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i);
    writer_text(w, "    printf(\"error %g\\n\", error);\n    return 0;\n}\n\n");
}

static void write_main(struct writer *w, const struct network *network)
{
    writer_text(
        w,
        "int main(int argc, char **argv)\n{\n    const char *folder = argc > 1 ? argv[1] : \"\";\n"
        "    int code = 0;\n\n");
    for (int i = 0; i < network->n_sets; i++)
        writer_printf(w, "    code = code ? code : test(folder, \"set%d\");\n", i);
    writer_text(w, "    return code;\n}\n");
}

static void write_tensors(struct output_set *set, const char *work, const char *stem, int n,
                          const struct tensor *tensors)
{
    for (int i = 0; i < n; i++) {
        const char *path = arena_printf(&set->ctx->perm, "%s/%s%d.bin", work, stem, i);

        writer_write(output_open(set, path), tensors[i].data, type_bytes(&tensors[i].type));
    }
}

static size_t data_bytes(int n, const struct tensor *tensors)
{
    size_t bytes = 0;

    for (int i = 0; i < n; i++)
        bytes += type_bytes(&tensors[i].type);
    return bytes;
}

bool network_is_small(const struct network *network)
{
    const struct function *fn = network->module->main;
    size_t bytes = 0;

    for (int i = 0; i < network->n_sets; i++)
        bytes += data_bytes(fn->n_params, network->sets[i].inputs) +
                 data_bytes(fn->ret->n_inputs, network->sets[i].outputs);
    return bytes <= SMALL_BYTES;
}

static void write_array(struct writer *w, int set, const char *stem, int n,
                        const struct tensor *tensors)
{
    for (int i = 0; i < n; i++) {
        const unsigned char *bytes = tensors[i].data;

        writer_printf(w, "static const unsigned char set%d_%s%d[] = {", set, stem, i);
        for (size_t k = 0; k < type_bytes(&tensors[i].type); k++)
            writer_printf(w, "%s%d,", k % 24 ? " " : "\n    ", bytes[k]);
        writer_text(w, " 0 };\n");
    }
}

/* The files of all sets as arrays, with a table that finds them by name. */
static void write_data(struct writer *w, const struct network *network)
{
    const struct function *fn = network->module->main;

    for (int i = 0; i < network->n_sets; i++) {
        write_array(w, i, "in", fn->n_params, network->sets[i].inputs);
        write_array(w, i, "want", fn->ret->n_inputs, network->sets[i].outputs);
    }
    writer_text(w, "\nstatic const struct {\n    const char *name;\n    const void *data;\n"
                   "} files[] = {\n");
    for (int i = 0; i < network->n_sets; i++) {
        for (int k = 0; k < fn->n_params; k++)
            writer_printf(w, "    { \"set%d_in%d.bin\", set%d_in%d },\n", i, k, i, k);
        for (int k = 0; k < fn->ret->n_inputs; k++)
            writer_printf(w, "    { \"set%d_want%d.bin\", set%d_want%d },\n", i, k, i, k);
    }
    writer_text(w, "};\n");
}

const char **network_files(struct arena *arena, const char *work,
                           const struct codegen_result *result)
{
    const int n = result->n_files;
    const char **files = arena_array(arena, const char *, n + result->n_host_files);

    for (int i = 0; i < n; i++)
        files[i] = result->files[i];
    for (int i = 0; i < result->n_host_files; i++)
        files[n + i] = arena_printf(arena, "%s/%s", work, result->host_files[i].name);
    return files;
}

static bool generate(struct network *network, const char *work, const char *machine,
                     const struct targets *targets, struct output_set *set,
                     struct codegen_result *result)
{
    struct driver_state driver = driver_begin(network->ctx, COMMAND_COMPILE);
    bool ok;

    driver_give(&driver, OPTION_NAME, "net");
    driver_give(&driver, OPTION_OUTPUT_DIR, work);
    driver_give(&driver, OPTION_WINOGRAD, "auto");
    if (machine)
        driver_give(&driver, OPTION_TARGET, machine);
    if (targets)
        driver_give(&driver, OPTION_STEP, "");
    ok = driver_prepare(&driver);
    driver.codegen.targets = targets;
    driver.module = network->module;
    driver.next = STAGE_PLAN; /* the passes have run */
    driver.outputs = set;
    ok = ok && driver_run(&driver, STAGE_PRINT);
    *result = driver.result;
    return ok;
}

bool network_write(struct network *network, const char *work, const char *machine,
                   const struct targets *targets, struct codegen_result *result)
{
    const struct function *fn = network->module->main;
    struct output_set set = { .ctx = network->ctx };
    const char **files;
    struct writer *w;

    if (!generate(network, work, machine, targets, &set, result)) {
        output_abort(&set);
        return false;
    }
    w = output_open(&set, arena_printf(&network->ctx->perm, "%s/driver.c", work));
    writer_text(w,
                "#include <float.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                "#include <string.h>\n\n#include \"net.h\"\n\n");
    writer_text(w, head);
    write_arrays(w, fn);
    writer_text(w, "\n");
    writer_text(w, body);
    write_test(w, fn, "net");
    write_main(w, network);
    for (int i = 0; i < network->n_sets; i++) {
        write_tensors(&set, work, arena_printf(&network->ctx->perm, "set%d_in", i), fn->n_params,
                      network->sets[i].inputs);
        write_tensors(&set, work, arena_printf(&network->ctx->perm, "set%d_want", i),
                      fn->ret->n_inputs, network->sets[i].outputs);
    }
    files = network_files(&network->ctx->perm, work, result);
    for (int i = 0; i < result->n_host_files; i++)
        writer_text(output_open(&set, files[result->n_files + i]), result->host_files[i].text);
    if (network_is_small(network))
        write_data(output_open(&set, arena_printf(&network->ctx->perm, "%s/data.h", work)),
                   network);
    return output_commit(&set);
}
