/* Memory plans of random graphs with all that changes them, and combinations of it: inputs and
 * outputs in the arena, stripes, pools, parts that run at the same time, results that reach into
 * what is read, red zones. Each plan is followed element by element; of some the C is run. */
#include <check.h>
#include <stdlib.h>

#include "base/file.h"
#include "codegen_c/codegen.h"
#include "codegen_c/core/stripe.h"
#include "relay_ir/interpret.h"
#include "runtime/engine/generated.h"
#include "tests/support/builds.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/follow_plan.h"
#include "tests/support/image_graph.h"
#include "tests/support/temp_dir.h"

enum { N_PLANS = 192, N_RUNS = 8, N_RUNS_OF_ALL_BUILDS = 120 };

#define FLAGS                                                                                      \
    "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O1 "                                  \
    "-fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error"

/* Of many branches, and almost chains, where results reach into what is read. */
static const struct image_graph images[] = {
    { .n_nodes = 22,
      .most_n = 1,
      .h = 12,
      .w = 11,
      .most_c = 20,
      .most_elements = 8000,
      .strides = 1,
      .overlays = true },
    { .n_nodes = 7,
      .most_n = 1,
      .h = 24,
      .w = 7,
      .most_c = 24,
      .most_elements = 8000,
      .strides = 1 },
};

static const struct image_graph *images_of(unsigned seed)
{
    return &images[seed / 48 % 2];
}

/* How memory is limited. */
enum limit { ONE_ARENA, LESS_RAM, WIDE_POOLS, TIGHT_POOLS, N_LIMITS };

struct combination {
    struct codegen_options options;
    struct codegen_pool pools[2];
};

/* Of a graph that takes so many bytes without any of it. */
static void combine(struct combination *c, unsigned seed, size_t bytes, const char *dir)
{
    const size_t eighths = bytes / 8 * (3 + seed / 7 % 5) / 16 * 16;
    const enum limit limit = seed / 4 % N_LIMITS;

    *c = (struct combination){ .options = { .name = "net",
                                            .dir = dir,
                                            .model_file = "net.onnx",
                                            .model_sha256 = "",
                                            .command = "",
                                            .io_in_arena = seed % 2,
                                            .guard = seed / 2 % 2,
                                            .parts = seed / 16 % 3 == 2 ? 3 : 0,
                                            .winograd = WINOGRAD_OFF } };
    if (limit == LESS_RAM)
        c->options.ram = eighths;
    if (limit < WIDE_POOLS)
        return;
    c->pools[0] = (struct codegen_pool){ .name = "tcm", .bytes = eighths, .speed = POOL_FAST };
    c->pools[1] = (struct codegen_pool){ .name = "sram",
                                         .bytes = limit == WIDE_POOLS ? 1 << 24 : bytes / 4 * 3 };
    c->options.n_pools = 2;
    c->options.pools = c->pools;
}

/* False where the pools are too small, or so much RAM is. */
static bool plan(struct module *module, const struct codegen_options *options,
                 struct codegen_result *result)
{
    struct output_set set = { .ctx = module->ctx };
    const struct diags saved = diag_save(module->ctx);
    const bool ok = codegen_c(module, options, &set, result);

    if (!ok)
        ck_assert_msg(module->ctx->diags.latest->code == DIAG_RAM, "%s", expect_text(module->ctx));
    diag_restore(module->ctx, saved);
    if (!ok)
        output_abort(&set);
    else
        ck_assert_msg(output_commit(&set), "%s", expect_text(module->ctx));
    return ok;
}

/* Diagnostics of a plan that does not fit are dropped. */
static bool plan_alone(struct module *module, const struct codegen_options *options,
                       struct codegen_result *result)
{
    const struct diags saved = diag_save(module->ctx);
    const bool ok = codegen_sizes(module, options, result);

    if (!ok)
        ck_assert_msg(module->ctx->diags.latest->code == DIAG_RAM, "%s", expect_text(module->ctx));
    diag_restore(module->ctx, saved);
    return ok;
}

/* The graph, planned as the seed says, without files; false where it does not fit. */
static bool plan_seed(struct module *module, unsigned seed, const char *dir, struct combination *c,
                      struct codegen_result *result)
{
    combine(c, 0, 0, dir);
    ck_assert(plan_alone(module, &c->options, result));
    combine(c, seed, result->arena_bytes, dir);
    return plan_alone(module, &c->options, result);
}

START_TEST(every_element_is_where_it_is_read)
{
    struct followed all = { 0 };
    int fitting[N_LIMITS] = { 0 };

    for (unsigned seed = 0; seed < N_PLANS; seed++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *module = image_graph(ctx, images_of(seed), seed);
        struct codegen_result result;
        struct combination c;

        if (plan_seed(module, seed, "/nonexistent", &c, &result)) {
            const struct followed met = follow_plan(module, &result, c.options.n_pools);

            fitting[seed / 4 % N_LIMITS]++;
            all.n_in_place += met.n_in_place;
            all.n_overlaid += met.n_overlaid;
            all.n_overlaps += met.n_overlaps;
            all.n_striped += met.n_striped;
            ck_assert(!c.options.ram || result.arena_bytes <= c.options.ram);
            ck_assert(met.n_overlaps == 0 || (c.options.parts == 0 && c.options.n_pools == 0));
        }
        module_free(module);
        ctx_free(ctx);
    }
    printf(
        "fit: %d in one arena, %d in less RAM, %d and %d in pools; %d results in place, %d over a "
        "piece, %d reach into what is read, %d regions in stripes\n",
        fitting[ONE_ARENA], fitting[LESS_RAM], fitting[WIDE_POOLS], fitting[TIGHT_POOLS],
        all.n_in_place, all.n_overlaid, all.n_overlaps, all.n_striped);
    ck_assert_int_eq(fitting[ONE_ARENA], N_PLANS / N_LIMITS);
    ck_assert_int_eq(fitting[WIDE_POOLS], N_PLANS / N_LIMITS);
    ck_assert(fitting[LESS_RAM] && fitting[TIGHT_POOLS]);
    ck_assert(all.n_in_place && all.n_overlaid && all.n_overlaps && all.n_striped);
}
END_TEST

/* --- runs ------------------------------------------------------------------------------------- */

static struct generated *build_generated(struct module *module, const struct combination *c,
                                         const struct codegen_result *result)
{
    const struct function *main = module->main;
    struct arena *arena = &module->ctx->perm;
    size_t *in_at = arena_array(arena, size_t, main->n_params);
    size_t *out_at = arena_array(arena, size_t, main->ret->n_inputs);
    struct generated_options options = { .name = "net",
                                         .dir = c->options.dir,
                                         .files = result->files,
                                         .n_files = result->n_files,
                                         .libs = result->host_flags,
                                         .compiler = "gcc",
                                         .flags = FLAGS,
                                         .memory = { .n_pools = c->options.n_pools,
                                                     .pool_room = result->pool_room } };

    for (int i = 0; i < main->n_params; i++)
        in_at[i] = result->places[main->params[i]->id].offset;
    for (int i = 0; i < main->ret->n_inputs; i++)
        out_at[i] = result->places[main->ret->inputs[i]->id].offset;
    if (c->options.io_in_arena) {
        options.memory.in_at = in_at;
        options.memory.out_at = out_at;
        options.memory.n_regions = result->n_regions;
    }
    return generated_build(module->ctx, main, &options);
}

/* A write to what is dead is an error with --guard; a read gives NaN. */
START_TEST(random_graphs_compute_the_same)
{
    struct ctx *ctx = ctx_new(NULL);
    const unsigned number = N_PLANS + 7 * (unsigned)_i;
    struct module *module = image_graph(ctx, images_of(number), number);
    struct temp_dir dir = temp_dir_new();
    const int n = module->main->ret->n_inputs;
    struct tensor *wanted = arena_array(&ctx->perm, struct tensor, n);
    struct tensor *found = arena_array(&ctx->perm, struct tensor, n);
    struct bulk bulk = { NULL, 0 };
    unsigned seed = number;
    const struct tensor *inputs = random_inputs(&ctx->perm, &bulk, module->main, -1, 1, &seed);
    struct codegen_result result;
    struct generated *generated;
    struct combination c;

    ck_assert(interpret(ctx, module->main, inputs, wanted, &bulk, NULL));
    if (plan_seed(module, number, dir.path, &c, &result)) {
        ck_assert(plan(module, &c.options, &result));
        follow_plan(module, &result, c.options.n_pools);
        generated = build_generated(module, &c, &result);
        ck_assert_msg(generated != NULL, "%s", expect_text(ctx));
        ck_assert_msg(generated_run(generated, inputs, found, &bulk), "%s", expect_text(ctx));
        for (int i = 0; i < n; i++)
            ck_assert_msg(difference(&found[i], &wanted[i]) <= 1e-4, "output %d differs by %g", i,
                          difference(&found[i], &wanted[i]));
        generated_free(generated);
    }
    temp_dir_free(&dir);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_random");
    TCase *places = tcase_create("places"), *runs = tcase_create("runs");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(places, 0);
    tcase_add_test(places, every_element_is_where_it_is_read);
    tcase_set_timeout(runs, 0);
    tcase_add_loop_test(runs, random_graphs_compute_the_same, 0,
                        builds_all() ? N_RUNS_OF_ALL_BUILDS : N_RUNS);
    suite_add_tcase(suite, places);
    suite_add_tcase(suite, runs);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
