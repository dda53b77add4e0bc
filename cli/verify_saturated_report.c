/* verify_saturated_report.c - numbers that scales could not hold: what they cost, and no difference. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/verify_report.h"

enum { MOST_SATURATED = 8 }; /* lines */

static double share(const struct saturation *s)
{
    return (double)s->n_beyond / (double)s->n;
}

/* More of it saturates; of equals, it comes first. */
static int compare_shares(const void *a, const void *b)
{
    const struct saturation *x = *(const struct saturation *const *)a;
    const struct saturation *y = *(const struct saturation *const *)b;

    return share(x) != share(y) ? (share(x) < share(y) ? 1 : -1) : strcmp(x->name, y->name);
}

static void add_saturated(struct cli *cli, cJSON *list, const struct saturation *s)
{
    cJSON *row = list ? cJSON_CreateObject() : NULL;

    if (!row)
        return;
    cJSON_AddStringToObject(row, "value", str_safe(&cli->ctx->perm, s->name, 4096));
    cJSON_AddNumberToObject(row, "elements", (double)s->n);
    cJSON_AddNumberToObject(row, "saturated", (double)s->n_beyond);
    cJSON_AddNumberToObject(row, "lost", (double)s->n_lost);
    cJSON_AddNumberToObject(row, "low", s->low);
    cJSON_AddNumberToObject(row, "high", s->high);
    cJSON_AddItemToArray(list, row);
}

/* Values of which nothing is left but zeros. */
static void say_lost(struct cli *cli, const struct verification *v)
{
    int n = 0;

    for (size_t i = 0; i < v->saturated.n; i++) {
        const struct saturation *s = v->saturated.entries[i].value;

        if (s->n_lost == 0 || s->n_lost + s->n_zero < s->n || n++ >= MOST_SATURATED)
            continue;
        if (n == 1)
            say(cli, "too small for their scales, so stored as 0 (accuracy, no difference):\n");
        say(cli, "  %-34s all %lld: %.4g to %.4g, the smallest is %.4g\n",
            str_safe(&cli->ctx->perm, s->name, 33), (long long)s->n, s->least, s->most,
            s->smallest);
    }
    if (n > MOST_SATURATED)
        say(cli, "  and %d more values\n", n - MOST_SATURATED);
}

void verify_say_saturated(struct cli *cli, const struct verification *v)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "saturated") : NULL;
    const struct saturation **all =
        arena_array(&cli->ctx->perm, const struct saturation *, v->saturated.n + 1);
    int n = 0;

    for (size_t i = 0; i < v->saturated.n; i++) {
        const struct saturation *s = v->saturated.entries[i].value;

        if (s->n_beyond > 0)
            all[n++] = s;
        if (s->n_beyond + s->n_lost > 0)
            add_saturated(cli, list, s);
    }
    qsort(all, (size_t)n, sizeof *all, compare_shares);
    if (n > 0)
        say(cli,
            "beyond their scales, so stored as the ends of the range (accuracy, no difference):\n");
    for (int i = 0; i < n && i < MOST_SATURATED; i++)
        say(cli, "  %-34s %lld of %lld: %.4g to %.4g, range %.4g to %.4g\n",
            str_safe(&cli->ctx->perm, all[i]->name, 33), (long long)all[i]->n_beyond,
            (long long)all[i]->n, all[i]->least, all[i]->most, all[i]->low, all[i]->high);
    if (n > MOST_SATURATED)
        say(cli, "  and of %d more values\n", n - MOST_SATURATED);
    say_lost(cli, v);
}
