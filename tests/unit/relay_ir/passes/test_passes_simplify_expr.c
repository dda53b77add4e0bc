#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

static const struct pass_case rows[] = {
    /* a zero of any shape that does not enlarge */
    { "drop_add_zero",
      "fn main(%x: (2,3) f32) -> (%z) {\n"
      "  const @c : (1,3) f32 = [0, -0, 0]\n"
      "  %y = add(%x, @c) : (2,3) f32\n"
      "  %z = nn.relu(%y) : (2,3) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (2,3) f32\n"
      "}\n" },

    /* the zero enlarges the result */
    { "drop_add_zero",
      "fn main(%x: (1,3) f32) -> (%y) {\n"
      "  const @c : (2,1) f32 = [0, -0]\n"
      "  %y = add(%x, @c) : (2,3) f32\n"
      "}\n",
      NULL },

    /* products and quotients */
    { "drop_multiply_one",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  const @c : () f32 = [1]\n"
      "  %y = multiply(%x, @c) : (2) f32\n"
      "  %d = divide(%y, @c) : (2) f32\n"
      "  %z = nn.relu(%d) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (2) f32\n"
      "}\n" },

    /* one divided by x */
    { "drop_multiply_one",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  const @c : () f32 = [1]\n"
      "  %y = divide(@c, %x) : (2) f32\n"
      "}\n",
      NULL },

    /* the first power */
    { "drop_power_one",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  const @c : () f32 = [1]\n"
      "  %y = power(%x, @c) : (2) f32\n"
      "  %z = nn.relu(%y) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (2) f32\n"
      "}\n" },

    /* twice */
    { "double_negative",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %m = negative(%x) : (2) f32\n"
      "  %y = negative(%m) : (2) f32\n"
      "  %z = nn.relu(%y) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (2) f32\n"
      "}\n" },

    /* on either side */
    { "add_negative",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %m = negative(%x) : (2) f32 from Neg #0\n"
      "  %s = add(%m, %y) : (2) f32 from Add #1\n"
      "}\n",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %s = subtract(%y, %x) : (2) f32  from Neg #0 + Add #1\n"
      "}\n" },

    /* the negative is needed anyway */
    { "add_negative",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%s, %m) {\n"
      "  %m = negative(%x) : (2) f32\n"
      "  %s = add(%m, %y) : (2) f32\n"
      "}\n",
      NULL },

    /* on the right */
    { "subtract_negative",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %m = negative(%x) : (2) f32\n"
      "  %s = subtract(%y, %m) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %s = add(%y, %x) : (2) f32\n"
      "}\n" },

    /* on the left */
    { "subtract_negative",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %m = negative(%x) : (2) f32\n"
      "  %s = subtract(%m, %y) : (2) f32\n"
      "}\n",
      NULL },

    /* always the first, always the second */
    { "select_branch",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  const @t : (1) bool = [1]\n"
      "  const @f : () bool = [0]\n"
      "  %a = where(@t, %x, %y) : (2) f32\n"
      "  %b = where(@f, %x, %a) : (2) f32\n"
      "  %s = add(%b, %y) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %s = add(%x, %y) : (2) f32\n"
      "}\n" },

    /* sometimes */
    { "select_branch",
      "fn main(%x: (2) f32, %y: (2) f32) -> (%a) {\n"
      "  const @t : (2) bool = [1, 0]\n"
      "  %a = where(@t, %x, %y) : (2) f32\n"
      "}\n",
      NULL },

    /* the branch is smaller than the result */
    { "select_branch",
      "fn main(%x: (1) f32, %y: (2) f32) -> (%a) {\n"
      "  const @t : () bool = [1]\n"
      "  %a = where(@t, %x, %y) : (2) f32\n"
      "}\n",
      NULL },

    /* under the opposite condition */
    { "choose_the_other",
      "fn main(%c: () bool, %x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %n = logical_not(%c) : () bool from Not #0\n"
      "  %a = negative(%x) : (2) f32 from Neg #1\n"
      "  %s = if(%n, %a, %y) : (2) f32 from If #2\n"
      "}\n",
      "fn main(%c: () bool, %x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %a = negative(%x) : (2) f32 from Neg #1\n"
      "  %s = if(%c, %y, %a) : (2) f32 from Not #0 + If #2\n"
      "}\n" },

    /* the condition itself */
    { "choose_the_other",
      "fn main(%c: () bool, %x: (2) f32, %y: (2) f32) -> (%s) {\n"
      "  %a = negative(%x) : (2) f32\n"
      "  %s = if(%c, %a, %y) : (2) f32\n"
      "}\n",
      NULL },

    /* the other operand has the shape */
    { "drop_broadcast_operand",
      "fn main(%x: (1,3) f32, %y: (2,3) f32) -> (%s) {\n"
      "  %b = broadcast_to(%x) {shape=[2,3]} : (2,3) f32 from Expand #0\n"
      "  %s = multiply(%b, %y) : (2,3) f32 from Mul #1\n"
      "}\n",
      "fn main(%x: (1,3) f32, %y: (2,3) f32) -> (%s) {\n"
      "  %s = multiply(%x, %y) : (2,3) f32  from Expand #0 + Mul #1\n"
      "}\n" },

    /* nothing else has the shape */
    { "drop_broadcast_operand",
      "fn main(%x: (1,3) f32, %y: (1,3) f32) -> (%s) {\n"
      "  %b = broadcast_to(%x) {shape=[2,3]} : (2,3) f32\n"
      "  %s = multiply(%b, %y) : (2,3) f32\n"
      "}\n",
      NULL },

    /* both operands */
    { "transpose_into_matmul",
      "fn main(%x: (2,4,3) f32, %y: (2,5,4) f32) -> (%m) {\n"
      "  %a = transpose(%x) {axes=[0,2,1]} : (2,3,4) f32 from Transpose #0\n"
      "  %b = transpose(%y) {axes=[0,2,1]} : (2,4,5) f32 from Transpose #1\n"
      "  %m = nn.matmul(%a, %b) {transpose_a=false, transpose_b=false} : (2,3,5) f32 from "
      "MatMul #2\n"
      "}\n",
      "fn main(%x: (2,4,3) f32, %y: (2,5,4) f32) -> (%m) {\n"
      "  %m = nn.matmul(%x, %y) {transpose_a=true, transpose_b=true} : (2,3,5) f32  from "
      "Transpose #0 + Transpose #1 + MatMul #2\n"
      "}\n" },

    /* a flag is turned back */
    { "transpose_into_matmul",
      "fn main(%x: (3,4) f32, %y: (4,5) f32) -> (%m) {\n"
      "  %a = transpose(%x) {axes=[1,0]} : (4,3) f32\n"
      "  %m = nn.matmul(%a, %y) {transpose_a=true, transpose_b=false} : (3,5) f32\n"
      "}\n",
      "fn main(%x: (3,4) f32, %y: (4,5) f32) -> (%m) {\n"
      "  %m = nn.matmul(%x, %y) {transpose_a=false, transpose_b=false} : (3,5) f32\n"
      "}\n" },

    /* a batch dim moves */
    { "transpose_into_matmul",
      "fn main(%x: (3,2,4) f32, %y: (2,4,5) f32) -> (%m) {\n"
      "  %a = transpose(%x) {axes=[1,0,2]} : (2,3,4) f32\n"
      "  %m = nn.matmul(%a, %y) {transpose_a=false, transpose_b=false} : (2,3,5) f32\n"
      "}\n",
      NULL },

    /* the stable form */
    { "find_softmax",
      "fn main(%x: (2,5) f32) -> (%y) {\n"
      "  %m = max(%x) {axis=[1], keepdims=true} : (2,1) f32 from ReduceMax #0\n"
      "  %d = subtract(%x, %m) : (2,5) f32 from Sub #1\n"
      "  %e = exp(%d) : (2,5) f32 from Exp #2\n"
      "  %s = sum(%e) {axis=[1], keepdims=true} : (2,1) f32 from ReduceSum #3\n"
      "  %y = divide(%e, %s) : (2,5) f32 from Div #4\n"
      "}\n",
      "fn main(%x: (2,5) f32) -> (%y) {\n"
      "  %y = nn.softmax(%x) {axis=1} : (2,5) f32  from ReduceMax #0 + Sub #1 + Exp #2 + "
      "ReduceSum #3 + Div #4\n"
      "}\n" },

    /* maximum and sum along different axes */
    { "find_softmax",
      "fn main(%x: (2,5) f32) -> (%y) {\n"
      "  %m = max(%x) {axis=[1], keepdims=true} : (2,1) f32 from ReduceMax #0\n"
      "  %d = subtract(%x, %m) : (2,5) f32 from Sub #1\n"
      "  %e = exp(%d) : (2,5) f32 from Exp #2\n"
      "  %s = sum(%e) {axis=[0], keepdims=true} : (1,5) f32 from ReduceSum #3\n"
      "  %y = divide(%e, %s) : (2,5) f32 from Div #4\n"
      "}\n",
      NULL },

    /* without the maximum it may overflow */
    { "find_softmax",
      "fn main(%x: (2,5) f32) -> (%y) {\n"
      "  %e = exp(%x) : (2,5) f32\n"
      "  %s = sum(%e) {axis=[1], keepdims=true} : (2,1) f32\n"
      "  %y = divide(%e, %s) : (2,5) f32\n"
      "}\n",
      NULL },

    /* as PyTorch writes it */
    { "find_layer_norm",
      "fn main(%x: (2,3,8) f32) -> (%y) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  const @beta : (8) f32 = crc32:00000000\n"
      "  const @two : () f32 = [2]\n"
      "  const @eps : () f32 = [1e-05]\n"
      "  %m = mean(%x) {axis=[2], keepdims=true} : (2,3,1) f32 from ReduceMean #0\n"
      "  %d = subtract(%x, %m) : (2,3,8) f32 from Sub #1\n"
      "  %p = power(%d, @two) : (2,3,8) f32 from Pow #2\n"
      "  %v = mean(%p) {axis=[2], keepdims=true} : (2,3,1) f32 from ReduceMean #3\n"
      "  %e = add(%v, @eps) : (2,3,1) f32 from Add #4\n"
      "  %r = sqrt(%e) : (2,3,1) f32 from Sqrt #5\n"
      "  %n = divide(%d, %r) : (2,3,8) f32 from Div #6\n"
      "  %g = multiply(%n, @gamma) : (2,3,8) f32 from Mul #7\n"
      "  %y = add(%g, @beta) : (2,3,8) f32 from Add #8\n"
      "}\n",
      "fn main(%x: (2,3,8) f32) -> (%y) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  const @beta : (8) f32 = crc32:00000000\n"
      "  %y = nn.layer_norm(%x, @gamma, @beta) {axis=2, groups=1, "
      "epsilon=9.9999997473787516e-06} : (2,3,8) f32  from ReduceMean #0 + Sub #1 + Pow #2 + "
      "ReduceMean #3 + Add #4 + Sqrt #5 + Div #6 + Mul #7 + Add #8\n"
      "}\n" },

    /* with rsqrt and a square */
    { "layer_norm_beta",
      "fn main(%x: (2,3,8) f32) -> (%y) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  const @beta : (8) f32 = crc32:00000000\n"
      "  const @two : () f32 = [2]\n"
      "  const @eps : () f32 = [1e-05]\n"
      "  %m = mean(%x) {axis=[2], keepdims=true} : (2,3,1) f32 from ReduceMean #0\n"
      "  %d = subtract(%x, %m) : (2,3,8) f32 from Sub #1\n"
      "  %p = multiply(%d, %d) : (2,3,8) f32 from Mul #2\n"
      "  %v = mean(%p) {axis=[2], keepdims=true} : (2,3,1) f32 from ReduceMean #3\n"
      "  %e = add(%v, @eps) : (2,3,1) f32 from Add #4\n"
      "  %r = rsqrt(%e) : (2,3,1) f32\n"
      "  %n = multiply(%d, %r) : (2,3,8) f32\n"
      "  %g = multiply(@gamma, %n) : (2,3,8) f32 from Mul #7\n"
      "  %y = add(%g, @beta) : (2,3,8) f32 from Add #8\n"
      "}\n",
      "fn main(%x: (2,3,8) f32) -> (%y) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  const @beta : (8) f32 = crc32:00000000\n"
      "  %y = nn.layer_norm(%x, @gamma, @beta) {axis=2, groups=1, "
      "epsilon=9.9999997473787516e-06} : (2,3,8) f32  from ReduceMean #0 + Sub #1 + Mul #2 + "
      "ReduceMean #3 + Add #4 + Mul #7 + Add #8\n"
      "}\n" },

    /* with the reciprocal of a root */
    { "find_layer_norm",
      "fn main(%x: (2,3,8) f32) -> (%y) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  const @beta : (8) f32 = crc32:00000000\n"
      "  const @two : () f32 = [2]\n"
      "  const @eps : () f32 = [1e-05]\n"
      "  %m = mean(%x) {axis=[2], keepdims=true} : (2,3,1) f32 from ReduceMean #0\n"
      "  %d = subtract(%x, %m) : (2,3,8) f32 from Sub #1\n"
      "  %p = multiply(%d, %d) : (2,3,8) f32 from Mul #2\n"
      "  %v = mean(%p) {axis=[2], keepdims=true} : (2,3,1) f32 from ReduceMean #3\n"
      "  %e = add(%v, @eps) : (2,3,1) f32 from Add #4\n"
      "  %q = sqrt(%e) : (2,3,1) f32\n"
      "  %r = reciprocal(%q) : (2,3,1) f32\n"
      "  %n = multiply(%d, %r) : (2,3,8) f32\n"
      "  %g = multiply(%n, @gamma) : (2,3,8) f32 from Mul #7\n"
      "  %y = add(%g, @beta) : (2,3,8) f32 from Add #8\n"
      "}\n",
      "fn main(%x: (2,3,8) f32) -> (%y) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  const @beta : (8) f32 = crc32:00000000\n"
      "  %y = nn.layer_norm(%x, @gamma, @beta) {axis=2, groups=1, "
      "epsilon=9.9999997473787516e-06} : (2,3,8) f32  from ReduceMean #0 + Sub #1 + Mul #2 + "
      "ReduceMean #3 + Add #4 + Mul #7 + Add #8\n"
      "}\n" },

    /* the mean of something else */
    { "find_layer_norm",
      "fn main(%x: (2,3,8) f32) -> (%y) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  const @beta : (8) f32 = crc32:00000000\n"
      "  const @two : () f32 = [2]\n"
      "  const @eps : () f32 = [1e-05]\n"
      "  %m = mean(%x) {axis=[2], keepdims=true} : (2,3,1) f32 from ReduceMean #0\n"
      "  %d = subtract(%x, %m) : (2,3,8) f32 from Sub #1\n"
      "  %p = power(%x, @two) : (2,3,8) f32 from Pow #2\n"
      "  %v = mean(%p) {axis=[2], keepdims=true} : (2,3,1) f32 from ReduceMean #3\n"
      "  %e = add(%v, @eps) : (2,3,1) f32 from Add #4\n"
      "  %r = sqrt(%e) : (2,3,1) f32 from Sqrt #5\n"
      "  %n = divide(%d, %r) : (2,3,8) f32 from Div #6\n"
      "  %g = multiply(%n, @gamma) : (2,3,8) f32 from Mul #7\n"
      "  %y = add(%g, @beta) : (2,3,8) f32 from Add #8\n"
      "}\n",
      NULL },

    /* a mean over another axis */
    { "find_layer_norm",
      "fn main(%x: (2,8,8) f32) -> (%g) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  const @eps : () f32 = [1]\n"
      "  %m = mean(%x) {axis=[1], keepdims=true} : (2,1,8) f32\n"
      "  %d = subtract(%x, %m) : (2,8,8) f32\n"
      "  %p = multiply(%d, %d) : (2,8,8) f32\n"
      "  %v = mean(%p) {axis=[1], keepdims=true} : (2,1,8) f32\n"
      "  %e = add(%v, @eps) : (2,1,8) f32\n"
      "  %r = sqrt(%e) : (2,1,8) f32\n"
      "  %n = divide(%d, %r) : (2,8,8) f32\n"
      "  %g = multiply(%n, @gamma) : (2,8,8) f32\n"
      "}\n",
      NULL },

    /* not a constant */
    { "layer_norm_beta",
      "fn main(%x: (2,8) f32, %b: (8) f32) -> (%y) {\n"
      "  const @gamma : (8) f32 = crc32:00000000\n"
      "  %n = nn.layer_norm(%x, @gamma) {axis=1, groups=1, epsilon=1e-05} : (2,8) f32\n"
      "  %y = add(%n, %b) : (2,8) f32\n"
      "}\n",
      NULL },

    /* group norm as PyTorch writes it: 2 groups of 3 channels */
    { "find_group_norm",
      "fn main(%x: (2,6,2,2) f32) -> (%y) {\n"
      "  const @one : (2) f32 = [1, ...]\n"
      "  const @zero : (2) f32 = [0, ...]\n"
      "  const @gamma : (6,1,1) f32 = crc32:00000000\n"
      "  const @beta : (6,1,1) f32 = crc32:00000000\n"
      "  %g = reshape(%x) {shape=[2,2,12]} : (2,2,12) f32 from Reshape #0\n"
      "  %n = nn.instance_norm(%g, @one, @zero) {axis=1, groups=0, epsilon=1e-05} : (2,2,12) f32 "
      "from InstanceNormalization #1\n"
      "  %r = reshape(%n) {shape=[2,6,2,2]} : (2,6,2,2) f32 from Reshape #2\n"
      "  %s = multiply(%r, @gamma) : (2,6,2,2) f32 from Mul #3\n"
      "  %y = add(%s, @beta) : (2,6,2,2) f32 from Add #4\n"
      "}\n",
      "fn main(%x: (2,6,2,2) f32) -> (%y) {\n"
      "  const @gamma : (6) f32 = crc32:00000000\n"
      "  const @beta : (6) f32 = crc32:00000000\n"
      "  %y = nn.group_norm(%x, @gamma, @beta) {axis=1, groups=2, epsilon=1e-05} : (2,6,2,2) f32  "
      "from Reshape #0 + InstanceNormalization #1 + Reshape #2 + Mul #3 + Add #4\n"
      "}\n" },

    /* scales and shifts of groups become those of their channels */
    { "find_group_norm",
      "fn main(%x: (2,4,3) f32) -> (%y) {\n"
      "  const @s : (2) f32 = [2, 3]\n"
      "  const @b : (2) f32 = [5, 7]\n"
      "  %g = reshape(%x) {shape=[2,2,6]} : (2,2,6) f32\n"
      "  %n = nn.instance_norm(%g, @s, @b) {axis=1, groups=0, epsilon=1e-05} : (2,2,6) f32\n"
      "  %y = reshape(%n) {shape=[2,4,3]} : (2,4,3) f32\n"
      "}\n",
      "fn main(%x: (2,4,3) f32) -> (%y) {\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %y = nn.group_norm(%x, @s, @b) {axis=1, groups=2, epsilon=1e-05} : (2,4,3) f32\n"
      "}\n" },

    /* images are joined: a mean is over both */
    { "find_group_norm",
      "fn main(%x: (2,4,3) f32) -> (%y) {\n"
      "  const @s : (2) f32 = [2, 3]\n"
      "  const @b : (2) f32 = [5, 7]\n"
      "  %g = reshape(%x) {shape=[1,2,12]} : (1,2,12) f32\n"
      "  %n = nn.instance_norm(%g, @s, @b) {axis=1, groups=0, epsilon=1e-05} : (1,2,12) f32\n"
      "  %y = reshape(%n) {shape=[2,4,3]} : (2,4,3) f32\n"
      "}\n",
      NULL },

    /* groups of half a channel */
    { "find_group_norm",
      "fn main(%x: (1,2,4) f32) -> (%y) {\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %g = reshape(%x) {shape=[1,4,2]} : (1,4,2) f32\n"
      "  %n = nn.instance_norm(%g, @s, @b) {axis=1, groups=0, epsilon=1e-05} : (1,4,2) f32\n"
      "  %y = reshape(%n) {shape=[1,2,4]} : (1,2,4) f32\n"
      "}\n",
      NULL },

    /* one number for all channels */
    { "scale_of_group_norm",
      "fn main(%x: (1,4,3) f32) -> (%y) {\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @c : () f32 = [3]\n"
      "  %n = nn.instance_norm(%x, @s, @b) {axis=1, groups=0, epsilon=1e-05} : (1,4,3) f32 from "
      "InstanceNormalization #0\n"
      "  %y = multiply(%n, @c) : (1,4,3) f32 from Mul #1\n"
      "}\n",
      "fn main(%x: (1,4,3) f32) -> (%y) {\n"
      "  const @c : (4) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %y = nn.instance_norm(%x, @c, @b) {axis=1, groups=0, epsilon=1e-05} : (1,4,3) f32  from "
      "InstanceNormalization #0 + Mul #1\n"
      "}\n" },

    { "shift_of_group_norm",
      "fn main(%x: (1,4,3) f32) -> (%y) {\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @c : (1,4,1) f32 = crc32:00000000\n"
      "  %n = nn.group_norm(%x, @s, @b) {axis=1, groups=2, epsilon=1e-05} : (1,4,3) f32 from "
      "GroupNormalization #0\n"
      "  %y = add(%n, @c) : (1,4,3) f32 from Add #1\n"
      "}\n",
      "fn main(%x: (1,4,3) f32) -> (%y) {\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @c : (4) f32 = crc32:00000000\n"
      "  %y = nn.group_norm(%x, @s, @c) {axis=1, groups=2, epsilon=1e-05} : (1,4,3) f32  from "
      "GroupNormalization #0 + Add #1\n"
      "}\n" },

    /* a number for each place */
    { "shift_of_group_norm",
      "fn main(%x: (1,4,3) f32) -> (%y) {\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @c : (3) f32 = crc32:00000000\n"
      "  %n = nn.group_norm(%x, @s, @b) {axis=1, groups=2, epsilon=1e-05} : (1,4,3) f32\n"
      "  %y = add(%n, @c) : (1,4,3) f32\n"
      "}\n",
      NULL },

    /* what is not multiplied is read as well */
    { "scale_of_group_norm",
      "fn main(%x: (1,4,3) f32) -> (%y, %n) {\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @c : () f32 = [3]\n"
      "  %n = nn.group_norm(%x, @s, @b) {axis=1, groups=2, epsilon=1e-05} : (1,4,3) f32\n"
      "  %y = multiply(%n, @c) : (1,4,3) f32\n"
      "}\n",
      NULL },
};

START_TEST(definitions_become_operators)
{
    pass_case_check("simplify_expr", &rows[_i]);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = simplify_expr_rules(&n);

    pass_case_coverage(rules, n, "drop_add_zero", "shift_of_group_norm", rows, N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simplify_expr");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, definitions_become_operators, 0, N_ROWS(rows));
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
