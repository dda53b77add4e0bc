#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/json/place.h"
#include "tests/support/expect.h"

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

/* A JSON text under construction, and where its items begin, in the order of the text: the writer
 * counts, the scanner must find the same. */
struct writer_of_json {
    struct str text;
    int line, column;
    unsigned random;
    int n;
    struct {
        int key_line, key_column, line, column;
    } at[4096];
};

static void put(struct writer_of_json *w, const char *text)
{
    str_add(&w->text, text);
    for (; *text; text++) {
        w->column = *text == '\n' ? 1 : w->column + 1;
        w->line += *text == '\n';
    }
}

static unsigned next_random(struct writer_of_json *w, unsigned n)
{
    w->random = w->random * 1103515245u + 12345u;
    return (w->random >> 16) % n;
}

static void put_blanks(struct writer_of_json *w)
{
    static const char *const blanks[] = { "", "", " ", "\n", "\t ", "\r\n  " };

    put(w, blanks[next_random(w, 6)]);
}

static void put_text(struct writer_of_json *w)
{
    static const char *const texts[] = { "",           "a",        "a, b: c", "{[",
                                         "]}",         "\\\"",     "\\\\",    "\\\\\\\"x",
                                         "\\u00e4\\/", "\xc3\xa4", "a \\\" b" };

    put(w, texts[next_random(w, 11)]);
}

static void put_item(struct writer_of_json *w, int depth, bool with_key)
{
    static const char *const plain[] = { "0", "-1.5e+3", "true", "false", "null", "17" };
    const int i = w->n++;
    const unsigned kind = next_random(w, depth > 0 ? 8 : 4);
    const unsigned n = next_random(w, 5);

    put_blanks(w);
    if (with_key) {
        w->at[i].key_line = w->line;
        w->at[i].key_column = w->column;
        put(w, arena_printf(&ctx->perm, "\"%d", i)); /* no key twice */
        put_text(w);
        put(w, "\"");
        put_blanks(w);
        put(w, ":");
        put_blanks(w);
    }
    w->at[i].line = w->line;
    w->at[i].column = w->column;
    if (kind < 2) {
        put(w, plain[next_random(w, 6)]);
    } else if (kind < 4) {
        w->at[i].column++; /* behind the quote */
        put(w, "\"");
        put_text(w);
        put(w, "\"");
    } else {
        put(w, kind < 6 ? "[" : "{");
        for (unsigned k = 0; k < n; k++) {
            put_item(w, depth - 1, kind >= 6);
            put_blanks(w);
            if (k + 1 < n)
                put(w, ",");
        }
        put_blanks(w);
        put(w, kind < 6 ? "]" : "}");
    }
}

static int compare(const struct writer_of_json *w, const struct json_file *json, const cJSON *item,
                   int i)
{
    const struct source source = json_source(json, item);
    const struct source key = json_key_source(json, item);

    ck_assert_int_eq(source.line, w->at[i].line);
    ck_assert_int_eq(source.column, w->at[i].column);
    if (item->string) {
        ck_assert_int_eq(key.line, w->at[i].key_line);
        ck_assert_int_eq(key.column, w->at[i].key_column);
    }
    i++;
    for (const cJSON *child = item->child; child; child = child->next)
        i = compare(w, json, child, i);
    return i;
}

START_TEST(every_item_is_where_it_was_written)
{
    struct writer_of_json *w = arena_new(&ctx->perm, struct writer_of_json);
    struct json_file json;

    *w = (struct writer_of_json){
        .text = { .arena = &ctx->perm }, .line = 1, .column = 1, .random = (unsigned)_i
    };
    put_item(w, 5, false);
    put_blanks(w);
    ck_assert_msg(json_open(ctx, "x.json", str_text(&w->text), &json), "%s\n%s", str_text(&w->text),
                  expect_text(ctx));
    ck_assert_int_eq(compare(w, &json, json.root, 0), w->n);
    json_close(&json);
}
END_TEST

/* Byte `offset` of what a text says stands where the letter is in the file. */
START_TEST(columns_count_what_escapes_take)
{
    static const struct {
        const char *text, *letter;
    } rows[] = {
        { "[\"abcX\"]", "X" },         { "[\"a\\\"b\\\"X\"]", "X" },
        { "[\"\\\\\\/X\"]", "X" },     { "[\"\\u0041\\u00e4\\u20ac\\ud83d\\ude00X\"]", "X" },
        { "\n [\"\xc3\xa4X\"]", "X" },
    };
    struct json_file json;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *said, *line = strrchr(rows[i].text, '\n');
        struct source source;
        int column;

        ck_assert(json_open(ctx, "x.json", rows[i].text, &json));
        said = json.root->child->valuestring;
        source = json_source(&json, json.root->child);
        source_error(ctx, &source, (size_t)(strstr(said, rows[i].letter) - said), "here %zu", i);
        column = (int)(strstr(rows[i].text, rows[i].letter) - (line ? line + 1 : rows[i].text)) + 1;
        ck_assert_msg(expect_error(ctx, DIAG_TARGET_FILE,
                                   arena_printf(&ctx->perm, "x.json:%d:%d: here %zu", line ? 2 : 1,
                                                column, i)),
                      "%s: %d\n%s", rows[i].text, column, expect_text(ctx));
        json_close(&json);
    }
}
END_TEST

START_TEST(a_byte_order_mark_is_no_column)
{
    struct json_file json;

    ck_assert(json_open(ctx, "x.json", "\xef\xbb\xbf{\"a\": 1}", &json));
    ck_assert_int_eq(json_source(&json, json.root->child).column, 7);
    json_close(&json);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("places in JSON");
    TCase *tests = tcase_create("places in JSON");

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, every_item_is_where_it_was_written, 0, 300);
    tcase_add_test(tests, columns_count_what_escapes_take);
    tcase_add_test(tests, a_byte_order_mark_is_no_column);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
