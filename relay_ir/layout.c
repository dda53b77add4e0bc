/* layout.c - see layout.h. */
#include "relay_ir/layout.h"

#include <string.h>

#include "relay_ir/walk.h"

bool layout_is_last(const char *layout)
{
    return layout[0] == 'N' && layout[1] != 'C';
}

/* The attribute of this name; "" = there is none. */
static const char *word_of(const struct node *node, const char *name)
{
    const struct attr_schema *schema = attrs_schema(op_row(node->op)->attrs);

    for (int i = 0; i < schema->n_fields; i++)
        if (schema->fields[i].kind == ATTR_WORD && strcmp(schema->fields[i].name, name) == 0)
            return *(const char *const *)((const char *)&node->attrs + schema->fields[i].offset);
    return "";
}

/* Norms of channels name their axis: 1 or the last. */
static bool is_channel_norm(const struct node *node)
{
    return node->op == OP_GROUP_NORM || node->op == OP_INSTANCE_NORM;
}

const char *node_layout(const struct node *node)
{
    const char *data;

    if (is_channel_norm(node))
        return node->attrs.norm.axis == 1 ? "NCHW" : "NHWC"; /* whatever the rank */
    data = word_of(node, "data_layout");
    return *data ? data : word_of(node, "layout");
}

const char *node_out_layout(const struct node *node)
{
    const char *out = word_of(node, "out_layout");

    return *out ? out : node_layout(node);
}

int layout_channel_axis(const char *layout, int rank)
{
    return layout_is_last(layout) ? rank - 1 : 1;
}

int layout_spatial_axis(const char *layout)
{
    return layout_is_last(layout) ? 1 : 2;
}

void layout_from_first(const char *layout, int rank, int *order)
{
    const bool last = layout_is_last(layout);

    for (int i = 0; i < rank; i++)
        order[i] = !last || i == 0 ? i : i == rank - 1 ? 1 : i + 1;
}

void layout_to_first(const char *layout, int rank, int *order)
{
    const bool last = layout_is_last(layout);

    for (int i = 0; i < rank; i++)
        order[i] = !last || i == 0 ? i : i == 1 ? rank - 1 : i - 1;
}

static struct type permuted(const struct type *type, const int *order)
{
    struct type to = *type;

    for (int i = 0; i < type->rank; i++)
        to.dim[i] = type->dim[order[i]];
    return to;
}

struct type type_channels_first(const struct type *type, const char *layout)
{
    int order[MAX_RANK];

    layout_to_first(layout, type->rank, order);
    return permuted(type, order);
}

struct type type_in_layout(const struct type *first, const char *layout)
{
    int order[MAX_RANK];

    layout_from_first(layout, first->rank, order);
    return permuted(first, order);
}

/* to has the dims of from in this order. */
static void copy_permuted(const struct tensor *from, const int *order, struct tensor *to)
{
    int64_t step[MAX_RANK], from_step[MAX_RANK], to_step[MAX_RANK];

    shape_strides(&from->type, step);
    shape_strides(&to->type, to_step);
    for (int i = 0; i < to->type.rank; i++)
        from_step[i] = step[order[i]];
    copy_steps(to->type.rank, to->type.dim, dtype_bytes(to->type.dtype), to->data, to_step,
               from->data, from_step);
}

struct tensor tensor_channels_first(struct bulk *bulk, const struct tensor *tensor,
                                    const char *layout)
{
    const struct type type = type_channels_first(&tensor->type, layout);
    int order[MAX_RANK];
    struct tensor to;

    if (!layout_is_last(layout))
        return *tensor;
    to = tensor_new(bulk, &type);
    layout_to_first(layout, type.rank, order);
    copy_permuted(tensor, order, &to);
    return to;
}

struct tensor tensor_first_for(struct bulk *bulk, const struct tensor *out, const char *layout)
{
    const struct type type = type_channels_first(&out->type, layout);

    return layout_is_last(layout) ? tensor_new(bulk, &type) : *out;
}

void tensor_store_first(const struct tensor *first, const char *layout, struct tensor *out)
{
    int order[MAX_RANK];

    if (!layout_is_last(layout))
        return;
    layout_from_first(layout, out->type.rank, order);
    copy_permuted(first, order, out);
}

struct layout_steps layout_steps(const struct type *type, const char *layout)
{
    const int64_t channels = type->dim[layout_channel_axis(layout, type->rank)];
    const int spatial = layout_spatial_axis(layout);
    const int64_t places = type_span(type, spatial, spatial + type->rank - 2);

    return layout_is_last(layout) ? (struct layout_steps){ places * channels, 1, channels }
                                  : (struct layout_steps){ places * channels, places, 1 };
}
