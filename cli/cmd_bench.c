/* cmd_bench.c - relayc bench: see bench_report.c. */
#include "cli/bench_report.h"
#include "cli/cli.h"

/* --vary: each size, by one program. The first one's is freed last: the others run it, too. */
static bool bench_sizes(struct cli *cli)
{
    struct arena *arena = &cli->ctx->perm;
    struct driver_state *drivers;
    struct bench *benches;
    struct sized_code code;
    bool ok = sized_code_write(cli->driver, &code);
    int n = 0;

    if (!ok) {
        sized_code_free(&code);
        return false;
    }
    drivers = arena_array(arena, struct driver_state, code.variants->n);
    benches = arena_array(arena, struct bench, code.variants->n);
    for (; ok && n < code.variants->n; n++) {
        const char *at = variant_text(arena, code.variants, n);

        drivers[n] = variant_alone(cli->driver, code.variants, n);
        driver_progress(cli->driver, "timing each size", n, code.variants->n);
        ok = driver_bench_size(&drivers[n], &code, n, n ? benches : NULL, &benches[n]);
        driver_progress(cli->driver, "timing each size", 0, 0);
        if (ok)
            bench_report_size(cli, at, &benches[n]);
        else
            diag_note(cli->ctx, "with %s (--vary)", at);
    }
    if (ok)
        bench_report_code(cli, benches);
    while (n-- > 0) {
        driver_bench_free(&benches[n]);
        driver_free(&drivers[n]);
    }
    sized_code_free(&code);
    return ok;
}

bool command_bench(struct cli *cli)
{
    struct bench bench;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    if (variants_wanted(cli->driver))
        return bench_sizes(cli);
    ok = driver_bench(cli->driver, &bench);
    if (ok)
        bench_report(cli, &bench);
    driver_bench_free(&bench);
    return ok;
}
