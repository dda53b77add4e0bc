/* sample.c - interpolation of x at coordinates that another input gives: image.grid_sample, of
 * floats and of quantised values, and vision.roi_align. */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/number.h"
#include "relay_ir/ops/grid_sample.h"
#include "relay_ir/ops/spatial.h"
#include "relay_ir/walk.h"

static bool accepts_grid_sample(const struct region *region, const char **why)
{
    const enum dtype grid = anchor_input(region, 1)->dtype;

    if (!takes_float(region, why))
        return false;
    if (grid == DTYPE_F32 || grid == DTYPE_F64)
        return true;
    *why = "the grid is neither f32 nor f64";
    return false;
}

static bool accepts_roi_align(const struct region *region, const char **why)
{
    return takes_float(region, why);
}

/* Binds one combination of taps: k0 of the first spatial dim, and so on. */
static void bind_combination(struct bind *bind, const struct type *x)
{
    struct str dims = { .arena = bind->arena }, extents = { .arena = bind->arena };
    struct str is_inside = { .arena = bind->arena }, share = { .arena = bind->arena };
    const char *coord[MAX_RANK], *extent[MAX_RANK];
    const int rank = x->rank - 2;

    for (int d = 0; d < rank; d++) {
        extent[d] = arena_printf(bind->arena, "D%d", d);
        coord[d] = arena_printf(bind->arena, "tap[%d][k%d]", d, d);
        str_printf(&dims, "%sD%d = %" PRId64, d ? ", " : "", d, x->dim[2 + d]);
        str_printf(&extents, "%sD%d", d ? ", " : "", d);
        str_printf(&is_inside, "%s%s >= 0", d ? " && " : "", coord[d]);
        str_printf(&share, "%sweight[%d][k%d]", d ? " * " : "", d, d);
    }
    bind_text(bind, "dims", "%s", str_text(&dims));
    bind_text(bind, "extents", "%s", str_text(&extents));
    bind_text(bind, "is_inside", "%s", str_text(&is_inside));
    bind_text(bind, "share", "%s", str_text(&share));
    bind_text(bind, "from", "%s", row_major(bind, rank, coord, extent));
}

/* The taps per dim of an interpolation method, and the weight of tap i. */
static int bind_method(struct bind *bind, const char *method)
{
    const bool nearest = strcmp(method, "nearest_neighbor") == 0;
    const bool cubic = strcmp(method, "cubic") == 0;
    const char *const tx = dtype_c_type(anchor_input(bind->region, 0)->dtype);
    const int taps = nearest ? 1 : cubic ? 4 : 2;

    bind_flag(bind, "nearest", nearest);
    bind_text(bind, "before", cubic ? " - 1" : "");
    if (cubic)
        bind_helper(bind, "cubic_weight");
    if (nearest)
        bind_text(bind, "weight", "1");
    else
        bind_text(bind, "weight",
                  cubic ? "(%s)cubic_weight(place - i)" : "(%s)(1 - fabs(place - i))", tx);
    bind_int(bind, "taps", taps);
    return taps;
}

/* Shared by both; n: taps per dim. Returns the number of combinations. */
static int bind_places(struct bind *bind, int n)
{
    const struct grid_sample_attrs *attrs = &bind->region->anchor->attrs.grid_sample;
    const struct type *x = anchor_input(bind->region, 0), *y = anchor_output(bind->region, 0);
    const bool border = strcmp(attrs->padding_mode, "border") == 0;
    const bool reflection = strcmp(attrs->padding_mode, "reflection") == 0;
    const bool cubic = strcmp(attrs->method, "cubic") == 0;
    int most = 1;

    for (int d = 2; d < x->rank; d++)
        most *= n;
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_input(bind, "grid", 1);
    bind_text(bind, "tgrid", "%s", dtype_c_type(anchor_input(bind->region, 1)->dtype));
    bind_int(bind, "batch", x->dim[0]);
    bind_int(bind, "channels", x->dim[1]);
    bind_int(bind, "rank", x->rank - 2);
    bind_int(bind, "in_len", type_span(x, 2, x->rank));
    bind_int(bind, "out_len", type_span(y, 2, y->rank));
    bind_int(bind, "most", most);
    bind_flag(bind, "zeros", !border && !reflection);
    bind_flag(bind, "border", border);
    bind_flag(bind, "reflection", reflection);
    bind_flag(bind, "clamps", border && !cubic);
    bind_flag(bind, "bounded", (border && !cubic) || reflection);
    bind_combination(bind, x);
    return most;
}

/* Outputs whose taps are computed at a time, of `most` numbers each: about 64 on the stack of a
 * PC. */
static int places_at_once(const struct machine *machine, int most)
{
    enum { MOST_PLACES = 16, NUMBERS = 64 };

    return machine->lanes == 1 || most >= NUMBERS ? 1
           : most * MOST_PLACES <= NUMBERS        ? MOST_PLACES
                                                  : NUMBERS / most;
}

static bool bind_grid_sample(struct bind *bind)
{
    const struct grid_sample_attrs *attrs = &bind->region->anchor->attrs.grid_sample;

    bind_include(bind, "math.h");
    if (strcmp(attrs->padding_mode, "reflection") == 0)
        bind_helper(bind, "mirrored");
    bind_flag(bind, "align_corners", attrs->align_corners);
    bind_flag(bind, "limits",
              strcmp(attrs->padding_mode, "border") == 0 && strcmp(attrs->method, "cubic") == 0);
    bind_int(bind, "places",
             places_at_once(bind->machine, bind_places(bind, bind_method(bind, attrs->method))));
    return true;
}

static double one_number(const struct value *value)
{
    const struct tensor tensor = value_tensor(value);

    return tensor_at(&tensor, 0);
}

static bool accepts_qnn_grid_sample(const struct region *region, const char **why)
{
    for (int i = 2; i < 5; i++)
        if (region->anchor->inputs[i]->kind != VALUE_CONSTANT) {
            *why = "its scales are computed";
            return false;
        }
    return takes_sizes(region, why);
}

static const char *x_zero_of(struct bind *bind)
{
    const struct node *node = bind->region->anchor;

    return number_i32(bind->arena, node, "x_zero", (int64_t)one_number(node->inputs[2]));
}

/* The sum as an element of y. Only cubic weights, some of them negative, leave the range of x. */
static void bind_sum(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const enum dtype dtype = anchor_input(bind->region, 0)->dtype;
    const bool is_wide = qnn_grid_sample_is_wide(node);
    const int bits = qnn_grid_sample_bits(node);
    const char *x_zero = x_zero_of(bind);

    bind_int(bind, "shift", bits);
    bind_text(bind, "tsum", is_wide ? "int64_t" : "int32_t");
    bind_text(bind, "widen", is_wide ? "(int64_t)" : "");
    bind_int(bind, "half", is_wide || bits == 0 ? 0 : 1 << (bits - 1));
    if (is_wide) {
        bind_helper(bind, "saturate_int");
        bind_helper(bind, "shift_to_nearest");
        bind_text(bind, "element",
                  "(%s)saturate_int(shift_to_nearest(sum, SHIFT) + %s, %" PRId64 ", %" PRId64 ")",
                  dtype_c_type(dtype), x_zero, (int64_t)dtype_least(dtype),
                  (int64_t)dtype_greatest(dtype));
    } else {
        bind_text(bind, "element", "(%s)(%s + %s)", dtype_c_type(dtype),
                  bits ? "shift_down(sum, SHIFT)" : "sum", x_zero);
    }
}

static bool bind_qnn_grid_sample(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct grid_sample_attrs *attrs = &node->attrs.grid_sample;
    const bool nearest = strcmp(attrs->method, "nearest_neighbor") == 0;
    const bool cubic = strcmp(attrs->method, "cubic") == 0;
    const struct type *x = anchor_input(bind->region, 0);
    struct str factors = { .arena = bind->arena };

    for (int d = 2; d < x->rank; d++)
        str_printf(
            &factors, "%s%" PRId64, d > 2 ? ", " : "",
            qnn_coordinate_factor(attrs->align_corners, x->dim[d], one_number(node->inputs[3])));
    bind_helper(bind, "place_of_steps");
    bind_helper(bind, "shift_down");
    if (strcmp(attrs->padding_mode, "reflection") == 0)
        bind_helper(bind, "mirrored_place");
    bind_text(bind, "factors", "%s", str_text(&factors));
    bind_text(bind, "x_zero", "%s", x_zero_of(bind));
    bind_text(bind, "grid_zero", "%s",
              number_i32(bind->arena, node, "grid_zero", (int64_t)one_number(node->inputs[4])));
    bind_text(bind, "begin", attrs->align_corners ? "0" : "-ONE / 2");
    bind_text(bind, "beyond", attrs->align_corners ? "" : " + ONE / 2");
    bind_text(bind, "before", cubic ? " - 1" : "");
    bind_flag(bind, "nearest", nearest);
    bind_flag(bind, "cubic", cubic);
    bind_flag(bind, "linear", !nearest && !cubic);
    bind_int(bind, "taps", nearest ? 1 : cubic ? 4 : 2);
    bind_places(bind, nearest ? 1 : cubic ? 4 : 2);
    bind_sum(bind);
    return true;
}

static bool bind_roi_align(struct bind *bind)
{
    const struct roi_align_attrs *attrs = &bind->region->anchor->attrs.roi_align;
    const struct type *x = anchor_input(bind->region, 0), *y = anchor_output(bind->region, 0);

    bind_type(bind);
    bind_include(bind, "math.h");
    bind_helper(bind, "index_within");
    bind_helper(bind, "neighbours");
    bind_input(bind, "x", 0);
    bind_input(bind, "rois", 1);
    bind_input(bind, "batch_indices", 2);
    bind_text(bind, "tindex", "%s", dtype_c_type(anchor_input(bind->region, 2)->dtype));
    bind_int(bind, "regions", y->dim[0]);
    bind_int(bind, "batch", x->dim[0]);
    bind_int(bind, "channels", x->dim[1]);
    bind_int(bind, "in_h", x->dim[2]);
    bind_int(bind, "in_w", x->dim[3]);
    bind_int(bind, "out_h", y->dim[2]);
    bind_int(bind, "out_w", y->dim[3]);
    bind_int(bind, "most_samples", ROI_MOST_SAMPLES);
    bind_int(bind, "most_extent", SPATIAL_MOST);
    bind_flag(bind, "aligned", attrs->aligned);
    bind_flag(bind, "max", strcmp(attrs->mode, "max") == 0);
    bind_text(bind, "scale", "%s", bind_literal(bind, DTYPE_F64, attrs->spatial_scale));
    bind_text(bind, "shift", attrs->aligned ? " - 0.5" : "");
    if (attrs->sample_ratio)
        bind_int(bind, "samples", attrs->sample_ratio);
    else
        bind_text(bind, "samples", "(int)ceil(bin[d] > 0 ? bin[d] : 0)");
    return true;
}

const struct kernel kernel_grid_sample = {
    .name = "grid_sample",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_GRID_SAMPLE), accepts_grid_sample, bind_grid_sample } },
};

const struct kernel kernel_qnn_grid_sample = {
    .name = "qnn_grid_sample",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_GRID_SAMPLE), accepts_qnn_grid_sample, bind_qnn_grid_sample } },
};

const struct kernel kernel_roi_align = {
    .name = "roi_align",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_ROI_ALIGN), accepts_roi_align, bind_roi_align } },
};
