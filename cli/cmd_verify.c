/* cmd_verify.c - relayc verify: see verify_report.c. */
#include "cli/cli.h"
#include "cli/verify_report.h"
#include "driver/sized_code.h"

/* One combination of sizes, by itself; the table's head stands before the first. */
static bool verify_size(struct cli *cli, struct sized_code *code, int i, bool is_first)
{
    struct driver_state alone = variant_alone(cli->driver, code->variants, i);
    const char *at = variant_text(&cli->ctx->perm, code->variants, i);
    struct verification v;
    bool ok;

    ok = driver_verify_sizes(&alone, code->code.generated, sized_code_sizes(code, i), &v) &&
         verify_report_size(cli, at, is_first, &v);
    driver_verify_free(&v);
    driver_free(&alone);
    return ok;
}

/* --vary: all sizes, of code that is built once. Each begins without errors of others; the first one that fails runs
 * again, for its errors. */
static bool verify_sizes(struct cli *cli)
{
    const struct diags before = cli->ctx->diags;
    struct sized_code code;
    bool ok = sized_code_build(cli->driver, &code);
    int n_ok = 0, failed = -1;
    cJSON *json = cli->json;

    for (int i = 0; ok && i < code.variants->n; i++) {
        driver_progress(cli->driver, "verifying each size", i, code.variants->n);
        if (verify_size(cli, &code, i, i == 0)) {
            n_ok++;
            continue;
        }
        failed = failed < 0 ? i : failed;
        diag_restore(cli->ctx, before);
    }
    driver_progress(cli->driver, "verifying each size", 0, 0);
    if (ok)
        say(cli, "%d of %d combinations of sizes agree, by one compilation\n", n_ok,
            code.variants->n);
    if (failed >= 0) {
        cli->json = NULL; /* which has it */
        say(cli, "again, for its errors:\n");
        ok = verify_size(cli, &code, failed, true);
        diag_note(cli->ctx, "with %s (--vary)",
                  variant_text(&cli->ctx->perm, code.variants, failed));
        cli->json = json;
    }
    sized_code_free(&code);
    return ok;
}

bool command_verify(struct cli *cli)
{
    struct verification v;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    if (variants_wanted(cli->driver))
        return verify_sizes(cli);
    ok = driver_verify(cli->driver, &v) && verify_report(cli, &v);
    driver_verify_free(&v);
    return ok;
}
