/* convert_helpers.h - helpers for several converter families, beyond convert.h.
 *
 * Checks record their error against the node and return false (or NULL, or -1). A NULL operand
 * means that an earlier step failed: builders return NULL for it. */
#ifndef FRONTEND_ONNX_CONVERT_HELPERS_H
#define FRONTEND_ONNX_CONVERT_HELPERS_H

#include "frontend/onnx/convert.h"

/* All converters, from the table. */
#define ONNX(domain, name, first, last, converter, arg) onnx_converter converter;
#include "frontend/onnx/convert.def"
#undef ONNX

/* --- what the node has ------------------------------------------------------------------------
 * Between `least` and `most` inputs (-1 = any number), of which the first `least` are present. */
bool onnx_check_inputs(struct onnx_node *node, int least, int most);

/* Input i is absent, or its element type is of one of these kinds. */
enum { TAKES_FLOAT = 1, TAKES_INTEGER = 2, TAKES_BOOL = 4, TAKES_NUMBER = 3, TAKES_ANY = 7 };
bool onnx_check_kind(struct onnx_node *node, int i, int kinds);
bool onnx_check_rank(struct onnx_node *node, int i, int least, int most);

/* An error about an attribute (ONNX_ATTRIBUTE). Returns false. */
bool bad_attribute(struct onnx_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True if output i is used. */
bool wants_output(const struct onnx_node *node, int i);

/* What names of inner values begin with: the first output's, or the operator where a file gives the node none. */
const char *output_stem(const struct onnx_node *node);

/* --- axes -------------------------------------------------------------------------------------
 * An axis in -rank .. rank-1 made non-negative; -1 after an error. */
int normal_axis(struct onnx_node *node, int64_t axis, int rank);
int normal_axis_attr(struct onnx_node *node, int64_t missing, int rank); /* of attribute "axis" */

/* Normalises and sorts axes; duplicates are an error. */
bool normal_axes(struct onnx_node *node, struct ints *axes, int rank);

/* A list given as attribute `attr` in older opsets and as input `input` (known at compile time) in
 * newer ones. *given: it is present. */
bool list_of(struct onnx_node *node, const char *attr, int input, struct ints *out, bool *given);

/* Input i, known at compile time: one number from least to most. */
bool onnx_whole_number(struct onnx_node *node, int i, int64_t least, int64_t most, int64_t *out);

/* --- building blocks --------------------------------------------------------------------------
 * Shapes as lists. */
struct ints ints_of_shape(const struct type *type);

struct value *apply1(struct onnx_node *node, enum op op, const char *suffix, struct value *x);
struct value *apply2(struct onnx_node *node, enum op op, const char *suffix, struct value *a,
                     struct value *b);
struct value *cast_to(struct onnx_node *node, struct value *x, enum dtype dtype,
                      const char *suffix); /* x itself if it has the type */
struct value *reshape_to(struct onnx_node *node, struct value *x, const struct ints *shape,
                         const char *suffix); /* x itself if it has the shape, unless suffix is
                                                 "" */
struct value *transpose_to(struct onnx_node *node, struct value *x, const struct ints *axes,
                           const char *suffix);
struct value *concat_with(struct onnx_node *node, int axis, struct value *a, struct value *b,
                          const char *suffix);
struct value *reduce_with(struct onnx_node *node, enum op op, struct value *x,
                          const struct ints *axes, bool keepdims, const char *suffix);
/* A scalar operand of x's type. */
struct value *scalar_like(struct onnx_node *node, const struct value *x, double number,
                          const char *suffix);
/* A tensor of this shape filled with `number`. */
struct value *full_of(struct onnx_node *node, enum dtype dtype, double number,
                      const struct ints *shape, const char *suffix);

/* A node whose outputs are named after the ONNX node's outputs; NULL after an error. */
struct node *build_node(struct onnx_node *node, enum op op, const union attrs *attrs, int n_inputs,
                        struct value *const *inputs, int n_outputs);

/* build_node, and its outputs become the ONNX node's outputs. */
bool output_node(struct onnx_node *node, enum op op, const union attrs *attrs, int n_inputs,
                 struct value *const *inputs, int n_outputs);

/* What the converter of another operator makes of these inputs (NULL = absent) and of the node's
 * attributes; its first output is named after the node's and the suffix. NULL after an error. */
struct value *onnx_inner(struct onnx_node *node, onnx_converter *converter, int arg, int64_t opset,
                         int n_inputs, struct value *const *inputs, const char *suffix);

/* `size` entries of x along the axis, from `begin` on; x itself if these are all. */
struct value *slice_to(struct onnx_node *node, struct value *x, int axis, int64_t begin,
                       int64_t size, const char *suffix);

/* --- numbers that are known at run time only (convert_run_time.c) ------------------------------
 * True if inputs first .. last are absent or known at compile time. */
bool numbers_are_known(struct onnx_node *node, int first, int last);

/* The error for input i, which is not, where the file does not declare the shape of the result. Returns
 * false. */
bool onnx_undeclared(struct onnx_node *node, int i);

/* The converters' other half, with the shape that the file declares. */
bool slice_at_run_time(struct onnx_node *node);
bool pad_at_run_time(struct onnx_node *node, const char *mode);
bool trilu_at_run_time(struct onnx_node *node, bool upper);
bool range_at_run_time(struct onnx_node *node);

/* Without a declared shape: axes of the result are open (convert_open.c). Not inside of functions and branches.
 * in: start, limit and delta, scalars; length: how many numbers there are. number: a scalar. */
bool slice_open(struct onnx_node *node);
bool top_k_open(struct onnx_node *node);
bool range_open(struct onnx_node *node, struct value *const *in, struct value *length);
bool constant_of_shape_open(struct onnx_node *node, struct value *number);
bool expand_open(struct onnx_node *node);
bool tile_open(struct onnx_node *node);

/* The elements start, start + step, ... before (for a negative step: behind) end of an extent, with
 * negative positions counting from its end, as begin, stride and size of strided_slice. */
void slice_dim(struct slice_attrs *slice, int axis, int64_t extent, int64_t start, int64_t end,
               int64_t step);

/* True if the value is constant or computed from constants only (folding will make it one); looks a
 * few nodes back. */
bool is_static(const struct value *value);

/* --- windows ----------------------------------------------------------------------------------
 * Kernel extent, steps and padding of a convolution or pool over 1 to 3 spatial dims. */
enum { MAX_SPATIAL = 3 };

struct onnx_window {
    int n; /* spatial dims */
    struct ints kernel, strides, dilation;
    struct ints padding; /* all begins, then all ends */
};

/* Reads strides, dilations, pads and auto_pad for input 0. The kernel extent comes from `kernel`
 * (the weights'; the attribute kernel_shape must agree) or, when NULL, from the attribute. */
bool window_read(struct onnx_node *node, const struct ints *kernel, struct onnx_window *out);

/* window_read without padding (all 0), for callers that compute it otherwise. */
bool window_read_steps(struct onnx_node *node, const struct ints *kernel, struct onnx_window *out);

/* Splits a padding total as auto_pad asks: an odd element goes to the end for SAME_UPPER. */
void window_split_padding(struct onnx_window *window, int i, int64_t total, bool more_at_end);

/* Layout word for n spatial dims: prefix and the last n letters of "DHW". */
const char *window_layout(int n, bool kernel, bool transposed);

#endif
