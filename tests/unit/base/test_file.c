#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/temporary.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* A folder of its own for each test, and what stands in it. */
static struct temp_dir folder;
static struct ctx *ctx;

static const char *in_folder(const char *name)
{
    return temp_path(&folder, name);
}

static void setup(void)
{
    ctx = ctx_new("model.onnx");
    folder = temp_dir_new();
}

static void teardown(void)
{
    temp_dir_free(&folder);
    ctx_free(ctx);
}

static void put(const char *name, const char *text)
{
    FILE *out = fopen(in_folder(name), "w");

    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

static int count_files(void)
{
    DIR *dir = opendir(folder.path);
    int n = 0;

    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static void check_content(const char *name, const char *want)
{
    struct mapping file;

    ck_assert_msg(file_map(ctx, in_folder(name), &file), "%s is not there", name);
    ck_assert_uint_eq(file.size, strlen(want));
    ck_assert_mem_eq(file.data, want, file.size);
    file_unmap(&file);
}

START_TEST(committed_files_appear_together)
{
    struct output_set set = { .ctx = ctx };
    struct writer *a, *b;
    struct stat st;

    put("b.txt", "old");
    a = output_open(&set, in_folder("new/deep/a.txt"));
    b = output_open(&set, in_folder("b.txt"));
    writer_text(a, "alpha\n");
    writer_printf(b, "%d %s", 42, "beta");
    writer_write(a, "\0x", 2);
    ck_assert_uint_eq(writer_size(a), 8);
    check_content("b.txt", "old");
    ck_assert(output_commit(&set));
    check_content("b.txt", "42 beta");
    ck_assert_int_eq(count_files(), 2); /* b.txt and new: no temporary file stays */
    ck_assert_int_eq(stat(in_folder("new/deep/a.txt"), &st), 0);
    ck_assert_int_eq(st.st_size, 8);
    ck_assert_int_eq(st.st_mode & 0600, 0600);
}
END_TEST

START_TEST(aborted_files_never_were)
{
    struct output_set set = { .ctx = ctx };

    put("a.txt", "old");
    writer_text(output_open(&set, in_folder("a.txt")), "new");
    writer_text(output_open(&set, in_folder("b.txt")), "new");
    ck_assert_int_eq(count_files(), 3);
    output_abort(&set);
    ck_assert_int_eq(count_files(), 1);
    check_content("a.txt", "old");
    output_abort(&set); /* of an empty set */
}
END_TEST

/* Places where no file can stand, also for a user who may write everywhere. */
static const struct {
    const char *path, *message;
} hopeless[] = {
    { "plain/x.txt", "x.txt: Not a directory" },
    { "taken", "taken: Is a directory" },
    { "", ": Is a directory" },
};

START_TEST(one_file_that_fails_leaves_the_others_as_they_were)
{
    struct output_set set = { .ctx = ctx };

    put("plain", "a file");
    put("a.txt", "old");
    ck_assert_int_eq(mkdir(in_folder("taken"), 0777), 0);
    writer_text(output_open(&set, in_folder("a.txt")), "new");
    writer_text(output_open(&set, in_folder(hopeless[_i].path)), "new");
    writer_text(output_open(&set, in_folder("z.txt")), "new");
    ck_assert(!output_commit(&set));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_int_eq(ctx->diags.first->code, DIAG_FILE_WRITE);
    ck_assert_ptr_nonnull(strstr(ctx->diags.first->message, hopeless[_i].message));
    check_content("a.txt", "old");
    ck_assert_int_eq(count_files(), 3);
}
END_TEST

START_TEST(much_output_in_pieces_of_any_size_is_complete)
{
    enum { N = 3 << 20 };
    struct output_set set = { .ctx = ctx };
    struct writer *w = output_open(&set, in_folder("big"));
    char *want = malloc(N + 65536);
    size_t n = 0;
    struct mapping file;

    for (size_t piece = 1; n < N; piece = piece * 7 % 65537) {
        memset(want + n, (int)('a' + piece % 26), piece);
        if (piece % 2) {
            writer_write(w, want + n, piece);
        } else {
            memcpy(writer_reserve(w, 65536), want + n, piece);
            writer_advance(w, piece);
        }
        n += piece;
        ck_assert_uint_eq(writer_size(w), n);
    }
    ck_assert(output_commit(&set));
    ck_assert(file_map(ctx, in_folder("big"), &file));
    ck_assert_uint_eq(file.size, n);
    ck_assert_int_eq(memcmp(file.data, want, n), 0);
    file_unmap(&file);
    free(want);
}
END_TEST

/* The check value that every description of CRC-32 gives for these nine bytes. */
START_TEST(the_checksum_is_of_everything_written)
{
    struct output_set set = { .ctx = ctx };
    struct writer *w = output_open(&set, in_folder("abc"));

    writer_text(w, "1234");
    ck_assert_uint_eq(writer_crc32(w), 0x9be3e0a3);
    writer_text(w, "56789");
    ck_assert_uint_eq(writer_crc32(w), 0xcbf43926);
    ck_assert(output_commit(&set));
    check_content("abc", "123456789");
}
END_TEST

START_TEST(an_interrupt_removes_temporary_files)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        struct output_set set = { .ctx = ctx };

        interrupt_handle();
        output_open(&set, in_folder("a.txt"));
        output_open(&set, in_folder("b.txt"));
        raise(_i == 0 ? SIGINT : SIGTERM);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), _i == 0 ? 130 : 143);
    ck_assert_int_eq(count_files(), 0);
}
END_TEST

/* The folder of the second file goes away between the writing and the renaming. */
START_TEST(a_renaming_that_fails_is_undone)
{
    struct output_set set = { .ctx = ctx };
    char command[4200];

    put("old.txt", "old");
    writer_text(output_open(&set, in_folder("old.txt")), "new");
    writer_text(output_open(&set, in_folder("new.txt")), "new");
    writer_text(output_open(&set, in_folder("sub/x.txt")), "new");
    ck_assert(output_finish(&set));
    snprintf(command, sizeof command, "rm -r '%s'", in_folder("sub"));
    ck_assert_int_eq(system(command), 0);
    ck_assert(!output_commit(&set));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_ptr_nonnull(strstr(ctx->diags.first->message, "x.txt: No such file"));
    ck_assert_ptr_null(ctx->diags.first->note);
    check_content("old.txt", "old");
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(folders_that_were_made_go_with_what_failed)
{
    struct output_set set = { .ctx = ctx };

    ck_assert_int_eq(mkdir(in_folder("mine"), 0777), 0);
    output_open(&set, in_folder("mine/a/b/x.txt"));
    output_open(&set, in_folder("c/y.txt"));
    output_abort(&set);
    ck_assert_int_eq(count_files(), 1);
    ck_assert_int_eq(rmdir(in_folder("mine")), 0);
    writer_text(output_open(&set, in_folder("a/b/x.txt")), "new");
    ck_assert(output_commit(&set));
    output_open(&set, in_folder("a/c/y.txt"));
    output_abort(&set);
    check_content("a/b/x.txt", "new");
    ck_assert_int_ne(access(in_folder("a/c"), F_OK), 0);
}
END_TEST

START_TEST(a_file_beyond_its_limit_is_an_error)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        struct output_set set = { .ctx = ctx };
        const struct rlimit limit = { 10000, 10000 };
        char block[4096] = "";

        interrupt_handle();
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 3; i++)
            writer_write(output_open(&set, in_folder(i ? "a" : "b")), block, sizeof block);
        for (int i = 0; i < 2; i++)
            writer_write(set.writers, block, sizeof block);
        _exit(output_commit(&set) || !strstr(ctx->diags.first->message, "File too large"));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(count_files(), 0);
}
END_TEST

/* Opens two files and a folder with two in it, one of them in a folder, and is killed. */
static void leave_behind(void)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        struct output_set set = { .ctx = ctx };
        const char *inner;
        FILE *file;

        writer_text(output_open(&set, in_folder("a.txt")), "new");
        writer_text(output_open(&set, in_folder("b.txt")), "new");
        inner = temporary_folder(&ctx->perm, folder.path);
        file = fopen(arena_printf(&ctx->perm, "%s/object.o", inner), "w");
        if (!file || fclose(file) != 0 ||
            mkdir(arena_printf(&ctx->perm, "%s/deep", inner), 0777) != 0 ||
            symlink("/etc/passwd", arena_printf(&ctx->perm, "%s/deep/link", inner)) != 0)
            _exit(1);
        raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

START_TEST(what_a_killed_run_left_goes_with_the_next_one)
{
    struct output_set living = { .ctx = ctx }, next = { .ctx = ctx };
    char name[TEMPORARY_NAME_BYTES];

    put("relayc-notes", "mine");
    put("relayc-0123456789abcdef-00000000", "mine"); /* another checksum */
    temporary_name(name);
    ck_assert_int_eq(symlink("relayc-notes", in_folder(name)), 0);
    leave_behind();
    ck_assert_int_eq(count_files(), 6);
    output_open(&living, in_folder("c.txt"));
    ck_assert_int_eq(count_files(), 4);
    leave_behind();
    output_open(&next, in_folder("d.txt"));
    ck_assert_int_eq(count_files(), 5); /* what is of a living process stays */
    ck_assert(output_commit(&living));
    ck_assert(output_commit(&next));
    check_content("c.txt", "");
    check_content("relayc-notes", "mine");
    check_content("relayc-0123456789abcdef-00000000", "mine");
    ck_assert_int_eq(count_files(), 5);
}
END_TEST

/* The sweepers see new folders before their makers have locked them. */
START_TEST(a_folder_is_made_whatever_other_runs_sweep)
{
    enum { SWEEPERS = 3, FOLDERS = 500 };
    const pid_t maker = getpid();
    pid_t sweepers[SWEEPERS];
    int status;

    for (int i = 0; i < SWEEPERS; i++) {
        sweepers[i] = fork();
        if (sweepers[i] == 0) {
            while (getppid() == maker)
                temporary_sweep(folder.path);
            _exit(0);
        }
    }
    for (int i = 0; i < FOLDERS; i++) {
        const char *made = temporary_folder(&ctx->perm, folder.path);

        ck_assert_msg(made != NULL, "folder %d: %s", i, strerror(errno));
        temporary_remove(made);
    }
    for (int i = 0; i < SWEEPERS; i++) {
        kill(sweepers[i], SIGKILL);
        ck_assert_int_eq(waitpid(sweepers[i], &status, 0), sweepers[i]);
    }
}
END_TEST

static const char *const lookalikes[] = {
    "relayc-0000000000000000-c6a56a8a", "relayc-", "relayc-0123456789abcdef-",
    "relayc-0123456789ABCDEF-12345678", "model.c", "",
};

START_TEST(names_of_temporary_files_are_told_from_others)
{
    char name[TEMPORARY_NAME_BYTES];

    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
        ck_assert_msg(!temporary_is_name(lookalikes[i]), "%s", lookalikes[i]);
    for (int i = 0; i < 100; i++) {
        temporary_name(name);
        ck_assert_msg(temporary_is_name(name), "%s", name);
        name[i % 16 + 7] ^= 1; /* another digit */
        ck_assert_msg(!temporary_is_name(name), "%s", name);
    }
}
END_TEST

START_TEST(empty_files_and_pipes_can_be_read)
{
    struct mapping file;
    pid_t child;

    put("empty", "");
    ck_assert(file_map(ctx, in_folder("empty"), &file));
    ck_assert_uint_eq(file.size, 0);
    ck_assert_ptr_nonnull(file.data);
    file_unmap(&file);
    ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
    child = fork();
    if (child == 0) {
        FILE *out = fopen(in_folder("pipe"), "w");

        for (int i = 0; out && i < 200000; i++)
            fputc('a' + i % 26, out);
        _exit(out && fclose(out) == 0 ? 0 : 1);
    }
    ck_assert(file_map(ctx, in_folder("pipe"), &file));
    ck_assert_uint_eq(file.size, 200000);
    for (int i = 0; i < 200000; i++)
        if (file.data[i] != 'a' + i % 26)
            ck_abort_msg("byte %d", i);
    file_unmap(&file);
    waitpid(child, NULL, 0);
}
END_TEST

static const struct {
    const char *path, *message;
} unreadable[] = {
    { "nowhere", "cannot open" },
    { "", "is a folder, expected a file" },
    { "null", "is a device, expected a file" },
};

START_TEST(what_is_no_file_is_named)
{
    struct mapping file;

    ck_assert_int_eq(symlink("/dev/null", in_folder("null")), 0);
    ck_assert(!file_map(ctx, in_folder(unreadable[_i].path), &file));
    ck_assert_ptr_nonnull(strstr(ctx->diags.first->message, unreadable[_i].message));
    ck_assert_ptr_nonnull(strstr(ctx->diags.first->message, folder.path));
    ck_assert_int_eq(diag_exit_code(ctx), 3);
}
END_TEST

static const struct {
    const char *path, *reason; /* NULL = it is read */
} beneath[] = {
    { "data.bin", NULL },
    { "sub/data.bin", NULL },
    { "sub/../data.bin", NULL }, /* stays inside */
    { "./data.bin", NULL },
    { "../outside.bin", "leads outside the model's folder" },
    { "sub/../../outside.bin", "leads outside the model's folder" },
    { "/etc/passwd", "leads outside the model's folder" },
    { "link.bin", "symbolic link" },
    { "linked/data.bin", "symbolic link" },
    { "hard.bin", "several hard links" },
    { "sub", "not a regular file" },
    { "pipe", "not a regular file" },
    { "nowhere", "No such file" },
    { "", "No such file" },
};

START_TEST(files_beneath_a_folder_stay_beneath_it)
{
    const char *reason = NULL;
    struct mapping file;

    ck_assert_int_eq(mkdir(in_folder("model"), 0777), 0);
    ck_assert_int_eq(mkdir(in_folder("model/sub"), 0777), 0);
    put("outside.bin", "secret");
    put("model/data.bin", "data");
    put("model/sub/data.bin", "data");
    ck_assert_int_eq(symlink("data.bin", in_folder("model/link.bin")), 0);
    ck_assert_int_eq(symlink("sub", in_folder("model/linked")), 0);
    ck_assert_int_eq(link(in_folder("outside.bin"), in_folder("model/hard.bin")), 0);
    ck_assert_int_eq(mkfifo(in_folder("model/pipe"), 0600), 0);
    if (file_map_beneath(ctx, in_folder("model"), beneath[_i].path, &file, &reason)) {
        ck_assert_msg(!beneath[_i].reason, "'%s' was read", beneath[_i].path);
        ck_assert_uint_eq(file.size, 4);
        ck_assert_mem_eq(file.data, "data", 4);
        file_forget(&file, 0, file.size);
        ck_assert_mem_eq(file.data, "data", 4);
        file_unmap(&file);
    } else {
        ck_assert_msg(beneath[_i].reason, "'%s': %s", beneath[_i].path, reason);
        ck_assert_msg(strstr(reason, beneath[_i].reason), "'%s': %s", beneath[_i].path, reason);
    }
    ck_assert_int_eq(ctx->diags.n_errors, 0);
}
END_TEST

START_TEST(a_missing_folder_has_nothing_beneath_it)
{
    const char *reason = NULL;
    struct mapping file;

    ck_assert(!file_map_beneath(ctx, in_folder("nowhere"), "data.bin", &file, &reason));
    ck_assert_str_eq(reason, "No such file or directory");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file");
    TCase *tcase = tcase_create("file");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, committed_files_appear_together);
    tcase_add_test(tcase, aborted_files_never_were);
    tcase_add_loop_test(tcase, one_file_that_fails_leaves_the_others_as_they_were, 0,
                        N_ROWS(hopeless));
    tcase_add_test(tcase, much_output_in_pieces_of_any_size_is_complete);
    tcase_add_test(tcase, the_checksum_is_of_everything_written);
    tcase_add_loop_test(tcase, an_interrupt_removes_temporary_files, 0, 2);
    tcase_add_test(tcase, a_renaming_that_fails_is_undone);
    tcase_add_test(tcase, folders_that_were_made_go_with_what_failed);
    tcase_add_test(tcase, a_file_beyond_its_limit_is_an_error);
    tcase_add_test(tcase, what_a_killed_run_left_goes_with_the_next_one);
    tcase_add_test(tcase, a_folder_is_made_whatever_other_runs_sweep);
    tcase_add_test(tcase, names_of_temporary_files_are_told_from_others);
    tcase_add_test(tcase, empty_files_and_pipes_can_be_read);
    tcase_add_loop_test(tcase, what_is_no_file_is_named, 0, N_ROWS(unreadable));
    tcase_add_loop_test(tcase, files_beneath_a_folder_stay_beneath_it, 0, N_ROWS(beneath));
    tcase_add_test(tcase, a_missing_folder_has_nothing_beneath_it);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
