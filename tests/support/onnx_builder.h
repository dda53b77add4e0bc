/* onnx_builder.h - makes ONNX models in C, so that tests need neither Python nor files.
 *
 *   struct onnx_builder *b = builder_new(17);
 *   builder_input(b, "x", DTYPE_F32, "1,3,8,8");
 *   builder_random(b, "w", "4,3,3,3", 0.1);
 *   builder_node(b, "Conv", "x w", "c");
 *   builder_attrs(b, "pads=[1,1,1,1] auto_pad='NOTSET'");
 *   builder_node(b, "Relu", "c", "y");
 *   builder_output(b, "y", DTYPE_F32, "1,4,8,8");
 *   bytes = builder_bytes(b, &n);
 *   builder_free(b);
 *
 * A shape is written "1,3,224,224", with names for symbolic dims ("N,3,H,W"), "?" for a dim without
 * number and name, "" for a scalar; NULL = no shape. Lists of names are separated by spaces, "_" is
 * an absent one. Everything lives until builder_free. What a builder refuses ends the test program.
 */
#ifndef TESTS_SUPPORT_ONNX_BUILDER_H
#define TESTS_SUPPORT_ONNX_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "frontend/onnx/onnx.pb-c.h"

struct onnx_builder {
    struct arena arena;
    Onnx__ModelProto *model;
    Onnx__GraphProto *graph; /* where the functions below add; model->graph or a branch */
    Onnx__NodeProto *last;   /* the node that builder_attr* and builder_name speak of */
    uint64_t random;         /* state of the generator; set it for another sequence */
    int n_names;             /* for builder_fresh */
};

struct onnx_builder *builder_new(int opset);
void builder_free(struct onnx_builder *b);

/* Declares the operator set of another domain. */
void builder_domain(struct onnx_builder *b, const char *domain, int version);

void builder_input(struct onnx_builder *b, const char *name, enum dtype dtype, const char *shape);
void builder_output(struct onnx_builder *b, const char *name, enum dtype dtype, const char *shape);

/* Initialisers. Data is copied into raw_data; random floats are uniform in -bound .. bound. */
Onnx__TensorProto *builder_tensor(struct onnx_builder *b, const char *name, enum dtype dtype,
                                  const char *shape, const void *data);
void builder_floats(struct onnx_builder *b, const char *name, const char *shape, const float *data);
void builder_ints(struct onnx_builder *b, const char *name, const char *shape, const int64_t *data);
void builder_fill(struct onnx_builder *b, const char *name, const char *shape, float number);
void builder_random(struct onnx_builder *b, const char *name, const char *shape, double bound);

/* A node; op may be "domain:Op". Its name is the op and a running number until builder_name. */
Onnx__NodeProto *builder_node(struct onnx_builder *b, const char *op, const char *inputs,
                              const char *outputs);
void builder_name(struct onnx_builder *b, const char *name);

/* Attributes of the last node: "group=2 alpha=0.5 mode='edge' pads=[1,1] scales=[0.5,2.0] e=[]f"
 * (a list is one of floats when an element has a point or an exponent). */
void builder_attrs(struct onnx_builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
Onnx__AttributeProto *builder_attr(struct onnx_builder *b, const char *name,
                                   Onnx__AttributeProto__AttributeType type);
void builder_attr_tensor(struct onnx_builder *b, const char *name, enum dtype dtype,
                         const char *shape, const void *data);

/* Begins a graph attribute of the last node: what follows is added to it, until builder_end_graph
 * with the returned state. Branches may nest. */
struct builder_outer {
    Onnx__GraphProto *graph;
    Onnx__NodeProto *last;
};
struct builder_outer builder_begin_graph(struct onnx_builder *b, const char *attr);
void builder_end_graph(struct onnx_builder *b, struct builder_outer outer);

/* "stem_1", "stem_2" …: names for blocks that occur several times. */
const char *builder_fresh(struct onnx_builder *b, const char *stem);

/* The encoded model, in the builder's arena. */
const uint8_t *builder_bytes(struct onnx_builder *b, size_t *n);
void builder_write(struct onnx_builder *b, const char *path);

/* A uniform number in -1 .. 1. */
double builder_next_random(struct onnx_builder *b);

/* A tensor that is not added anywhere, and its encoding as a .pb file. */
Onnx__TensorProto *builder_tensor_proto(struct onnx_builder *b, const char *name, enum dtype dtype,
                                        const char *shape, const void *data);
const uint8_t *builder_tensor_bytes(struct onnx_builder *b, const Onnx__TensorProto *tensor,
                                    size_t *n);

#endif
