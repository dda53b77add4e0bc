/* main.c - every network given, on every configuration: pass or FAIL, a line each.
 *
 *   network [--work DIR] [--only CONFIG]... [--turns N] (MODEL_DIR | FILE.onnx)...
 *
 * --turns: each network on every Nth configuration, in rotation with RELAYC_TEST_TURN.
 * Exit code 1 when anything failed. Tolerance: 1e-4 of an output's largest magnitude,
 * more for some quantised networks (network_load.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/builds.h"
#include "tests/support/network.h"

struct tally {
    int n; /* networks */
    int passed, failed;
};

static bool is_turn(int config, int network, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--turns") == 0)
            return ((unsigned)(config + network) + builds_turn()) % (unsigned)atoi(argv[i + 1]) ==
                   0;
    return true;
}

static bool wanted(const char *name, int argc, char **argv)
{
    bool any = false;

    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--only") == 0) {
            any = true;
            if (strcmp(argv[i + 1], name) == 0)
                return true;
        }
    return !any;
}

static bool same_machine(const struct config *a, const struct config *b)
{
    return a->machine == b->machine ||
           (a->machine && b->machine && strcmp(a->machine, b->machine) == 0);
}

static bool write_for(struct network *network, const char *work, const struct config *config,
                      struct codegen_result *result)
{
    *result = (struct codegen_result){ 0 };
    if (network_write(network, work, config->machine, NULL, result))
        return true;
    printf("FAIL %s: no C was generated for %s\n", network->name, config->name);
    diag_print(network->ctx, stdout, false, 3);
    return false;
}

static void run_configs(struct network *network, const char *work, int argc, char **argv,
                        struct tally *tally)
{
    struct codegen_result result;
    const struct config *written = NULL; /* whose files lie in `work` */

    for (int i = 0; i < n_configs; i++) {
        double error = 0;
        const char *reason = NULL;

        if (!wanted(configs[i].name, argc, argv) || !is_turn(i, tally->n, argc, argv) ||
            (configs[i].bare && !network_is_small(network)))
            continue;
        if (!written || !same_machine(written, &configs[i])) {
            written = &configs[i];
            if (!write_for(network, work, written, &result)) {
                tally->failed++;
                return;
            }
        }
        if (configs[i].weights && result.weight_bytes > configs[i].weights)
            continue;
        if (config_run(network->ctx, &configs[i], network, work, &result, &error, &reason) &&
            error <= network->tolerance) {
            printf("pass %-20s %-16s error %.1e  arena %zu\n", network->name, configs[i].name,
                   error, result.arena_bytes);
            tally->passed++;
        } else {
            printf("FAIL %-20s %-16s %s\n", network->name, configs[i].name,
                   reason ? reason : arena_printf(&network->ctx->perm, "error %.1e", error));
            tally->failed++;
        }
        fflush(stdout);
    }
}

static void run_network(const char *dir, const char *work, int argc, char **argv,
                        struct tally *tally)
{
    struct network network;

    tally->n++;
    if (network_load(&network, dir) && network_run_passes(&network)) {
        const char *folder = arena_printf(&network.ctx->perm, "%s/%s", work, network.name);

        run_configs(&network, folder, argc, argv, tally);
    } else {
        printf("FAIL %s\n", dir);
        diag_print(network.ctx, stdout, false, 3);
        tally->failed++;
    }
    fflush(stdout);
    network_free(&network);
}

int main(int argc, char **argv)
{
    const char *work = "build/network";
    struct tally tally = { 0 };

    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--work") == 0)
            work = argv[i + 1];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--work") == 0 || strcmp(argv[i], "--only") == 0 ||
            strcmp(argv[i], "--turns") == 0)
            i++;
        else
            run_network(argv[i], work, argc, argv, &tally);
    }
    printf("%d passed, %d failed\n", tally.passed, tally.failed);
    return tally.failed || tally.passed == 0;
}
