#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

#define CODES                                                                                      \
    "  const @s : () f32 = [0.5]\n"                                                                \
    "  const @z : () i8 = [0]\n"                                                                   \
    "  const @w : (1,3,2) i8 = [1, 2, 3, 4, 5, 6]\n"                                               \
    "  const @r : (1,3,3) i8 = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
#define RNN                                                                                        \
    "{hidden_size=3, direction=\"forward\", activations=\"Tanh\", clip=0, "                        \
    "linear_before_reset=false, input_forget=false, activation_alpha=[0], activation_beta=[0], "   \
    "batch_major=false}"

static const struct pass_case rows[] = {
    /* a convolution with bias, activation and residual; constants are bound inside */
    { NULL,
      "fn main(%x: (1,2,3,3) f32, %r: (1,4,3,3) f32) -> (%z as \"out\") {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32 from Conv \"c\" #0\n"
      "  %a = nn.bias_add(%c, @b) {axis=1} : (1,4,3,3) f32 from Conv \"c\" #0\n"
      "  %s = add(%a, %r) : (1,4,3,3) f32 from Add \"s\" #1\n"
      "  %z = nn.relu(%s) : (1,4,3,3) f32 from Relu \"z\" #2\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f32, %r: (1,4,3,3) f32) -> (%z as \"out\") {\n"
      "  %z = call z(%x, %r) : (1,4,3,3) f32  from Conv \"c\" #0 + Add \"s\" #1 + Relu "
      "\"z\" #2\n"
      "}\n"
      "\n"
      "fn z(%x: (1,2,3,3) f32, %r: (1,4,3,3) f32) -> (%z) compiler \"c\" composite "
      "\"c.conv2d_bias_add_add_relu\" {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32  from Conv \"c\" #0\n"
      "  %a = nn.bias_add(%c, @b) {axis=1} : (1,4,3,3) f32  from Conv \"c\" #0\n"
      "  %s = add(%a, %r) : (1,4,3,3) f32  from Add \"s\" #1\n"
      "  %z = nn.relu(%s) : (1,4,3,3) f32  from Relu \"z\" #2\n"
      "}\n" },

    /* silu as two nodes: the value that both read stays inside */
    { NULL,
      "fn main(%x: (1,2,3,3) f32) -> (%z) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "  %s = sigmoid(%c) : (1,4,3,3) f32\n"
      "  %z = multiply(%c, %s) : (1,4,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f32) -> (%z) {\n"
      "  %z = call z(%x) : (1,4,3,3) f32\n"
      "}\n"
      "\n"
      "fn z(%x: (1,2,3,3) f32) -> (%z) compiler \"c\" composite "
      "\"c.conv2d_sigmoid_multiply\" {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "  %s = sigmoid(%c) : (1,4,3,3) f32\n"
      "  %z = multiply(%c, %s) : (1,4,3,3) f32\n"
      "}\n" },

    /* the other operand of the addition comes later: the call moves behind it */
    { NULL,
      "fn main(%x: (1,4,3,3) f32) -> (%s) {\n"
      "  const @v : (4,4,1,1) f32 = crc32:00000000\n"
      "  const @w : (4,4,1,1) f32 = crc32:00000000\n"
      "  %a = nn.conv2d(%x, @v) " CONV " : (1,4,3,3) f32\n"
      "  %b = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "  %s = add(%a, %b) : (1,4,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,4,3,3) f32) -> (%s) {\n"
      "  %b = call b(%x) : (1,4,3,3) f32\n"
      "  %s = call s(%x, %b) : (1,4,3,3) f32\n"
      "}\n"
      "\n"
      "fn b(%x: (1,4,3,3) f32) -> (%b) compiler \"c\" composite \"c.conv2d\" {\n"
      "  const @w : (4,4,1,1) f32 = crc32:00000000\n"
      "  %b = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "}\n"
      "\n"
      "fn s(%x: (1,4,3,3) f32, %b: (1,4,3,3) f32) -> (%s) compiler \"c\" composite "
      "\"c.conv2d_add\" {\n"
      "  const @v : (4,4,1,1) f32 = crc32:00000000\n"
      "  %a = nn.conv2d(%x, @v) " CONV " : (1,4,3,3) f32\n"
      "  %s = add(%a, %b) : (1,4,3,3) f32\n"
      "}\n" },

    /* a value that is needed elsewhere ends the region, else there would be a cycle */
    { NULL,
      "fn main(%x: (1,4,3,3) f32) -> (%s) {\n"
      "  const @v : (4,4,1,1) f32 = crc32:00000000\n"
      "  const @w : (4,4,1,1) f32 = crc32:00000000\n"
      "  %a = nn.conv2d(%x, @v) " CONV " : (1,4,3,3) f32\n"
      "  %r = nn.relu(%a) : (1,4,3,3) f32\n"
      "  %b = nn.conv2d(%r, @w) " CONV " : (1,4,3,3) f32\n"
      "  %s = add(%r, %b) : (1,4,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,4,3,3) f32) -> (%s) {\n"
      "  %r = call r(%x) : (1,4,3,3) f32\n"
      "  %s = call s(%r) : (1,4,3,3) f32\n"
      "}\n"
      "\n"
      "fn r(%x: (1,4,3,3) f32) -> (%r) compiler \"c\" composite \"c.conv2d_relu\" {\n"
      "  const @v : (4,4,1,1) f32 = crc32:00000000\n"
      "  %a = nn.conv2d(%x, @v) " CONV " : (1,4,3,3) f32\n"
      "  %r = nn.relu(%a) : (1,4,3,3) f32\n"
      "}\n"
      "\n"
      "fn s(%r: (1,4,3,3) f32) -> (%s) compiler \"c\" composite \"c.conv2d_add\" {\n"
      "  const @w : (4,4,1,1) f32 = crc32:00000000\n"
      "  %b = nn.conv2d(%r, @w) " CONV " : (1,4,3,3) f32\n"
      "  %s = add(%r, %b) : (1,4,3,3) f32\n"
      "}\n" },

    /* a result of main is not hidden inside */
    { NULL,
      "fn main(%x: (2,3) f32) -> (%r, %d) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %d = nn.dense(%x, @w) : (2,4) f32\n"
      "  %r = nn.relu(%d) : (2,4) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%r, %d) {\n"
      "  %d = call d(%x) : (2,4) f32\n"
      "  %r = call r(%d) : (2,4) f32\n"
      "}\n"
      "\n"
      "fn d(%x: (2,3) f32) -> (%d) compiler \"c\" composite \"c.dense\" {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %d = nn.dense(%x, @w) : (2,4) f32\n"
      "}\n"
      "\n"
      "fn r(%d: (2,4) f32) -> (%r) compiler \"c\" composite \"c.relu\" {\n"
      "  %r = nn.relu(%d) : (2,4) f32\n"
      "}\n" },

    /* another shape: a region of its own */
    { NULL,
      "fn main(%x: (1,4,3,3) f32) -> (%s) {\n"
      "  %g = nn.global_avg_pool(%x) : (1,4,1,1) f32\n"
      "  %h = sigmoid(%g) : (1,4,1,1) f32\n"
      "  %s = multiply(%x, %h) : (1,4,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,4,3,3) f32) -> (%s) {\n"
      "  %h = call h(%x) : (1,4,1,1) f32\n"
      "  %s = call s(%x, %h) : (1,4,3,3) f32\n"
      "}\n"
      "\n"
      "fn h(%x: (1,4,3,3) f32) -> (%h) compiler \"c\" composite "
      "\"c.global_avg_pool_sigmoid\" {\n"
      "  %g = nn.global_avg_pool(%x) : (1,4,1,1) f32\n"
      "  %h = sigmoid(%g) : (1,4,1,1) f32\n"
      "}\n"
      "\n"
      "fn s(%x: (1,4,3,3) f32, %h: (1,4,1,1) f32) -> (%s) compiler \"c\" composite "
      "\"c.multiply\" {\n"
      "  %s = multiply(%x, %h) : (1,4,3,3) f32\n"
      "}\n" },

    /* a chain with its producers, element types changing inside */
    { NULL,
      "fn main(%x: (6) f32, %y: (6) f32) -> (%s) {\n"
      "  %a = exp(%x) : (6) f32\n"
      "  %b = tanh(%y) : (6) f32\n"
      "  %c = greater(%a, %b) : (6) bool\n"
      "  %s = where(%c, %a, %b) : (6) f32\n"
      "}\n",
      "fn main(%x: (6) f32, %y: (6) f32) -> (%s) {\n"
      "  %s = call s(%x, %y) : (6) f32\n"
      "}\n"
      "\n"
      "fn s(%x: (6) f32, %y: (6) f32) -> (%s) compiler \"c\" composite "
      "\"c.exp_tanh_greater_where\" {\n"
      "  %a = exp(%x) : (6) f32\n"
      "  %b = tanh(%y) : (6) f32\n"
      "  %c = greater(%a, %b) : (6) bool\n"
      "  %s = where(%c, %a, %b) : (6) f32\n"
      "}\n" },

    /* one outer value read twice is one parameter */
    { NULL,
      "fn main(%x: (6) f32) -> (%s) {\n"
      "  %a = exp(%x) : (6) f32\n"
      "  %s = multiply(%a, %x) : (6) f32\n"
      "}\n",
      "fn main(%x: (6) f32) -> (%s) {\n"
      "  %s = call s(%x) : (6) f32\n"
      "}\n"
      "\n"
      "fn s(%x: (6) f32) -> (%s) compiler \"c\" composite \"c.exp_multiply\" {\n"
      "  %a = exp(%x) : (6) f32\n"
      "  %s = multiply(%a, %x) : (6) f32\n"
      "}\n" },

    /* quantised values are decoded where they are read: in front of an anchor, and behind it */
    { NULL,
      "fn main(%x: (1,2,3,3) f8e4m3, %r: (1,2,1,1) f8e4m3) -> (%q) {\n"
      "  %d = cast(%x) {dtype=f32, saturate=true} : (1,2,3,3) f32\n"
      "  %p = nn.global_avg_pool(%d) : (1,2,1,1) f32\n"
      "  %e = cast(%r) {dtype=f32, saturate=true} : (1,2,1,1) f32\n"
      "  %a = add(%p, %e) : (1,2,1,1) f32\n"
      "  %q = cast(%a) {dtype=f8e4m3, saturate=true} : (1,2,1,1) f8e4m3\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f8e4m3, %r: (1,2,1,1) f8e4m3) -> (%q) {\n"
      "  %q = call q(%x, %r) : (1,2,1,1) f8e4m3\n"
      "}\n"
      "\n"
      "fn q(%x: (1,2,3,3) f8e4m3, %r: (1,2,1,1) f8e4m3) -> (%q) compiler \"c\" composite "
      "\"c.cast_global_avg_pool_cast_add_cast\" {\n"
      "  %d = cast(%x) {dtype=f32, saturate=true} : (1,2,3,3) f32\n"
      "  %p = nn.global_avg_pool(%d) : (1,2,1,1) f32\n"
      "  %e = cast(%r) {dtype=f32, saturate=true} : (1,2,1,1) f32\n"
      "  %a = add(%p, %e) : (1,2,1,1) f32\n"
      "  %q = cast(%a) {dtype=f8e4m3, saturate=true} : (1,2,1,1) f8e4m3\n"
      "}\n" },

    /* a decoder of another shape, and one that its reader cannot take */
    { NULL,
      "fn main(%x: (1,2,3,3) f8e4m3, %g: (1,2,1,1) f8e4m3, %h: (4,3) f8e4m3) -> (%m, %k) {\n"
      "  %d = cast(%x) {dtype=f32, saturate=true} : (1,2,3,3) f32\n"
      "  %e = cast(%g) {dtype=f32, saturate=true} : (1,2,1,1) f32\n"
      "  %m = multiply(%d, %e) : (1,2,3,3) f32\n"
      "  %f = cast(%h) {dtype=f32, saturate=true} : (4,3) f32\n"
      "  %k = nn.hardmax(%f) {axis=1} : (4,3) f32\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f8e4m3, %g: (1,2,1,1) f8e4m3, %h: (4,3) f8e4m3) -> (%m, %k) {\n"
      "  %m = call m(%x, %g) : (1,2,3,3) f32\n"
      "  %f = call f(%h) : (4,3) f32\n"
      "  %k = call k(%f) : (4,3) f32\n"
      "}\n"
      "\n"
      "fn m(%x: (1,2,3,3) f8e4m3, %g: (1,2,1,1) f8e4m3) -> (%m) compiler \"c\" composite "
      "\"c.cast_cast_multiply\" {\n"
      "  %d = cast(%x) {dtype=f32, saturate=true} : (1,2,3,3) f32\n"
      "  %e = cast(%g) {dtype=f32, saturate=true} : (1,2,1,1) f32\n"
      "  %m = multiply(%d, %e) : (1,2,3,3) f32\n"
      "}\n"
      "\n"
      "fn f(%h: (4,3) f8e4m3) -> (%f) compiler \"c\" composite \"c.cast\" {\n"
      "  %f = cast(%h) {dtype=f32, saturate=true} : (4,3) f32\n"
      "}\n"
      "\n"
      "fn k(%f: (4,3) f32) -> (%k) compiler \"c\" composite \"c.hardmax\" {\n"
      "  %k = nn.hardmax(%f) {axis=1} : (4,3) f32\n"
      "}\n" },

    /* operators that may not be followed stand alone, with all their outputs */
    { NULL,
      "fn main(%x: (4,6) f32) -> (%m, %b) {\n"
      "  %a, %b = split(%x) {axis=1, sizes=[3,3]} : (4,3) f32, (4,3) f32\n"
      "  %r = nn.relu(%a) : (4,3) f32\n"
      "  %s = nn.hardmax(%r) {axis=1} : (4,3) f32\n"
      "  %m = negative(%s) : (4,3) f32\n"
      "}\n",
      "fn main(%x: (4,6) f32) -> (%m, %b) {\n"
      "  %a, %b = call a(%x) : (4,3) f32, (4,3) f32\n"
      "  %r = call r(%a) : (4,3) f32\n"
      "  %s = call s(%r) : (4,3) f32\n"
      "  %m = call m(%s) : (4,3) f32\n"
      "}\n"
      "\n"
      "fn a(%x: (4,6) f32) -> (%a, %b) compiler \"c\" composite \"c.split\" {\n"
      "  %a, %b = split(%x) {axis=1, sizes=[3,3]} : (4,3) f32, (4,3) f32\n"
      "}\n"
      "\n"
      "fn r(%a: (4,3) f32) -> (%r) compiler \"c\" composite \"c.relu\" {\n"
      "  %r = nn.relu(%a) : (4,3) f32\n"
      "}\n"
      "\n"
      "fn s(%r: (4,3) f32) -> (%s) compiler \"c\" composite \"c.hardmax\" {\n"
      "  %s = nn.hardmax(%r) {axis=1} : (4,3) f32\n"
      "}\n"
      "\n"
      "fn m(%s: (4,3) f32) -> (%m) compiler \"c\" composite \"c.negative\" {\n"
      "  %m = negative(%s) : (4,3) f32\n"
      "}\n" },

    /* views stay in main, as reshapes */
    { NULL,
      "fn main(%x: (2,3) f32) -> (%z) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %d = nn.dense(%x, @w) : (2,4) f32\n"
      "  %v = expand_dims(%d) {axes=[0]} : (1,2,4) f32 from Unsqueeze \"v\" #1\n"
      "  %z = nn.relu(%v) : (1,2,4) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%z) {\n"
      "  %d = call d(%x) : (2,4) f32\n"
      "  %v = reshape(%d) {shape=[1,2,4]} : (1,2,4) f32  from Unsqueeze \"v\" #1\n"
      "  %z = call z(%v) : (1,2,4) f32\n"
      "}\n"
      "\n"
      "fn d(%x: (2,3) f32) -> (%d) compiler \"c\" composite \"c.dense\" {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %d = nn.dense(%x, @w) : (2,4) f32\n"
      "}\n"
      "\n"
      "fn z(%v: (1,2,4) f32) -> (%z) compiler \"c\" composite \"c.relu\" {\n"
      "  %z = nn.relu(%v) : (1,2,4) f32\n"
      "}\n" },

    /* results get memory of their own */
    { NULL,
      "fn main(%x: (2) f32) -> (%x as \"in\", %y, %y as \"again\", @c as \"constant\", %v as "
      "\"seen\") {\n"
      "  const @c : (1) f32 = [3]\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "  %v = reshape(%y) {shape=[1,2]} : (1,2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%in, %y, %again, %constant, %seen) {\n"
      "  %y = call y(%x) : (2) f32\n"
      "  %v = reshape(%y) {shape=[1,2]} : (1,2) f32\n"
      "  %in = call in(%x) : (2) f32\n"
      "  %again = call again(%y) : (2) f32\n"
      "  %constant = call constant() : (1) f32\n"
      "  %seen = call seen(%v) : (1,2) f32\n"
      "}\n"
      "\n"
      "fn y(%x: (2) f32) -> (%y) compiler \"c\" composite \"c.relu\" {\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "}\n"
      "\n"
      "fn in(%x: (2) f32) -> (%in) compiler \"c\" composite \"c.copy\" {\n"
      "  %in = copy(%x) : (2) f32\n"
      "}\n"
      "\n"
      "fn again(%y: (2) f32) -> (%again) compiler \"c\" composite \"c.copy\" {\n"
      "  %again = copy(%y) : (2) f32\n"
      "}\n"
      "\n"
      "fn constant() -> (%constant) compiler \"c\" composite \"c.copy\" {\n"
      "  const @c : (1) f32 = crc32:00000000\n"
      "  %constant = copy(@c) : (1) f32\n"
      "}\n"
      "\n"
      "fn seen(%v: (1,2) f32) -> (%seen) compiler \"c\" composite \"c.copy\" {\n"
      "  %seen = copy(%v) : (1,2) f32\n"
      "}\n" },

    /* nothing that is unread vanishes */
    { NULL,
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "  %u = exp(%y) : (2) f32\n"
      "  %z = tanh(%y) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = call y(%x) : (2) f32\n"
      "  %u = call u(%y) : (2) f32\n"
      "  %z = call z(%y) : (2) f32\n"
      "}\n"
      "\n"
      "fn y(%x: (2) f32) -> (%y) compiler \"c\" composite \"c.relu\" {\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "}\n"
      "\n"
      "fn u(%y: (2) f32) -> (%u) compiler \"c\" composite \"c.exp\" {\n"
      "  %u = exp(%y) : (2) f32\n"
      "}\n"
      "\n"
      "fn z(%y: (2) f32) -> (%z) compiler \"c\" composite \"c.tanh\" {\n"
      "  %z = tanh(%y) : (2) f32\n"
      "}\n" },

    /* a value called main */
    { NULL,
      "fn main(%x: (2) f32) -> (%main) {\n"
      "  %main = nn.relu(%x) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%main) {\n"
      "  %main = call main_2(%x) : (2) f32\n"
      "}\n"
      "\n"
      "fn main_2(%x: (2) f32) -> (%main) compiler \"c\" composite \"c.relu\" {\n"
      "  %main = nn.relu(%x) : (2) f32\n"
      "}\n" },

    /* a square: kernels convert the left operand only, so that neither is */
    { NULL,
      "fn main(%x: (3,3) i8) -> (%y) {\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () i8 = [3]\n"
      "  %d = qnn.dequantize(%x, @s, @z) {axis=0} : (3,3) f32\n"
      "  %y = nn.matmul(%d, %d) {transpose_a=false, transpose_b=false} : (3,3) f32\n"
      "}\n",
      "fn main(%x: (3,3) i8) -> (%y) {\n"
      "  %d = call d(%x) : (3,3) f32\n"
      "  %y = call y(%d) : (3,3) f32\n"
      "}\n"
      "\n"
      "fn d(%x: (3,3) i8) -> (%d) compiler \"c\" composite \"c.qnn.dequantize\" {\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () i8 = [3]\n"
      "  %d = qnn.dequantize(%x, @s, @z) {axis=0} : (3,3) f32\n"
      "}\n"
      "\n"
      "fn y(%d: (3,3) f32) -> (%y) compiler \"c\" composite \"c.matmul\" {\n"
      "  %y = nn.matmul(%d, %d) {transpose_a=false, transpose_b=false} : (3,3) f32\n"
      "}\n" },

    /* a region from before stays as it is */
    { NULL,
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = call npu_0(%x) : (2) f32\n"
      "  %z = exp(%y) : (2) f32\n"
      "}\n"
      "fn npu_0(%x: (2) f32) -> (%y) compiler \"npu\" {\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = call npu_0(%x) : (2) f32\n"
      "  %z = call z(%y) : (2) f32\n"
      "}\n"
      "\n"
      "fn npu_0(%x: (2) f32) -> (%y) compiler \"npu\" {\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "}\n"
      "\n"
      "fn z(%y: (2) f32) -> (%z) compiler \"c\" composite \"c.exp\" {\n"
      "  %z = exp(%y) : (2) f32\n"
      "}\n" },

    /* results that nobody reads: kernels of recurrent layers of codes need not write them */
    { NULL,
      "fn main(%x: (4,1,2) i8) -> (%h) {\n" CODES "  %o, %h = qnn.rnn(%x, @s, @z, @s, @z, @w, @s, "
      "@r, @s) " RNN " : (4,1,1,3) i8 scaled(scale=0.5), (1,1,3) i8 scaled(scale=0.5)\n"
      "}\n",
      "fn main(%x: (4,1,2) i8) -> (%h) {\n"
      "  %h = call h(%x) : (1,1,3) i8 scaled(scale=0.5)\n"
      "}\n"
      "\n"
      "fn h(%x: (4,1,2) i8) -> (%h) compiler \"c\" composite \"c.qnn.rnn\" {\n" CODES
      "  %o, %h = qnn.rnn(%x, @s, @z, @s, @z, @w, @s, @r, @s) " RNN
      " : (4,1,1,3) i8 scaled(scale=0.5), (1,1,3) i8 scaled(scale=0.5)\n"
      "}\n" },
};

START_TEST(regions_are_what_the_code_generator_relies_on)
{
    pass_case_check("fuse_ops", &rows[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fuse_ops");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, regions_are_what_the_code_generator_relies_on, 0, N_ROWS(rows));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
