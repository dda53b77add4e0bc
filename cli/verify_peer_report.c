/* verify_peer_report.c - what verify says of --against. */
#include "cli/verify_report.h"

/* Where the file's arithmetic is promised, a single bit is a bug. */
void verify_judge_bits(const struct verification *v)
{
    const struct peer_count *count = &v->peer_count;
    struct ctx *ctx = v->driver->ctx;

    if (!count->promised || count->n_different == 0)
        return;
    diag_error(ctx, DIAG_MISMATCH, NULL,
               "the generated C and %s differ in %lld of %lld numbers, by at most %g",
               v->which->name, (long long)count->n_different, (long long)count->n, count->most);
    diag_help(ctx,
              "their bits should be the same (docs/guide/tflite.md): this is a bug in relayc, "
              "or %s %s is built with other kernels",
              v->which->name, v->peer_version);
}

void verify_say_peer(struct cli *cli, const struct verification *v)
{
    const struct peer_count *count = &v->peer_count;

    say(cli, "%s %s %s", v->which->name, v->peer_version, v->which->how);
    if (count->n > 0)
        say(cli, ": %lld of %lld numbers of the generated C differ", (long long)count->n_different,
            (long long)count->n);
    if (count->most > 0)
        say(cli, ", by at most %g", count->most);
    say(cli, "\n");
}

void verify_peer_json(struct cli *cli, const struct verification *v)
{
    cJSON *peer = cJSON_AddObjectToObject(cli->json, "against");

    cJSON_AddStringToObject(peer, "name", v->which->word);
    cJSON_AddStringToObject(peer, "version", v->peer_version);
    cJSON_AddNumberToObject(peer, "numbers", (double)v->peer_count.n);
    cJSON_AddNumberToObject(peer, "different", (double)v->peer_count.n_different);
    cJSON_AddNumberToObject(peer, "most", v->peer_count.most);
}
