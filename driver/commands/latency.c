#include "driver/commands/latency.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

/* How like a region is that was measured; what is most like comes first. */
enum likeness {
    SAME_WEIGHTS,  /* the same operator that multiplies, with weights of the same shape and type */
    SAME_TYPES,    /* all the same, but for shapes */
    SAME_OPERATOR, /* the same operator that multiplies, with weights of the same type */
    SAME_SHAPE,    /* likewise of the same shape */
    ANY,
    N_LIKENESSES
};

struct measured {
    const char *signature;
    const char *like[N_LIKENESSES]; /* text that is equal of those that are so like each other */
    bool multiplies;
    double seconds, work; /* multiplications, or bytes where there are none */
};

size_t call_activation_bytes(const struct node *call)
{
    size_t bytes = 0;

    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i]->kind != VALUE_CONSTANT)
            bytes += type_bytes(&call->inputs[i]->type);
    for (int i = 0; i < call->n_outputs; i++)
        bytes += type_bytes(&call->outputs[i]->type);
    return bytes;
}

/* The signature without shapes; of numbers among the attributes it stays whether they are 0, 1 or
 * more, so that depthwise convolutions are like each other. */
static const char *without_shapes(struct arena *arena, const char *signature)
{
    char *text = arena_strdup(arena, signature), *to = text;
    int braces = 0;

    for (const char *at = signature; *at;) {
        const size_t digits = strspn(at, "0123456789");

        if (*at == '[') {
            *to++ = '[';
            at += strcspn(at, "]");
        } else if (braces && digits) {
            *to++ = digits == 1 && *at <= '1' ? *at : '#';
            at += digits;
        } else {
            braces += (*at == '{') - (*at == '}');
            *to++ = *at++;
        }
    }
    *to = '\0';
    return text;
}

static bool multiplies(const char *operator)
{
    static const char *const products[] = { "conv", "dense", "matmul" };
    const char *end = operator+ strcspn(operator, "(");

    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const char *found = strstr(operator, products[i]);

        if (found && found < end)
            return true;
    }
    return false;
}

/* The operator that multiplies, else the first: its name, weights and groups. Where it reads its
 * data from, and what is fused to it, is not what takes the time. */
static const char *main_operator(struct arena *arena, const char *signature)
{
    const char *at = signature, *next, *operands, *groups;

    while (!multiplies(at) && (next = strstr(at, "; ")))
        at = next + 2;
    if (!multiplies(at))
        at = signature;
    operands = strstr(at, ", "); /* in shapes no space is behind a comma */
    groups = strstr(at, "groups=");
    next = strstr(at, "; ");
    return arena_printf(arena, "%.*s%.*s %.*s", (int)strcspn(at, "("), at,
                        operands ? (int)strcspn(operands, ")") : 0, operands ? operands : "",
                        groups && (!next || groups < next) ? (int)strcspn(groups, ",}") : 0,
                        groups ? groups : "");
}

/* "nn.conv2d, c i8[8,8,3,3]" -> "nn.conv2d, c [8,8,3,3]" */
static const char *without_types(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text), *to = copy;

    for (const char *at = text; *at; at++) {
        if (*at == '[')
            while (to > copy && to[-1] != ' ')
                to--;
        *to++ = *at;
    }
    *to = '\0';
    return copy;
}

static void describe(struct arena *arena, struct measured *m)
{
    m->like[SAME_WEIGHTS] = main_operator(arena, m->signature);
    m->like[SAME_TYPES] = without_shapes(arena, m->signature);
    m->like[SAME_OPERATOR] = main_operator(arena, m->like[SAME_TYPES]);
    m->like[SAME_SHAPE] = without_types(arena, m->like[SAME_WEIGHTS]);
    m->like[ANY] = "";
}

/* --- reading ---------------------------------------------------------------------------------- */

static void add(struct ctx *ctx, struct latency_log *log, const struct measured *m)
{
    if (log->n == log->capacity) {
        const int capacity = log->capacity ? 2 * log->capacity : 64;
        struct measured *grown = arena_array(&ctx->perm, struct measured, capacity);

        if (log->n)
            memcpy(grown, log->at, (size_t)log->n * sizeof *grown);
        log->at = grown;
        log->capacity = capacity;
    }
    log->at[log->n++] = *m;
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsNumber(item) && item->valuedouble >= 0 ? item->valuedouble : (double)NAN;
}

/* False where a member is missing. A region that another target runs has no signature. */
static bool read_region(struct ctx *ctx, const cJSON *region, struct latency_log *log)
{
    const cJSON *signature = cJSON_GetObjectItemCaseSensitive(region, "signature");
    const double macs = number_of(region, "macs");
    const double ms = number_of(cJSON_GetObjectItemCaseSensitive(region, "ms"), "median");
    const double bytes = number_of(region, "activation_bytes");
    struct measured m = { .multiplies = macs > 0,
                          .seconds = ms / 1000,
                          .work = macs > 0 ? macs : bytes };

    if (cJSON_IsNull(signature))
        return true;
    if (!cJSON_IsString(signature) || isnan(macs) || isnan(ms) || isnan(bytes))
        return false;
    m.signature = arena_strdup(&ctx->perm, signature->valuestring);
    describe(&ctx->perm, &m);
    add(ctx, log, &m);
    return true;
}

bool latency_read(struct ctx *ctx, const char *path, struct latency_log *log)
{
    const char *name = str_safe(&ctx->perm, path, 400);
    const int before = log->n;
    struct mapping file;
    const cJSON *schema, *regions, *region;
    cJSON *root;
    bool ok;

    if (!file_map(ctx, path, &file))
        return false;
    root = cJSON_ParseWithLength((const char *)file.data, file.size);
    file_unmap(&file);
    schema = cJSON_GetObjectItemCaseSensitive(root, "schema");
    regions = cJSON_GetObjectItemCaseSensitive(root, "regions");
    ok = cJSON_IsString(schema) && str_starts(schema->valuestring, "relayc-bench-") &&
         cJSON_IsArray(regions);
    if (ok)
        cJSON_ArrayForEach(region, regions) ok = ok && read_region(ctx, region, log);
    cJSON_Delete(root);
    if (ok && log->n > before)
        return true;
    diag_error(ctx, DIAG_LATENCY_LOG, NULL, "%s is not a report of relayc bench --json%s", name,
               ok ? " with regions" : ", or of an old version");
    diag_help(ctx, "relayc bench MODEL.onnx --target host --json >%s", name);
    return false;
}

/* --- estimating ------------------------------------------------------------------------------- */

static double mean_of_same(const struct latency_log *log, const char *signature)
{
    double sum = 0;
    int n = 0;

    for (int i = 0; i < log->n; i++)
        if (strcmp(log->at[i].signature, signature) == 0) {
            sum += log->at[i].seconds;
            n++;
        }
    return n ? sum / n : (double)NAN;
}

static double scaled(const struct latency_log *log, const struct measured *wanted)
{
    for (int k = 0; k < N_LIKENESSES; k++) {
        double seconds = 0, work = 0;

        for (int i = 0; i < log->n; i++)
            if (log->at[i].multiplies == wanted->multiplies &&
                strcmp(log->at[i].like[k], wanted->like[k]) == 0) {
                seconds += log->at[i].seconds;
                work += log->at[i].work;
            }
        if (work > 0)
            return seconds / work * wanted->work;
    }
    return 0;
}

double latency_of(const struct latency_log *log, const struct codegen_region *region, bool *known)
{
    struct measured wanted = { .signature = region->signature ? region->signature : "",
                               .multiplies = region->macs > 0,
                               .work = region->macs > 0
                                           ? (double)region->macs
                                           : (double)call_activation_bytes(region->call) };
    const double same = mean_of_same(log, wanted.signature);
    struct arena arena = { NULL };
    double seconds = same;

    *known = !isnan(same);
    if (!*known) {
        describe(&arena, &wanted);
        seconds = scaled(log, &wanted);
    }
    arena_release(&arena);
    return seconds;
}
