/* contexts.c - what relayc.h promises of contexts: contexts FOLDER MODEL CALIBRATION. */
#include <pthread.h>
#include <relayc/relayc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_wrong;

#define CHECK(condition) check(condition, #condition, __LINE__)

static void check(bool ok, const char *text, int line)
{
    if (ok)
        return;
    n_wrong++;
    fprintf(stderr, "tests/library/contexts.c:%d: not so: %s\n", line, text);
}

static const char *message(const relayc_context *relayc)
{
    const relayc_diagnostic *first = relayc_next_diagnostic(relayc, NULL);

    return first ? relayc_diagnostic_message(first) : "";
}

/* --- options ---------------------------------------------------------------------------------- */

static void check_options(void)
{
    relayc_context *relayc = relayc_new();
    relayc_option option = { .size = sizeof option };
    struct {
        size_t size;
        const char *name, *guard;
    } old = { offsetof(relayc_option, argument), NULL, "untouched" };
    size_t n = 0;
    bool precision = false;

    CHECK(relayc_set(relayc, "precison", "fp8") == RELAYC_USAGE);
    CHECK(strstr(message(relayc), "'precison'") != NULL);
    CHECK(strcmp(relayc_diagnostic_help(relayc_next_diagnostic(relayc, NULL)),
                 "did you mean 'precision'?") == 0);
    CHECK(relayc_diagnostic_code(relayc_next_diagnostic(relayc, NULL)) > 500);
    CHECK(relayc_diagnostic_node_index(relayc_next_diagnostic(relayc, NULL)) == -1);
    CHECK(relayc_set(relayc, "json", "") == RELAYC_USAGE);       /* of the command line */
    CHECK(relayc_set(relayc, "input", "x.npy") == RELAYC_USAGE); /* of another command */
    CHECK(relayc_set(relayc, "step", "yes") == RELAYC_USAGE);
    CHECK(relayc_set(relayc, "precision", NULL) == RELAYC_USAGE);
    CHECK(relayc_set(relayc, "step", NULL) == RELAYC_OK);
    CHECK(!relayc_next_diagnostic(relayc, NULL)); /* those of the last call only */
    while (relayc_option_at(n, &option)) {
        CHECK(*option.name && *option.help);
        precision = precision || strcmp(option.name, "precision") == 0;
        n++;
    }
    CHECK(precision && n > 40);
    CHECK(relayc_option_at(0, (relayc_option *)(void *)&old) && old.name &&
          strcmp(old.guard, "untouched") == 0);
    relayc_free(relayc);
    relayc_free(NULL);
}

/* --- compilations ----------------------------------------------------------------------------- */

static void compile_in(relayc_context *relayc, const char *folder, const char *name,
                       const char *model)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(relayc_set(relayc, "output-dir", path) == RELAYC_OK);
    CHECK(relayc_compile(relayc, model) == RELAYC_OK);
    if (relayc_next_diagnostic(relayc, NULL))
        fprintf(stderr, "%s\n", message(relayc));
}

/* One context, again and again: options stay, errors do not. */
static void check_again(const char *folder, const char *model)
{
    relayc_context *relayc = relayc_new();
    unsigned long long arena, small;

    CHECK(!relayc_number(relayc, "arena_bytes", &arena) && arena == 0);
    compile_in(relayc, folder, "one", model);
    CHECK(relayc_file(relayc, 0) && strstr(relayc_file(relayc, 0), "/one/"));
    CHECK(relayc_number(relayc, "weight_bytes", &arena) && arena > 0);
    CHECK(relayc_compile(relayc, "there/is/none.onnx") == RELAYC_IO);
    CHECK(strstr(message(relayc), "there/is/none.onnx") != NULL && !relayc_file(relayc, 0));
    CHECK(relayc_set(relayc, "precision", "fp8") == RELAYC_OK);
    compile_in(relayc, folder, "two", model);
    CHECK(relayc_number(relayc, "weight_bytes", &small) && small < arena / 2);
    CHECK(relayc_set(relayc, "ram", "1") == RELAYC_OK);
    CHECK(relayc_compile(relayc, model) == RELAYC_FAILED);
    CHECK(strstr(message(relayc), "bytes of RAM") != NULL);
    CHECK(relayc_set(relayc, "ram", "one") == RELAYC_OK);
    CHECK(relayc_compile(relayc, model) == RELAYC_USAGE);
    CHECK(relayc_unset(relayc, "rom") == RELAYC_USAGE);
    CHECK(relayc_unset(relayc, NULL) == RELAYC_OK);
    compile_in(relayc, folder, "one", model);
    CHECK(relayc_number(relayc, "weight_bytes", &small) && small == arena);
    CHECK(!relayc_number(relayc, "nothing", &small));
    relayc_free(relayc);
}

/* --- log -------------------------------------------------------------------------------------- */

struct seen {
    bool passes, note, dump;
};

static void see(void *user, relayc_log_kind kind, const char *text)
{
    struct seen *seen = user;

    seen->passes = seen->passes || (kind == RELAYC_LOG_TEXT && strstr(text, "steps keep what"));
    seen->dump = seen->dump || (kind == RELAYC_LOG_TEXT && strcmp(text, "after fuse_ops:\n") == 0);
    seen->note = seen->note || (kind == RELAYC_LOG_NOTE && strstr(text, "took no node"));
}

static void check_log(const char *folder, const char *model)
{
    relayc_context *relayc = relayc_new();
    struct seen seen = { false, false, false };

    relayc_set_log(relayc, see, &seen);
    CHECK(relayc_set(relayc, "check-passes", NULL) == RELAYC_OK);
    CHECK(relayc_set(relayc, "dump-after", "fuse_ops") == RELAYC_OK);
    CHECK(relayc_set(relayc, "offload", "cmsis_nn") == RELAYC_OK); /* which takes no floats */
    compile_in(relayc, folder, "log", model);
    CHECK(seen.passes && seen.dump && seen.note);
    relayc_free(relayc);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { N_THREADS = 4, N_TIMES = 3 };

struct thread {
    pthread_t id;
    const char *folder, *model, *calib;
    int number;
    unsigned long long weights;
};

static void *work(void *user)
{
    struct thread *thread = user;
    char name[32];

    snprintf(name, sizeof name, "thread-%d", thread->number);
    for (int i = 0; i < N_TIMES; i++) {
        relayc_context *relayc = relayc_new();

        CHECK(relayc_set(relayc, "precision", "int8") == RELAYC_OK);
        CHECK(relayc_set(relayc, "calib", thread->calib) == RELAYC_OK);
        compile_in(relayc, thread->folder, name, thread->model);
        CHECK(relayc_number(relayc, "weight_bytes", &thread->weights));
        relayc_free(relayc);
    }
    return NULL;
}

static void check_threads(const char *folder, const char *model, const char *calib)
{
    struct thread threads[N_THREADS];

    for (int i = 0; i < N_THREADS; i++) {
        threads[i] =
            (struct thread){ .folder = folder, .model = model, .calib = calib, .number = i };
        CHECK(pthread_create(&threads[i].id, NULL, work, &threads[i]) == 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i].id, NULL);
        CHECK(threads[i].weights == threads[0].weights);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    CHECK(strcmp(relayc_version(), RELAYC_VERSION) == 0 && relayc_version_number() == 200);
    CHECK(relayc_explain(301) && !relayc_explain(12345));
    check_options();
    check_again(argv[1], argv[2]);
    check_log(argv[1], argv[2]);
    check_threads(argv[1], argv[2], argv[3]);
    return n_wrong != 0;
}
