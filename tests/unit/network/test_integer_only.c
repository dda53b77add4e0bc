/* int8 networks, and FP8 ones in exact arithmetic, with quantised values at their interface: no
 * float is left, on no machine.
 *
 * Each network is brought to integers (fake_quant_to_integer or fake_quant_to_exact, quantize_io),
 * built for a Cortex-M0 and for a RISC-V without floats, and linked into a program: it must hold
 * none of the functions by which compilers make floats of integers, and give the bytes of the
 * reference evaluator in QEMU. The same bytes come out on hosts with other compilers and
 * processors. What the search for such functions is worth is shown by the same network with floats
 * at its interface.
 *
 * Where a compiler or QEMU is not installed, that machine is skipped, and said so. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "codegen_c/codegen.h"
#include "quantize/quantize_io.h"
#include "relay_ir/interpret.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/builds.h"
#include "tests/support/codes.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/integer_networks.h"
#include "tests/support/network.h"
#include "tests/support/temp_dir.h"

struct machine {
    const char *name, *compiler, *flags, *runner, *nm;
    size_t ram; /* for the arena; 0 = enough */
    bool again; /* in make check only what the machine before it has no RAM for */
};

#define BARE                                                                                       \
    "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -Os -ffunction-sections "              \
    "-fdata-sections -Wl,--gc-sections "
#define CORTEX                                                                                     \
    "-mcpu=cortex-m0 -mthumb --specs=nano.specs -nostartfiles "                                    \
    "-Itemplates/firmware/cortex-m4-qemu templates/firmware/cortex-m4-qemu/semihosting.c "
#define CORTEX_RUNNER(machine)                                                                     \
    "timeout 600 qemu-system-arm -M " machine " -display none -monitor none -serial null "         \
    "-semihosting-config enable=on,target=native -kernel "

static const struct machine machines[] = {
    /* An ARMv6-M with 16 KiB of RAM; and its instructions on a processor with more. */
    { "microbit", "arm-none-eabi-gcc", BARE CORTEX, CORTEX_RUNNER("microbit"), "arm-none-eabi-nm",
      8 * 1024, false },
    { "mps2", "arm-none-eabi-gcc", BARE CORTEX, CORTEX_RUNNER("mps2-an385"), "arm-none-eabi-nm", 0,
      true },
    { "rv32imc", "riscv64-unknown-elf-gcc",
      BARE "-march=rv32imc -mabi=ilp32 --specs=picolibc.specs --crt0=hosted --oslib=semihost "
           "-mcmodel=medany -Wl,--defsym=__flash=0x80000000,--defsym=__flash_size=8M "
           "-Wl,--defsym=__ram=0x80800000,--defsym=__ram_size=8M ",
      "timeout 600 qemu-system-riscv32 -M virt -bios none -nographic -monitor none -serial none "
      "-semihosting-config enable=on,target=native -kernel ",
      "riscv64-unknown-elf-nm", 0, false },
};

enum { N_MACHINES = sizeof machines / sizeof *machines };

/* From reset to main on a Cortex-M: the image is loaded where it runs, .bss is zero in QEMU. */
static const char startup_text[] =
    "#if defined __arm__\n"
    "#include \"semihosting.h\"\n"
    "extern unsigned stack_top[];\n"
    "int main(void);\n"
    "void reset(void);\n"
    "void reset(void)\n"
    "{\n"
    "    semihosting_exit(main());\n"
    "}\n"
    "static void fault(void)\n"
    "{\n"
    "    semihosting_exit(70);\n"
    "}\n"
    "struct vectors {\n"
    "    unsigned *stack;\n"
    "    void (*handlers[3])(void);\n"
    "};\n"
    "extern const struct vectors vectors;\n"
    "__attribute__((section(\".vectors\"), used)) const struct vectors vectors = {\n"
    "    stack_top, { reset, fault, fault }\n"
    "};\n"
    "#endif\n";

static const char linker_text[] =
    "ENTRY(reset)\n"
    "MEMORY\n"
    "{\n"
    "    FLASH (rx)  : ORIGIN = 0x00000000, LENGTH = %s\n"
    "    RAM   (rwx) : ORIGIN = 0x20000000, LENGTH = %s\n"
    "}\n"
    "SECTIONS\n"
    "{\n"
    "    .text : { KEEP(*(.vectors)) *(.text .text.* .rodata .rodata.*) } > FLASH\n"
    "    .ARM.exidx : { *(.ARM.exidx*) } > FLASH\n"
    "    .bss : ALIGN(8) { *(.data .data.* .bss .bss.* COMMON) . = ALIGN(8); . += 3K;\n"
    "                      stack_top = .; } > RAM\n"
    "}\n";

/* What gcc and newlib call the arithmetic of floats, and libm its functions. */
#define FLOAT_NAMES                                                                                \
    "'^(__aeabi_(f|d|cf|cd|h|i2|ui2|l2|ul2)[a-z0-9]*|"                                             \
    "__(add|sub|mul|div|neg|fix|fixuns|float|floatun|floatuns|extend|trunc|cmp|eq|ne|lt|le|gt|ge|" \
    "unord|pow)[a-z]*(sf|df|hf|tf)[a-z]*[0-9]*|"                                                   \
    "(exp|log|tanh|erf|erfc|pow|sqrt|rint|nearbyint|round|floor|ceil|fmin|fmax|ldexp|frexp)f?)$'"

struct program {
    struct network network;
    struct temp_dir dir;
    struct codegen_result result;
};

static const struct tensor *made_inputs(struct network *network)
{
    struct ctx *ctx = network->ctx;
    const struct function *fn = network->module->main;
    struct tensor *inputs = arena_array(&ctx->perm, struct tensor, fn->n_params);
    unsigned seed = 7;

    for (int i = 0; i < fn->n_params; i++) {
        const enum dtype dtype = fn->params[i]->type.dtype;
        const double most = dtype_is_float(dtype) ? 2 : dtype_minifloat(dtype) ? 500 : 128;

        inputs[i] = tensor_new(&network->bulk, &fn->params[i]->type);
        fill_random(&inputs[i], -most, most, &seed);
    }
    return inputs;
}

static bool is_float_free(const struct module *module)
{
    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct node *n = fn->first; n; n = n->next)
            for (int i = 0; i < n->n_outputs; i++)
                if (dtype_is_float(n->outputs[i]->type.dtype))
                    return false;
    return true;
}

static void run_part(struct network *network, enum pipeline_part part)
{
    const struct pipeline_options options = { .part = part };

    ck_assert_msg(pipeline_run(network->module, &options), "%s", expect_text(network->ctx));
}

/* Passes, inputs, the results wanted, generated C. */
static void prepare(struct program *program, bool quantized_io)
{
    struct network *network = &program->network;
    struct io_set *set = &network->sets[0];
    struct function *fn;

    run_part(network, PIPELINE_PREPARE);
    if (quantized_io)
        ck_assert_int_eq(quantize_io(network->module), 0);
    run_part(network, PIPELINE_FUSE);
    ck_assert(!quantized_io || is_float_free(network->module));
    fn = network->module->main;
    network->name = "net";
    network->n_sets = 1;
    set->folder = "";
    set->inputs = (struct tensor *)made_inputs(network);
    set->outputs = arena_array(&network->ctx->perm, struct tensor, fn->ret->n_inputs);
    ck_assert(interpret(network->ctx, fn, set->inputs, set->outputs, &network->bulk, NULL));
    program->dir = temp_dir_new();
    ck_assert_msg(network_write(network, program->dir.path, NULL, NULL, &program->result), "%s",
                  expect_text(network->ctx));
}

static void program_free(struct program *program)
{
    temp_dir_free(&program->dir);
    network_free(&program->network);
}

/* --- a program without floats around the network ---------------------------------------------- */

static void add_bytes(struct str *out, const char *what, int i, const struct tensor *tensor)
{
    const unsigned char *bytes = tensor->data;
    const size_t n = type_bytes(&tensor->type);

    str_printf(out, "static const unsigned char %s%d[] __attribute__((aligned(8))) = {", what, i);
    for (size_t k = 0; k < n; k++)
        str_printf(out, "%s0x%02x,", k % 16 ? " " : "\n    ", bytes[k]);
    str_printf(out, "\n};\n");
}

static const char *driver_text(struct program *program)
{
    struct network *network = &program->network;
    const struct function *fn = network->module->main;
    struct str out = { .arena = &network->ctx->perm };

    str_printf(&out, "#include <string.h>\n\n#include \"net.h\"\n\n%s\n", startup_text);
    for (int i = 0; i < fn->n_params; i++)
        add_bytes(&out, "in", i, &network->sets[0].inputs[i]);
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        add_bytes(&out, "want", i, &network->sets[0].outputs[i]);
        str_printf(&out, "static unsigned char out%d[sizeof want%d] __attribute__((aligned(8)));\n",
                   i, i);
    }
    str_printf(&out, "static unsigned char arena[NET_ARENA_BYTES + 1] "
                     "__attribute__((aligned(NET_ARENA_ALIGN)));\n\n"
                     "int main(void)\n{\n    if (net_run(");
    for (int i = 0; i < fn->n_params; i++)
        str_printf(&out, "(const void *)in%d, ", i);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        str_printf(&out, "(void *)out%d, ", i);
    str_printf(&out, "arena) != 0)\n        return 2;\n");
    for (int i = 0; i < fn->ret->n_inputs; i++)
        str_printf(&out, "    if (memcmp(out%d, want%d, sizeof out%d) != 0)\n        return 3;\n",
                   i, i, i);
    str_printf(&out, "    return 0;\n}\n");
    return str_text(&out);
}

static int shell(const char *command)
{
    const int status = system(command);

    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_installed(struct ctx *ctx, const struct machine *machine)
{
    const char *words = arena_printf(
        &ctx->perm,
        "command -v %s > /dev/null && command -v $(echo '%s' | cut -d' ' -f3) > /dev/null",
        machine->compiler, machine->runner);

    if (shell(words) == 0)
        return true;
    printf("SKIPPED: %s: %s or its QEMU is not installed\n", machine->name, machine->compiler);
    return false;
}

/* Builds for the machine; the program's path. */
static const char *built(struct program *program, const struct machine *machine)
{
    struct ctx *ctx = program->network.ctx;
    const bool small = machine->ram > 0, arm = strstr(machine->flags, "cortex") != NULL;
    const char *text = driver_text(program);
    const char *script =
        arena_printf(&ctx->perm, linker_text, small ? "256K" : "4M", small ? "16K" : "4M");
    const char *driver = temp_file(&program->dir, "bare.c", text, strlen(text));
    const char *path = temp_path(&program->dir, arena_printf(&ctx->perm, "%s.elf", machine->name));
    const char *linker = temp_file(&program->dir, "bare.ld", script, strlen(script));
    struct str command = { .arena = &ctx->perm };

    str_printf(&command, "%s %s %s%s -I%s -o %s %s", machine->compiler, machine->flags,
               arm ? "-T " : "", arm ? linker : "", program->dir.path, path, driver);
    for (int i = 0; i < program->result.n_files; i++)
        if (str_ends(program->result.files[i], ".c"))
            str_printf(&command, " %s", program->result.files[i]);
    str_add(&command, " -lm"); /* which only floats need */
    ck_assert_msg(shell(str_text(&command)) == 0, "%s", str_text(&command));
    return path;
}

/* Whether the linked program has functions of floats; with `tell` they are printed. */
static bool has_float_functions(struct ctx *ctx, const struct machine *machine, const char *path,
                                bool tell)
{
    return shell(arena_printf(&ctx->perm, "%s %s | awk '{ print $NF }' | grep -E " FLOAT_NAMES "%s",
                              machine->nm, path, tell ? "" : " > /dev/null")) == 0;
}

static void check_bare(struct program *program)
{
    struct ctx *ctx = program->network.ctx;
    bool was_small = false; /* ran in little RAM */

    for (int i = 0; i < N_MACHINES; i++) {
        const struct machine *machine = &machines[i];
        const char *path;

        if ((machine->ram && program->result.arena_bytes > machine->ram) ||
            (machine->again && was_small && !builds_all()) || !is_installed(ctx, machine))
            continue;
        path = built(program, machine);
        ck_assert_msg(!has_float_functions(ctx, machine, path, true), "%s: floats are linked",
                      machine->name);
        ck_assert_int_eq(
            shell(arena_printf(&ctx->perm, "%s %s < /dev/null", machine->runner, path)), 0);
        printf("%s: no float, the bytes of the reference\n", machine->name);
        was_small = was_small || machine->ram;
    }
}

/* The same bytes from other compilers and processors: from two of the six, which take turns with the networks and from
 * run to run. */
static void check_hosts(struct program *program)
{
    static const char *const names[] = { "gcc",     "clang", "gcc-sanitized",
                                         "aarch64", "armhf", "riscv64" };
    struct ctx *ctx = program->network.ctx;
    const unsigned turn = (unsigned)program->result.arena_bytes / 16 + builds_turn();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < n_configs; k++) {
            const char *reason = NULL;
            double error = 1;

            if (strcmp(configs[k].name, names[i]) != 0 || ((turn + i) % 3 && !builds_all()))
                continue;
            if (shell(arena_printf(&ctx->perm, "command -v %s > /dev/null", configs[k].compiler))) {
                printf("SKIPPED: %s is not installed\n", configs[k].compiler);
                continue;
            }
            ck_assert_msg(config_run(ctx, &configs[k], &program->network, program->dir.path,
                                     &program->result, &error, &reason),
                          "%s: %s", names[i], reason);
            ck_assert_msg(error == 0, "%s: error %g", names[i], error);
        }
}

static void open_text(struct program *program, const char *text)
{
    struct network *network = &program->network;

    *program = (struct program){ .network = { .ctx = ctx_new(NULL), .dir = "", .name = "net" } };
    network->module = graph_parse(network->ctx, text, 3);
}

static const char *const fp8_networks[] = { fp8_network,           fp8_norm_network,
                                            fp8_average_network,   fp8_unet_network,
                                            fp8_recurrent_network, fp8_compare_network,
                                            fp8_sums_network };

static void check_exact(const char *text)
{
    struct program program;

    open_text(&program, text);
    ck_assert_msg(pass_fake_quant_to_exact(program.network.module) &&
                      pipeline_run_one(program.network.module, "dead_code"),
                  "%s", expect_text(program.network.ctx));
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
}

/* Codes up to the greatest, on both ways of summing: of a Cortex-M0, and of all others. */
START_TEST(exact_fp8_network_has_no_floats)
{
    check_exact(fp8_networks[_i]);
}
END_TEST

/* What is never negative, in formats without a sign. */
START_TEST(without_signs_there_are_no_floats)
{
    static const char *const formats[] = { "u8e2m6", "u8e4m4", "u8e3m5" };
    struct arena arena = { NULL };

    check_exact(codes_in_format(&arena, fp8_networks[_i], formats[_i % 3]));
    arena_release(&arena);
}
END_TEST

START_TEST(small_network_has_no_floats)
{
    struct program program;

    open_text(&program, small_network);
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
}
END_TEST

START_TEST(norms_have_no_floats)
{
    struct program program;

    open_text(&program, norm_network);
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
}
END_TEST

START_TEST(numbers_of_16_bits_have_no_floats)
{
    struct program program;

    open_text(&program, wide_network);
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
}
END_TEST

START_TEST(recurrent_layers_have_no_floats)
{
    struct program program;

    open_text(&program, recurrent_network);
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
}
END_TEST

START_TEST(transposed_convolutions_have_no_floats)
{
    struct program program;

    open_text(&program, unet_network);
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
}
END_TEST

START_TEST(comparisons_have_no_floats)
{
    struct program program;

    open_text(&program, compare_network);
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
}
END_TEST

START_TEST(sums_have_no_floats)
{
    struct program program;

    open_text(&program, sums_network);
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
}
END_TEST

/* With floats at the interface, the search finds some. */
START_TEST(floats_would_be_found)
{
    struct program program;

    open_text(&program, small_network);
    prepare(&program, false);
    for (int i = 0; i < N_MACHINES; i++)
        if (is_installed(program.network.ctx, &machines[i]))
            ck_assert(has_float_functions(program.network.ctx, &machines[i],
                                          built(&program, &machines[i]), false));
    program_free(&program);
}
END_TEST

/* A keyword spotter as TensorFlow's users export it. */
START_TEST(keyword_spotter_has_no_floats)
{
    const char *shared = getenv("RELAYC_SHARED");
    struct program program = { .network = { .ctx = NULL } };
    struct arena arena = { 0 };
    const char *dir =
        arena_printf(&arena, "%s/models/micro_kws_qdq", shared ? shared : "../shared");

    if (access(dir, R_OK) != 0) {
        printf("SKIPPED: there is no %s\n", dir);
        arena_release(&arena);
        return;
    }
    ck_assert(network_load(&program.network, dir));
    prepare(&program, true);
    check_bare(&program);
    check_hosts(&program);
    program_free(&program);
    arena_release(&arena);
}
END_TEST

/* Against ONNX Runtime's results, in steps of the result. Why qdq is not exact: docs/guide/qdq.md.
 */
static const struct {
    const char *model;
    double step;
    int most;
} spotters[] = {
    { "micro_kws_qdq", 1.0 / 255, 1 },
    { "micro_kws_qoperator", 1.0 / 256, 0 },
};

START_TEST(keyword_spotters_are_within_a_step)
{
    const char *shared = getenv("RELAYC_SHARED");
    struct arena arena = { 0 };
    struct network network;
    struct tensor result;
    const char *dir =
        arena_printf(&arena, "%s/models/%s", shared ? shared : "../shared", spotters[_i].model);

    if (access(dir, R_OK) != 0) {
        printf("SKIPPED: there is no %s\n", dir);
        arena_release(&arena);
        return;
    }
    ck_assert(network_load(&network, dir));
    run_part(&network, PIPELINE_PREPARE);
    run_part(&network, PIPELINE_FUSE);
    ck_assert_int_eq(network.n_sets, 2);
    for (int set = 0; set < network.n_sets; set++) {
        const struct io_set *io = &network.sets[set];

        ck_assert(
            interpret(network.ctx, network.module->main, io->inputs, &result, &network.bulk, NULL));
        for (int64_t i = 0; i < type_elements(&result.type); i++)
            ck_assert_int_le(labs(lrint((tensor_at(&result, i) - tensor_at(io->outputs, i)) /
                                        spotters[_i].step)),
                             spotters[_i].most);
    }
    network_free(&network);
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("without floats");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, small_network_has_no_floats);
    tcase_add_test(tests, norms_have_no_floats);
    tcase_add_loop_test(tests, exact_fp8_network_has_no_floats, 0,
                        sizeof fp8_networks / sizeof *fp8_networks);
    tcase_add_loop_test(tests, without_signs_there_are_no_floats, 0,
                        sizeof fp8_networks / sizeof *fp8_networks);
    tcase_add_test(tests, numbers_of_16_bits_have_no_floats);
    tcase_add_test(tests, recurrent_layers_have_no_floats);
    tcase_add_test(tests, transposed_convolutions_have_no_floats);
    tcase_add_test(tests, comparisons_have_no_floats);
    tcase_add_test(tests, sums_have_no_floats);
    tcase_add_test(tests, floats_would_be_found);
    tcase_add_test(tests, keyword_spotter_has_no_floats);
    tcase_add_loop_test(tests, keyword_spotters_are_within_a_step, 0,
                        sizeof spotters / sizeof *spotters);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
