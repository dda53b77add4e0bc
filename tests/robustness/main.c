/* main.c - damaged models, graphs and tensors, by the thousand.
 *
 *   robustness [--work DIR] [--cases N] FILE.onnx...
 *
 * Every truncation of each file (a selection, of big ones) and N other cases each, always the same
 * ones. Exit code 1 when anything failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/robustness/robustness.h"

struct tally {
    size_t passed, failed;
};

static void run(const struct subject *subjects, int n, size_t n_cases, const char *dir,
                struct tally *tally)
{
    for (int i = 0; i < n; i++) {
        const size_t cases = n_truncations(&subjects[i]) + n_cases;
        const size_t failed = run_cases(&subjects[i], cases, dir);

        tally->failed += failed;
        tally->passed += cases - failed;
    }
}

static void run_model(const char *path, size_t n_cases, const char *dir, struct tally *tally)
{
    struct arena arena = { NULL };
    struct subject subjects[MOST_SUBJECTS_OF_A_MODEL];
    const int n = load_model_subjects(&arena, path, dir, subjects);

    tally->failed += n == 0;
    run(subjects, n, n_cases, dir, tally);
    arena_release(&arena);
}

static void run_tensors(size_t n_cases, const char *dir, struct tally *tally)
{
    struct arena arena = { NULL };
    struct subject subjects[N_TENSOR_SUBJECTS];
    const int n = make_tensor_subjects(&arena, dir, subjects);

    tally->failed += n == 0;
    run(subjects, n, n_cases, dir, tally);
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    const char *dir = "build/robustness";
    size_t n_cases = 1000;
    struct tally tally = { 0 };
    int i = 1;

    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--work") == 0)
            dir = argv[i + 1];
        else if (strcmp(argv[i], "--cases") == 0)
            n_cases = strtoul(argv[i + 1], NULL, 10);
        else
            return 2;
    }
    mkdir(dir, 0777);
    run_tensors(n_cases, dir, &tally);
    for (; i < argc; i++)
        run_model(argv[i], n_cases, dir, &tally);
    printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
    return tally.failed || tally.passed == 0;
}
