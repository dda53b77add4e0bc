/* failures.c - the library where memory ends: failures FOLDER MOST SEED MODEL [NAME=VALUE ...],
 * with tests/inject.c preloaded.
 *
 * At each point (MOST of them, evenly spread; 0: all) one allocation of a compilation fails, or all
 * from there on. The rule: the status is OK, with all files, or an error, with a diagnostic and
 * none; then the same context compiles; and when it is gone, there are as many blocks and
 * descriptors as before. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dirent.h>
#include <dlfcn.h>
#include <relayc/relayc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/inject.h"

static void (*begin)(const char *wish), (*spare)(const char *const *libraries);
static long (*allocations)(void), (*live_blocks)(void);

static const char *folder, *model;
static char **options;
static int n_options;
static int n_wanted; /* files of a compilation */

static void *find(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    if (!found) {
        fprintf(stderr, "tests/inject.so is not preloaded\n");
        exit(2);
    }
    return found;
}

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* Of the model. */
static int count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int n = 0;

    while (maps && fgets(line, sizeof line, maps))
        n += strstr(line, model) != NULL;
    if (maps)
        fclose(maps);
    return n;
}

/* Files are removed; their number. */
static int clear_folder(void)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int n = 0;

    while (dir && (entry = readdir(dir)) != NULL) {
        char path[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
        n++;
    }
    if (dir)
        closedir(dir);
    return n;
}

static relayc_status set_all(relayc_context *relayc)
{
    relayc_status status = relayc_set(relayc, "output-dir", folder);

    for (int i = 0; i < n_options && status == RELAYC_OK; i++) {
        char *text = strdup(options[i]), *value = text ? strchr(text, '=') : NULL;

        if (value)
            *value++ = '\0';
        status = text ? relayc_set(relayc, text, value) : RELAYC_NO_MEMORY;
        free(text);
    }
    return status;
}

/* As many files as there should be, and a diagnostic with every error. */
static const char *judge(const relayc_context *relayc, relayc_status status)
{
    const relayc_diagnostic *first = relayc_next_diagnostic(relayc, NULL);
    const int n_files = clear_folder();

    if (status == RELAYC_OK)
        return n_files == n_wanted ? NULL : "OK, but other files";
    if (n_files)
        return "an error, but files";
    if (!first || !*relayc_diagnostic_message(first))
        return "an error without a diagnostic";
    if (status == RELAYC_NO_MEMORY && relayc_diagnostic_code(first) != 15)
        return "no memory, but another code";
    return status == RELAYC_NO_MEMORY || status == RELAYC_IO || status == RELAYC_FAILED
               ? NULL
               : "a status that failures of memory do not explain";
}

/* One life of a context; what is wrong with it, or NULL. */
static const char *live(const char *wish, long *n)
{
    const char *wrong = NULL;
    relayc_context *relayc;
    relayc_status status = RELAYC_NO_MEMORY;

    begin(wish);
    relayc = relayc_new();
    if (relayc)
        status = set_all(relayc);
    if (relayc && status == RELAYC_OK)
        status = relayc_compile(relayc, model);
    *n = allocations();
    begin(NULL);
    if (relayc) {
        wrong = judge(relayc, status);
        relayc_unset(relayc, NULL);
        if (!wrong && (set_all(relayc) != RELAYC_OK || relayc_compile(relayc, model) != RELAYC_OK))
            wrong = "the context is of no use afterwards";
        if (!wrong)
            wrong = judge(relayc, RELAYC_OK);
    }
    relayc_free(relayc);
    return wrong;
}

static int n_bad, n_points;

static void try_point(long point, const char *later)
{
    const long blocks = live_blocks();
    const int descriptors = count_entries("/proc/self/fd");
    const char *wrong;
    char wish[64];
    long n;

    snprintf(wish, sizeof wish, "memory:%ld%s", point, later);
    wrong = live(wish, &n);
    if (!wrong && live_blocks() != blocks)
        wrong = "blocks that nobody frees";
    if (!wrong && count_entries("/proc/self/fd") != descriptors)
        wrong = "descriptors that nobody closes";
    if (!wrong && count_mappings())
        wrong = "a mapping that nobody takes away";
    if (!wrong && count_entries(getenv("TMPDIR")) > 2)
        wrong = "temporary files that nobody removes";
    n_points++;
    if (wrong && n_bad++ < 20)
        fprintf(stderr, "%s: %s (%ld blocks)\n", wish, wrong, live_blocks() - blocks);
}

/* They do not survive a failure of their own (relayc.h). */
static const char *const fragile[] = { "libdnnl.so", "libgomp.so", NULL };

int main(int argc, char **argv)
{
    const long most = argc > 4 ? atol(argv[2]) : 0, seed = argc > 4 ? atol(argv[3]) : 0;
    long n, every;

    if (argc < 5)
        return 2;
    *(void **)&begin = find("inject_begin");
    *(void **)&allocations = find("inject_allocations");
    *(void **)&live_blocks = find("inject_live_blocks");
    *(void **)&spare = find("inject_spare");
    spare(fragile);
    folder = argv[1];
    model = argv[4];
    options = argv + 5;
    n_options = argc - 5;
    clear_folder();
    for (int i = 0; i < 2; i++) { /* what libraries keep from their first use on is there then */
        relayc_context *relayc = relayc_new();

        if (!relayc || set_all(relayc) != RELAYC_OK || relayc_compile(relayc, model) != RELAYC_OK) {
            fprintf(stderr, "the compilation fails without any failure\n");
            return 1;
        }
        relayc_free(relayc);
        n_wanted = clear_folder();
    }
    live(NULL, &n);
    every = most ? (n + most - 1) / most : 1;
    for (long point = 1 + seed % every; point <= n + 1; point += every) {
        try_point(point, "");
        try_point(point, "+");
    }
    printf("%ld allocations, %d failures of memory: %d wrong\n", n, n_points, n_bad);
    return n_bad ? 1 : 0;
}
