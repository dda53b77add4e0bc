#include "tests/support/pass_case.h"

#include <check.h>
#include <string.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

enum { SEED = 7 };

static long times_fired(const struct module *module, const char *rule)
{
    const long *n = rule ? map_get(&module->fired, rule) : NULL;

    return n ? *n : 0;
}

static void check_graph(struct ctx *ctx, const struct module *module, const struct pass_case *row)
{
    struct module *wanted = graph_parse(ctx, row->after ? row->after : row->before, SEED);

    if (row->after)
        ck_assert_msg(!row->rule || times_fired(module, row->rule) > 0, "%s does not fire on\n%s",
                      row->rule, row->before);
    else
        ck_assert_msg(times_fired(module, row->rule) == 0, "%s fires on\n%s", row->rule,
                      row->before);
    if (row->after)
        ck_assert_str_eq(graph_text(module, false), graph_text(wanted, false));
    module_free(wanted);
}

static void check_numbers(struct ctx *ctx, struct module *module, const struct pass_case *row)
{
    struct module *before = graph_parse(ctx, row->before, SEED);
    struct bulk bulk = { NULL, 0 };
    struct tensor *wanted = graph_run(before, SEED + 1, &bulk);
    struct tensor *got = graph_run(module, SEED + 1, &bulk);

    ck_assert_msg(wanted && got, "%s", expect_text(ctx));
    ck_assert_double_lt(graph_difference(got, wanted, before->main->ret->n_inputs), 2e-6);
    bulk_release(&bulk);
    module_free(before);
}

void pass_case_check(const char *pass, const struct pass_case *row)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->before, SEED);

    ck_assert_msg(pipeline_run_one(module, pass), "%s\n%s", row->before, expect_text(ctx));
    check_graph(ctx, module, row);
    check_numbers(ctx, module, row);
    module_free(module);
    ctx_free(ctx);
}

static bool run_given(struct module *module, void *user)
{
    bool (*const *run)(struct module * module) = user;

    return (*run)(module);
}

void pass_case_check_run(bool (*run)(struct module *module), const struct pass_case *row)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->before, SEED);
    const struct pipeline_options options = { .dump_after = NULL };

    ck_assert_msg(pipeline_run_step(module, "the pass", PROMISE_BITS, run_given, &run, &options),
                  "%s\n%s", row->before, expect_text(ctx));
    check_graph(ctx, module, row);
    check_numbers(ctx, module, row);
    module_free(module);
    ctx_free(ctx);
}

void pass_case_coverage(const struct rule *rules, int n_rules, const char *first, const char *last,
                        const struct pass_case *rows, int n_rows)
{
    bool inside = false, ended = false;

    for (int i = 0; i < n_rules && !ended; i++) {
        bool fires = false;

        inside = inside || strcmp(rules[i].name, first) == 0;
        ended = inside && strcmp(rules[i].name, last) == 0;
        for (int j = 0; j < n_rows; j++)
            fires = fires || (rows[j].after && strcmp(rows[j].rule, rules[i].name) == 0);
        ck_assert_msg(fires || !inside, "no row shows that %s fires", rules[i].name);
    }
    ck_assert_msg(ended, "there are no rules from %s to %s", first, last);
}
