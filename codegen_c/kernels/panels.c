/* panels.c - see panels.h. */
#include "codegen_c/kernels/panels.h"

#include <string.h>

void *panels_make(struct bind *bind, const struct value *value, const struct panels *p,
                  struct type *type)
{
    const int64_t blocks = (p->n_rows + p->width - 1) / p->width;
    const int64_t dims[] = { p->groups, blocks, p->len, p->width };
    const int n_left_out = p->groups == 1 ? 1 : 0;
    const size_t bytes = dtype_bytes(type->dtype);
    const char *from = value->data;
    char *to;

    type->rank = 4 - n_left_out;
    memcpy(type->dim, dims + n_left_out, (size_t)type->rank * sizeof *dims);
    to = constant_alloc(bind->region->fn, type);
    for (int64_t group = 0; group < p->groups; group++)
        for (int64_t row = 0; row < p->n_rows; row++)
            for (int64_t k = 0; k < p->len; k++) {
                int64_t block = group * blocks + row / p->width;
                int64_t at = (block * p->len + k) * p->width + row % p->width;
                int64_t source = group * p->group_step + row * p->row_step + k * p->len_step;

                memcpy(to + (size_t)at * bytes, from + (size_t)source * bytes, bytes);
            }
    return to;
}

void bind_panels(struct bind *bind, const char *key, int i, const struct panels *panels,
                 const char *layout)
{
    struct value *value = bind->region->anchor->inputs[i];
    struct type type = type_scalar(value->type.dtype);
    const void *packed = panels_make(bind, value, panels, &type);

    bind_text(bind, key, "%s", bind_packed(bind, value, &type, packed, layout));
}
