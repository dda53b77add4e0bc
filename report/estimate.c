/* estimate.c - estimated time of regions on microcontrollers: cycles.def and the board's clock.
 *
 * Cycles are a sum of few terms, fitted to what basic blocks run and to llvm-mca's models of the
 * cores (bench/cycles). Waits for flash and caches are in none of it (docs/guide/report.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/str.h"
#include "report/analysis.h"

struct row {
    const char *cpu, *kernel, *operator; /* the first of the region */
    const char *x, *weights, *y;         /* kinds of numbers */
    double per_mac, per_result, per_read, per_position, per_call;
};

static const struct row rows[] = {
#define CYCLES(cpu, kernel, operator, x, weights, y, mac, result, read, position, call)            \
    { cpu, kernel, operator, x, weights, y, mac, result, read, position, call },
#include "report/cycles.def"
#undef CYCLES
};

enum { N_ROWS = sizeof rows / sizeof *rows };

/* Quantised values of all 8-bit floats are read and written by the same instructions, or nearly. */
static const char *kind_of(const char *dtype)
{
    return !dtype ? "-" : dtype_kind(dtype_from_name(dtype)) == KIND_MINIFLOAT ? "f8" : dtype;
}

/* Whether the signature, "nn.conv2d(...", begins with that operator, "conv2d". */
static bool begins_with(const char *signature, const char *operator)
{
    const char *end = signature + strcspn(signature, "( ");
    const size_t n = strlen(operator);

    return (size_t)(end - signature) >= n && strncmp(end - n, operator, n) == 0 &&
           ((size_t)(end - signature) == n || end[-(ptrdiff_t)n - 1] == '.');
}

static bool is_for(const struct row *row, const char *cpu, const struct fact_region *region)
{
    return strcmp(row->cpu, cpu) == 0 && strcmp(row->kernel, region->kernel) == 0 &&
           begins_with(region->signature, row->operator) &&
           strcmp(row->x, kind_of(region->inputs[0].dtype)) == 0 &&
           strcmp(row->weights, kind_of(region->weights)) == 0 &&
           strcmp(row->y, kind_of(region->results[0].dtype)) == 0;
}

/* Operators that cost next to nothing where they follow another, or whose work is the kernel's. */
static bool is_included(const char *signature)
{
    static const char *const names[] = {
        "bias_add",   "relu",       "clip", "add",    "subtract",   "multiply",   "quantize",
        "dequantize", "requantize", "lut",  "conv2d", "max_pool2d", "avg_pool2d", "global_avg_pool"
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins_with(signature, names[i]))
            return true;
    return false;
}

/* Cycles for each result of a function, such as sigmoid, that follows another operator: those that
 * its region takes where it stands alone; of silu, x times sigmoid(x), those of sigmoid. Negative =
 * unknown. */
static double of_function(const char *cpu, const char *signature)
{
    if (begins_with(signature, "silu"))
        signature = "sigmoid(";
    for (int i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].cpu, cpu) == 0 && strcmp(rows[i].kernel, "elementwise") == 0 &&
            strcmp(rows[i].x, "f32") == 0 && strcmp(rows[i].y, "f32") == 0 &&
            begins_with(signature, rows[i].operator))
            return rows[i].per_result + rows[i].per_read;
    return -1;
}

/* The sum over all functions behind the first operator; negative = one is unknown. */
static double of_functions(const char *cpu, const char *signature)
{
    double sum = 0;

    while ((signature = strstr(signature, "; ")) != NULL) {
        double cycles = 0;

        signature += strlen("; ");
        if (!is_included(signature))
            cycles = of_function(cpu, signature);
        if (cycles < 0)
            return -1;
        sum += cycles;
    }
    return sum;
}

static double elements(const struct fact_value *values, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += values[i].elements;
    return sum;
}

/* MACs; of a pool, which has none, the elements of all windows. */
static double work_of(const struct fact_region *region, double results)
{
    static const char key[] = "pool_size=[";
    const char *at = strstr(region->signature, key);
    double n = results;

    if (!at)
        return region->macs;
    for (at += sizeof key - 1; *at && *at != ']'; at += *at == ',') {
        char *end;

        n *= (double)strtol(at, &end, 10);
        if (end == at)
            return region->macs;
        at = end;
    }
    return n;
}

/* Length of the last dimension of "1x25x5x64". */
static double last_dim(const char *shape)
{
    const char *last = strrchr(shape, 'x');

    return fmax(1, strtod(last ? last + 1 : shape, NULL));
}

static double cycles_of(const char *cpu, const struct fact_region *region)
{
    const double results = elements(region->results, region->n_results);
    double functions;

    if (!region->kernel || !region->signature || region->n_inputs < 1 || region->n_results < 1)
        return 0;
    functions = of_functions(cpu, region->signature);
    for (int i = 0; i < N_ROWS && functions >= 0; i++)
        if (is_for(&rows[i], cpu, region))
            return rows[i].per_mac * work_of(region, results) +
                   (rows[i].per_result + functions) * results +
                   rows[i].per_read * elements(region->inputs, region->n_inputs) +
                   rows[i].per_position * results / last_dim(region->results[0].shape) +
                   rows[i].per_call;
    return 0;
}

void analysis_estimate(struct facts *facts, double clock_mhz)
{
    for (int i = 0; i < facts->n_regions; i++) {
        struct fact_region *region = &facts->regions[i];

        if (region->compiler)
            continue;
        region->cycles = cycles_of(facts->target, region);
        region->estimate = clock_mhz > 0 ? region->cycles / (clock_mhz * 1e6) : 0;
    }
}

struct estimate facts_estimate(const struct facts *facts)
{
    struct estimate sum = { 0 };

    for (int i = 0; i < facts->n_regions; i++) {
        sum.cycles += facts->regions[i].cycles;
        sum.seconds += facts->regions[i].estimate;
        sum.n += facts->regions[i].cycles > 0 || facts->regions[i].estimate > 0;
    }
    return sum;
}

const char *estimate_text(struct arena *arena, const struct facts *facts)
{
    const struct estimate sum = facts_estimate(facts);
    const char *unit = sum.seconds < 1e-3 ? "us" : sum.seconds < 1 ? "ms" : "s";
    const double scale = sum.seconds < 1e-3 ? 1e6 : sum.seconds < 1 ? 1e3 : 1;

    if (sum.seconds <= 0)
        return NULL;
    if (sum.n == facts->n_regions)
        return arena_printf(arena, "about %.3g %s (estimate)", scale * sum.seconds, unit);
    return arena_printf(arena, "at least %.3g %s (estimate of %d of %d regions)",
                        scale * sum.seconds, unit, sum.n, facts->n_regions);
}
