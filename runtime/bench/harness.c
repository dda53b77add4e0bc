/* harness.c - a generated model as a process that is told what to time: a line in, a line out.
 *
 *   input FILE    the bytes of the next input            ok
 *   output N      the next output has N bytes            ok
 *   run N         N runs of the network                  ok SECONDS (of all of them)
 *   cold N        N bytes written, then one run          ok SECONDS (of the run)
 *   sweep N       the first N regions, once, in order    ok SECONDS ... (of each)
 *   peak N        N rounds of peak_run                   ok SECONDS OPERATIONS
 *   save FILE     all outputs, one behind another        ok
 *
 * What goes wrong is answered by "error TEXT". Times are of this thread's CPU time, where the
 * system has a clock for it, less what reading that clock costs. C99 and POSIX. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peak.h"

/* The adapter of the model. */
size_t relayc_arena_bytes(void);
int relayc_call(int region, const void *const *in, void *const *out, void *arena);

enum { MOST = 1024, LINE_BYTES = 5000, ALIGN = 64, WHOLE = -1 };

static const void *in[MOST];
static void *out[MOST];
static size_t out_bytes[MOST];
static int n_in, n_out;
static unsigned char *arena;
static double clock_cost; /* of one call of now(), seconds */

static double now(void)
{
#ifdef CLOCK_THREAD_CPUTIME_ID
    struct timespec t;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
    return (double)clock() / CLOCKS_PER_SEC;
}

static double since(double start)
{
    const double seconds = now() - start - clock_cost;

    return seconds > 0 ? seconds : 0;
}

/* The least of some: whatever is above was an interruption. Anew for each order, as the core's
 * speed changes. */
static void measure_clock(void)
{
    double least = 1;

    for (int i = 0; i < 20; i++) {
        const double start = now(), cost = now() - start;

        least = cost < least ? cost : least;
    }
    clock_cost = least;
}

static void *aligned(size_t bytes)
{
    unsigned char *block = malloc(bytes + ALIGN);

    return block ? block + (ALIGN - (uintptr_t)block % ALIGN) : NULL;
}

static void say_error(const char *text)
{
    printf("error %s\n", text);
}

static void order_input(const char *path)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data;
    long size;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || n_in == MOST) {
        say_error("cannot read the input");
        if (file)
            fclose(file);
        return;
    }
    rewind(file);
    data = aligned((size_t)size);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        say_error("cannot read the input");
    } else {
        in[n_in++] = data;
        puts("ok");
    }
    fclose(file);
}

static void order_output(const char *bytes)
{
    const size_t n = (size_t)strtoull(bytes, NULL, 10);

    if (n_out == MOST || !(out[n_out] = aligned(n))) {
        say_error("no memory for the outputs");
        return;
    }
    memset(out[n_out], 0xFF, n);
    out_bytes[n_out++] = n;
    puts("ok");
}

static int call(int region)
{
    const int code = relayc_call(region, in, out, arena);

    if (code != 0)
        printf("error the generated code returned %d\n", code);
    return code == 0;
}

static void order_run(const char *count)
{
    const long n = strtol(count, NULL, 10);
    const double start = now();

    for (long i = 0; i < n; i++)
        if (!call(WHOLE))
            return;
    printf("ok %.9f\n", since(start));
}

static void order_cold(const char *bytes)
{
    static volatile unsigned char *flush;
    const size_t n = (size_t)strtoull(bytes, NULL, 10);
    double start;

    if (!flush && !(flush = malloc(n))) {
        say_error("no memory to empty the caches with");
        return;
    }
    for (size_t i = 0; i < n; i += ALIGN)
        flush[i] = (unsigned char)(flush[i] + 1);
    start = now();
    if (call(WHOLE))
        printf("ok %.9f\n", since(start));
}

static void order_sweep(const char *count)
{
    const int n = (int)strtol(count, NULL, 10);
    double *seconds = malloc((size_t)(n + 1) * sizeof *seconds);
    int i = 0;

    while (seconds && i < n) {
        const double start = now();

        if (!call(i))
            break;
        seconds[i++] = since(start);
    }
    if (!seconds)
        say_error("no memory for the times");
    if (seconds && i == n) {
        fputs("ok", stdout);
        for (i = 0; i < n; i++)
            printf(" %.9f", seconds[i]);
        puts("");
    }
    free(seconds);
}

static void order_peak(const char *count)
{
    static volatile float factor = 0.999f, term = 0.001f, result;
    const long n = strtol(count, NULL, 10);
    const double start = now();

    result = peak_run(n, factor, term);
    printf("ok %.9f %.0f\n", since(start), peak_flops(n));
    (void)result;
}

static void order_save(const char *path)
{
    FILE *file = fopen(path, "wb");
    int ok = file != NULL;

    for (int i = 0; ok && i < n_out; i++)
        ok = fwrite(out[i], 1, out_bytes[i], file) == out_bytes[i];
    if (file && fclose(file) != 0)
        ok = 0;
    if (ok)
        puts("ok");
    else
        say_error("cannot write the outputs");
}

static const struct {
    const char *name;
    void (*obey)(const char *argument);
} orders[] = {
    { "input", order_input }, { "output", order_output }, { "run", order_run },
    { "cold", order_cold },   { "sweep", order_sweep },   { "peak", order_peak },
    { "save", order_save },
};

static void obey(char *line)
{
    char *argument = line + strcspn(line, " ");

    if (*argument)
        *argument++ = '\0';
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(orders[i].name, line) == 0) {
            measure_clock();
            orders[i].obey(argument);
            return;
        }
    say_error("unknown order");
}

int main(void)
{
    static char line[LINE_BYTES];

    arena = aligned(relayc_arena_bytes());
    if (!arena)
        return 1;
    memset(arena, 0xFF, relayc_arena_bytes());
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(line);
        fflush(stdout);
    }
    return 0;
}
