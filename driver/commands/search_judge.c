#define _POSIX_C_SOURCE 200809L /* popen */
#include "driver/commands/search_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/temporary.h"
#include "driver/commands/eval_data.h"
#include "frontend/tensors/tensor_file.h"

struct search_judge {
    struct driver_state *driver;
    struct judge judge;
    const char *program; /* NULL: a metric of eval/ */
    struct eval_request request;
    struct eval_data data;
    bool is_open;
    const struct function *fn;
    int64_t n;
};

/* --- metrics of eval/ ------------------------------------------------------------------------- */

static void *begin_metric(void *user)
{
    struct search_judge *j = user;

    return answers_new(&j->request.task, j->n);
}

static bool see_metric(void *user, void *trial, struct ctx *ctx, int64_t sample,
                       const struct tensor *inputs, const struct tensor *outputs)
{
    const struct search_judge *j = user;

    return answers_see(trial, ctx, sample, inputs, outputs, j->fn->ret->n_inputs);
}

/* Less is better of mse: turned round. */
static bool end_metric(void *user, void *trial, struct ctx *ctx, double *value)
{
    const struct search_judge *j = user;
    const enum metric metric = j->request.metrics[0];

    *value = answers_metric(trial, metric);
    if (metric_is_better(metric, 0, 1))
        *value = 1 - *value;
    answers_free(trial);
    if (!isnan(*value))
        return true;
    return diag_error(ctx, DIAG_USAGE, NULL, "--metric %s is not defined on these samples",
                      metric_name(metric));
}

/* --- a program -------------------------------------------------------------------------------- */

/* The outputs of all samples, in memory until the end. */
struct stack {
    struct bulk bulk;
    struct arena arena;
    struct named_tensors tensors;
};

static void *begin_program(void *user)
{
    const struct search_judge *j = user;
    const struct node *ret = j->fn->ret;
    struct stack *stack = calloc(1, sizeof *stack);

    if (!stack)
        out_of_memory(sizeof *stack);
    stack->tensors.n = ret->n_inputs;
    stack->tensors.at = arena_array(&stack->arena, struct named_tensor, ret->n_inputs);
    for (int i = 0; i < ret->n_inputs; i++) {
        const struct type *one = &ret->inputs[i]->type;
        int64_t dims[MAX_RANK + 1] = { j->n };
        struct type all;

        memcpy(dims + 1, one->dim, (size_t)one->rank * sizeof *dims);
        all = type_make(one->dtype, one->rank < MAX_RANK ? one->rank + 1 : one->rank, dims);
        stack->tensors.at[i] =
            (struct named_tensor){ j->fn->result_names[i], tensor_new(&stack->bulk, &all) };
    }
    return stack;
}

static bool see_program(void *user, void *trial, struct ctx *ctx, int64_t sample,
                        const struct tensor *inputs, const struct tensor *outputs)
{
    struct stack *stack = trial;

    (void)user;
    (void)ctx;
    (void)inputs;
    for (int i = 0; i < stack->tensors.n; i++) {
        const size_t bytes = type_bytes(&outputs[i].type);

        memcpy((char *)stack->tensors.at[i].tensor.data + (size_t)sample * bytes, outputs[i].data,
               bytes);
    }
    return true;
}

/* The number in the last line that is not empty. */
static bool read_number(FILE *pipe, double *value)
{
    char line[256], *end;
    bool found = false;

    while (fgets(line, sizeof line, pipe)) {
        const double number = strtod(line, &end);

        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        found = end != line && end[strspn(end, " \t\r\n")] == '\0' && isfinite(number);
        *value = number;
    }
    return found;
}

static bool run_program(struct search_judge *j, const char *path, struct ctx *ctx, double *value)
{
    const char *command =
        arena_printf(&ctx->scratch, "%s %s", j->program, for_shell(j->driver, path));
    FILE *pipe;
    bool found;
    int status;

    fflush(NULL);
    pipe = popen(command, "r");
    if (!pipe)
        return diag_error(ctx, DIAG_USAGE, NULL, "--metric: '%s' cannot be started",
                          str_safe(&ctx->perm, j->program, 200));
    found = read_number(pipe, value);
    status = pclose(pipe);
    if (status == 0 && found)
        return true;
    diag_error(ctx, DIAG_USAGE, NULL, "--metric: '%s' %s", str_safe(&ctx->perm, j->program, 200),
               status ? "failed" : "printed no number in its last line");
    diag_help(ctx, "it is run as '%s FILE.npz'", str_safe(&ctx->perm, j->program, 200));
    return false;
}

static bool end_program(void *user, void *trial, struct ctx *ctx, double *value)
{
    struct search_judge *j = user;
    struct stack *stack = trial;
    struct output_set set = { .ctx = ctx };
    const char *folder = temporary_work_folder(ctx),
               *path = folder ? arena_printf(&ctx->perm, "%s/outputs.npz", folder) : NULL;
    bool ok = path && npz_write(ctx, output_open(&set, path), &stack->tensors);

    ok = ok && output_commit(&set) && run_program(j, path, ctx, value);
    output_abort(&set);
    temporary_remove(folder);
    bulk_release(&stack->bulk);
    arena_release(&stack->arena);
    free(stack);
    return ok;
}

/* --- both ------------------------------------------------------------------------------------- */

struct search_judge *search_judge_new(struct driver_state *driver)
{
    struct search_judge *j = arena_new(&driver->ctx->perm, struct search_judge);
    const char *text = option_text(&driver->args, OPTION_METRIC, "");

    j->driver = driver;
    if (str_starts(text, "cmd:") && text[4]) {
        j->program = text + 4;
        j->judge = (struct judge){ text, begin_program, see_program, end_program, j };
        return j;
    }
    if (!eval_request_parse(driver, &j->request))
        return NULL;
    if (j->request.n_metrics != 1) {
        diag_error(driver->ctx, DIAG_USAGE, NULL, "relayc search judges by one --metric, not by %d",
                   j->request.n_metrics);
        return NULL;
    }
    j->judge = (struct judge){ metric_name(j->request.metrics[0]), begin_metric, see_metric,
                               end_metric, j };
    return j;
}

bool search_judge_open(struct search_judge *j, const struct function *fn, int64_t limit,
                       struct calibration_source *source)
{
    j->fn = fn;
    *source = (struct calibration_source){ .n = 0 };
    if (j->program)
        return true;
    j->is_open = true;
    j->request.limit = limit;
    if (!eval_data_open(j->driver, &j->request, fn, &j->data))
        return false;
    *source = j->data.source;
    return true;
}

void search_judge_expect(struct search_judge *j, int64_t n)
{
    j->n = n;
}

const struct judge *search_judge_of(struct search_judge *j)
{
    return &j->judge;
}

void search_judge_close(struct search_judge *j)
{
    if (j && j->is_open)
        eval_data_close(&j->data);
}
