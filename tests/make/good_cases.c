/* good_cases.c - what generated C looks like, one feature per model. */
#include "tests/make/make.h"

static void interface(struct onnx_builder *b, const char *in, const char *out)
{
    builder_input(b, "x", DTYPE_F32, in);
    builder_output(b, "y", DTYPE_F32, out);
}

static void batch_norm(struct onnx_builder *b, const char *channels, const char *in,
                       const char *out)
{
    builder_random(b, "bn1.gamma", channels, 1);
    builder_random(b, "bn1.beta", channels, 1);
    builder_random(b, "bn1.mean", channels, 1);
    builder_fill(b, "bn1.var", channels, 0.25F);
    builder_node(b, "BatchNormalization",
                 arena_printf(&b->arena, "%s bn1.gamma bn1.beta bn1.mean bn1.var", in), out);
    builder_name(b, "bn1");
}

static void conv_bn_relu(struct onnx_builder *b)
{
    interface(b, "1,2,6,6", "1,3,4,4");
    builder_random(b, "conv1.weight", "3,2,3,3", 0.5);
    builder_node(b, "Conv", "x conv1.weight", "conv1_y");
    builder_name(b, "conv1");
    batch_norm(b, "3", "conv1_y", "bn1_y");
    builder_node(b, "Relu", "bn1_y", "y");
    builder_name(b, "relu1");
}

static void depthwise_clip(struct onnx_builder *b)
{
    interface(b, "1,4,7,7", "1,4,4,4");
    builder_random(b, "dw.weight", "4,1,3,3", 0.5);
    builder_random(b, "dw.bias", "4", 0.5);
    builder_fill(b, "low", "", 0);
    builder_fill(b, "high", "", 6);
    builder_node(b, "Conv", "x dw.weight dw.bias", "dw_y");
    builder_name(b, "dw");
    builder_attrs(b, "group=4 pads=[1,1,1,1] strides=[2,2]");
    builder_node(b, "Clip", "dw_y low high", "y");
    builder_name(b, "relu6");
}

static void pointwise_residual(struct onnx_builder *b)
{
    interface(b, "1,4,3,3", "1,4,3,3");
    builder_random(b, "conv1.weight", "4,4,1,1", 0.5);
    builder_random(b, "conv1.bias", "4", 0.5);
    builder_node(b, "Conv", "x conv1.weight conv1.bias", "conv1_y");
    builder_name(b, "conv1");
    builder_node(b, "Add", "conv1_y x", "add1_y");
    builder_name(b, "add1");
    builder_node(b, "Relu", "add1_y", "y");
    builder_name(b, "relu1");
}

static void dense_softmax(struct onnx_builder *b)
{
    interface(b, "1,6", "1,4");
    builder_random(b, "fc.weight", "4,6", 0.5);
    builder_random(b, "fc.bias", "4", 0.5);
    builder_node(b, "Gemm", "x fc.weight fc.bias", "logits");
    builder_name(b, "fc");
    builder_attrs(b, "transB=1");
    builder_node(b, "Softmax", "logits", "y");
    builder_name(b, "softmax");
}

static void element_wise(struct onnx_builder *b)
{
    interface(b, "1,3,4,4", "1,3,4,4");
    builder_random(b, "scale", "3,1,1", 1);
    builder_fill(b, "half", "", 0.5F);
    builder_node(b, "Mul", "x scale", "scaled");
    builder_name(b, "scale");
    builder_node(b, "Sigmoid", "scaled", "gate");
    builder_name(b, "gate");
    builder_node(b, "Mul", "scaled gate", "swish");
    builder_name(b, "swish");
    builder_node(b, "Sub", "swish half", "y");
    builder_name(b, "shift");
}

static void pool_flatten(struct onnx_builder *b)
{
    interface(b, "1,2,6,6", "1,8");
    builder_node(b, "MaxPool", "x", "pool1_y");
    builder_name(b, "pool1");
    builder_attrs(b, "kernel_shape=[3,3] strides=[2,2] pads=[0,0,1,1]");
    builder_node(b, "AveragePool", "pool1_y", "pool2_y");
    builder_name(b, "pool2");
    builder_attrs(b, "kernel_shape=[2,2]");
    builder_node(b, "Flatten", "pool2_y", "y");
    builder_name(b, "flatten");
}

static void move_data(struct onnx_builder *b)
{
    const int64_t starts[] = { 1 }, ends[] = { 3 }, axes[] = { 2 };

    interface(b, "1,2,4,4", "1,4,4,2");
    builder_ints(b, "starts", "1", starts);
    builder_ints(b, "ends", "1", ends);
    builder_ints(b, "axes", "1", axes);
    builder_node(b, "Slice", "x starts ends axes", "middle");
    builder_name(b, "slice");
    builder_node(b, "Concat", "middle middle", "doubled");
    builder_name(b, "concat");
    builder_attrs(b, "axis=2");
    builder_node(b, "Transpose", "doubled", "y");
    builder_name(b, "nhwc");
    builder_attrs(b, "perm=[0,2,3,1]");
}

static void attention_block(struct onnx_builder *b)
{
    interface(b, "1,3,4", "1,3,4");
    builder_random(b, "ln.weight", "4", 1);
    builder_random(b, "ln.bias", "4", 1);
    builder_node(b, "LayerNormalization", "x ln.weight ln.bias", "normed");
    builder_name(b, "ln");
    builder_node(b, "Transpose", "normed", "keys");
    builder_name(b, "keys");
    builder_attrs(b, "perm=[0,2,1]");
    builder_node(b, "MatMul", "normed keys", "scores");
    builder_name(b, "scores");
    builder_node(b, "Softmax", "scores", "weights");
    builder_name(b, "softmax");
    builder_node(b, "MatMul", "weights normed", "y");
    builder_name(b, "context");
}

/* Two inputs, outputs that are an input, a constant, a view and the same value twice; and an input
 * that nobody reads. */
static void odd_interface(struct onnx_builder *b)
{
    const float table[] = { 1, -2, 0.5F };

    builder_input(b, "a", DTYPE_F32, "2,3");
    builder_input(b, "unused", DTYPE_I64, "");
    builder_floats(b, "table", "3", table);
    builder_node(b, "Add", "a table", "sum");
    builder_name(b, "sum");
    builder_node(b, "Flatten", "sum", "flat");
    builder_name(b, "flat");
    builder_attrs(b, "axis=0");
    builder_node(b, "Identity", "a", "same");
    builder_node(b, "Identity", "table", "copy");
    builder_output(b, "sum", DTYPE_F32, "2,3");
    builder_output(b, "flat", DTYPE_F32, "1,6");
    builder_output(b, "same", DTYPE_F32, "2,3");
    builder_output(b, "copy", DTYPE_F32, "3");
}

/* Names that would break comments, identifiers and include lines. */
static void hostile_names(struct onnx_builder *b)
{
    builder_input(b, "int", DTYPE_F32, "2");
    builder_output(b, "*/#include\"/etc/passwd\"", DTYPE_F32, "2");
    builder_output(b, "a+b", DTYPE_F32, "2");
    builder_output(b, "a-b", DTYPE_F32, "2");
    builder_node(b, "Relu", "int", "*/#include\"/etc/passwd\"");
    builder_name(b, "*/ int evil(void); /* ?\?/");
    builder_node(b, "Neg", "int", "a+b");
    builder_name(b, "line\nbreak\\");
    builder_node(b, "Abs", "int", "a-b");
    builder_name(b, "\xff\xfe\xe2\x80\xae");
}

/* A sum as a code of FP8, and one that has been a code. */
static void sum_fp8(struct onnx_builder *b)
{
    b->model->opset_import[0]->version = 19;
    builder_input(b, "x", DTYPE_F32, "1,1026");
    builder_input(b, "z", DTYPE_F32, "1,1026");
    builder_output(b, "code", DTYPE_F8E4M3, "1");
    builder_output(b, "number", DTYPE_F32, "1");
    builder_ints(b, "row", "1", (int64_t[]){ 1 });
    builder_fill(b, "scale", "", 1);
    builder_tensor(b, "zero", DTYPE_F8E4M3, "", "\0");
    builder_node(b, "ReduceSum", "x row", "x_sum");
    builder_attrs(b, "keepdims=0");
    builder_node(b, "QuantizeLinear", "x_sum scale zero", "code");
    builder_node(b, "ReduceSum", "z row", "z_sum");
    builder_attrs(b, "keepdims=0");
    builder_node(b, "QuantizeLinear", "z_sum scale zero", "z_code");
    builder_node(b, "DequantizeLinear", "z_code scale zero", "number");
}

/* Two heads of queries share one of keys and values. */
static void attention_groups(struct onnx_builder *b)
{
    b->model->opset_import[0]->version = 25;
    interface(b, "1,4,3,2", "1,4,3,2");
    builder_input(b, "keys", DTYPE_F32, "1,2,3,2");
    builder_node(b, "Attention", "x keys keys", "y");
    builder_attrs(b, "is_causal=1 left_window_size=1");
}

/* A cell that is scanned over three steps, and a loop of two rounds on what it gives. */
static void rounds(struct onnx_builder *b)
{
    struct builder_outer outer;

    builder_input(b, "x", DTYPE_F32, "3,1,2");
    builder_output(b, "steps", DTYPE_F32, "3,1,4");
    builder_output(b, "y", DTYPE_F32, "1,4");
    builder_random(b, "in.weight", "2,4", 0.5);
    builder_random(b, "cell.weight", "4,4", 0.5);
    builder_fill(b, "start", "1,4", 0);
    builder_ints(b, "two", "", (int64_t[]){ 2 });
    builder_tensor(b, "yes", DTYPE_BOOL, "", "\1");
    builder_node(b, "Scan", "start x", "last steps");
    builder_attrs(b, "num_scan_inputs=1");
    outer = builder_begin_graph(b, "body");
    builder_input(b, "before", DTYPE_F32, "1,4");
    builder_input(b, "step", DTYPE_F32, "1,2");
    builder_node(b, "MatMul", "step in.weight", "new");
    builder_node(b, "MatMul", "before cell.weight", "old");
    builder_node(b, "Add", "new old", "sum");
    builder_node(b, "Tanh", "sum", "state");
    builder_output(b, "state", DTYPE_F32, "1,4");
    builder_output(b, "state", DTYPE_F32, "1,4");
    builder_end_graph(b, outer);
    builder_node(b, "Loop", "two yes last", "y");
    outer = builder_begin_graph(b, "body");
    builder_input(b, "i", DTYPE_I64, "");
    builder_input(b, "on", DTYPE_BOOL, "");
    builder_input(b, "v", DTYPE_F32, "1,4");
    builder_node(b, "MatMul", "v cell.weight", "w");
    builder_output(b, "on", DTYPE_BOOL, "");
    builder_output(b, "w", DTYPE_F32, "1,4");
    builder_end_graph(b, outer);
}

/* A cell that is scanned over many steps: a loop. */
static void rounds_in_loop(struct onnx_builder *b)
{
    struct builder_outer outer;

    builder_input(b, "x", DTYPE_F32, "20,4");
    builder_input(b, "start", DTYPE_F32, "4");
    builder_output(b, "steps", DTYPE_F32, "20,4");
    builder_output(b, "last", DTYPE_F32, "4");
    builder_node(b, "Scan", "start x", "last steps");
    builder_attrs(b, "num_scan_inputs=1");
    outer = builder_begin_graph(b, "body");
    builder_input(b, "before", DTYPE_F32, "4");
    builder_input(b, "step", DTYPE_F32, "4");
    builder_node(b, "Sub", "step before", "new");
    builder_node(b, "CumSum", "new axis", "sums");
    builder_ints(b, "axis", "", (int64_t[]){ 0 });
    builder_node(b, "Relu", "sums", "state");
    builder_output(b, "state", DTYPE_F32, "4");
    builder_output(b, "new", DTYPE_F32, "4");
    builder_end_graph(b, outer);
}

/* A shape, starts and an axis that are inputs. */
static void run_time_numbers(struct onnx_builder *b)
{
    builder_input(b, "x", DTYPE_F32, "2,3,4");
    builder_input(b, "shape", DTYPE_I64, "2");
    builder_input(b, "starts", DTYPE_I64, "1");
    builder_input(b, "ends", DTYPE_I64, "1");
    builder_input(b, "axis", DTYPE_I64, "");
    builder_output(b, "y", DTYPE_F32, "6,4");
    builder_output(b, "part", DTYPE_F32, "1,3,4");
    builder_output(b, "sums", DTYPE_F32, "2,3,4");
    builder_node(b, "Reshape", "x shape", "y");
    builder_node(b, "Slice", "x starts ends", "part");
    builder_node(b, "CumSum", "x axis", "sums");
}

const struct recipe good_cases[] = {
    { "attention_block", attention_block },
    { "attention_groups", attention_groups },
    { "conv_bn_relu", conv_bn_relu },
    { "dense_softmax", dense_softmax },
    { "depthwise_clip", depthwise_clip },
    { "element_wise", element_wise },
    { "hostile_names", hostile_names },
    { "move_data", move_data },
    { "odd_interface", odd_interface },
    { "pointwise_residual", pointwise_residual },
    { "pool_flatten", pool_flatten },
    { "rounds", rounds },
    { "rounds_in_loop", rounds_in_loop },
    { "run_time_numbers", run_time_numbers },
    { "sum_fp8", sum_fp8 },
};

const int n_good_cases = sizeof good_cases / sizeof *good_cases;
