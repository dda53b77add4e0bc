#include "tests/support/bench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/expect.h"
#include "tests/support/graph.h"

struct bench bench_new(void)
{
    return (struct bench){ ctx_new("net.onnx"), temp_dir_new() };
}

void bench_free(struct bench *bench)
{
    temp_dir_free(&bench->dir);
    ctx_free(bench->ctx);
}

void bench_check(struct bench *bench, const char *text, const struct targets *targets,
                 enum weights_form weights, bool step)
{
    struct module *module = graph_parse(bench->ctx, text, 7);

    generated_check_module(
        module,
        &(struct generated_case){
            .text = text, .tolerance = 1e-5, .targets = targets, .weights = weights, .step = step },
        NULL);
    module_free(module);
}

struct codegen_result bench_generate(struct bench *bench, const char *text,
                                     const struct targets *targets, enum weights_form weights,
                                     bool fails)
{
    struct module *module = graph_parse(bench->ctx, text, 7);
    const struct codegen_options options = { .targets = targets,
                                             .name = "net",
                                             .dir = bench->dir.path,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .weights = weights,
                                             .step = true };
    struct output_set set = { .ctx = bench->ctx };
    struct codegen_result result;
    const bool ok = codegen_c(module, &options, &set, &result);

    ck_assert_msg(ok != fails, "%s", expect_text(bench->ctx));
    if (ok)
        ck_assert_msg(output_commit(&set), "%s", expect_text(bench->ctx));
    else
        output_abort(&set);
    module_free(module);
    return result;
}

const char *bench_file(struct bench *bench, const char *name)
{
    struct mapping file;
    const char *text;

    ck_assert_msg(file_map(bench->ctx, temp_path(&bench->dir, name), &file), "%s",
                  expect_text(bench->ctx));
    text = arena_strndup(&bench->ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    return text;
}

void bench_has(struct bench *bench, const char *file, const char *part)
{
    ck_assert_msg(strstr(bench_file(bench, file), part) != NULL, "%s lacks:\n%s\nit is:\n%.3000s", file,
                  part, bench_file(bench, file));
}

void bench_lacks(struct bench *bench, const char *file, const char *part)
{
    ck_assert_msg(strstr(bench_file(bench, file), part) == NULL, "%s has: %s", file, part);
}

int bench_run(struct bench *bench, const char *source, const char *compiler)
{
    temp_file(&bench->dir, "main.c", source, strlen(source));
    return system(arena_printf(&bench->ctx->perm,
                               "cd %s && %s -std=c99 -g -Wall -Wextra -Werror -fsanitize=address "
                               "-o main main.c net*.c -lm && ./main",
                               bench->dir.path, compiler));
}

const cJSON *json_item(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);

    ck_assert_msg(found != NULL, "no '%s'", key);
    return found;
}

int json_number(const cJSON *object, const char *key)
{
    return (int)cJSON_GetNumberValue(json_item(object, key));
}

const char *json_text_at(const cJSON *list, int i)
{
    return cJSON_GetStringValue(cJSON_GetArrayItem(list, i));
}
