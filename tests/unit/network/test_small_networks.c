/* Real networks in quantised values: what --deterministic makes has the bits of the simulation on
 * every processor, and arenas are a quarter of f32's. RELAYC_TEST_ALL_BUILDS: all networks in all
 * modes. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/codegen.h"
#include "codegen_c/machine/machine.h"
#include "frontend/tensors/tensor_file.h"
#include "tests/support/bits.h"
#include "tests/support/builds.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/precision.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const char *models(void)
{
    const char *shared = getenv("RELAYC_SHARED");

    return shared ? shared : "../shared";
}

enum { MOST_INPUTS = 3 };

/* Networks with several inputs, or shapes that are open. */
static const struct open_network {
    const char *name;
    int n_inputs;
    const char *shapes[3]; /* as of --shape */
} open_networks[] = {
    { "micro_kws_qdq", 1, { "unk__68=1" } },
    { "silero_vad_16k_op15", 3, { "batch=1", "sequence=576" } },
};

static struct open_network open_of(const char *name)
{
    for (int i = 0; i < N_ROWS(open_networks); i++)
        if (strcmp(open_networks[i].name, name) == 0)
            return open_networks[i];
    return (struct open_network){ .name = name, .n_inputs = 1 };
}

/* A network's sample. */
struct sample {
    const char *folder;
    int n_inputs;
};

static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct sample *sample = user;
    bool ok = true;

    (void)index;
    for (int i = 0; i < sample->n_inputs && ok; i++)
        ok = tensor_file_read_one(
            ctx, arena_printf(&ctx->scratch, "%s/io/input_%d.npy", sample->folder, i), bulk,
            &inputs[i]);
    return ok;
}

static struct module *network(struct ctx *ctx, const char *name, const struct precision_case *mode)
{
    const struct open_network open = open_of(name);
    struct sample sample = { arena_printf(&ctx->perm, "%s/models/%s", models(), name),
                             open.n_inputs };
    const struct calibration_source source = { .n = 1, .load = load, .user = &sample };

    return precision_network(ctx, arena_printf(&ctx->perm, "%s/model.onnx", sample.folder),
                             open.shapes, mode, &source);
}

/* --- bits ------------------------------------------------------------------------------------- */

/* Whole networks, from their inputs of floats or codes to their results, softmax and all. */
static const char *const nets[] = {
    "kws_dscnn",    "silero_vad_16k_op15", "micro_kws_fp32",  "ic_resnet8",
    "tinyvit_demo", "mobilenetv1_025_128", "vww_mobilenetv1", "resnet20_cifar10",
    "mnist8",       "ad_autoencoder",      "cct_transformer",
};

static const struct {
    struct precision_case mode;
    int n_always; /* of the networks above, tested without RELAYC_TEST_ALL_BUILDS */
} bit_modes[] = {
    { { "f32", false, false, false }, 0 },       { { "fp8w", false, false, false }, 0 },
    { { "fp8", false, false, false }, 0 },       { { "fp8", true, false, false }, 3 },
    { { "fp8=f8e5m2", true, false, false }, 0 }, { { "fp8=f8e3m4", true, false, false }, 0 },
    { { "afp", false, false, false }, 0 },       { { "afp=afp5", false, false, false }, 0 },
    { { "mxfp8", false, false, false }, 0 },     { { "mxfp6", false, false, false }, 0 },
    { { "mxfp4", false, false, false }, 1 },     { { "int8w", false, false, false }, 0 },
    { { "int8", true, false, false }, 1 },       { { "int8", true, false, true }, 0 },
    { { "fp8", true, true, true }, 1 },
};

static void check_bits(const char *name, const struct precision_case *mode)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = network(ctx, name, mode);
    struct sample of = { arena_printf(&ctx->perm, "%s/models/%s", models(), name),
                         open_of(name).n_inputs };
    struct bulk bulk = { NULL, 0 };
    struct tensor samples[MOST_INPUTS];

    printf("%s, %s%s\n", name, mode->precision, mode->exact ? ", in integers" : "");
    ck_assert(load(&of, ctx, &bulk, 0, samples));
    bits_check_deterministic(module, mode->quantized_io ? NULL : samples);
    if (!mode->exact && strcmp(mode->precision, "int8") != 0) /* integers are not fused */
        bits_check_fused(module, mode->quantized_io ? NULL : samples);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}

START_TEST(real_networks_have_the_bits_of_the_simulation)
{
    const struct precision_case *mode = &bit_modes[_i].mode;
    const int n = builds_all() ? N_ROWS(nets) : bit_modes[_i].n_always;

    for (int i = 0; i < n; i++)
        check_bits(nets[i], mode);
}
END_TEST

/* --- memory ----------------------------------------------------------------------------------- */

enum { ALIGNED = 64 }; /* bytes: four blocks at a time that are rounded up to 16 */

static const struct precision_case small_modes[] = {
    { "fp8", false, false, true },
    { "fp8=f8e3m4", false, false, true },
    { "fp8", true, true, true },
    { "int8", true, false, true },
};

static const char *const machines_of[] = { "generic", "cortex-m4", "x86-64-v4" };

static size_t arena_of(struct module *module, const char *machine)
{
    struct ctx *ctx = module->ctx;
    const struct codegen_options options = { .name = "net",
                                             .dir = ".",
                                             .model_file = "model.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = machine_find(ctx, machine),
                                             .winograd = WINOGRAD_OFF };
    struct codegen_result result;

    ck_assert_msg(codegen_sizes(module, &options, &result), "%s", expect_text(ctx));
    return result.arena_bytes;
}

static size_t arena_of_f32(const char *name)
{
    const struct precision_case f32 = { "f32", false, false, false };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = network(ctx, name, &f32);
    const size_t bytes = arena_of(module, "generic");

    module_free(module);
    ctx_free(ctx);
    return bytes;
}

/* int8 keeps recurrent layers, whose states have 16 bits: half of what these take. */
static size_t extra_of_states(const struct module *module)
{
    size_t bytes = 0;

    for (const struct node *n = module->main->first; n; n = n->next)
        for (int i = 0; i < n->n_outputs; i++)
            if (n->outputs[i]->type.dtype == DTYPE_I16)
                bytes += type_bytes(&n->outputs[i]->type) / 2;
    return bytes;
}

static void check_arenas(const char *name, const struct precision_case *mode, size_t whole)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = network(ctx, name, mode);
    const size_t most = whole / 4 + extra_of_states(module) + ALIGNED;

    for (int m = 0; m < N_ROWS(machines_of); m++) {
        const size_t found = arena_of(module, machines_of[m]);

        printf("%s, %s, %s%s: %zu of %zu bytes, %.2f %%\n", name, machines_of[m], mode->precision,
               mode->exact ? " in integers" : "", found, whole,
               100.0 * (double)found / (double)whole);
        ck_assert_msg(found <= most, "%s, %s, %s%s: %zu bytes, expected at most %zu", name,
                      machines_of[m], mode->precision, mode->exact ? " in integers" : "", found,
                      most);
    }
    module_free(module);
    ctx_free(ctx);
}

/* All models of the folder. */
static const struct {
    const char *name;
    bool always;     /* tested without RELAYC_TEST_ALL_BUILDS as well */
    const char *f32; /* the same network in f32, where this one comes in int8; else NULL */
} arenas[] = {
    { "ad_autoencoder", true, NULL },
    { "cct_transformer", false, NULL },
    { "ic_resnet8", true, NULL },
    { "kws_dscnn", true, NULL },
    { "micro_kws_fp32", false, NULL },
    { "micro_kws_qdq", false, "micro_kws_fp32" },
    { "micro_kws_qoperator", false, "micro_kws_fp32" },
    { "mnist8", false, NULL },
    { "mobilenetv1_025_128", true, NULL },
    { "mobilenetv2", false, NULL },
    { "resnet20_cifar10", false, NULL },
    { "silero_vad_16k_op15", true, NULL },
    { "squeezenet11", false, NULL },
    { "tinyvit_demo", false, NULL },
    { "ultraface_rfb320", false, NULL },
    { "vww_mobilenetv1", true, NULL },
    { "yolov5n_640", false, NULL },
    { "yolox_nano_416", false, NULL },
};

START_TEST(arenas_are_a_quarter_of_those_of_f32)
{
    const char *name = arenas[_i].name;
    size_t whole;

    if (!arenas[_i].always && !builds_all())
        return;
    whole = arena_of_f32(arenas[_i].f32 ? arenas[_i].f32 : name);
    for (int i = 0; i < N_ROWS(small_modes); i++)
        check_arenas(name, &small_modes[i], whole);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("small_networks");
    TCase *sizes = tcase_create("arenas"), *bits = tcase_create("bits");
    SRunner *runner;
    char path[512];
    FILE *model;
    int failed;

    snprintf(path, sizeof path, "%s/models/kws_dscnn/model.onnx", models());
    model = fopen(path, "rb");
    if (!model) {
        printf(
            "SKIPPED: no models (set RELAYC_SHARED): bits and arenas of real networks in quantised "
            "values were NOT tested\n");
        return EXIT_SUCCESS;
    }
    fclose(model);
    runner = srunner_create(suite);
    tcase_set_timeout(sizes, 0);
    tcase_set_timeout(bits, 0);
    tcase_add_loop_test(sizes, arenas_are_a_quarter_of_those_of_f32, 0, N_ROWS(arenas));
    tcase_add_loop_test(bits, real_networks_have_the_bits_of_the_simulation, 0, N_ROWS(bit_modes));
    suite_add_tcase(suite, sizes);
    suite_add_tcase(suite, bits);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
