/* verify_inputs.c - what verify runs a model on: what is given, or numbers made to show mistakes.
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "driver/commands/verify.h"
#include "frontend/tensors/samples.h"
#include "frontend/tensors/tensor_file.h"
#include "relay_ir/interpret.h"
#include "relay_ir/ops/run_time.h"

/* Kinds of values, used in rotation. None is symmetric around a value, none constant, none
 * periodic: a transposition, a shift by one, a sum that lacks an element show. */
enum made_kind { MADE_EVEN, MADE_SKEWED, MADE_SPREAD, MADE_KINDS };

/* unit: 0 .. 1; other: another one. Numbers stay in -1 .. 1, which models expect of their inputs.
 */
static double made_number(enum made_kind kind, double unit, double other)
{
    switch (kind) {
    case MADE_SKEWED: return 2 * unit * unit * unit - 1; /* most of them near -1, few above 0 */
    case MADE_SPREAD:                                    /* large, small, zeros of both signs */
        return (other < 0.15 ? 0.0 : ldexp(1, -(int)(other * 12)) * (0.5 + 0.5 * unit)) *
               (fmod(unit * 64, 1) < 0.4 ? -1 : 1);
    default: return 2 * unit - 1;
    }
}

/* Quantised values of the whole type, whatever they mean. */
static int64_t made_code(enum dtype dtype, double number)
{
    const double levels = ldexp(1, 8 * (int)dtype_bytes(dtype));
    const double lowest = dtype_kind(dtype) == KIND_INT ? -levels / 2 : 0;

    return (int64_t)(lowest + rint((number + 1) / 2 * (levels - 1)));
}

static void fill_made(struct tensor *tensor, enum made_kind kind, uint64_t *state)
{
    const int64_t n = type_elements(&tensor->type);
    const struct qtype *quant = tensor->type.quant;
    const bool quantized =
        quant && quant->kind == QTYPE_SCALED && dtype_bytes(tensor->type.dtype) <= 2;

    for (int64_t i = 0; i < n; i++) {
        const double unit = input_unit(state), other = input_unit(state);

        if (dtype_is_float(tensor->type.dtype))
            dtype_store(tensor->type.dtype, tensor->data, i, made_number(kind, unit, other));
        else if (quantized)
            dtype_store_int(tensor->type.dtype, tensor->data, i,
                            made_code(tensor->type.dtype, made_number(kind, unit, other)));
        else
            dtype_store_int(tensor->type.dtype, tensor->data, i,
                            tensor->type.dtype == DTYPE_BOOL ? unit < 0.5 : (int64_t)(unit * 10));
    }
}

static void make_sets(struct verification *v, uint64_t seed, int n)
{
    const struct function *fn = v->imported->main;

    for (int k = 0; k < n; k++) {
        struct verify_set *set = &v->sets[v->n_sets++];
        uint64_t state = seed + (uint64_t)k * 0x632be59bd9b4e019u;

        set->what = arena_printf(&v->driver->ctx->perm, "made up %d", k + 1);
        set->given = arena_array(&v->driver->ctx->perm, struct tensor, fn->n_params);
        for (int i = 0; i < fn->n_params; i++) {
            set->given[i] = tensor_new(&v->driver->bulk, &fn->params[i]->type);
            fill_made(&set->given[i], (enum made_kind)(k % MADE_KINDS), &state);
            (void)run_time_example(fn->params[i], &set->given[i]);
        }
    }
}

/* Other numbers of the same range, in which nothing is where it was. */
static void shuffle(struct tensor *tensor, uint64_t *state)
{
    const size_t size = dtype_bytes(tensor->type.dtype);
    unsigned char *data = tensor->data, kept[16];

    for (int64_t i = type_elements(&tensor->type) - 1; i > 0; i--) {
        unsigned char *a = data + (size_t)i * size;
        unsigned char *b = data + (size_t)(input_unit(state) * (double)(i + 1)) * size;

        memcpy(kept, a, size);
        memmove(a, b, size);
        memcpy(b, kept, size);
    }
}

/* What the samples lend goes with them. */
static bool read_sample(struct verification *v, struct samples *samples, int64_t k,
                        struct verify_set *set)
{
    const struct function *fn = v->imported->main;
    bool ok;

    set->given = arena_array(&v->driver->ctx->perm, struct tensor, fn->n_params);
    ok = samples_load(samples, v->driver->ctx, &v->driver->bulk, k, set->given);
    for (int i = 0; i < fn->n_params && ok; i++) {
        const struct tensor own = tensor_new(&v->driver->bulk, &set->given[i].type);

        memcpy(own.data, set->given[i].data, type_bytes(&own.type));
        set->given[i] = own;
    }
    return ok;
}

/* Samples of --data: scales fit them. Where there are too few, more are made of their numbers. */
static bool read_samples(struct verification *v, uint64_t seed, int n)
{
    int64_t there = 0;
    struct samples *samples = open_samples(v->driver, v->imported->main, &there);
    bool ok = samples && there > 0;

    for (int k = 0; k < n && ok; k++) {
        struct verify_set *set = &v->sets[v->n_sets++];
        uint64_t state = seed + (uint64_t)k * 0x632be59bd9b4e019u;

        set->what = arena_printf(&v->driver->ctx->perm, "--data %lld%s", (long long)(k % there) + 1,
                                 k < there ? "" : " shuffled");
        ok = read_sample(v, samples, k % there, set);
        for (int i = 0; i < v->imported->main->n_params && ok && k >= there; i++)
            shuffle(&set->given[i], &state);
    }
    samples_close(samples);
    return ok;
}

static bool fill_sets(struct verification *v, uint64_t seed, int n)
{
    if (n > 0 && has_option(&v->driver->args, OPTION_DATA))
        return read_samples(v, seed, n);
    make_sets(v, seed, n);
    return true;
}

static bool read_expected(struct verification *v, struct verify_set *set)
{
    const struct option_values *files = &v->driver->args.options[OPTION_EXPECT];
    const struct function *fn = v->imported->main;
    struct ctx *ctx = v->driver->ctx;
    bool ok = true;

    if (files->n == 0)
        return true;
    if (!has_option(&v->driver->args, OPTION_INPUT))
        return diag_error(ctx, DIAG_USAGE, NULL, "--expect has no effect without --input");
    if (files->n != fn->ret->n_inputs)
        return diag_error(ctx, DIAG_USAGE, NULL,
                          "--expect: found %d files for the %d outputs of the model", files->n,
                          fn->ret->n_inputs);
    set->expected = arena_array(&ctx->perm, struct tensor, files->n);
    for (int i = 0; i < files->n && ok; i++) {
        const struct type *wanted = &fn->ret->inputs[i]->type;

        ok = tensor_file_read_one(ctx, files->at[i], &v->driver->bulk, &set->expected[i]);
        if (ok && !type_same_shape(&set->expected[i].type, wanted))
            ok = diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "--expect: %s has %s, the output is %s",
                            str_safe(&ctx->perm, files->at[i], 300),
                            type_text(&ctx->perm, &set->expected[i].type),
                            type_text(&ctx->perm, wanted));
    }
    return ok;
}

bool verify_load_inputs(struct verification *v)
{
    struct driver_state *driver = v->driver;
    const bool given = has_option(&driver->args, OPTION_INPUT);
    long long seed, n;
    bool ok = option_integer(driver->ctx, &driver->args, OPTION_SEED, 1, &seed);

    ok = option_integer(driver->ctx, &driver->args, OPTION_INPUTS, verify_usual_sets(v), &n) && ok;
    if (ok && (n > 1000 || (n == 0 && !given)))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--inputs: expected 1 to 1000, or 0 with --input");
    if (!ok)
        return false;
    v->sets = arena_array(&driver->ctx->perm, struct verify_set, n + 1);
    if (given || has_option(&driver->args, OPTION_EXPECT)) {
        struct verify_set *set = &v->sets[v->n_sets++];

        set->what = "--input";
        if (!read_expected(v, set) || !load_inputs(driver, v->imported->main, &set->given))
            return false;
    }
    return fill_sets(v, (uint64_t)seed, (int)n);
}

/* The imported graph takes what the quantised values mean where quantised values were given, or are
 * read now. */
static void mean_quantized(struct verification *v, struct tensor *given, const struct tensor *now,
                           const struct type *wanted)
{
    double *numbers;

    if (given->type.dtype == wanted->dtype || now->type.dtype == wanted->dtype)
        return;
    numbers = real_numbers(&v->driver->bulk, now);
    *given = tensor_new(&v->driver->bulk, wanted);
    for (int64_t i = 0; i < type_elements(wanted); i++)
        dtype_store(wanted->dtype, given->data, i, numbers[i]);
}

bool verify_fit_inputs(struct verification *v)
{
    const struct function *now = v->module->main, *was = v->imported->main;
    bool ok = true;

    for (int k = 0; k < v->n_sets && ok; k++) {
        struct verify_set *set = &v->sets[k];

        set->inputs = arena_array(&v->driver->ctx->perm, struct tensor, now->n_params);
        memcpy(set->inputs, set->given, (size_t)now->n_params * sizeof *set->inputs);
        ok = fit_inputs(v->driver, now, set->inputs);
        for (int i = 0; i < now->n_params && ok; i++) {
            set->inputs[i].type.quant = now->params[i]->type.quant;
            mean_quantized(v, &set->given[i], &set->inputs[i], &was->params[i]->type);
        }
    }
    return ok;
}
