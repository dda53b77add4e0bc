/* bad_cases.c - models that are wrong, each in its own way; all problems of one are to be reported.
 */

#include "tests/make/make.h"

static void interface(struct onnx_builder *b, const char *in, const char *out)
{
    builder_input(b, "x", DTYPE_F32, in);
    builder_output(b, "y", DTYPE_F32, out);
}

static void unknown_operators(struct onnx_builder *b)
{
    interface(b, "4", "4");
    builder_node(b, "Multinomial", "x", "a");
    builder_name(b, "find");
    builder_node(b, "Multinomial", "x", "b");
    builder_name(b, "find again");
    builder_domain(b, "com.example", 1);
    builder_node(b, "com.example:Magic", "x", "y");
    builder_name(b, "magic");
}

static void undefined_tensors(struct onnx_builder *b)
{
    interface(b, "4", "4");
    builder_node(b, "Add", "x nowhere", "a");
    builder_name(b, "add1");
    builder_node(b, "Mul", "a lost", "y");
    builder_name(b, "mul1");
}

static void cycle(struct onnx_builder *b)
{
    interface(b, "4", "4");
    builder_node(b, "Add", "x c", "a");
    builder_name(b, "first");
    builder_node(b, "Relu", "a", "b");
    builder_name(b, ""); /* then its place is told */
    builder_node(b, "Neg", "b", "c");
    builder_name(b, "third");
    builder_node(b, "Abs", "x", "y");
}

static void defined_twice(struct onnx_builder *b)
{
    interface(b, "4", "4");
    builder_node(b, "Relu", "x", "y");
    builder_name(b, "one");
    builder_node(b, "Neg", "x", "y");
    builder_name(b, "two");
}

static void wrong_shapes(struct onnx_builder *b)
{
    interface(b, "1,3,8,8", "1,4,8,8");
    builder_random(b, "w", "4,5,3,3", 1);
    builder_random(b, "m", "7,2", 1);
    builder_node(b, "Conv", "x w", "y");
    builder_name(b, "conv1");
    builder_node(b, "MatMul", "x m", "unused");
    builder_name(b, "product");
}

static void unbound_dimensions(struct onnx_builder *b)
{
    builder_input(b, "image", DTYPE_F32, "batch,3,?,8");
    builder_input(b, "mask", DTYPE_F32, "batch,8");
    builder_output(b, "y", DTYPE_F32, "batch,8");
    builder_node(b, "Relu", "mask", "y");
}

static void old_opset(struct onnx_builder *b)
{
    interface(b, "4", "4");
    b->model->opset_import[0]->version = 3;
    builder_node(b, "Relu", "x", "y");
}

static void too_big(struct onnx_builder *b)
{
    const int64_t repeats[] = { INT64_C(1) << 40, INT64_C(1) << 40 };

    interface(b, "2,2", "4,4");
    builder_ints(b, "repeats", "2", repeats);
    builder_node(b, "Tile", "x repeats", "y");
    builder_name(b, "tile");
}

static void short_payload(struct onnx_builder *b)
{
    const float numbers[] = { 1, 2, 3 };
    Onnx__TensorProto *tensor;

    interface(b, "4", "4");
    tensor = builder_tensor(b, "w", DTYPE_F32, "3", numbers);
    tensor->dims[0] = 4;
    builder_node(b, "Add", "x w", "y");
    builder_name(b, "add1");
}

/* The file does not declare the shape that Reshape gives. */
static void undeclared_shape(struct onnx_builder *b)
{
    builder_input(b, "x", DTYPE_F32, "4");
    builder_input(b, "shape", DTYPE_I64, "2");
    builder_output(b, "y", DTYPE_F32, "2,2");
    builder_node(b, "Reshape", "x shape", "a");
    builder_name(b, "reshape");
    builder_node(b, "Softmax", "a", "y");
}

/* How many indices there are is known at run time only, and Gather reads them. */
static void open_length(struct onnx_builder *b)
{
    builder_input(b, "x", DTYPE_F32, "4");
    builder_output(b, "y", DTYPE_F32, "1,n");
    builder_node(b, "NonZero", "x", "indices");
    builder_name(b, "find");
    builder_node(b, "Trilu", "indices", "y");
}

static void bad_attributes(struct onnx_builder *b)
{
    interface(b, "1,3,8,8", "1,3,8,8");
    builder_node(b, "MaxPool", "x", "a");
    builder_name(b, "no kernel");
    builder_node(b, "MaxPool", "x", "b");
    builder_name(b, "zero stride");
    builder_attrs(b, "kernel_shape=[2,2] strides=[0,1]");
    builder_node(b, "Concat", "x x", "c");
    builder_name(b, "axis out of range");
    builder_attrs(b, "axis=7");
    builder_node(b, "LeakyRelu", "x", "y");
    builder_name(b, "wrong kind");
    builder_attrs(b, "alpha='much'");
}

static void outside_data(struct onnx_builder *b)
{
    const float numbers[] = { 1, 2, 3, 4 };
    Onnx__TensorProto *tensor;
    Onnx__StringStringEntryProto *entry = arena_new(&b->arena, Onnx__StringStringEntryProto);

    interface(b, "4", "4");
    tensor = builder_tensor(b, "w", DTYPE_F32, "4", numbers);
    onnx__string_string_entry_proto__init(entry);
    entry->key = arena_strdup(&b->arena, "location");
    entry->value = arena_strdup(&b->arena, "../../etc/passwd");
    tensor->has_raw_data = 0;
    tensor->external_data = arena_new(&b->arena, Onnx__StringStringEntryProto *);
    tensor->external_data[0] = entry;
    tensor->n_external_data = 1;
    tensor->has_data_location = 1;
    tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    builder_node(b, "Add", "x w", "y");
}

const struct recipe bad_cases[] = {
    { "bad_attributes", bad_attributes },
    { "cycle", cycle },
    { "defined_twice", defined_twice },
    { "old_opset", old_opset },
    { "open_length", open_length },
    { "outside_data", outside_data },
    { "short_payload", short_payload },
    { "too_big", too_big },
    { "unbound_dimensions", unbound_dimensions },
    { "undeclared_shape", undeclared_shape },
    { "undefined_tensors", undefined_tensors },
    { "unknown_operators", unknown_operators },
    { "wrong_shapes", wrong_shapes },
};

const int n_bad_cases = sizeof bad_cases / sizeof *bad_cases;
