#include "tests/support/partition_case.h"

#include <check.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

static const char *no_file(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

struct target *case_target(struct ctx *ctx, const char *text)
{
    struct target *target = target_parse(ctx, "target.json", text, no_file, NULL);

    ck_assert_msg(target != NULL, "%s\n%s", expect_text(ctx), text);
    return target;
}

struct partition_options *case_options(struct ctx *ctx, struct target *host, int n,
                                       struct target *const *targets, enum assign assign,
                                       bool no_cost)
{
    struct partition_options *options = arena_new(&ctx->perm, struct partition_options);
    struct targets *all = arena_new(&ctx->perm, struct targets);
    const struct target **offload = arena_array(&ctx->perm, const struct target *, n);
    struct target *last = host;

    all->first = host;
    for (int i = 0; i < n; i++) {
        offload[i] = targets[i];
        last->next = targets[i];
        last = targets[i];
    }
    options->targets = all;
    options->n_offload = n;
    options->offload = offload;
    options->assign = assign;
    options->no_cost = no_cost;
    return options;
}

void case_run(struct partition *partition, const char *until)
{
    ck_assert_msg(partition_run(partition, &(struct pipeline_options){ .stop_after = until }), "%s",
                  expect_text(partition->module->ctx));
}

void case_step(struct partition *partition, const char *name)
{
    ck_assert_msg(partition_run_one(partition, name), "%s", expect_text(partition->module->ctx));
}

const char *case_state(const struct partition *partition)
{
    struct str text = { .arena = &partition->module->ctx->perm };

    partition_print(partition, &text);
    return str_text(&text);
}

void partition_case_check(const struct partition_case *row)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->graph, 1);
    struct target *targets[CASE_TARGETS];
    struct partition *partition;
    int n = 0;

    for (; n < CASE_TARGETS && row->targets[n]; n++)
        targets[n] = case_target(ctx, row->targets[n]);
    partition =
        partition_new(module, case_options(ctx, case_target(ctx, row->host ? row->host : HOST), n,
                                           targets, row->assign, row->no_cost));
    case_run(partition, row->until);
    ck_assert_str_eq(case_state(partition), row->want);
    partition_free(partition);
    module_free(module);
    ctx_free(ctx);
}
