/* inputs.c - the tensors that run and verify feed a model with: files, or random numbers. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "driver/driver.h"
#include "frontend/tensors/tensor_file.h"
#include "relay_ir/interpret.h"
#include "relay_ir/ops/run_time.h"
#include "relay_ir/state.h"

int driver_param_index(const struct function *fn, const char *name, size_t n)
{
    for (int i = 0; i < fn->n_params; i++)
        if (strlen(fn->params[i]->name) == n && memcmp(fn->params[i]->name, name, n) == 0)
            return i;
    return -1;
}

const char *driver_param_list(struct ctx *ctx, const struct function *fn)
{
    struct str text = { .arena = &ctx->perm };

    for (int i = 0; i < fn->n_params; i++)
        str_printf(&text, "%s'%s' %s", i ? ", " : "",
                   str_safe(&ctx->perm, fn->params[i]->name, 100),
                   type_text(&ctx->perm, &fn->params[i]->type));
    return *str_text(&text) ? str_text(&text) : "none";
}

/* SplitMix64: the same inputs on every machine for the same seed. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double input_unit(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static void fill_random(struct tensor *tensor, uint64_t *state)
{
    const int64_t n = type_elements(&tensor->type);

    for (int64_t i = 0; i < n; i++) {
        const double unit = input_unit(state);

        if (dtype_is_float(tensor->type.dtype))
            dtype_store(tensor->type.dtype, tensor->data, i, 2 * unit - 1);
        else
            dtype_store_int(tensor->type.dtype, tensor->data, i,
                            tensor->type.dtype == DTYPE_BOOL ? unit < 0.5 : (int64_t)(unit * 10));
    }
}

struct loading {
    struct driver_state *driver;
    const struct function *fn;
    struct tensor *inputs;
    int next; /* the next parameter that a file without a name stands for */
};

static bool take(struct loading *loading, int index, const struct tensor *tensor, const char *path)
{
    struct ctx *ctx = loading->driver->ctx;

    if (index >= 0 && index < loading->fn->n_params) {
        loading->inputs[index] = *tensor;
        return true;
    }
    diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "%s is not an input of the model",
               str_safe(&ctx->perm, path, 400));
    diag_help(ctx, "its inputs are %s", driver_param_list(ctx, loading->fn));
    return false;
}

/* "NAME=FILE" only when NAME is a parameter: paths may hold '='. The members of an .npz are found
 * by name, unless there is one alone; other files are taken in graph order. */
static bool load_file(struct loading *loading, const char *text)
{
    struct driver_state *driver = loading->driver;
    const char *equals = strchr(text, '=');
    const int named = equals ? driver_param_index(loading->fn, text, (size_t)(equals - text)) : -1;
    const char *path = named >= 0 ? equals + 1 : text;
    struct named_tensors tensors;
    bool ok = true;

    if (!tensor_file_read(driver->ctx, path, &driver->bulk, &tensors)) {
        if (path == text && equals)
            diag_help(driver->ctx, "NAME=FILE needs the name of an input; they are %s",
                      driver_param_list(driver->ctx, loading->fn));
        return false;
    }
    for (int i = 0; i < tensors.n; i++) {
        const struct named_tensor *t = &tensors.at[i];
        const int by_name = driver_param_index(loading->fn, t->name, strlen(t->name));

        if (tensors.n > 1)
            ok &= take(loading, by_name, &t->tensor,
                       arena_printf(&driver->ctx->perm, "'%s' of %s", t->name, path));
        else
            ok &= take(loading, named >= 0 ? named : loading->next++, &t->tensor, path);
    }
    return ok;
}

/* With --quantized-io the passes make quantised values of the parameters, so that an input of these
 * may be given as it is: fit_inputs looks at its type when that is known. */
static bool check_inputs(struct driver_state *driver, const struct function *fn,
                         const struct tensor *inputs)
{
    struct tensor *seen = arena_array(&driver->ctx->perm, struct tensor, fn->n_params);

    for (int i = 0; i < fn->n_params; i++) {
        seen[i] = inputs[i];
        if (has_option(&driver->args, OPTION_QUANTIZED_IO) &&
            driver->args.command != COMMAND_COMPARE && dtype_bytes(seen[i].type.dtype) == 1 &&
            type_same_shape(&seen[i].type, &fn->params[i]->type) &&
            fn->params[i]->type.dtype == DTYPE_F32)
            seen[i].type.dtype = DTYPE_F32;
    }
    return interpret_check_inputs(driver->ctx, fn, fn->n_params, seen);
}

bool load_inputs(struct driver_state *driver, const struct function *fn, struct tensor **inputs)
{
    const struct option_values *files = &driver->args.options[OPTION_INPUT];
    struct loading loading = { .driver = driver, .fn = fn };
    long long seed;
    uint64_t state;
    bool ok = option_integer(driver->ctx, &driver->args, OPTION_SEED, 1, &seed);

    *inputs = loading.inputs = arena_array(&driver->ctx->perm, struct tensor, fn->n_params);
    for (int i = 0; i < files->n; i++)
        ok &= load_file(&loading, files->at[i]);
    state = (uint64_t)seed;
    for (int i = 0; i < fn->n_params && ok; i++) {
        const struct state *kept = state_of_param(fn->module, i);

        if (loading.inputs[i].data)
            continue;
        if (kept) {
            loading.inputs[i] = state_initial_tensor(fn->module, kept, &driver->bulk);
            continue;
        }
        if (files->n)
            ok = diag_error(driver->ctx, DIAG_INPUT_MISMATCH, NULL, "no --input for '%s' %s",
                            str_safe(&driver->ctx->perm, fn->params[i]->name, 200),
                            type_text(&driver->ctx->perm, &fn->params[i]->type));
        loading.inputs[i] = tensor_new(&driver->bulk, &fn->params[i]->type);
        fill_random(&loading.inputs[i], &state);
        (void)run_time_example(fn->params[i], &loading.inputs[i]);
    }
    return ok && check_inputs(driver, fn, loading.inputs);
}

/* What was given as f32 where the interface has become one of quantised values. */
static void quantize_input(struct driver_state *driver, const struct type *type,
                           struct tensor *input)
{
    const struct tensor given = *input;
    const struct qtype *quant = type->quant; /* NULL: a minifloat of scale 1 */
    const float scale = quant ? quant->scale[0] : 1.0f;
    const double zero = quant && quant->zero ? quant->zero[0] : 0;
    const int64_t n = type_elements(type);

    *input = tensor_new(&driver->bulk, type);
    for (int64_t i = 0; i < n; i++) {
        const float quotient = (float)tensor_at(&given, i) / scale;

        dtype_store(type->dtype, input->data, i,
                    dtype_minifloat(type->dtype) ? (double)quotient
                                                 : rint((double)quotient) + zero);
    }
}

bool fit_inputs(struct driver_state *driver, const struct function *fn, struct tensor *inputs)
{
    for (int i = 0; i < fn->n_params; i++) {
        const struct type *type = &fn->params[i]->type;
        const bool quantized = type->quant
                                   ? type->quant->kind == QTYPE_SCALED && type->quant->n == 1
                                   : dtype_minifloat(type->dtype) != NULL;

        if (inputs[i].type.dtype == DTYPE_F32 && type->dtype != DTYPE_F32 && quantized)
            quantize_input(driver, type, &inputs[i]);
        else if (inputs[i].type.dtype == DTYPE_U8 && dtype_minifloat(type->dtype))
            inputs[i].type.dtype = type->dtype; /* quantised: .npy has no type of FP8 */
    }
    return interpret_check_inputs(driver->ctx, fn, fn->n_params, inputs);
}
