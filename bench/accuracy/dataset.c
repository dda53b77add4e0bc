#include "bench/accuracy/dataset.h"

#include <stdatomic.h>
#include <string.h>

#include "bench/accuracy/readers.h"
#include "quantize/workers.h"

/* --- reading, with all cores ------------------------------------------------------------------ */

struct batch {
    const struct collection *collection;
    const struct type *type;
    const int *indices; /* [n] of the collection */
    int n;
    float *samples;
    atomic_int next;
};

struct reader {
    struct ctx *ctx;
    struct batch *batch;
    bool failed;
};

static void read_some(void *user)
{
    struct reader *reader = user;
    struct batch *batch = reader->batch;
    const int64_t n = type_elements(batch->type);
    int i;

    while (!reader->failed && (i = atomic_fetch_add(&batch->next, 1)) < batch->n)
        reader->failed = !collection_read(batch->collection, reader->ctx, batch->indices[i],
                                          batch->type, batch->samples + (int64_t)i * n);
}

static bool read_all(struct ctx *ctx, struct batch *batch, int n_threads)
{
    struct reader *readers = arena_array(&ctx->scratch, struct reader, n_threads);
    bool ok;

    for (int i = 0; i < n_threads; i++)
        readers[i] = (struct reader){ .ctx = ctx_new(ctx->diags.input_name), .batch = batch };
    ok = workers_run(ctx, readers, sizeof *readers, n_threads, read_some);
    for (int i = 0; i < n_threads; i++) {
        workers_report(ctx, readers[i].ctx, NULL);
        ok &= !readers[i].failed;
        ctx_free(readers[i].ctx);
    }
    return ok;
}

/* --- which samples ---------------------------------------------------------------------------- */

/* Indices of the tested samples, then of those for calibration where they are of the same folder.
 */
static int *choose(struct ctx *ctx, const struct network *network, int n_there, int64_t limit,
                   struct dataset *out)
{
    const int n = network->n && network->n < n_there ? network->n : n_there;
    const int every = network->calibration == CALIBRATE_NTH ? network->calibration_n : 0;
    int *indices = arena_array(&ctx->perm, int, n_there);
    int n_tested = 0, n_all, rest;

    for (int i = 0; i < n; i++)
        if (!every || i % every != 0)
            indices[n_tested++] = i;
    if (limit && limit < n_tested) { /* evenly: classes may stand one behind the other */
        for (int i = 0; i < limit; i++)
            indices[i] = indices[(int64_t)i * n_tested / limit];
        n_tested = (int)limit;
    }
    n_all = n_tested;
    for (int i = 0; every && i < n; i += every)
        indices[n_all++] = i;
    out->n_reference = n_all == n ? n : 0;
    rest = network->calibration == CALIBRATE_AFTER ? network->calibration_n : 0;
    for (int i = n; i < n_there && i - n < rest; i++)
        indices[n_all++] = i;
    out->n = n_all;
    out->n_tested = n_tested;
    return indices;
}

static bool open_calibration(struct ctx *ctx, const char *shared, const struct network *network,
                             struct bulk *bulk, struct collection *out)
{
    const char *folder = arena_printf(&ctx->perm, "%s/data/%s", shared, network->calibration_data);

    if (!collection_open(ctx, folder, network, false, bulk, out))
        return false;
    if (out->n > network->calibration_n)
        out->n = network->calibration_n;
    return true;
}

bool dataset_load(struct ctx *ctx, const char *shared, const struct network *network,
                  const struct type *type, int64_t limit, int n_threads, struct dataset *out)
{
    const int64_t elements = type_elements(type);
    struct collection tested, other = { .n = 0 };
    struct batch batch = { .type = type };
    float *samples;
    int *labels, *indices, *all;

    *out = (struct dataset){ .type = *type };
    if (!collection_open(ctx, arena_printf(&ctx->perm, "%s/data/%s", shared, network->data),
                         network, true, &out->bulk, &tested) ||
        (network->calibration == CALIBRATE_FOLDER &&
         !open_calibration(ctx, shared, network, &out->bulk, &other)))
        return false;
    indices = choose(ctx, network, tested.n, limit, out);
    samples = bulk_alloc(&out->bulk, (size_t)((out->n + other.n) * elements) * sizeof *samples);
    labels = arena_array(&ctx->perm, int, out->n + other.n);
    for (int64_t i = 0; i < out->n + other.n; i++)
        labels[i] = i < out->n ? tested.labels[indices[i]] : -1;
    batch = (struct batch){ &tested, type, indices, (int)out->n, samples, 0 };
    if (!read_all(ctx, &batch, n_threads))
        return false;
    all = arena_array(&ctx->perm, int, other.n);
    for (int i = 0; i < other.n; i++)
        all[i] = i;
    batch = (struct batch){ &other, type, all, other.n, samples + out->n * elements, 0 };
    out->n += other.n;
    out->n_calibration = out->n - out->n_tested;
    out->samples = samples;
    out->labels = labels;
    return read_all(ctx, &batch, n_threads);
}

void dataset_free(struct dataset *dataset)
{
    bulk_release(&dataset->bulk);
}

static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct dataset *dataset = user;
    const int64_t n = type_elements(&dataset->type);

    (void)ctx;
    inputs[0] = tensor_new(bulk, &dataset->type);
    memcpy(inputs[0].data, dataset->samples + (dataset->n_tested + index) * n,
           (size_t)n * sizeof(float));
    return true;
}

struct calibration_source dataset_calibration(const struct dataset *dataset)
{
    return (struct calibration_source){ .n = dataset->n_calibration,
                                        .load = load,
                                        .user = (void *)(uintptr_t)dataset };
}
