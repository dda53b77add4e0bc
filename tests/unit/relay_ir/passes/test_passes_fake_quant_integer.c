/* fake_quant_to_integer: averages, softmax, tables, choices, constants. Rows are graphs that must
 * become integers from end to end, with results at most one step away, or that must stay. */
#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/fake_quant.h"
#include "tests/support/graph.h"

#define FN "fn main(%x: (2,4,6,5) i8) -> (%y) {\n" IN OUT DX
#define END(x) QUANTIZE(x) "}\n"
#define LINEAR                                                                                     \
    "method=\"linear\", coordinate_transformation_mode=\"half_pixel\", rounding_method=\"floor\""
#define CUBIC(alpha)                                                                               \
    "method=\"cubic\", coordinate_transformation_mode=\"half_pixel\", rounding_method=\"floor\", " \
    "cubic_alpha=" alpha
#define SAME(x) "  %y = qnn.quantize(%" x ", @xs, @xz) {axis=0, saturate=true}\n}\n"
#define FN_U8                                                                                      \
    "fn main(%a: (2,3) i8, %b: (1,3) u8) -> (%y) {\n" IN "  const @bs : () f32 = [0.25]\n"         \
    "  const @bz : () u8 = [1]\n" OUT DA DB
#define FINE "  const @ys : () f32 = [0.01]\n  const @yz : () i8 = [-5]\n"
#define FN_FINE "fn main(%x: (2,4,6,5) i8) -> (%y) {\n" IN FINE DX
#define FN_16                                                                                      \
    "fn main(%x: (2,3) i16) -> (%y) {\n  const @xs : () f32 = [0.001]\n"                           \
    "  const @xz : () i16 = [5]\n" OUT DX

#define FINE_AS(x)                                                                                 \
    "  const @fs : () f32 = [0.01]\n  %y = qnn.quantize(%" x                                       \
    ", @fs, @yz) {axis=0, saturate=true}\n}\n"

/* Recurrent layers: of one direction and three numbers each. */
#define FN_RNN(results, w, more)                                                                   \
    "fn main(%x: (4,2,3) i8, %i: (1,2,3) i16, %b: (1,6) f32) -> (" results ") {\n" IN              \
    "  const @us : () f32 = [0.0078125]\n  const @uz : () i8 = [2]\n"                              \
    "  const @ss : () f32 = [0.00004]\n  const @sz : () i16 = [0]\n"                               \
    "  const @ws : () f32 = [0.01]\n  const @wz : () i8 = [0]\n"                                   \
    "  const @w : (1," w ",3) i8 = crc32:00000000\n"                                               \
    "  const @r : (1," w ",3) i8 = crc32:00000000\n" DX DW                                         \
    "  %rf = qnn.dequantize(@r, @ws, @wz)\n" more "}\n"
#define DI "  %if = qnn.dequantize(%i, @ss, @sz)\n"
#define UNIT(to, of) "  %" to " = qnn.quantize(%" of ", @us, @uz) {axis=0, saturate=true}\n"

#define FN_AB_MASK "fn main(%a: (2,3) i8) -> (%y) {\n" IN OUT DA
#define FN_AB_SCATTER                                                                              \
    "fn main(%a: (4,3) i8, %b: (4,3) i8) -> (%y) {\n" IN B OUT                                     \
    "  const @i : (4,3) i64 = [0, 0, 3, 0, 1, -1, 0, 2, 1, 0, 3, 2]\n"
#define FN_WIDE                                                                                    \
    "fn main(%a: (2,3) i16, %b: (2,3) i8) -> (%y) {\n  const @as : () f32 = [0.0007]\n"            \
    "  const @az : () i16 = [-5]\n" B "  %af = qnn.dequantize(%a, @as, @az)\n"

/* after: NULL = the rule must not fire; any text: it must, and floats are gone. */
static const struct pass_case rows[] = {
    { "arg_before_dequantize", FN "  %y = argmax(%xf) {axis=1}\n}\n", "" },
    { "arg_before_dequantize", FN "  %y = argmin(%xf) {axis=3, keepdims=true}\n}\n", "" },
    { "quantize_of_split", FN "  %a, %b = split(%xf) {axis=1, sizes=[1,3]}\n" END("b"), "" },
    { "quantize_of_split",
      "fn main(%x: (2,4,6,5) i8) -> (%y, %z) {\n" IN OUT DX
      "  %a, %b = split(%xf) {axis=1, sizes=[1,3]}\n" QUANTIZE(
          "a") "  %z = qnn.quantize(%b, @xs, @xz) {axis=0, saturate=true}\n}\n",
      "" },
    { "quantize_of_pad",
      FN "  %p = nn.pad(%xf) {pad_before=[0,0,1,0], pad_after=[0,0,0,2], mode=\"constant\", "
         "value=0.3}\n" END("p"),
      "" },
    { "choice_to_integer", FN_U8 "  %m = maximum(%af, %bf)\n" END("m"), "" },
    { "choice_to_integer", FN_U8 "  %m = minimum(%af, %bf)\n" END("m"), "" },
    { "choice_to_integer",
      FN "  const @c : (5) f32 = [1, 2, -3.3, 0.5, 100]\n  %m = minimum(%xf, @c)\n" END("m"), "" },
    { "choice_to_integer",
      "fn main(%a: (2,3) i8, %b: (1,3) i8, %c: (2,1) bool) -> (%y) {\n" IN B OUT DA DB
      "  %m = where(%c, %af, %bf)\n" END("m"),
      "" },
    { "choice_to_integer", /* of computed floats */
      "fn main(%a: (2,3) i8, %bf: (1,3) f32) -> (%y) {\n" IN OUT DA
      "  %m = maximum(%af, %bf)\n" END("m"),
      NULL },

    { "binary_to_integer", FN_U8 "  %s = subtract(%af, %bf)\n" END("s"), "" },
    { "binary_to_integer", FN_U8 "  %s = add(%bf, %af)\n" END("s"), "" },
    { "binary_to_integer", FN_U8 "  %s = multiply(%af, %bf)\n" END("s"), "" },
    { "binary_to_integer",
      FN "  const @c : (4,1,1) f32 = [1, 2, -3.3, 0.5]\n  %s = add(%xf, @c)\n" END("s"), "" },
    { "binary_to_integer",
      FN "  const @c : (4,1,1) f32 = [1, 2, -3.3, 0.5]\n  %s = multiply(@c, %xf)\n" END("s"), "" },
    { "binary_to_integer",
      FN "  const @c : (4,1,1) f32 = [1, 2, -3.3, 0.5]\n  %s = divide(%xf, @c)\n" END("s"), "" },
    { "binary_to_integer",
      FN "  const @c : (4,1,1) f32 = [1, 2, -3.3, 0.5]\n  %s = subtract(@c, %xf)\n" END("s"), "" },
    { "binary_to_integer",
      FN
      "  const @c : (4) f32 = [1, 2, -3.3, 0.5]\n  %s = nn.bias_add(%xf, @c) {axis=1}\n" END("s"),
      "" },
    { "binary_to_integer", FN_16 "  const @c : () f32 = [0.3]\n  %s = add(%xf, @c)\n" END("s"),
      "" },
    { "binary_to_integer", /* a constant too great for 16 bits */
      FN_FINE "  const @c : (5) f32 = [1, 2, -3.3, 0.5, 100000]\n  %s = add(%xf, @c)\n" END("s"),
      NULL },
    { "binary_to_integer", FN_U8 "  %s = divide(%af, %bf)\n" END("s"), "" },
    { "binary_to_integer", /* by 16 bits */
      "fn main(%a: (2,3) i8, %b: (1,3) i16) -> (%y) {\n" IN "  const @bs : () f32 = [0.25]\n"
      "  const @bz : () i16 = [1]\n" OUT DA DB "  %s = divide(%af, %bf)\n" END("s"),
      "" },

    { "hardmax_before_dequantize", FN_FINE "  %h = nn.hardmax(%xf) {axis=1}\n" END("h"), "" },
    { "lp_pool_to_average",
      FN "  %p = nn.lp_pool2d(%xf) {pool_size=[3,2], strides=[2,1], padding=[1,0,0,1], "
         "dilation=[1,2], p=1}\n  %r = clip(%p) {a_min=1, a_max=100}\n" END("r"),
      "" },
    { "lp_pool_to_average",
      FN "  %p = nn.lp_pool2d(%xf) {pool_size=[3,2], strides=[2,1], padding=[1,0,0,1], p=2}\n" END(
          "p"),
      "" },
    { "lp_pool_to_average", /* another power; windows that hang over */
      FN "  %p = nn.lp_pool2d(%xf) {pool_size=[3,2], p=3}\n" END("p"), NULL },
    { "lp_pool_to_average",
      FN
      "  %p = nn.lp_pool2d(%xf) {pool_size=[3,2], strides=[2,2], ceil_mode=true, p=1}\n" END("p"),
      NULL },
    /* of two types and scales; of constants, among them numbers that x can be */
    { "compare_before_dequantize", FN_U8 "  %y = greater(%af, %bf)\n}\n", "" },
    { "compare_before_dequantize",
      "fn main(%x: (2,3) i8) -> (%y, %n) {\n" IN "  const @p : (3) f32 = [1.5, -2.25, 1000]\n" DX
      "  %y = less_equal(@p, %xf)\n  %n = equal(%xf, @p)\n}\n",
      "" },
    /* 16 bits, of one scale, and of constants */
    { "compare_before_dequantize",
      "fn main(%x: (2,3) i16, %b: (3) i16) -> (%y) {\n  const @xs : () f32 = [0.001]\n"
      "  const @xz : () i16 = [5]\n" DX "  %bf = qnn.dequantize(%b, @xs, @xz)\n"
      "  %y = not_equal(%xf, %bf)\n}\n",
      "" },
    { "compare_before_dequantize",
      "fn main(%x: (2,3) i16) -> (%y) {\n  const @xs : () f32 = [0.001]\n"
      "  const @xz : () i16 = [5]\n  const @p : () f32 = [1.5]\n" DX "  %y = less(%xf, @p)\n}\n",
      "" },
    { "compare_before_dequantize", /* no number */
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN "  const @p : (3) f32 = [1.5, nan, 1000]\n" DX
      "  %y = less(%xf, @p)\n}\n",
      NULL },
    { "compare_before_dequantize", /* a table has all of it */
      FN_FINE "  const @p : () f32 = [1.5]\n  %g = greater(%xf, @p)\n  %e = exp(%xf)\n"
              "  %w = where(%g, %e, %xf)\n" END("w"),
      NULL },
    { "encode_of_bool",
      FN_U8 "  %g = equal(%af, %bf)\n  %c = cast(%g) {dtype=f32, saturate=true}\n" FINE_AS("c"),
      "" },
    { "choice_to_integer", /* scattered into others, by indices and tuples */
      FN_U8 "  const @i : (1,3) i64 = [1, 0, 1]\n"
            "  %s = scatter_elements(%af, @i, %bf) {axis=0, reduction=\"min\"}\n" END("s"),
      "" },
    { "choice_to_integer",
      FN_U8 "  const @i : (1,1) i64 = [1]\n"
            "  %s = scatter_nd(%af, @i, %bf) {reduction=\"none\"}\n" END("s"),
      "" },
    { "choice_to_integer", /* sums */
      FN_U8 "  const @i : (1,1) i64 = [1]\n"
            "  %s = scatter_nd(%af, @i, %bf) {reduction=\"add\"}\n" END("s"),
      NULL },
    { "norm_to_integer",
      FN_FINE "  const @g : (6,5) f32 = crc32:00000000\n  const @o : (6,5) f32 = crc32:00000000\n"
              "  %n = nn.layer_norm(%xf, @g, @o) {axis=2, epsilon=1e-5}\n" END("n"),
      "" },
    { "norm_to_integer",
      FN_FINE "  const @g : (5) f32 = [1, 0.5, 2, -1, 0]\n"
              "  %n = nn.layer_norm(%xf, @g) {axis=3, epsilon=1e-5}\n" END("n"),
      "" },
    { "norm_to_integer",
      FN_FINE "  const @g : (4) f32 = [1, 0.5, 2, -1]\n"
              "  %n = nn.instance_norm(%xf, @g, @g) {axis=1, epsilon=1e-5}\n"
              "  %r = nn.relu(%n)\n" END("r"),
      "" },
    { "norm_to_integer",
      FN_FINE "  const @g : (4) f32 = [1, 0.5, 2, -1]\n"
              "  %n = nn.group_norm(%xf, @g, @g) {axis=1, groups=2, epsilon=1e-5}\n" END("n"),
      "" },
    { "norm_to_integer", /* the channels are last */
      FN_FINE "  const @g : (5) f32 = [1, 0.5, 2, -1, 0.1]\n"
              "  %n = nn.instance_norm(%xf, @g, @g) {axis=3, epsilon=1e-5}\n" END("n"),
      "" },
    { "norm_to_integer", /* a scale that is computed */
      "fn main(%x: (2,4,6,5) i8, %g: (5) f32) -> (%y) {\n" IN FINE DX
      "  %n = nn.layer_norm(%xf, %g) {axis=3, epsilon=1e-5}\n" END("n"),
      NULL },
    { "norm_to_integer", /* no number */
      FN_FINE "  const @g : (5) f32 = [1, 0.5, 2, -1, inf]\n"
              "  %n = nn.layer_norm(%xf, @g) {axis=3, epsilon=1e-5}\n" END("n"),
      NULL },
    { "reduction_to_integer", FN_FINE "  %n = nn.lp_normalize(%xf) {axis=1, p=2}\n" END("n"), "" },
    { "reduction_to_integer",
      FN "  %n = nn.lrn(%xf) {size=3, alpha=0.01, beta=0.75, bias=1}\n" END("n"), "" },
    { "reduction_to_integer", /* below 0 */
      FN "  %n = nn.lrn(%xf) {size=3, alpha=0.01, beta=-0.75, bias=1}\n" END("n"), NULL },

    { "reduction_to_integer", FN "  %p = nn.avg_pool2d(%xf) {pool_size=[2,2]}\n" END("p"), "" },
    { "reduction_to_integer",
      FN_FINE "  %p = nn.avg_pool2d(%xf) {pool_size=[3,3], padding=[1,1,1,1]}\n" END("p"), "" },
    { "reduction_to_integer", FN_FINE "  %p = nn.global_avg_pool(%xf)\n" END("p"), "" },
    { "reduction_to_integer", FN_FINE "  %p = mean(%xf) {axis=[1], keepdims=true}\n" END("p"), "" },
    { "reduction_to_integer", FN "  %p = sum(%xf) {axis=[2,3]}\n" END("p"), "" },
    { "reduction_to_integer", FN_FINE "  %p = nn.softmax(%xf) {axis=1}\n" END("p"), "" },
    { "reduction_to_integer", FN_FINE "  %p = nn.log_softmax(%xf) {axis=1}\n" END("p"), "" },
    { "resize_to_integer", FN "  %p = image.resize(%xf) {size=[2,4,9,10], " LINEAR "}\n" END("p"),
      "" },
    { "resize_to_integer", FN "  %p = image.resize(%xf) {size=[2,5,9,10], " LINEAR "}\n" END("p"),
      "" },
    { "resize_to_integer", /* in four dimensions */
      FN "  %p = image.resize(%xf) {size=[3,5,9,10], " LINEAR "}\n" END("p"), "" },
    { "resize_to_integer", /* steps behind it that are finer */
      FN_FINE "  %p = image.resize(%xf) {size=[2,4,9,10], " LINEAR "}\n" END("p"), NULL },
    { "resize_to_integer",
      FN "  %p = image.resize(%xf) {size=[2,4,9,10], " CUBIC("-0.75") "}\n" SAME("p"), "" },
    { "resize_to_integer", /* another scale would bound what overshoots otherwise */
      FN "  %p = image.resize(%xf) {size=[2,4,9,10], " CUBIC("-0.75") "}\n" END("p"), NULL },
    { "resize_to_integer", /* weights that are too great */
      FN "  %p = image.resize(%xf) {size=[2,4,9,10], " CUBIC("-2") "}\n" SAME("p"), NULL },
    { "reduction_to_integer", FN_16 "  %p = nn.softmax(%xf) {axis=1}\n" END("p"), "" },
    { "reduction_to_integer", FN_16 "  %p = nn.log_softmax(%xf) {axis=0}\n" END("p"), "" },
    { "reduction_to_integer",
      FN_FINE "  %p = nn.avg_pool2d(%xf) {pool_size=[2,2]}\n  %r = nn.relu(%p)\n" END("r"), "" },
    { "reduction_to_integer", /* the average is read as floats, too */
      "fn main(%x: (2,4,6,5) i8) -> (%y, %p) {\n" IN OUT DX
      "  %p = nn.avg_pool2d(%xf) {pool_size=[2,2]}\n" END("p"),
      NULL },

    { "chain_to_table", FN_FINE "  %s = sigmoid(%xf)\n" END("s"), "" },
    { "chain_to_table", FN_FINE "  %s = nn.hard_swish(%xf)\n" END("s"), "" },
    { "chain_to_table",
      FN_FINE "  %s = sigmoid(%xf)\n  %m = multiply(%s, %xf)\n  %t = tanh(%m)\n"
              "  %n = negative(%t)\n" END("n"),
      "" },
    { "chain_to_table",
      FN_FINE "  const @c : () f32 = [3]\n  %s = add(%xf, @c)\n  %t = clip(%s) {a_min=0, a_max=6}\n"
              "  %u = multiply(%t, %xf)\n" END("u"),
      "" },
    { "chain_to_table", FN "  const @c : () f32 = [0.3]\n  %s = multiply(%xf, @c)\n" END("s"), "" },
    { "chain_to_table",
      FN "  const @c : (4,1,1) f32 = [0.1, 0.2, -0.3, 0]\n  %s = nn.prelu(%xf, @c)\n" END("s"),
      "" },
    { "chain_to_table",
      FN_FINE "  const @c : (4) f32 = [0.1, 0.2, -0.3, 0]\n"
              "  %s = nn.bias_add(%xf, @c) {axis=1}\n  %t = sigmoid(%s)\n" END("t"),
      "" },
    { "chain_to_table",
      FN_FINE "  const @l : () f32 = [0.25]\n  %g = greater(%xf, @l)\n  %e = exp(%xf)\n"
              "  %w = where(%g, %e, %xf)\n" END("w"),
      "" },
    { "chain_to_table", FN_FINE "  %s = log(%xf)\n" END("s"), "" }, /* of negative numbers: NaN */
    { "chain_to_table", FN_16 "  %s = sigmoid(%xf)\n" END("s"), "" },
    { "chain_to_table", FN_16 "  %s = sqrt(%xf)\n  %m = multiply(%s, %xf)\n" END("m"), "" },
    { "chain_to_table", /* too many segments */
      FN_16 "  const @f : () f32 = [1000]\n  %m = multiply(%xf, @f)\n  %s = sin(%m)\n" FINE_AS("s"),
      NULL },
    { "chain_to_table", /* segments for each channel */
      FN_16 "  const @c : (3) f32 = [0.1, 0.2, -3]\n  %s = nn.prelu(%xf, @c)\n" END("s"), NULL },
    { "chain_to_table", /* of two axes */
      FN_FINE "  const @c : (4,1,5) f32 = crc32:00000000\n  %s = sigmoid(%xf)\n"
              "  %t = nn.prelu(%s, @c)\n" END("t"),
      NULL },
    { "chain_to_table", FN_U8 "  %s = divide(%af, %bf)\n" END("s"), NULL },

    { "quantize_of_move",
      FN
      "  %p = nn.avg_pool2d(%xf) {pool_size=[2,2]}\n  %r = reshape(%p) {shape=[2,80]}\n" END("r"),
      "" },
    { "table_of_table",
      FN_FINE "  %s = sigmoid(%xf)\n  %q = qnn.quantize(%s, @ys, @yz) {axis=0, saturate=true}\n"
              "  %d = qnn.dequantize(%q, @ys, @yz)\n  %t = tanh(%d)\n" END("t"),
      "" },

    { "recurrent_to_integer",
      FN_RNN("%y", "3", "  %o, %h = nn.rnn(%xf, %wf, %rf) {hidden_size=3}\n" UNIT("y", "o")), "" },
    { "recurrent_to_integer", /* all results, an initial state */
      FN_RNN("%y, %z", "9",
             DI "  %o, %h = nn.gru(%xf, %wf, %rf, _, _, %if) {hidden_size=3}\n" UNIT("y", "o")
                 UNIT("z", "h")),
      "" },
    { "recurrent_to_integer", /* the last states only, one of them initially known */
      FN_RNN("%y, %z", "12",
             DI "  const @c : (1,2,3) f32 = [1, -0.5, 0.3, 0, 0.7, 2]\n"
                "  %o, %h, %l = nn.lstm(%xf, %wf, %rf, _, _, %if, @c) {hidden_size=3}\n" UNIT(
                    "y", "h") UNIT("z", "l")),
      "" },
    { "recurrent_to_integer", /* y is read twice, in one way */
      FN_RNN("%y, %z", "12",
             "  %o, %h, %l = nn.lstm(%xf, %wf, %rf) {hidden_size=3}\n" UNIT("y", "o")
                 UNIT("z", "o")),
      "" },
    { "recurrent_to_integer", /* a result in floats */
      FN_RNN("%y, %h", "9", "  %o, %h = nn.gru(%xf, %wf, %rf) {hidden_size=3}\n" UNIT("y", "o")),
      NULL },
    { "recurrent_to_integer", /* biases are computed */
      FN_RNN("%y", "3", "  %o, %h = nn.rnn(%xf, %wf, %rf, %b) {hidden_size=3}\n" UNIT("y", "o")),
      NULL },
    { "recurrent_to_integer", /* weights around another number than 0 */
      FN_RNN("%y", "3",
             "  const @v : (1,3,3) i8 = crc32:00000000\n  %vf = qnn.dequantize(@v, @us, @uz)\n"
             "  %o, %h = nn.rnn(%xf, %vf, %rf) {hidden_size=3}\n" UNIT("y", "o")),
      NULL },
    { "recurrent_to_integer", /* a bias that 32 bits do not hold */
      FN_RNN("%y", "3",
             "  const @v : (1,6) f32 = [1, 2, 3, 1, 2, 600]\n"
             "  %o, %h = nn.rnn(%xf, %wf, %rf, @v) {hidden_size=3}\n" UNIT("y", "o")),
      NULL },

    /* sums that keep their places */
    { "sums_to_integer", FN "  %c = cumsum(%xf) {axis=2}\n" END("c"), "" },
    { "sums_to_integer", FN "  %c = cumsum(%xf) {axis=-1, exclusive=true, reverse=true}\n" END("c"),
      "" },
    { "sums_to_integer", FN_16 "  %c = cumsum(%xf) {axis=1}\n" END("c"), "" },
    { "sums_to_integer",
      FN_AB_SCATTER DA DB
      "  %c = scatter_elements(%af, @i, %bf) {axis=0, reduction=\"add\"}\n" END("c"),
      "" },
    { "sums_to_integer", /* into zeros, all of them to one place */
      FN_AB_SCATTER DA
      "  const @o : (4,3) f32 = [0,0,0,0,0,0,0,0,0,0,0,0]\n"
      "  %c = scatter_elements(@o, @i, %af) {axis=0, reduction=\"add\"}\n" END("c"),
      "" },
    { "sums_to_integer",
      FN_AB_SCATTER DA "  const @k : (5,1) i64 = [0, 1, 0, 0, 1]\n"
                       "  const @u : (5,3) f32 = [1.25, -3, 0.6, 2, 7, 1, 0, 0.1, -9, 1, 1, 1, "
                       "-2, 3, 4]\n"
                       "  %c = scatter_nd(%af, @k, @u) {reduction=\"add\"}\n" END("c"),
      "" },
    { "sums_to_integer",
      FN_AB_SCATTER DA DB
      "  %c = scatter_elements(%af, @i, %bf) {axis=0, reduction=\"mul\"}\n" END("c"),
      NULL },

    /* masks: what saturates does so with any number that is as small */
    { "binary_to_integer",
      FN_AB_MASK "  const @m : (2,3) f32 = [0, -inf, -3.4e38, 0.5, 0, -1e4]\n"
                 "  %c = add(%af, @m)\n" END("c"),
      "" },
    { "binary_to_integer",
      FN_AB_MASK "  const @m : (2,3) f32 = [0, inf, 3.4e38, 0.5, 0, 1e4]\n"
                 "  %c = subtract(%af, @m)\n" END("c"),
      "" },
    { "binary_to_integer",
      FN_AB_MASK "  const @m : (2,3) f32 = [0, inf, -inf, 0.5, 0, 1e4]\n"
                 "  %c = subtract(@m, %af)\n" END("c"),
      "" },
    { "binary_to_integer",
      FN_AB_MASK "  const @m : (2,3) f32 = [0, nan, 1, 0.5, 0, 1e4]\n"
                 "  %c = add(%af, @m)\n" END("c"),
      NULL },

    /* an index as a vector */
    { "choice_to_integer",
      "fn main(%i: (2,3) i64) -> (%y) {\n" OUT "  const @v : (2) f32 = [-0.5, 7]\n"
      "  %c = one_hot(%i, @v) {axis=1, depth=4}\n" END("c"),
      "" },

    /* 16 bits compared with 8 or 16 in another scale, with constants */
    { "compare_before_dequantize", FN_WIDE DB "  %y = greater(%af, %bf)\n}\n", "" },
    { "compare_before_dequantize", FN_WIDE DB "  %y = less_equal(%bf, %af)\n}\n", "" },
    { "compare_before_dequantize", FN_WIDE DB "  %y = equal(%af, %bf)\n}\n", "" },
    { "compare_before_dequantize",
      FN_WIDE "  const @l : (3) f32 = [0.25, 0.0007, -inf]\n  %y = greater_equal(%af, @l)\n}\n",
      "" },
    { "compare_before_dequantize",
      FN_WIDE "  const @l : (3) f32 = [-0.25, 1e9, 0.01]\n  %y = less(@l, %af)\n}\n", "" },
    { "compare_before_dequantize",
      FN_WIDE "  const @l : (3) f32 = [-0.25, nan, 0.01]\n  %y = less(@l, %af)\n}\n", NULL },

    /* places of codes */
    { "grid_sample_to_integer",
      "fn main(%x: (2,4,6,5) i8, %g: (2,3,4,2) i16) -> (%y) {\n" IN OUT
      "  const @gs : () f32 = [0.00005]\n  const @gz : () i16 = [100]\n" DX
      "  %gf = qnn.dequantize(%g, @gs, @gz)\n"
      "  %s = image.grid_sample(%xf, %gf) {method=\"linear\", padding_mode=\"zeros\"}\n" END("s"),
      "" },
    { "grid_sample_to_integer", /* places beyond all images */
      "fn main(%x: (2,4,6,5) i8, %g: (2,3,4,2) i16) -> (%y) {\n" IN OUT
      "  const @gs : () f32 = [1]\n  const @gz : () i16 = [100]\n" DX
      "  %gf = qnn.dequantize(%g, @gs, @gz)\n"
      "  %s = image.grid_sample(%xf, %gf) {method=\"linear\", padding_mode=\"zeros\"}\n" END("s"),
      NULL },

    /* products of a few */
    { "prod_to_integer", FN_AB_SCATTER DA "  %c = prod(%af) {axis=[0]}\n" END("c"), "" },
    { "prod_to_integer", FN_AB_SCATTER DA "  %c = prod(%af) {axis=[1], keepdims=true}\n" END("c"),
      "" },
    { "prod_to_integer", FN_16 "  %c = prod(%xf) {axis=[1]}\n" END("c"), "" },
    { "prod_to_integer", FN "  %c = prod(%xf) {axis=[2,3]}\n" END("c"), NULL },

    /* numbers with a scale are finite */
    { "predicate_before_dequantize", FN "  %y = isnan(%xf)\n}\n", "" },
    { "predicate_before_dequantize",
      FN "  %y = isinf(%xf) {detect_negative=true, detect_positive=true}\n}\n", "" },
    { "predicate_before_dequantize", FN "  %y = isfinite(%xf)\n}\n", "" },
};

static bool has_floats(const struct module *module)
{
    for (const struct node *n = module->main->first; n; n = n->next)
        for (int i = 0; i < n->n_outputs; i++)
            if (dtype_is_float(n->outputs[i]->type.dtype))
                return true;
    return false;
}

START_TEST(no_float_is_left)
{
    const struct pass_case *row = &rows[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *before = graph_parse(ctx, row->before, 1);
    struct module *after = graph_parse(ctx, row->before, 1);
    const long *fired;

    ck_assert_msg(pipeline_run_one(after, "fake_quant_to_integer"), "%s\n%s", row->before,
                  expect_text(ctx));
    fired = map_get(&after->fired, row->rule);
    ck_assert_msg((fired && *fired > 0) == (row->after != NULL), "%s\n%s", row->rule, row->before);
    ck_assert_msg(!row->after || !has_floats(after), "%s", graph_text(after, true));
    for (unsigned seed = 0; seed < 5; seed++)
        fake_quant_compare(after, before, seed);
    module_free(after);
    module_free(before);
    ctx_free(ctx);
}
END_TEST

/* No rule, since it has two results. Behind a reshape: rules go first. */
START_TEST(pairs_are_chosen_from_codes)
{
    static const char *const texts[] = {
        "fn main(%x: (2,4,6,5) i8) -> (%v, %i) {\n" IN DX
        "  %v, %i = topk(%xf) {axis=2, k=3, largest=true, sorted=true} : (2,4,3,5) f32, (2,4,3,5) "
        "i64\n}\n",
        "fn main(%x: (2,4,6,5) i8) -> (%y, %i) {\n" IN OUT DX "  %r = reshape(%xf) {shape=[8,30]}\n"
        "  %v, %i = topk(%r) {axis=1, k=7, largest=false, sorted=true} : (8,7) f32, (8,7) i64\n"
        "  %p = reshape(%v) {shape=[56]}\n" END("p"),
        "fn main(%x: (2,4,6,5) i8) -> (%y, %i) {\n" IN OUT DX
        "  %v, %i = nn.max_pool_indices(%xf) {pool_size=[2,3], strides=[1,2], padding=[1,1,0,1]} : "
        "(2,4,6,3) f32, (2,4,6,3) i64\n" END("v"),
    };
    struct ctx *ctx = ctx_new(NULL);
    struct module *before = graph_parse(ctx, texts[_i], 1);
    struct module *after = graph_parse(ctx, texts[_i], 1);
    const struct node *pair;

    ck_assert_msg(pipeline_run_one(after, "fake_quant_to_integer"), "%s", expect_text(ctx));
    for (pair = after->main->first; pair->n_outputs != 2;)
        pair = pair->next;
    ck_assert_int_eq(pair->inputs[0]->type.dtype, DTYPE_I8);
    ck_assert_msg(_i == 0 || !has_floats(after), "%s", graph_text(after, true));
    for (unsigned seed = 0; seed < 5; seed++)
        fake_quant_compare(after, before, seed);
    module_free(after);
    module_free(before);
    ctx_free(ctx);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = fake_quant_to_integer_rules(&n);

    pass_case_coverage(rules, n, "arg_before_dequantize", "table_of_table", rows, N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake_quant_to_integer: averages, tables, choices");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, no_float_is_left, 0, N_ROWS(rows));
    tcase_add_loop_test(tests, pairs_are_chosen_from_codes, 0, 3);
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
