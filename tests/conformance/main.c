/* main.c - conformance: runs the ONNX backend tests found beneath the given folders.
 *
 *   conformance [--only TEXT]... [--stages import,passes,engine,c,bits] [--jobs N] [--work DIR]
 *               [--quiet] [--as-is] [--turns N] FOLDER...
 *
 * Inputs that must be known at compile time become constants, but with --as-is. --turns: C of every Nth case is built
 * and run, in rotation with RELAYC_TEST_TURN; all stages before that in each. Prints a line per case and a closing
 * line; exit code 1 when a case failed, 2 for a wrong command line. Generated C stays in the work folder, for whoever
 * wants to look at a failure. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "codegen_c/codegen.h"
#include "tests/conformance/conformance.h"

enum { AT_ONCE = 80, MAX_ONLY = 16 };

struct options {
    struct settings settings;
    const char *only[MAX_ONLY];
    int n_only;
    bool quiet;
};

struct suite {
    struct arena arena;
    const struct options *options;
    struct test_case *tests;
    int n, capacity;
};

/* --- finding the cases ------------------------------------------------------------------------ */
static bool is_selected(const struct options *options, const char *name)
{
    for (int i = 0; i < options->n_only; i++)
        if (strstr(name, options->only[i]))
            return true;
    return options->n_only == 0;
}

static void add_case(struct suite *suite, const char *dir)
{
    const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
    struct test_case test = { .dir = dir, .name = name };

    if (!is_selected(suite->options, dir))
        return;
    if (suite->n == suite->capacity) {
        struct test_case *more;

        suite->capacity = suite->capacity ? 2 * suite->capacity : 256;
        more = arena_array(&suite->arena, struct test_case, suite->capacity);
        if (suite->n)
            memcpy(more, suite->tests, (size_t)suite->n * sizeof *more);
        suite->tests = more;
    }
    test.c_name =
        c_identifier(&suite->arena, arena_printf(&suite->arena, "t%d_%s", suite->n, name));
    test.work = arena_printf(&suite->arena, "%s/%s", suite->options->settings.work, test.c_name);
    suite->tests[suite->n++] = test;
}

/* Folders in alphabetical order; one with a model is a case, any other is searched. */
static bool find_cases(struct suite *suite, const char *dir, int depth)
{
    struct dirent **entries;
    int n;

    if (access(arena_printf(&suite->arena, "%s/model.onnx", dir), R_OK) == 0) {
        add_case(suite, dir);
        return true;
    }
    n = depth > 0 ? scandir(dir, &entries, NULL, alphasort) : -1;
    for (int i = 0; i < n; i++) {
        const char *path = arena_printf(&suite->arena, "%s/%s", dir, entries[i]->d_name);
        struct stat info;

        if (entries[i]->d_name[0] != '.' && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            find_cases(suite, path, depth - 1);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return n >= 0;
}

static bool share_reports(struct suite *suite)
{
    const size_t bytes = ((size_t)suite->n + 1) * sizeof(struct report);
    struct report *reports =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (reports == MAP_FAILED)
        return false;
    for (int i = 0; i < suite->n; i++)
        suite->tests[i].report = &reports[i];
    return true;
}

/* --- results ---------------------------------------------------------------------------------- */
static void print_case(const struct options *options, const struct test_case *test)
{
    const struct report *report = test->report;

    switch (report->verdict) {
    case VERDICT_PASS:
        if (!options->quiet)
            printf("pass         %s%s\n", test->name,
                   report->frozen ? " (with inputs known at compile time)" : "");
        break;
    case VERDICT_UNSUPPORTED:
        if (!options->quiet)
            printf("unsupported  %s (%s: %s)\n", test->name, stage_names[report->stage],
                   report->reason);
        break;
    case VERDICT_FAIL:
        printf("FAIL         %s [%s]: %s\n", test->name, stage_names[report->stage],
               report->reason);
        break;
    }
}

struct tally {
    const char *key;
    int n;
};

static int compare_tallies(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;

    return x->n != y->n ? y->n - x->n : strcmp(x->key, y->key);
}

static void print_unsupported(struct suite *suite)
{
    struct tally *tallies = arena_array(&suite->arena, struct tally, suite->n + 1);
    int n = 0;

    for (int i = 0; i < suite->n; i++) {
        int k = 0;

        if (suite->tests[i].report->verdict != VERDICT_UNSUPPORTED)
            continue;
        while (k < n && strcmp(tallies[k].key, suite->tests[i].report->key) != 0)
            k++;
        tallies[k].key = suite->tests[i].report->key;
        tallies[k].n++;
        n += k == n;
    }
    if (n == 0)
        return;
    qsort(tallies, (size_t)n, sizeof *tallies, compare_tallies);
    printf("\nnot supported:\n");
    for (int i = 0; i < n; i++)
        printf("%6d  %s\n", tallies[i].n, tallies[i].key);
}

static int print_summary(struct suite *suite)
{
    int count[3] = { 0 };

    for (int i = 0; i < suite->n; i++)
        count[suite->tests[i].report->verdict]++;
    print_unsupported(suite);
    printf("\n%d passed, %d failed, %d skipped\n", count[VERDICT_PASS], count[VERDICT_FAIL],
           count[VERDICT_UNSUPPORTED]);
    return count[VERDICT_FAIL] > 0 || suite->n == 0;
}

/* --- running ---------------------------------------------------------------------------------- */
static bool every_case(const struct test_case *test)
{
    (void)test;
    return true;
}

static bool has_library(const struct test_case *test)
{
    return test->library != NULL;
}

static void run_some(const struct options *options, struct test_case *tests, int n)
{
    const struct settings *settings = &options->settings;

    children_run(settings, tests, n, every_case, examine);
    if (settings->stages[STAGE_C] || settings->stages[STAGE_BITS]) {
        generated_build_all(settings, tests, n);
        children_run(settings, tests, n, has_library, generated_examine);
        generated_close_all(tests, n);
    }
    for (int i = 0; i < n; i++)
        print_case(options, &tests[i]);
    fflush(stdout);
}

static bool read_stages(const char *text, struct settings *settings)
{
    memset(settings->stages, 0, sizeof settings->stages);
    while (*text) {
        const size_t n = strcspn(text, ",");
        bool known = false;

        for (int i = 0; i < N_STAGES; i++)
            if (strlen(stage_names[i]) == n && strncmp(text, stage_names[i], n) == 0)
                known = settings->stages[i] = true;
        if (!known)
            return false;
        text += n + (text[n] == ',');
    }
    return true;
}

static int usage(void)
{
    fprintf(stderr, "usage: conformance [--only TEXT]... [--stages import,passes,engine,c,bits] "
                    "[--jobs N] [--work DIR] [--quiet] [--as-is] [--turns N] FOLDER...\n");
    return 2;
}

/* The index of the first folder; 0 after an error. */
static int read_options(int argc, char **argv, struct options *options)
{
    int at = 1;

    for (; at < argc && str_starts(argv[at], "--"); at++) {
        const char *value = at + 1 < argc ? argv[at + 1] : NULL;

        if (strcmp(argv[at], "--quiet") == 0) {
            options->quiet = true;
            continue;
        }
        if (strcmp(argv[at], "--as-is") == 0) {
            options->settings.as_is = true;
            continue;
        }
        if (!value)
            return 0;
        if (strcmp(argv[at], "--only") == 0 && options->n_only < MAX_ONLY)
            options->only[options->n_only++] = value;
        else if (strcmp(argv[at], "--jobs") == 0)
            options->settings.jobs = atoi(value);
        else if (strcmp(argv[at], "--turns") == 0 && atoi(value) > 0)
            options->settings.turns = (unsigned)atoi(value);
        else if (strcmp(argv[at], "--work") == 0)
            options->settings.work = value;
        else if (strcmp(argv[at], "--stages") != 0 || !read_stages(value, &options->settings))
            return 0;
        at++;
    }
    return at < argc && options->settings.jobs > 0 && options->settings.jobs <= MAX_JOBS ? at : 0;
}

int main(int argc, char **argv)
{
    struct options options = {
        .settings = { .stages = { true, true, true, true, true }, .jobs = 2, .turns = 1 }
    };
    struct suite suite = { .options = &options };
    const char *compiler = getenv("CC");
    int at = read_options(argc, argv, &options), status;

    if (!at)
        return usage();
    options.settings.compiler = compiler && *compiler ? compiler : "cc";
    if (!options.settings.work)
        options.settings.work = arena_printf(&suite.arena, "%s.work", argv[0]);
    mkdir(options.settings.work, 0777);
    for (; at < argc; at++)
        if (!find_cases(&suite, argv[at], 3)) {
            fprintf(stderr, "conformance: cannot read the folder %s\n", argv[at]);
            return 2;
        }
    if (!share_reports(&suite)) {
        fprintf(stderr, "conformance: no shared memory\n");
        return 3;
    }
    for (int i = 0; i < suite.n; i += AT_ONCE * options.settings.jobs) {
        const int n_at_once = AT_ONCE * options.settings.jobs;

        run_some(&options, suite.tests + i, suite.n - i < n_at_once ? suite.n - i : n_at_once);
    }
    status = print_summary(&suite);
    arena_release(&suite.arena);
    return status;
}
