/* Real networks in small numbers: what --deterministic makes has the bits of the simulation on
 * every processor, and arenas are a quarter of f32's. RELAYC_TEST_ALL_BUILDS: all networks in all
 * modes. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/codegen.h"
#include "codegen_c/machine.h"
#include "frontend/tensors/tensor_file.h"
#include "tests/support/bits.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/precision.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static bool tests_all(void)
{
    return getenv("RELAYC_TEST_ALL_BUILDS") != NULL;
}

static const char *models(void)
{
    const char *shared = getenv("RELAYC_SHARED");

    return shared ? shared : "../shared";
}

/* The first sample of a network of one input, from the folder `user`. */
static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    char path[512];

    (void)index;
    snprintf(path, sizeof path, "%s/io/input_0.npy", (const char *)user);
    return tensor_file_read_one(ctx, path, bulk, inputs);
}

static struct module *network(struct ctx *ctx, const char *name, const struct precision_case *mode,
                              bool logits)
{
    char *folder = arena_printf(&ctx->perm, "%s/models/%s", models(), name);
    const struct calibration_source sample = { .n = 1, .load = load, .user = folder };

    return precision_network(ctx, arena_printf(&ctx->perm, "%s/model.onnx", folder), mode, logits,
                             &sample);
}

/* --- bits ---------------------------------------------------------------------------------------
 */

/* Before the softmax at their end, as far as that is computed in floats: the simulation takes it in
 * double. In integers it is exact. */
static const char *const nets[] = { "kws_dscnn",        "ic_resnet8", "mobilenetv1_025_128",
                                    "resnet20_cifar10", "mnist8",     "ad_autoencoder" };

static const struct {
    struct precision_case mode;
    int n_always; /* of the networks above, tested without RELAYC_TEST_ALL_BUILDS */
} bit_modes[] = {
    { { "f32", false, false, false }, 0 },       { { "fp8w", false, false, false }, 0 },
    { { "fp8", false, false, false }, 0 },       { { "fp8", true, false, false }, 1 },
    { { "fp8=f8e5m2", true, false, false }, 0 }, { { "fp8=f8e3m4", true, false, false }, 0 },
    { { "afp", false, false, false }, 0 },       { { "afp=afp5", false, false, false }, 0 },
    { { "mxfp8", false, false, false }, 0 },     { { "mxfp6", false, false, false }, 0 },
    { { "mxfp4", false, false, false }, 1 },     { { "int8w", false, false, false }, 0 },
    { { "int8", true, false, false }, 1 },       { { "int8", true, false, true }, 0 },
    { { "fp8", true, true, true }, 1 },
};

START_TEST(real_networks_have_the_bits_of_the_simulation)
{
    const struct precision_case *mode = &bit_modes[_i].mode;
    const int n = tests_all() ? N_ROWS(nets) : bit_modes[_i].n_always;

    for (int i = 0; i < n; i++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *module = network(ctx, nets[i], mode, !mode->quantized_io);
        struct bulk bulk = { NULL, 0 };
        struct tensor sample;

        printf("%s, %s%s\n", nets[i], mode->precision, mode->exact ? ", in integers" : "");
        ck_assert(load(arena_printf(&ctx->perm, "%s/models/%s", models(), nets[i]), ctx, &bulk, 0,
                       &sample));
        bits_check_deterministic(module, mode->quantized_io ? NULL : &sample);
        bulk_release(&bulk);
        module_free(module);
        ctx_free(ctx);
    }
}
END_TEST

/* --- memory -------------------------------------------------------------------------------------
 */

enum { ALIGNED = 64 }; /* bytes: four blocks at a time that are rounded up to 16 */

static const struct precision_case small_modes[] = {
    { "fp8", false, false, true },
    { "fp8=f8e3m4", false, false, true },
    { "fp8", true, true, true },
    { "int8", true, false, true },
};

static const char *const machines_of[] = { "generic", "cortex-m4", "x86-64-v4" };

static size_t arena_of(const char *name, const struct precision_case *mode, const char *machine)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = network(ctx, name, mode, false);
    const struct codegen_options options = { .name = "net",
                                             .dir = ".",
                                             .model_file = "model.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = machine_find(ctx, machine),
                                             .winograd = WINOGRAD_OFF,
                                             .plan_only = true };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    ck_assert_msg(codegen_c(module, &options, &set, &result), "%s", expect_text(ctx));
    output_abort(&set);
    module_free(module);
    ctx_free(ctx);
    return result.arena_bytes;
}

static const struct {
    const char *name;
    bool always;     /* tested without RELAYC_TEST_ALL_BUILDS as well */
    int scratch[4];  /* bytes beyond a quarter, in each of small_modes … */
    const char *why; /* … that are */
} arenas[] = {
    { "ad_autoencoder", true, { 0, 0, 0, 1792 }, "a row of bytes as 16 bits and as bytes" },
    { "cct_transformer", false, { 6892, 6892 }, "panels of both operands of a matmul, decoded" },
    { "ic_resnet8", true, { 0, 0, 0, 656 }, "seven patches of bytes" },
    { "kws_dscnn", true, { 0 }, NULL },
    { "micro_kws_fp32", false, { 0 }, NULL },
    { "mnist8", false, { 0 }, NULL },
    { "mobilenetv1_025_128", true, { 0 }, NULL },
    { "mobilenetv2", false, { 0 }, NULL },
    { "resnet20_cifar10", false, { 0, 0, 0, 656 }, "seven patches of bytes" },
    { "squeezenet11", false, { 0 }, NULL },
    { "tinyvit_demo", false, { 0 }, NULL },
    { "ultraface_rfb320", false, { 0 }, NULL },
    { "vww_mobilenetv1", true, { 0 }, NULL },
    { "yolox_nano_416", false, { 0 }, NULL },
};

START_TEST(arenas_are_a_quarter_of_those_of_f32)
{
    const struct precision_case f32 = { "f32", false, false, false };
    const char *name = arenas[_i].name;
    size_t whole;

    if (!arenas[_i].always && !tests_all())
        return;
    whole = arena_of(name, &f32, "generic");
    for (int m = 0; m < N_ROWS(machines_of); m++)
        for (int i = 0; i < N_ROWS(small_modes); i++) {
            const struct precision_case *mode = &small_modes[i];
            const size_t found = arena_of(name, mode, machines_of[m]);
            const size_t most = whole / 4 + ALIGNED + (size_t)arenas[_i].scratch[i];

            printf("%s, %s, %s%s: %zu of %zu bytes, %.2f %%\n", name, machines_of[m],
                   mode->precision, mode->exact ? " in integers" : "", found, whole,
                   100.0 * (double)found / (double)whole);
            ck_assert_msg(found <= most, "%s, %s, %s%s: %zu bytes, at most %zu are wanted", name,
                          machines_of[m], mode->precision, mode->exact ? " in integers" : "", found,
                          most);
        }
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
        printf("SKIPPED: no models (set RELAYC_SHARED): bits and arenas of real networks in small "
               "numbers were NOT tested\n");
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
