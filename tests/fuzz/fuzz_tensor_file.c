/* fuzz_tensor_file.c - libFuzzer's entry to the readers of .npy, .npz and .pb files. Whatever the
 * bytes: no crash, and a refusal has an error. */
#include <stdint.h>
#include <stdlib.h>

#include "frontend/tensors/tensor_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx *ctx = ctx_new("fuzz.pb");
    struct bulk bulk = { .blocks = NULL };
    struct named_tensors all;
    const bool ok = tensor_file_read_bytes(ctx, "fuzz.pb", data, size, &bulk, &all);

    if (ok != (ctx->diags.n_errors == 0))
        abort();
    for (int i = 0; ok && i < all.n; i++)
        if (type_bytes(&all.at[i].tensor.type) && !all.at[i].tensor.data)
            abort();
    bulk_release(&bulk);
    ctx_free(ctx);
    return 0;
}
