/* panels.c - see panels.h. */
#include "codegen_c/kernels/panels.h"

#include <string.h>

void bind_panels(struct bind *bind, const char *key, int i, const struct panels *p,
                 const char *layout)
{
    struct value *value = bind->region->anchor->inputs[i];
    const int64_t blocks = (p->n_rows + p->width - 1) / p->width;
    const int64_t dims[] = { p->groups, blocks, p->len, p->width };
    const int n_left_out = p->groups == 1 ? 1 : 0;
    const struct type type = type_make(value->type.dtype, 4 - n_left_out, dims + n_left_out);
    const size_t bytes = dtype_bytes(type.dtype);
    const char *from = value->data;
    char *to = constant_alloc(bind->region->fn, &type);

    for (int64_t group = 0; group < p->groups; group++)
        for (int64_t row = 0; row < p->n_rows; row++)
            for (int64_t k = 0; k < p->len; k++) {
                int64_t block = group * blocks + row / p->width;
                int64_t at = (block * p->len + k) * p->width + row % p->width;
                int64_t source = group * p->group_step + row * p->row_step + k * p->len_step;

                memcpy(to + (size_t)at * bytes, from + (size_t)source * bytes, bytes);
            }
    bind_text(bind, key, "%s", bind_packed(bind, value, &type, to, layout));
}
