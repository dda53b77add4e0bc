#include "quantize/layer_mean.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/interpret.h"
#include "relay_ir/validate/validate.h"

void layer_mean_add(struct quantization *q, const struct node *product, const struct linear *linear,
                    const double *in, const struct layer_result *result)
{
    struct arena *perm = &q->ctx->perm;
    struct layer_mean *mean = arena_new(perm, struct layer_mean);

    mean->name = arena_strdup(perm, product->outputs[0]->name);
    mean->in_c = linear->in_c;
    mean->out_c = linear->out_c;
    if (in)
        mean->in = arena_memdup(perm, in, (size_t)linear->in_c * sizeof *in);
    mean->out = arena_memdup(perm, result->mean, (size_t)linear->out_c * sizeof *mean->out);
    mean->n_picked = result->n_picked;
    if (result->n_picked)
        mean->picked = arena_memdup(perm, result->picked,
                                    (size_t)(linear->out_c * result->n_picked) * sizeof(float));
    mean->next = q->means;
    q->means = mean;
}

const struct layer_mean *layer_mean_find(const struct quantization *q, const struct node *product)
{
    struct linear linear;

    if (!linear_of(product, &linear))
        return NULL;
    for (const struct layer_mean *mean = q->means; mean; mean = mean->next)
        if (strcmp(mean->name, product->outputs[0]->name) == 0)
            return mean->in_c == linear.in_c && mean->out_c == linear.out_c ? mean : NULL;
    return NULL;
}

static void write_log(const struct quantization *q, const struct node *product, int64_t n,
                      const double *shift)
{
    struct writer *log = q->options->log;
    double greatest = 0;

    if (!log || q->options->log_json) /* whose lines are searches */
        return;
    for (int64_t c = 0; c < n; c++)
        greatest = fmax(greatest, fabs(shift[c]));
    writer_printf(log, "# bias of %s: %lld channels, shifted by up to %.4g\n",
                  str_safe(&q->ctx->scratch, product->outputs[0]->name, 200), (long long)n,
                  greatest);
}

/* What bias_shift did to a product. */
struct shifted {
    struct value *y;   /* its result */
    struct node *bias; /* the sum behind it */
    struct type type;  /* of the bias before */
    const void *data;  /* NULL = there was none */
    struct shifted *next;
};

static void remember_shift(struct quantization *q, struct value *y, struct node *bias, bool is_new)
{
    struct shifted *shifted = arena_new(&q->ctx->perm, struct shifted);

    *shifted = (struct shifted){ .y = y, .bias = bias, .next = q->shifted };
    if (!is_new) {
        const struct value *old = bias->inputs[1];
        const size_t bytes = type_bytes(&old->type);

        shifted->type = old->type;
        shifted->data = arena_memdup(&q->ctx->perm, old->data, bytes);
    }
    q->shifted = shifted;
}

void bias_restore(struct quantization *q)
{
    for (; q->shifted; q->shifted = q->shifted->next) {
        const struct shifted *s = q->shifted;

        if (s->data) {
            void *data = constant_alloc(s->bias->fn, &s->type);

            memcpy(data, s->data, type_bytes(&s->type));
            constant_exchange(s->bias, 1, &s->type, data);
        } else {
            value_supplant(s->bias->outputs[0], s->y);
            node_remove(s->bias);
        }
    }
    validation_forget_shifts(q->validation);
    q->report->n_corrected = 0;
}

bool bias_shift(struct quantization *q, struct node *product, const struct linear *linear,
                const double *shift)
{
    struct value *y = product->outputs[0];
    struct node *bias = product_bias(product, linear);
    const struct type type = type_make(y->type.dtype, 1, &linear->out_c);
    const union attrs attrs = { .axis = { linear->out_axis } };
    const char *suffix = op_name(product->op);
    struct value *new;
    void *data;
    int64_t c = 0;

    while (c < linear->out_c && shift[c] == 0)
        c++;
    if (c == linear->out_c)
        return true;
    write_log(q, product, linear->out_c, shift);
    data = constant_alloc(product->fn, &type);
    for (c = 0; c < linear->out_c; c++)
        dtype_store(
            type.dtype, data, c,
            shift[c] +
                (bias ? dtype_load(bias->inputs[1]->type.dtype, bias->inputs[1]->data, c) : 0));
    if (bias) {
        remember_shift(q, y, bias, false);
        constant_exchange(bias, 1, &type, data);
        validation_state_shift(q->validation, bias->outputs[0]->name, linear->out_c, shift);
        return true;
    }
    suffix = str_starts(suffix, "nn.") ? suffix + 3 : suffix;
    new = value_insert(
        y, suffix, OP_BIAS_ADD, &attrs,
        constant_new(product->fn, arena_printf(&q->ctx->scratch, "%s.bias", y->name), &type, data));
    if (!new)
        return false;
    remember_shift(q, y, new->def, true);
    validation_state_shift(q->validation, new->name, linear->out_c, shift);
    return true;
}

bool product_mean(struct ctx *ctx, const struct node *product, const struct linear *linear,
                  const double *in, double *out)
{
    struct bulk bulk = { 0 };
    struct tensor w;
    int64_t at = 0;

    if (linear->lead != 1 || !interpret_constant(ctx, product->inputs[1], INT64_MAX, &bulk, &w))
        return false;
    memset(out, 0, (size_t)linear->out_c * sizeof *out);
    for (int64_t block = 0; block < linear_blocks(linear); block++) {
        int64_t from, to;
        double sum = 0;

        for (int64_t i = 0; i < linear->taps; i++)
            sum += tensor_at(&w, at++);
        linear_channels(linear, block, &from, &to);
        out[to] += sum * in[from];
    }
    bulk_release(&bulk);
    return true;
}
