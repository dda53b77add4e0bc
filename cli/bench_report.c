/* bench_report.c - the result of bench: a table of regions, slowest first, and the whole. */
#include "cli/bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/report.h"
#include "driver/commands/latency.h"

/* A row of the table. */
struct row {
    int index;
    const char *name, *kernel, *shape; /* of its first output */
    const char *signature;             /* NULL of other targets' */
    double seconds, share;             /* of the sum of all regions */
    int64_t macs;
    size_t activation_bytes, weight_bytes;
};

struct table {
    struct row *rows; /* in the order of execution */
    int n;
    struct row all; /* their sums */
    double peak;    /* operations a second */
};

/* Two operations each. */
static double flops(int64_t macs, double seconds)
{
    return seconds > 0 ? 2 * (double)macs / seconds : 0;
}

static struct row make_row(const struct bench *bench, int index)
{
    const struct codegen_region *region = &bench->own.code.result.regions[index];
    const char *name = region->c_name;

    return (struct row){
        .index = index,
        .name = str_starts(name, "region_") ? name + strlen("region_") : name,
        .kernel = region->kernel ? region->kernel : region->compiler,
        .shape = shape_text(&bench->driver->ctx->perm, &region->call->outputs[0]->type),
        .signature = region->signature,
        .seconds = summarise(&bench->regions[index]).median,
        .macs = region->macs,
        .activation_bytes = call_activation_bytes(region->call),
        .weight_bytes = region->weight_bytes,
    };
}

static void add_row(struct row *sum, const struct row *row)
{
    sum->seconds += row->seconds;
    sum->macs += row->macs;
    sum->activation_bytes += row->activation_bytes;
    sum->weight_bytes += row->weight_bytes;
}

static double share_of(const struct table *table, double seconds)
{
    return table->all.seconds > 0 ? seconds / table->all.seconds : 0;
}

static struct table make_table(const struct bench *bench)
{
    struct table table = { .n = bench->own.code.result.n_regions,
                           .peak = summarise(&bench->peak).median };

    table.all.name = arena_printf(&bench->driver->ctx->perm, "all %d regions, one by one", table.n);
    table.all.kernel = table.all.shape = "";
    table.rows = arena_array(&bench->driver->ctx->perm, struct row, table.n);
    for (int i = 0; i < table.n; i++) {
        struct row *row = &table.rows[i];

        *row = make_row(bench, i);
        add_row(&table.all, row);
    }
    for (int i = 0; i < table.n; i++)
        table.rows[i].share = share_of(&table, table.rows[i].seconds);
    return table;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return x->index - y->index;
}

static const struct row **sort_rows(struct arena *arena, const struct table *table)
{
    const struct row **sorted = arena_array(arena, const struct row *, table->n);

    for (int i = 0; i < table->n; i++)
        sorted[i] = &table->rows[i];
    qsort(sorted, (size_t)table->n, sizeof *sorted, compare_rows);
    return sorted;
}

static void print_row(const struct cli *cli, const struct table *table, const struct row *row)
{
    const double rate = flops(row->macs, row->seconds);

    say(cli, "%-30.30s %-20.20s %-16.16s %9.4f %5.1f %9.2f", row->name, row->kernel, row->shape,
        row->seconds * 1e3, 100 * share_of(table, row->seconds), (double)row->macs / 1e6);
    if (row->macs)
        say(cli, " %7.1f %5.1f", rate / 1e9, 100 * rate / table->peak);
    else
        say(cli, " %7s %5s", "", "");
    say(cli, " %8.1f %8.1f\n", (double)row->activation_bytes / 1024,
        (double)row->weight_bytes / 1024);
}

/* A line for each kernel with what all of its regions take, the slowest first. */
static void print_kernels(struct cli *cli, const struct bench *bench, const struct table *table)
{
    struct arena *arena = &bench->driver->ctx->perm;
    struct table kernels = { .rows = arena_array(arena, struct row, table->n) };
    int *counts = arena_array(arena, int, table->n); /* regions */
    const struct row **sorted;

    for (int i = 0; i < table->n; i++) {
        int k = 0;

        while (k < kernels.n && strcmp(kernels.rows[k].kernel, table->rows[i].kernel) != 0)
            k++;
        if (k == kernels.n)
            kernels.rows[kernels.n++] =
                (struct row){ .index = k, .kernel = table->rows[i].kernel, .shape = "" };
        add_row(&kernels.rows[k], &table->rows[i]);
        counts[k]++;
        kernels.rows[k].name =
            arena_printf(arena, "%d region%s of", counts[k], counts[k] == 1 ? "" : "s");
    }
    sorted = sort_rows(arena, &kernels);
    for (int i = 0; i < kernels.n && kernels.n > 1; i++)
        print_row(cli, table, sorted[i]);
}

static void print_table(struct cli *cli, const struct bench *bench, const struct table *table)
{
    const struct row **sorted = sort_rows(&cli->ctx->perm, table);
    const int n = bench->regions_shown < 0 || bench->regions_shown > table->n
                      ? table->n
                      : (int)bench->regions_shown;

    say(cli, "%-30s %-20s %-16s %9s %5s %9s %7s %5s %8s %8s\n", "region", "kernel", "output", "ms",
        "%", "M MACs", "GFLOP/s", "%peak", "KiB data", "KiB wts");
    for (int i = 0; i < n; i++)
        print_row(cli, table, sorted[i]);
    print_kernels(cli, bench, table);
    print_row(cli, table, &table->all);
}

static const char *ms(struct arena *arena, const struct series *series)
{
    const struct summary s = summarise(series);

    return arena_printf(arena, "%.4f ms (%.4f .. %.4f, least %.4f)", s.median * 1e3, s.low * 1e3,
                        s.high * 1e3, s.least * 1e3);
}

static const char *ratio(struct arena *arena, const struct series *own, const struct series *peer)
{
    const struct summary s = summarise_ratio(own, peer);

    return arena_printf(arena, "%.3f (%.3f .. %.3f)", s.median, s.low, s.high);
}

static const char *peer_name(const struct bench *bench)
{
    return option_text(&bench->driver->args, OPTION_VS, "");
}

static void print_peer(struct cli *cli, const struct bench *bench)
{
    const struct contender *own = &bench->contenders[OWN], *peer = &bench->contenders[PEER];
    struct arena *arena = &cli->ctx->perm;

    if (bench->peer == PEER_NONE)
        return;
    say(cli, "  %s (%s)\n    warm    %s\n    cold    %s\n", peer_name(bench), bench->peer_version,
        ms(arena, &peer->warm), ms(arena, &peer->cold_runs));
    say(cli, "  ratio     %s of its time; cold %s\n", ratio(arena, &own->warm, &peer->warm),
        ratio(arena, &own->cold_runs, &peer->cold_runs));
}

static void print_code(const struct cli *cli, const struct bench *bench)
{
    const struct object_size *size = &bench->own.size;

    say(cli, "  code      %llu bytes of text, %llu constants, %llu data, %llu bss; arena %zu\n",
        (unsigned long long)size->text, (unsigned long long)size->rodata,
        (unsigned long long)size->data, (unsigned long long)size->bss,
        bench->own.code.result.arena_bytes);
}

static void print_whole(struct cli *cli, const struct bench *bench, const struct table *table)
{
    const struct contender *own = &bench->contenders[OWN];
    struct arena *arena = &cli->ctx->perm;
    const double rate = flops(table->all.macs, summarise(&own->warm).median);

    say(cli, "  warm      %s\n  cold      %s\n", ms(arena, &own->warm), ms(arena, &own->cold_runs));
    say(cli, "  speed     %.2f GFLOP/s, %.1f %% of the peak of %.1f measured beside it\n",
        rate / 1e9, 100 * rate / table->peak, table->peak / 1e9);
    print_code(cli, bench);
    print_peer(cli, bench);
    say(cli, "  outputs   %.1e off oneDNN's, relative to the largest", bench->engine_error);
    if (bench->peer != PEER_ENGINE && bench->peer != PEER_NONE && isfinite(bench->peer_error))
        say(cli, ", %.1e off %s's", bench->peer_error, peer_name(bench));
    say(cli, "\n");
}

static void add_summary(cJSON *json, const char *key, struct summary s, double unit)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);

    cJSON_AddNumberToObject(object, "n", s.n);
    cJSON_AddNumberToObject(object, "median", s.median * unit);
    cJSON_AddNumberToObject(object, "low", s.low * unit);
    cJSON_AddNumberToObject(object, "high", s.high * unit);
    cJSON_AddNumberToObject(object, "min", s.least * unit);
}

static cJSON *row_json(const struct table *table, const struct row *row,
                       const struct series *series)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", row->name);
    cJSON_AddStringToObject(json, "kernel", row->kernel);
    cJSON_AddStringToObject(json, "output", row->shape);
    if (row->signature)
        cJSON_AddStringToObject(json, "signature", row->signature);
    else
        cJSON_AddNullToObject(json, "signature");
    add_summary(json, "ms", summarise(series), 1e3);
    cJSON_AddNumberToObject(json, "percent", 100 * row->share);
    cJSON_AddNumberToObject(json, "macs", (double)row->macs);
    cJSON_AddNumberToObject(json, "gflops", flops(row->macs, row->seconds) / 1e9);
    cJSON_AddNumberToObject(json, "percent_of_peak",
                            100 * flops(row->macs, row->seconds) / table->peak);
    cJSON_AddNumberToObject(json, "activation_bytes", (double)row->activation_bytes);
    cJSON_AddNumberToObject(json, "weight_bytes", (double)row->weight_bytes);
    return json;
}

static void add_sizes(const struct bench *bench, cJSON *json)
{
    cJSON *size = cJSON_AddObjectToObject(json, "object_bytes");

    cJSON_AddNumberToObject(size, "text", (double)bench->own.size.text);
    cJSON_AddNumberToObject(size, "rodata", (double)bench->own.size.rodata);
    cJSON_AddNumberToObject(size, "data", (double)bench->own.size.data);
    cJSON_AddNumberToObject(size, "bss", (double)bench->own.size.bss);
    cJSON_AddNumberToObject(json, "arena_bytes", (double)bench->own.code.result.arena_bytes);
    cJSON_AddNumberToObject(json, "weight_bytes", (double)bench->own.code.result.weight_bytes);
}

static void add_error(cJSON *json, const char *key, double error)
{
    if (isfinite(error))
        cJSON_AddNumberToObject(json, key, error);
    else
        cJSON_AddNullToObject(json, key);
}

static void add_peer(const struct bench *bench, cJSON *json)
{
    const struct contender *own = &bench->contenders[OWN], *peer = &bench->contenders[PEER];
    cJSON *object;

    if (bench->peer == PEER_NONE)
        return;
    object = cJSON_AddObjectToObject(json, "peer");
    cJSON_AddStringToObject(object, "name", peer_name(bench));
    cJSON_AddStringToObject(object, "version", bench->peer_version);
    add_summary(object, "warm_ms", summarise(&peer->warm), 1e3);
    add_summary(object, "cold_ms", summarise(&peer->cold_runs), 1e3);
    add_summary(object, "ratio", summarise_ratio(&own->warm, &peer->warm), 1);
    add_summary(object, "cold_ratio", summarise_ratio(&own->cold_runs, &peer->cold_runs), 1);
    add_error(object, "outputs_error", bench->peer_error);
}

static void add_json(struct cli *cli, const struct bench *bench, const struct table *table)
{
    const struct contender *own = &bench->contenders[OWN];
    cJSON *json = cli->json, *regions;
    const double rate = flops(table->all.macs, summarise(&own->warm).median);

    cJSON_AddStringToObject(json, "cflags", bench->cflags);
    cJSON_AddNumberToObject(json, "core", bench->core);
    cJSON_AddNumberToObject(json, "onnx_nodes", bench->own.code.result.n_onnx_nodes);
    cJSON_AddNumberToObject(json, "macs", (double)table->all.macs);
    add_summary(json, "warm_ms", summarise(&own->warm), 1e3);
    add_summary(json, "cold_ms", summarise(&own->cold_runs), 1e3);
    cJSON_AddNumberToObject(json, "gflops", rate / 1e9);
    cJSON_AddNumberToObject(json, "percent_of_peak", 100 * rate / table->peak);
    add_summary(json, "peak_gflops", summarise(&bench->peak), 1e-9);
    cJSON_AddNumberToObject(json, "compile_seconds", bench->compile_seconds);
    add_sizes(bench, json);
    add_peer(bench, json);
    add_error(json, "outputs_error", bench->engine_error);
    regions = cJSON_AddArrayToObject(json, "regions");
    for (int i = 0; i < table->n; i++)
        cJSON_AddItemToArray(regions, row_json(table, &table->rows[i], &bench->regions[i]));
}

void bench_report(struct cli *cli, struct bench *bench)
{
    const struct codegen_result *result = &bench->own.code.result;
    const struct table table = make_table(bench);

    report_precision(cli);
    say(cli, "%d %s node%s -> %d region%s, %.2f M MACs; %s; compiled in %.1f s; core %d\n",
        result->n_onnx_nodes, bench->own.module->format, result->n_onnx_nodes == 1 ? "" : "s",
        table.n, table.n == 1 ? "" : "s", (double)table.all.macs / 1e6, bench->cflags,
        bench->compile_seconds, bench->core);
    report_offload(cli, bench->own.module);
    if (bench->regions_shown != 0)
        print_table(cli, bench, &table);
    print_whole(cli, bench, &table);
    if (cli->json)
        add_json(cli, bench, &table);
}

/* --- with --vary ------------------------------------------------------------------------------ */

static void add_size_json(struct cli *cli, const char *at, const struct bench *bench)
{
    const struct contender *own = &bench->contenders[OWN];
    cJSON *list = cJSON_GetObjectItemCaseSensitive(cli->json, "sizes"), *row = cJSON_CreateObject();

    if (!list)
        list = cJSON_AddArrayToObject(cli->json, "sizes");
    cJSON_AddStringToObject(row, "at", at);
    add_summary(row, "warm_ms", summarise(&own->warm), 1e3);
    add_summary(row, "cold_ms", summarise(&own->cold_runs), 1e3);
    add_peer(bench, row);
    add_error(row, "outputs_error", bench->engine_error);
    cJSON_AddItemToArray(list, row);
}

void bench_report_size(struct cli *cli, const char *at, struct bench *bench)
{
    const struct contender *own = &bench->contenders[OWN], *peer = &bench->contenders[PEER];
    struct arena *arena = &cli->ctx->perm;

    say(cli, "%-20s %s; cold %.4f ms", at, ms(arena, &own->warm),
        summarise(&own->cold_runs).median * 1e3);
    if (bench->peer != PEER_NONE)
        say(cli, "; %s of %s's time", ratio(arena, &own->warm, &peer->warm), peer_name(bench));
    say(cli, "\n");
    if (cli->json)
        add_size_json(cli, at, bench);
}

void bench_report_code(struct cli *cli, struct bench *bench)
{
    say(cli, "%d sizes, one program; %s; compiled in %.1f s; core %d\n", bench->sized->variants->n,
        bench->cflags, bench->compile_seconds, bench->core);
    print_code(cli, bench);
    if (!cli->json)
        return;
    cJSON_AddStringToObject(cli->json, "cflags", bench->cflags);
    cJSON_AddNumberToObject(cli->json, "core", bench->core);
    cJSON_AddNumberToObject(cli->json, "compile_seconds", bench->compile_seconds);
    add_sizes(bench, cli->json);
}
