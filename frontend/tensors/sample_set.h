/* sample_set.h - what samples.c, which opens and counts, and samples_load.c share. */
#ifndef FRONTEND_TENSORS_SAMPLE_SET_H
#define FRONTEND_TENSORS_SAMPLE_SET_H

#include "frontend/tensors/samples.h"

struct sample_file {
    const char *path;
    int64_t end; /* samples of this file and all before it */
};

struct samples {
    struct arena arena;
    const struct function *fn;
    int n_inputs,
        input; /* parameters that are no state, which begins again with each sample; the first */
    struct preprocessing how;
    const char *path;
    bool images;
    int64_t n;
    const int64_t *kept; /* [n_kept] the numbers of those that are left; NULL = all n */
    int64_t n_kept;
    int n_files; /* a folder's; 0 = one file of stacked arrays, open: */
    struct sample_file *files;
    struct tensor *stacked; /* one per parameter */
    struct bulk bulk;
    struct mapping mapping;
};

/* The number in the set of the index-th sample that is left. */
int64_t samples_kept_index(const struct samples *samples, int64_t index);

/* --- samples_load.c --------------------------------------------------------------------------- */

/* How many samples of the parameter are in an array of this type; 0 after an error. */
int64_t sample_array_check(struct ctx *ctx, const char *path, const struct value *param,
                           const struct type *type);

/* Sample number `index`: a part of the array, or a copy where the element type is another. */
struct tensor sample_array_take(const struct tensor *stacked, const struct type *one, int64_t index,
                                struct bulk *bulk);

/* Maps a .npy file; the tensor borrows from the mapping where it can. */
bool sample_array_map(struct ctx *ctx, const char *path, struct bulk *bulk, struct mapping *mapping,
                      struct tensor *out);

#endif
