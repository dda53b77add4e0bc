/* scores.c - accuracy, from reports of relayc eval --json. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "report/diff.h"
#include "report/read.h"
#include "report/scores.h"

bool scores_read(struct ctx *ctx, const char *path, struct scores *out)
{
    struct reader reader = { ctx, path, false };
    cJSON *root = read_json(&reader);
    const cJSON *list, *json;
    const char *schema = root ? read_text(&reader, root, "schema") : NULL;

    *out = (struct scores){ 0 };
    if (root && (!schema || !str_starts(schema, "relayc-eval-")))
        read_error(&reader, "it is no report of relayc eval --json");
    list = reader.failed ? NULL : read_list(&reader, root, "metrics");
    out->at = arena_array(&ctx->perm, struct score, list ? cJSON_GetArraySize(list) : 0);
    cJSON_ArrayForEach(json, list)
    {
        out->at[out->n++] = (struct score){
            .name = read_text(&reader, json, "name"),
            .value = read_number(&reader, json, "value", (double)NAN),
            .f32 = read_number(&reader, json, "f32", (double)NAN),
        };
    }
    out->samples = reader.failed ? 0 : read_number(&reader, root, "samples", 0);
    cJSON_Delete(root);
    return !reader.failed;
}

static double score_of(const struct scores *scores, const char *name)
{
    for (int i = 0; i < scores->n; i++)
        if (scores->at[i].name && strcmp(scores->at[i].name, name) == 0)
            return scores->at[i].value;
    return (double)NAN;
}

/* The new report's metrics. Accuracy alone makes no difference: it is measured, and may be on other
 * samples. */
bool diff_add_scores(struct ctx *ctx, struct diff *diff, const char *old_path, const char *new_path)
{
    struct scores old, new;

    if (!scores_read(ctx, old_path, &old) || !scores_read(ctx, new_path, &new))
        return false;
    diff->scores = arena_array(&ctx->perm, struct diff_fact, new.n);
    for (int i = 0; i < new.n; i++) {
        const struct score *score = &new.at[i];
        struct diff_fact *fact = &diff->scores[diff->n_scores];

        if (!score->name)
            continue;
        *fact = (struct diff_fact){ .what = score->name,
                                    .unit = "",
                                    .is_share = true,
                                    .old_number = score_of(&old, score->name),
                                    .new_number = score->value };
        fact->old_text = arena_printf(&ctx->perm, "%.6g", fact->old_number);
        fact->new_text = arena_printf(&ctx->perm, "%.6g", fact->new_number);
        fact->differs = strcmp(fact->old_text, fact->new_text) != 0;
        diff->n_scores++;
    }
    return true;
}
