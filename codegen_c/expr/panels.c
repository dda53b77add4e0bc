/* panels.c - see panels.h. */
#include "codegen_c/expr/panels.h"

#include <inttypes.h>
#include <string.h>

enum { RAGGED = 4 /* rows that every block has: a scalar tile */ };

int64_t panels_rows(const struct panels *p)
{
    const int64_t multiple = p->ragged ? RAGGED : p->width;

    return (p->n_rows + multiple - 1) / multiple * multiple;
}

int64_t panels_last_width(const struct panels *p)
{
    const int64_t left = panels_rows(p) % p->width;

    return left ? left : p->width;
}

/* The shape in C; ragged panels are a flat array. */
static void set_shape(const struct panels *p, struct type *type)
{
    const int64_t rows = panels_rows(p);
    const int64_t dims[] = { p->groups, rows / p->width, p->len, p->width };
    const int n_left_out = p->groups == 1 ? 1 : 0;

    if (p->ragged) {
        type->rank = 1;
        type->dim[0] = p->groups * rows * p->len + p->slack;
        return;
    }
    type->rank = 4 - n_left_out;
    memcpy(type->dim, dims + n_left_out, (size_t)type->rank * sizeof *dims);
}

int64_t panels_place(const struct panels *p, int64_t group, int64_t row, int64_t k)
{
    const int64_t rows = panels_rows(p), block = row / p->width * p->width;
    const int64_t width = rows - block < p->width ? rows - block : p->width;

    return (group * rows + block) * p->len + k * width + row % p->width;
}

static int64_t source_of(const struct panels *p, int64_t group, int64_t row, int64_t k)
{
    const int64_t at =
        p->inner ? k / p->inner * p->outer_step + k % p->inner * p->len_step : k * p->len_step;

    return group * p->group_step + row * p->row_step + at;
}

void *panels_new(struct bind *bind, const struct panels *p, struct type *type)
{
    set_shape(p, type);
    return constant_alloc(bind->region->fn, type);
}

void *panels_kept(struct bind *bind, const struct value *value, const struct panels *p,
                  struct type *type, const char *how, bool *made)
{
    const int64_t all[] = { p->groups,     p->n_rows,   p->len,   p->group_step,
                            p->row_step,   p->len_step, p->width, p->inner,
                            p->outer_step, p->ragged,   p->slack };
    struct str text = { .arena = bind->arena };

    str_printf(&text, "%s panels", how);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        str_printf(&text, " %" PRId64, all[i]);
    set_shape(p, type);
    return packed_memory(bind, value, type, str_text(&text), made);
}

const void *panels_make(struct bind *bind, const struct value *value, const struct panels *p,
                        struct type *type)
{
    const size_t bytes = dtype_bytes(type->dtype);
    const char *from = value->data;
    bool made;
    char *to = panels_kept(bind, value, p, type, "", &made);

    if (made)
        return to;
    for (int64_t group = 0; group < p->groups; group++)
        for (int64_t row = 0; row < p->n_rows; row++)
            for (int64_t k = 0; k < p->len; k++)
                memcpy(to + (size_t)panels_place(p, group, row, k) * bytes,
                       from + (size_t)source_of(p, group, row, k) * bytes, bytes);
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
