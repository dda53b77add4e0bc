/* integer_networks.h - small networks, as text of the IR, from which test_integer_only makes
 * programs without floats. */
#ifndef TESTS_SUPPORT_INTEGER_NETWORKS_H
#define TESTS_SUPPORT_INTEGER_NETWORKS_H

#define Q(to, from, scale, zero)                                                                   \
    "  %" to "_q = qnn.quantize(%" from ", " scale ", " zero ") {axis=0, saturate=true}\n"         \
    "  %" to " = qnn.dequantize(%" to "_q, " scale ", " zero ")\n"

/* Convolution, depthwise convolution, sums, joins, pools, tables, products, softmax. */
/* clang-format off */
static const char small_network[] =
    "fn main(%x: (1,2,10,10) f32) -> (%y) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @u : () f32 = [0.031]\n"
    "  const @z : () i8 = [3]\n"
    "  const @low : () i8 = [-128]\n"
    "  const @n : () i8 = [0]\n"
    "  const @p : () f32 = [0.00390625]\n"
    "  const @i : () i32 = [0]\n"
    "  const @w1 : (4,2,3,3) i8 = crc32:00000000\n"
    "  const @b1 : (4) f32 = crc32:00000000\n"
    "  const @s1 : (4) f32 = [0.01, 0.005, 0.02, 0.001]\n"
    "  const @n1 : (4) i8 = [0, 0, 0, 0]\n"
    "  const @w2 : (4,1,3,3) i8 = crc32:00000000\n"
    "  const @w3 : (6,8) i8 = crc32:00000000\n"
    "  const @shift : (4,1,1) f32 = [0.1, -0.2, 0.3, 0.25]\n" Q("xd", "x", "@s", "@z")
    "  %w1f = qnn.dequantize(@w1, @s1, @n1) {axis=0}\n"
    "  %w2f = qnn.dequantize(@w2, @s, @n)\n"
    "  %w3f = qnn.dequantize(@w3, @s, @n)\n"
    "  %c1 = nn.conv2d(%xd, %w1f) {padding=[1,1,1,1], groups=1}\n"
    "  %c1b = nn.bias_add(%c1, @b1) {axis=1}\n" Q("c1d", "c1b", "@t", "@z")
    "  %h = nn.hard_swish(%c1d)\n" Q("hd", "h", "@u", "@low")
    "  %c2 = nn.conv2d(%hd, %w2f) {padding=[1,1,1,1], groups=4}\n"
    "  %r = nn.relu(%c2)\n" Q("rd", "r", "@t", "@low")
    "  %a = add(%rd, %hd)\n" Q("ad", "a", "@t", "@z")
    "  %o = add(%ad, @shift)\n" Q("od", "o", "@u", "@z")
    "  %g = nn.avg_pool2d(%od) {pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]}\n" Q("gd", "g", "@u", "@z")
    "  %m = nn.max_pool2d(%rd) {pool_size=[2,2], strides=[2,2]}\n" Q("md", "m", "@t", "@low")
    "  %j = concatenate(%gd, %md) {axis=1}\n" Q("jd", "j", "@t", "@z")
    "  %e = sigmoid(%jd)\n" Q("ed", "e", "@p", "@low")
    "  %k = multiply(%jd, %ed)\n" Q("kd", "k", "@t", "@z")
    "  %zo = image.resize(%kd) {size=[1,8,7,9], method=\"linear\", coordinate_transformation_mode=\"half_pixel\"}\n" Q("zd", "zo", "@t", "@z")
    "  %v = nn.global_avg_pool(%zd)\n" Q("vd", "v", "@s", "@z")
    "  %f = reshape(%vd) {shape=[1,8]}\n"
    "  %l = nn.dense(%f, %w3f)\n" Q("ld", "l", "@t", "@z")
    "  %lo = nn.log_softmax(%ld) {axis=1}\n" Q("lod", "lo", "@t", "@z")
    "  %q = nn.softmax(%lod) {axis=1}\n" Q("y", "q", "@p", "@low")
    "}\n";
/* clang-format on */

/* The same kinds of operators on FP8: decoded, computed, encoded. */
#define E(to, from, scale)                                                                         \
    "  %" to "_q = qnn.quantize(%" from ", " scale ", @z) {axis=0, saturate=true}\n"               \
    "  %" to " = qnn.dequantize(%" to "_q, " scale ", @z) {axis=0}\n"

/* clang-format off */
static const char fp8_network[] =
    "fn main(%x: (1,2,10,10) f8e4m3) -> (%y, %re, %tq, %ti, %i) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @u : () f32 = [0.031]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  const @w1 : (4,2,3,3) f8e4m3 = crc32:00000000\n"
    "  const @b1 : (4) f32 = crc32:00000000\n"
    "  const @s1 : (4) f32 = [0.01, 0.005, 0.02, 0.001]\n"
    "  const @w2 : (4,1,3,3) f8e4m3 = crc32:00000000\n"
    "  const @w3 : (6,8) f8e4m3 = crc32:00000000\n"
    "  %xd = qnn.dequantize(%x, @s, @z) {axis=0}\n"
    "  %w1f = qnn.dequantize(@w1, @s1, @z) {axis=0}\n"
    "  %w2f = cast(@w2) {dtype=f32, saturate=true}\n"
    "  %w3f = cast(@w3) {dtype=f32, saturate=true}\n"
    "  %c1 = nn.conv2d(%xd, %w1f) {padding=[1,1,1,1], groups=1}\n"
    "  %c1b = nn.bias_add(%c1, @b1) {axis=1}\n" E("c1d", "c1b", "@t")
    "  %h = nn.hard_swish(%c1d)\n" E("hd", "h", "@u")
    "  %c2 = nn.conv2d(%hd, %w2f) {padding=[1,1,1,1], groups=4}\n"
    "  %a2 = add(%c2, %hd)\n"
    "  %r = clip(%a2) {a_min=0, a_max=6}\n" E("rd", "r", "@t")
    "  %a = add(%rd, %hd)\n"
    "  %ar = nn.relu(%a)\n" E("ad", "ar", "@t")
    "  %g = nn.avg_pool2d(%ad) {pool_size=[2,2], strides=[2,2]}\n" E("gd", "g", "@u")
    "  %m = nn.max_pool2d(%rd) {pool_size=[2,2], strides=[2,2]}\n" E("md", "m", "@t")
    "  %j = concatenate(%gd, %md) {axis=1}\n" E("jd", "j", "@t")
    "  %e = sigmoid(%jd)\n" E("ed", "e", "@s")
    "  %k = multiply(%jd, %ed)\n" E("kd", "k", "@t")
    "  %v = nn.global_avg_pool(%kd)\n" E("vd", "v", "@s")
    "  %f = reshape(%vd) {shape=[1,8]}\n"
    "  %l = nn.dense(%f, %w3f)\n" E("ld", "l", "@t")
    "  %lo = nn.log_softmax(%ld) {axis=1}\n"
    "  %y = qnn.quantize(%lo, @t, @z) {axis=0, saturate=true}\n"
    "  %zo = image.resize(%kd) {size=[1,8,7,9], method=\"linear\", coordinate_transformation_mode=\"half_pixel\"}\n"
    "  %re = qnn.quantize(%zo, @t, @z) {axis=0, saturate=true}\n"
    "  %to, %ti = topk(%ld) {axis=1, k=2, largest=true, sorted=true}\n"
    "  %tq = qnn.quantize(%to, @t, @z) {axis=0, saturate=true}\n"
    "  %i = argmax(%ld) {axis=1}\n"
    "}\n";
/* clang-format on */

/* Norms, quotients, slopes for each channel, and what is between them. */
/* clang-format off */
static const char fp8_norm_network[] =
    "fn main(%x: (1,6,16) f8e4m3) -> (%y) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @p : () f32 = [0.0025]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  const @g : (16) f32 = [1, 0.5, 1.5, 0.7, -1, 1, 1.2, 0.9, 1, 1, 0.3, 2, 1, 1, 1, 0.25]\n"
    "  const @b : (16) f32 = [0.1, 0.5, -0.5, 0, 0, 0.2, 0.3, -0.1, 0, 0, 0, 0, 1, -1, 0.01, 0.02]\n"
    "  const @c : (6) f32 = [1, 0.5, 1.5, 0.7, -1, 1]\n"
    "  const @sl : (6,1) f32 = [0.1, 0.5, -1, 0.7, 2, 0]\n"
    "  %xd = qnn.dequantize(%x, @s, @z) {axis=0}\n"
    "  %ln = nn.layer_norm(%xd, @g, @b) {axis=2, epsilon=1e-5}\n" E("lnd", "ln", "@s")
    "  %in = nn.instance_norm(%lnd, @c, @c) {axis=1, epsilon=1e-3}\n"
    "  %re = nn.relu(%in)\n" E("ind", "re", "@s")
    "  %gn = nn.group_norm(%ind, @c, @c) {axis=1, groups=2, epsilon=1e-3}\n" E("gnd", "gn", "@t")
    "  %gl = nn.group_norm(%gnd, @g, @b) {axis=2, groups=4, epsilon=1e-3}\n" E("gld", "gl", "@t")
    "  %pr = nn.prelu(%gld, @sl)\n" E("prd", "pr", "@t")
    "  %lr = nn.lrn(%prd) {size=3, alpha=0.1, beta=0.75, bias=1}\n" E("lrd", "lr", "@t")
    "  %lp = nn.lp_normalize(%lrd) {axis=1, p=2}\n" E("lpd", "lp", "@p")
    "  %l1 = nn.lp_normalize(%lpd) {axis=2, p=1}\n" E("l1d", "l1", "@p")
    "  %e = sigmoid(%gnd)\n" E("ed", "e", "@p")
    "  %d = divide(%l1d, %ed)\n"
    "  %y = qnn.quantize(%d, @p, @z) {axis=0, saturate=true}\n"
    "}\n";
/* clang-format on */

/* Averages over padding that does not count, sums, the greatest and the least, choices,
 * differences, constants of several numbers, a mask, a resize in four dimensions. */
/* clang-format off */
static const char fp8_average_network[] =
    "fn main(%x: (2,6,9,8) f8e4m3) -> (%y, %re) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @p : () f32 = [0.0025]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  const @m : (6,1,1) f32 = [1, 0.5, 1.5, 0.7, -1, 1]\n"
    "  const @b : (6) f32 = [0.1, 0.5, -0.5, 0, 0, 0.2]\n"
    "  const @mask : (4) f32 = [0, 0, -inf, 0]\n"
    "  const @yes : (4) bool = [1, 0, 1, 1]\n"
    "  %xd = qnn.dequantize(%x, @s, @z) {axis=0}\n"
    "  %ap = nn.avg_pool2d(%xd) {pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], count_include_pad=false}\n" E("apd", "ap", "@s")
    "  %bn = multiply(%apd, @m)\n"
    "  %bb = nn.bias_add(%bn, @b) {axis=1}\n"
    "  %br = nn.relu(%bb)\n" E("bnd", "br", "@t")
    "  %su = subtract(%apd, %bnd)\n" E("sud", "su", "@t")
    "  %ma = maximum(%sud, %apd)\n" E("mad", "ma", "@t")
    "  %me = mean(%mad) {axis=[1], keepdims=true}\n" E("med", "me", "@s")
    "  %mi = minimum(%med, %apd)\n" E("mid", "mi", "@s")
    "  %sm = sum(%mid) {axis=[2], keepdims=true}\n" E("smd", "sm", "@s")
    "  %mx = max(%mid) {axis=[2], keepdims=true}\n"
    "  %wh = where(@yes, %mx, %smd)\n" E("whd", "wh", "@p")
    "  %ad = add(%whd, @mask)\n"
    "  %y = qnn.quantize(%ad, @t, @z) {axis=0, saturate=true}\n"
    "  %gm = nn.global_max_pool(%bnd)\n"
    "  %gt = subtract(%mid, %gm)\n" E("gtd", "gt", "@t")
    "  %zo = image.resize(%gtd) {size=[3,7,6,5], method=\"linear\", coordinate_transformation_mode=\"half_pixel\"}\n"
    "  %re = qnn.quantize(%zo, @t, @z) {axis=0, saturate=true}\n"
    "}\n";
/* clang-format on */

/* Recurrent layers on FP8, with states that come and go. */
/* clang-format off */
static const char fp8_recurrent_network[] =
    "fn main(%x: (5,1,6) f8e4m3, %h: (2,1,4) f8e4m3, %c: (2,1,4) f8e4m3) -> (%y, %lh, %lc) {\n"
    "  const @s : () f32 = [0.002]\n"
    "  const @t : () f32 = [0.01]\n"
    "  const @u : () f32 = [0.0025]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  const @zn : () f8e3m4 = [0x00]\n"
    "  const @l : (1) i32 = [3]\n"
    "  const @w1 : (2,16,6) f8e4m3 = crc32:00000000\n"
    "  const @r1 : (2,16,4) f8e4m3 = crc32:00000000\n"
    "  const @b1 : (2,32) f32 = crc32:00000000\n"
    "  const @p1 : (2,12) f32 = crc32:00000000\n"
    "  const @w2 : (2,9,8) f8e3m4 = crc32:00000000\n"
    "  const @r2 : (2,9,3) f8e3m4 = crc32:00000000\n"
    "  const @b2 : (2,18) f32 = crc32:00000000\n"
    "  const @w3 : (1,15,6) f8e4m3 = crc32:00000000\n"
    "  const @r3 : (1,15,5) f8e4m3 = crc32:00000000\n"
    "  const @w4 : (2,4,5) f8e4m3 = crc32:00000000\n"
    "  const @r4 : (2,4,4) f8e4m3 = crc32:00000000\n"
    "  %xd = qnn.dequantize(%x, @s, @z) {axis=0}\n"
    "  %hd = qnn.dequantize(%h, @u, @z) {axis=0}\n"
    "  %cd = qnn.dequantize(%c, @u, @z) {axis=0}\n"
    "  %w1f = qnn.dequantize(@w1, @t, @z)\n  %r1f = qnn.dequantize(@r1, @t, @z)\n"
    "  %w2f = qnn.dequantize(@w2, @t, @zn)\n  %r2f = qnn.dequantize(@r2, @t, @zn)\n"
    "  %w3f = qnn.dequantize(@w3, @t, @z)\n  %r3f = qnn.dequantize(@r3, @t, @z)\n"
    "  %w4f = qnn.dequantize(@w4, @t, @z)\n  %r4f = qnn.dequantize(@r4, @t, @z)\n"
    "  %o1, %h1, %c1 = nn.lstm(%xd, %w1f, %r1f, @b1, @l, %hd, %cd, @p1) {hidden_size=4, direction=\"bidirectional\"}\n"
    "  %lh = qnn.quantize(%h1, @u, @z) {axis=0, saturate=true}\n"
    "  %lc = qnn.quantize(%c1, @t, @z) {axis=0, saturate=true}\n" E("o1d", "o1", "@u")
    "  %t1 = transpose(%o1d) {axes=[0,2,1,3]}\n"
    "  %f1 = reshape(%t1) {shape=[5,1,8]}\n"
    "  %o2, %h2 = nn.gru(%f1, %w2f, %r2f, @b2) {hidden_size=3, direction=\"bidirectional\", clip=3, linear_before_reset=true}\n" E("o2d", "o2", "@u")
    "  %t2 = transpose(%o2d) {axes=[0,2,1,3]}\n"
    "  %f2 = reshape(%t2) {shape=[5,1,6]}\n"
    "  %o3, %h3 = nn.gru(%f2, %w3f, %r3f) {hidden_size=5, direction=\"reverse\", activations=\"Sigmoid,Softplus\"}\n" E("o3d", "o3", "@t")
    "  %f3 = reshape(%o3d) {shape=[5,1,5]}\n"
    "  %o4, %h4 = nn.rnn(%f3, %w4f, %r4f) {hidden_size=4, direction=\"bidirectional\", activations=\"Elu,Tanh\", activation_alpha=[0.7,0]}\n"
    "  %y = qnn.quantize(%o4, @t, @z) {axis=0, saturate=true}\n"
    "}\n";
/* clang-format on */

/* An attention block with its norms and residuals; and the other norms, quotients, a cubic resize.
 */
/* clang-format off */
static const char norm_network[] =
    "fn main(%x: (1,6,16) f32) -> (%y, %h, %i) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @z : () i8 = [3]\n"
    "  const @low : () i8 = [-128]\n"
    "  const @n : () i8 = [0]\n"
    "  const @p : () f32 = [0.00390625]\n"
    "  const @g : (16) f32 = [1, 0.5, 1.5, 0.7, -1, 1, 1.2, 0.9, 1, 1, 0.3, 2, 1, 1, 1, 0.25]\n"
    "  const @b : (16) f32 = [0.1, 0.5, -0.5, 0, 0, 0.2, 0.3, -0.1, 0, 0, 0, 0, 1, -1, 0.01, 0.02]\n"
    "  const @c : (6) f32 = [1, 0.5, 1.5, 0.7, -1, 1]\n"
    "  const @wq : (16,16) i8 = crc32:00000000\n"
    "  const @wk : (16,16) i8 = crc32:00000000\n"
    "  const @wv : (16,16) i8 = crc32:00000000\n" Q("xd", "x", "@s", "@z")
    "  %wqf = qnn.dequantize(@wq, @p, @n)\n"
    "  %wkf = qnn.dequantize(@wk, @p, @n)\n"
    "  %wvf = qnn.dequantize(@wv, @p, @n)\n"
    "  %ln = nn.layer_norm(%xd, @g, @b) {axis=2, epsilon=1e-5}\n" Q("lnd", "ln", "@s", "@n")
    "  %q = nn.matmul(%lnd, %wqf)\n" Q("qd", "q", "@t", "@z")
    "  %k = nn.matmul(%lnd, %wkf)\n" Q("kd", "k", "@t", "@z")
    "  %v = nn.matmul(%lnd, %wvf)\n" Q("vd", "v", "@t", "@z")
    "  %qk = nn.matmul(%qd, %kd) {transpose_b=true}\n" Q("qkd", "qk", "@t", "@n")
    "  %a = nn.softmax(%qkd) {axis=2}\n" Q("ad", "a", "@p", "@low")
    "  %av = nn.matmul(%ad, %vd)\n" Q("avd", "av", "@t", "@z")
    "  %r = add(%avd, %xd)\n" Q("rd", "r", "@t", "@z")
    "  %l2 = nn.layer_norm(%rd, @g) {axis=2, epsilon=1e-5}\n" Q("l2d", "l2", "@s", "@n")
    "  %in = nn.instance_norm(%l2d, @c, @c) {axis=1, epsilon=1e-3}\n"
    "  %re = nn.relu(%in)\n" Q("ind", "re", "@s", "@low")
    "  %gn = nn.group_norm(%ind, @c, @c) {axis=1, groups=2, epsilon=1e-3}\n" Q("gnd", "gn", "@s", "@n")
    "  %lr = nn.lrn(%gnd) {size=3, alpha=0.1, beta=0.75, bias=1}\n" Q("lrd", "lr", "@s", "@n")
    "  %lp = nn.lp_normalize(%lrd) {axis=1, p=2}\n" Q("lpd", "lp", "@p", "@n")
    "  %e = sigmoid(%gnd)\n" Q("ed", "e", "@p", "@low")
    "  %d = divide(%lpd, %ed)\n" Q("dd", "d", "@s", "@z")
    "  %cu = image.resize(%dd) {size=[1,6,24], method=\"cubic\", coordinate_transformation_mode=\"half_pixel\", "
    "rounding_method=\"\", cubic_alpha=-0.75}\n" Q("cud", "cu", "@s", "@z")
    "  %ha = nn.hardmax(%cud) {axis=1}\n"
    "  %h = qnn.quantize(%ha, @p, @low) {axis=0, saturate=true}\n"
    "  %y = qnn.quantize(%cud, @s, @z) {axis=0, saturate=true}\n"
    "  %i = argmax(%cud) {axis=2}\n"
    "}\n";
/* clang-format on */

/* Numbers of 16 bits: squares on their way to a root, functions, quotients, softmax of both kinds,
 * LRN. */
/* clang-format off */
static const char wide_network[] =
    "fn main(%x: (1,4,9) f32) -> (%y, %l, %e) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @w : () f32 = [0.0003]\n"
    "  const @v : () f32 = [0.00005]\n"
    "  const @z : () i8 = [3]\n"
    "  const @low : () i8 = [-128]\n"
    "  const @m : () i16 = [5]\n"
    "  const @least : () i16 = [-32768]\n"
    "  const @n : () u16 = [0]\n"
    "  const @p : () f32 = [0.0000152587890625]\n"
    "  const @g : (9) f32 = [1, 0.5, 1.5, 0.7, -1, 1, 1.2, 0.9, 1]\n"
    "  const @k : () f32 = [0.1]\n" Q("xd", "x", "@s", "@z")
    "  %a = multiply(%xd, %xd)\n" Q("ad", "a", "@w", "@least")
    "  %b = transpose(%ad) {axes=[0,1,2]}\n"
    "  %c = add(%ad, %b)\n" Q("cd", "c", "@w", "@least")
    "  %r = sqrt(%cd)\n" Q("rd", "r", "@s", "@low")
    "  %t = tanh(%cd)\n" Q("td", "t", "@v", "@m")
    "  %lo = log(%cd)\n" Q("lod", "lo", "@w", "@m")
    "  %re = reciprocal(%cd)\n" Q("red", "re", "@w", "@n")
    "  %d = divide(%td, %cd)\n" Q("dd", "d", "@w", "@m")
    "  %h = divide(%rd, %td)\n" Q("hd", "h", "@s", "@z")
    "  %u = add(%dd, %red)\n" Q("ud", "u", "@w", "@m")
    "  %in = nn.instance_norm(%ud, @g, @g) {axis=2, epsilon=1e-3}\n" Q("ind", "in", "@w", "@m")
    "  %lr = nn.lrn(%ind) {size=3, alpha=0.1, beta=0.75, bias=1}\n" Q("lrd", "lr", "@w", "@m")
    "  %sm = nn.softmax(%lrd) {axis=2}\n"
    "  %y = qnn.quantize(%sm, @p, @n) {axis=0, saturate=true}\n"
    "  %ls = nn.log_softmax(%lod) {axis=1}\n"
    "  %l = qnn.quantize(%ls, @w, @m) {axis=0, saturate=true}\n"
    "  %e = qnn.quantize(%hd, @k, @z) {axis=0, saturate=true}\n"
    "}\n";
/* clang-format on */

/* Recurrent layers of both directions, all kinds, all activation functions of ONNX, with states
 * that come and go. */
/* clang-format off */
static const char recurrent_network[] =
    "fn main(%x: (5,1,6) f32, %h: (2,1,4) f32, %c: (2,1,4) f32) -> (%y, %lh, %lc, %gh) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @u : () f32 = [0.0078125]\n"
    "  const @v : () f32 = [0.00025]\n"
    "  const @z : () i8 = [3]\n"
    "  const @n : () i8 = [0]\n"
    "  const @m : () i16 = [0]\n"
    "  const @l : (1) i32 = [3]\n"
    "  const @w1 : (2,16,6) i8 = crc32:00000000\n"
    "  const @r1 : (2,16,4) i8 = crc32:00000000\n"
    "  const @b1 : (2,32) f32 = crc32:00000000\n"
    "  const @p1 : (2,12) f32 = crc32:00000000\n"
    "  const @w2 : (2,9,8) i8 = crc32:00000000\n"
    "  const @r2 : (2,9,3) i8 = crc32:00000000\n"
    "  const @b2 : (2,18) f32 = crc32:00000000\n"
    "  const @w3 : (1,15,6) i8 = crc32:00000000\n"
    "  const @r3 : (1,15,5) i8 = crc32:00000000\n"
    "  const @w4 : (2,4,5) i8 = crc32:00000000\n"
    "  const @r4 : (2,4,4) i8 = crc32:00000000\n"
    "  const @w5 : (1,12,8) i8 = crc32:00000000\n"
    "  const @r5 : (1,12,3) i8 = crc32:00000000\n" Q("xd", "x", "@s", "@z") Q("hd", "h", "@u", "@n") Q("cd", "c", "@v", "@m")
    "  %w1f = qnn.dequantize(@w1, @s, @n)\n  %r1f = qnn.dequantize(@r1, @s, @n)\n"
    "  %w2f = qnn.dequantize(@w2, @s, @n)\n  %r2f = qnn.dequantize(@r2, @s, @n)\n"
    "  %w3f = qnn.dequantize(@w3, @s, @n)\n  %r3f = qnn.dequantize(@r3, @s, @n)\n"
    "  %w4f = qnn.dequantize(@w4, @s, @n)\n  %r4f = qnn.dequantize(@r4, @u, @n)\n"
    "  %w5f = qnn.dequantize(@w5, @s, @n)\n  %r5f = qnn.dequantize(@r5, @u, @n)\n"
    "  %o1, %h1, %c1 = nn.lstm(%xd, %w1f, %r1f, @b1, @l, %hd, %cd, @p1) {hidden_size=4, direction=\"bidirectional\"}\n"
    "  %lh = qnn.quantize(%h1, @u, @n) {axis=0, saturate=true}\n"
    "  %lc = qnn.quantize(%c1, @v, @m) {axis=0, saturate=true}\n" Q("o1d", "o1", "@u", "@n")
    "  %t1 = transpose(%o1d) {axes=[0,2,1,3]}\n"
    "  %f1 = reshape(%t1) {shape=[5,1,8]}\n"
    "  %o2, %h2 = nn.gru(%f1, %w2f, %r2f, @b2) {hidden_size=3, direction=\"bidirectional\", "
    "activations=\"HardSigmoid,Softsign,Sigmoid,ScaledTanh\", clip=3, linear_before_reset=true, activation_alpha=[0.3,0,0,1.5], "
    "activation_beta=[0.4,0,0,0.5]}\n" Q("o2d", "o2", "@u", "@n")
    "  %t2 = transpose(%o2d) {axes=[0,2,1,3]}\n"
    "  %f2 = reshape(%t2) {shape=[5,1,6]}\n"
    "  %o3, %h3 = nn.gru(%f2, %w3f, %r3f) {hidden_size=5, direction=\"reverse\", "
    "activations=\"Sigmoid,Softplus\"}\n" Q("o3d", "o3", "@t", "@n")
    "  %gh = qnn.quantize(%h3, @v, @m) {axis=0, saturate=true}\n"
    "  %f3 = reshape(%o3d) {shape=[5,1,5]}\n"
    "  %o4, %h4 = nn.rnn(%f3, %w4f, %r4f) {hidden_size=4, direction=\"bidirectional\", activations=\"Elu,LeakyRelu\", "
    "activation_alpha=[0.7,0.1]}\n" Q("o4d", "o4", "@t", "@n")
    "  %t4 = transpose(%o4d) {axes=[0,2,1,3]}\n"
    "  %f4 = reshape(%t4) {shape=[5,1,8]}\n"
    "  %o5, %h5, %c5 = nn.lstm(%f4, %w5f, %r5f) {hidden_size=3, activations=\"Sigmoid,ThresholdedRelu,Affine\", input_forget=true, "
    "activation_alpha=[0,0.2,0.5], activation_beta=[0,0,0.1]}\n"
    "  %y = qnn.quantize(%o5, @t, @n) {axis=0, saturate=true}\n"
    "}\n";
/* clang-format on */

/* A U-Net: transposed convolutions of one dimension and two, with and without groups, whose kernels
 * are as long as the strides, longer and shorter. */
/* clang-format off */
static const char unet_network[] =
    "fn main(%x: (1,2,12,12) f32) -> (%y, %line) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @z : () i8 = [3]\n"
    "  const @low : () i8 = [-128]\n"
    "  const @n : () i8 = [0]\n"
    "  const @wa : (4,2,3,3) i8 = crc32:00000000\n"
    "  const @wb : (6,4,3,3) i8 = crc32:00000000\n"
    "  const @wu : (6,4,2,2) i8 = crc32:00000000\n"
    "  const @su : (4) f32 = [0.01, 0.005, 0.02, 0.001]\n"
    "  const @bu : (4) f32 = crc32:00000000\n"
    "  const @wv : (8,2,4,4) i8 = crc32:00000000\n"
    "  const @wd : (8,1,3,3) i8 = crc32:00000000\n"
    "  const @sd : (8) f32 = [0.01, 0.005, 0.02, 0.001, 0.01, 0.03, 0.005, 0.002]\n"
    "  const @wl : (12,3,5) i8 = crc32:00000000\n" Q("xd", "x", "@s", "@z")
    "  %waf = qnn.dequantize(@wa, @s, @n)\n"
    "  %wbf = qnn.dequantize(@wb, @s, @n)\n"
    "  %wuf = qnn.dequantize(@wu, @su, @n) {axis=1}\n"
    "  %wvf = qnn.dequantize(@wv, @s, @n)\n"
    "  %wdf = qnn.dequantize(@wd, @sd, @n) {axis=0}\n"
    "  %wlf = qnn.dequantize(@wl, @s, @n)\n"
    "  %a = nn.conv2d(%xd, %waf) {padding=[1,1,1,1], groups=1}\n"
    "  %ar = nn.relu(%a)\n" Q("ad", "ar", "@t", "@low")
    "  %p = nn.max_pool2d(%ad) {pool_size=[2,2], strides=[2,2]}\n" Q("pd", "p", "@t", "@low")
    "  %b = nn.conv2d(%pd, %wbf) {padding=[1,1,1,1], groups=1}\n" Q("bd", "b", "@t", "@z")
    "  %u = nn.conv2d_transpose(%bd, %wuf) {strides=[2,2], groups=1}\n"
    "  %ub = nn.bias_add(%u, @bu) {axis=1}\n"
    "  %ur = nn.relu(%ub)\n" Q("ud", "ur", "@t", "@low")
    "  %j = concatenate(%ud, %ad) {axis=1}\n" Q("jd", "j", "@t", "@low")
    "  %v = nn.conv2d_transpose(%jd, %wvf) {strides=[2,2], padding=[1,1,1,1], groups=1}\n"
    "  %y = qnn.quantize(%v, @t, @z) {axis=0, saturate=true}\n"
    "  %d = nn.conv2d_transpose(%jd, %wdf) {strides=[2,1], padding=[1,1,1,1], output_padding=[1,0], groups=8}\n"
    Q("dd", "d", "@t", "@z")
    "  %f = reshape(%dd) {shape=[1,12,192]}\n"
    "  %l = nn.conv1d_transpose(%f, %wlf) {strides=[3], padding=[2,0], dilation=[2], groups=1}\n"
    "  %line = qnn.quantize(%l, @t, @z) {axis=0, saturate=true}\n"
    "}\n";
/* clang-format on */

/* The same in FP8; a volume. */
/* clang-format off */
static const char fp8_unet_network[] =
    "fn main(%x: (1,2,12,12) f8e4m3, %v: (1,3,2,3,4) f8e4m3) -> (%y, %line, %volume) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  const @wb : (6,2,3,3) f8e4m3 = crc32:00000000\n"
    "  const @wu : (6,4,2,2) f8e4m3 = crc32:00000000\n"
    "  const @su : (4) f32 = [0.01, 0.005, 0.02, 0.001]\n"
    "  const @bu : (4) f32 = crc32:00000000\n"
    "  const @wv : (6,2,4,4) f8e4m3 = crc32:00000000\n"
    "  const @wd : (6,1,3,3) f8e4m3 = crc32:00000000\n"
    "  const @sd : (6) f32 = [0.01, 0.005, 0.02, 0.001, 0.01, 0.03]\n"
    "  const @wl : (12,3,5) f8e4m3 = crc32:00000000\n"
    "  const @w3 : (3,2,3,2,2) f8e4m3 = crc32:00000000\n"
    "  %xd = qnn.dequantize(%x, @s, @z) {axis=0}\n"
    "  %vd = qnn.dequantize(%v, @s, @z) {axis=0}\n"
    "  %wbf = cast(@wb) {dtype=f32, saturate=true}\n"
    "  %wuf = qnn.dequantize(@wu, @su, @z) {axis=1}\n"
    "  %wvf = cast(@wv) {dtype=f32, saturate=true}\n"
    "  %wdf = qnn.dequantize(@wd, @sd, @z) {axis=0}\n"
    "  %wlf = cast(@wl) {dtype=f32, saturate=true}\n"
    "  %w3f = cast(@w3) {dtype=f32, saturate=true}\n"
    "  %p = nn.max_pool2d(%xd) {pool_size=[2,2], strides=[2,2]}\n" E("pd", "p", "@s")
    "  %b = nn.conv2d(%pd, %wbf) {padding=[1,1,1,1], groups=1}\n" E("bd", "b", "@t")
    "  %u = nn.conv2d_transpose(%bd, %wuf) {strides=[2,2], groups=1}\n"
    "  %ub = nn.bias_add(%u, @bu) {axis=1}\n"
    "  %ur = clip(%ub) {a_min=0, a_max=6}\n" E("ud", "ur", "@s")
    "  %j = concatenate(%ud, %xd) {axis=1}\n" E("jd", "j", "@s")
    "  %c = nn.conv2d_transpose(%jd, %wvf) {strides=[2,2], padding=[1,1,1,1], groups=1}\n"
    "  %y = qnn.quantize(%c, @t, @z) {axis=0, saturate=true}\n"
    "  %d = nn.conv2d_transpose(%jd, %wdf) {strides=[2,1], padding=[1,1,1,1], output_padding=[1,0], groups=6}\n"
    E("dd", "d", "@t")
    "  %f = reshape(%dd) {shape=[1,12,144]}\n"
    "  %l = nn.conv1d_transpose(%f, %wlf) {strides=[3], padding=[2,0], dilation=[2], groups=1}\n"
    "  %line = qnn.quantize(%l, @t, @z) {axis=0, saturate=true}\n"
    "  %o = nn.conv3d_transpose(%vd, %w3f) {strides=[2,1,2], padding=[1,0,0,0,0,1], groups=1}\n"
    "  %volume = qnn.quantize(%o, @t, @z) {axis=0, saturate=true}\n"
    "}\n";
/* clang-format on */

/* What compares, what puts numbers into others, and lp_pool. */
/* clang-format off */
static const char compare_network[] =
    "fn main(%x: (2,5,6) f32, %v: (2,5,6) f32) -> (%y, %k, %h, %l1, %l2) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @z : () i8 = [3]\n"
    "  const @n : () i8 = [0]\n"
    "  const @level : (5,1) f32 = [0.5, 0.02, -0.31, 0, -0.3]\n"
    "  const @i : (2,2,6) i64 = [1, 0, 3, 2, 4, 4, 0, 2, 1, 3, 0, 1, 1, 0, 3, 2, 4, 4, 0, 2, 1, 3, 0, 1]\n"
    "  const @j : (1,2) i64 = [1, 3]\n" Q("xd", "x", "@s", "@z") Q("vd", "v", "@t", "@n")
    "  %g = greater(%xd, %vd)\n"
    "  %k = less_equal(%xd, @level)\n"
    "  %m = cast(%g) {dtype=f32, saturate=true}\n" Q("md", "m", "@s", "@n")
    "  %p = multiply(%md, %vd)\n" Q("pd", "p", "@t", "@z")
    "  %w = where(%k, %pd, %xd)\n" Q("wd", "w", "@s", "@z")
    "  %u = strided_slice(%wd) {begin=[0,1,0], strides=[1,2,1], size=[2,2,6]}\n"
    "  %a = scatter_elements(%vd, @i, %u) {axis=1, reduction=\"max\"}\n" Q("ad", "a", "@t", "@n")
    "  %r = strided_slice(%ad) {begin=[0,2,0], strides=[1,1,1], size=[1,1,6]}\n"
    "  %q = reshape(%r) {shape=[1,6]}\n"
    "  %b = scatter_nd(%ad, @j, %q) {reduction=\"none\"}\n"
    "  %y = qnn.quantize(%b, @t, @n) {axis=0, saturate=true}\n"
    "  %o = nn.lp_pool1d(%ad) {pool_size=[3], strides=[2], padding=[1,0], p=1}\n"
    "  %l1 = qnn.quantize(%o, @t, @n) {axis=0, saturate=true}\n"
    "  %e = nn.lp_pool1d(%xd) {pool_size=[2], strides=[1], p=2}\n"
    "  %l2 = qnn.quantize(%e, @s, @n) {axis=0, saturate=true}\n"
    "  %h = equal(%ad, %wd)\n"
    "}\n";

static const char fp8_compare_network[] =
    "fn main(%x: (2,5,6) f8e4m3, %v: (2,5,6) f8e4m3) -> (%y, %k, %h, %l1) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  const @level : (5,1) f32 = [0.5, 0.02, -0.31, 0, -0.3]\n"
    "  const @i : (2,2,6) i64 = [1, 0, 3, 2, 4, 4, 0, 2, 1, 3, 0, 1, 1, 0, 3, 2, 4, 4, 0, 2, 1, 3, 0, 1]\n"
    "  const @j : (1,2) i64 = [1, 3]\n"
    "  %xd = qnn.dequantize(%x, @s, @z) {axis=0}\n"
    "  %vd = qnn.dequantize(%v, @t, @z) {axis=0}\n"
    "  %g = greater(%xd, %vd)\n"
    "  %k = less_equal(%xd, @level)\n"
    "  %m = cast(%g) {dtype=f32, saturate=true}\n" E("md", "m", "@s")
    "  %p = multiply(%md, %vd)\n" E("pd", "p", "@t")
    "  %w = where(%k, %pd, %xd)\n" E("wd", "w", "@s")
    "  %u = strided_slice(%wd) {begin=[0,1,0], strides=[1,2,1], size=[2,2,6]}\n"
    "  %a = scatter_elements(%vd, @i, %u) {axis=1, reduction=\"max\"}\n" E("ad", "a", "@t")
    "  %r = strided_slice(%ad) {begin=[0,2,0], strides=[1,1,1], size=[1,1,6]}\n"
    "  %q = reshape(%r) {shape=[1,6]}\n"
    "  %b = scatter_nd(%ad, @j, %q) {reduction=\"none\"}\n"
    "  %y = qnn.quantize(%b, @t, @z) {axis=0, saturate=true}\n"
    "  %o = nn.lp_pool1d(%ad) {pool_size=[3], strides=[2], padding=[1,0], p=1}\n"
    "  %l1 = qnn.quantize(%o, @t, @z) {axis=0, saturate=true}\n"
    "  %h = equal(%ad, %wd)\n"
    "}\n";
/* clang-format on */

/* Sums that keep their places, masks, indices as vectors, where the greatest was, comparisons of 16
 * bits, constants on the left. */
/* clang-format off */
static const char sums_network[] =
    "fn main(%x: (2,5,6) f32, %v: (2,5,6) f32, %w: (2,5,6) f32) -> (%y, %k, %n, %m, %i, %h, %l, %p, %e, %pr) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @f : () f32 = [0.0002]\n"
    "  const @z : () i8 = [3]\n"
    "  const @n8 : () i8 = [0]\n"
    "  const @n16 : () i16 = [-7]\n"
    "  const @level : (5,1) f32 = [0.5, 0.02, -0.31, 0, -0.3]\n"
    "  const @mask : (5,6) f32 = [0, -inf, -inf, -inf, -inf, -inf, 0, 0, -inf, -inf, -inf, -inf, 0, 0, 0, -inf, -inf, -inf, 0, 0, 0, 0, -inf, -inf, 0, 0, 0, 0, 0, -inf]\n"
    "  const @at : (2,2,6) i64 = [1, 0, 3, 2, 4, 4, 0, 2, 1, 3, 0, 1, 1, 0, 3, 2, 4, 4, 0, 2, 1, 3, 0, 1]\n"
    "  const @left : (4,5) i16 = crc32:00000000\n"
    "  const @hot : (2) f32 = [0, 1]\n" Q("xd", "x", "@s", "@z") Q("vd", "v", "@t", "@n8") Q("wd", "w", "@f", "@n16")
    "  %c = cumsum(%xd) {axis=2}\n" Q("cd", "c", "@t", "@n8")
    "  %u = strided_slice(%vd) {begin=[0,1,0], strides=[1,2,1], size=[2,2,6]}\n"
    "  %a = scatter_elements(%cd, @at, %u) {axis=1, reduction=\"add\"}\n" Q("ad", "a", "@t", "@n8")
    "  %b = add(%ad, @mask)\n" Q("bd", "b", "@t", "@z")
    "  %y = qnn.quantize(%bd, @t, @z) {axis=0, saturate=true}\n"
    "  %k = greater(%wd, %vd)\n"
    "  %l = less(%wd, @level)\n"
    "  %n = isfinite(%vd)\n"
    "  %q, %i = nn.max_pool_indices(%xd) {pool_size=[3], strides=[2], padding=[1,1]} : (2,5,3) f32, (2,5,3) i64\n"
    "  %m = qnn.quantize(%q, @s, @z) {axis=0, saturate=true}\n"
    "  %o = one_hot(%i, @hot) {axis=-1, depth=60}\n"
    "  %h = qnn.quantize(%o, @s, @n8) {axis=0, saturate=true}\n"
    "  %lf = qnn.dequantize(@left, @f, @n16)\n"
    "  %r = nn.matmul(%lf, %xd)\n"
    "  %p = qnn.quantize(%r, @t, @n8) {axis=0, saturate=true}\n"
    "  %ps = strided_slice(%vd) {begin=[0,0,0], strides=[1,1,1], size=[2,3,6]}\n"
    "  %po = prod(%ps) {axis=[1]}\n"
    "  %pr = qnn.quantize(%po, @t, @n8) {axis=0, saturate=true}\n"
    "  %im = reshape(%vd) {shape=[1,2,5,6]}\n"
    "  %gs = strided_slice(%wd) {begin=[0,0,0], strides=[1,1,1], size=[1,5,2]}\n"
    "  %g = reshape(%gs) {shape=[1,5,1,2]}\n"
    "  %sg = image.grid_sample(%im, %g) {method=\"linear\", padding_mode=\"reflection\"}\n"
    "  %e = qnn.quantize(%sg, @t, @n8) {axis=0, saturate=true}\n"
    "}\n";

static const char fp8_sums_network[] =
    "fn main(%x: (2,5,6) f8e4m3, %v: (2,5,6) f8e4m3) -> (%y, %n, %m, %i, %pr) {\n"
    "  const @s : () f32 = [0.02]\n"
    "  const @t : () f32 = [0.05]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  const @at : (2,2,6) i64 = [1, 0, 3, 2, 4, 4, 0, 2, 1, 3, 0, 1, 1, 0, 3, 2, 4, 4, 0, 2, 1, 3, 0, 1]\n"
    "  %xd = qnn.dequantize(%x, @s, @z) {axis=0}\n"
    "  %vd = qnn.dequantize(%v, @t, @z) {axis=0}\n"
    "  %ps = strided_slice(%vd) {begin=[0,0,0], strides=[1,1,1], size=[2,3,6]}\n"
    "  %po = prod(%ps) {axis=[1]}\n"
    "  %pr = qnn.quantize(%po, @t, @z) {axis=0, saturate=true}\n"
    "  %c = cumsum(%xd) {axis=2}\n" E("cd", "c", "@t")
    "  %u = strided_slice(%vd) {begin=[0,1,0], strides=[1,2,1], size=[2,2,6]}\n"
    "  %a = scatter_elements(%cd, @at, %u) {axis=1, reduction=\"add\"}\n"
    "  %y = qnn.quantize(%a, @t, @z) {axis=0, saturate=true}\n"
    "  %n = isinf(%vd) {detect_negative=true, detect_positive=true}\n"
    "  %q, %i = nn.max_pool_indices(%xd) {pool_size=[3], strides=[2], padding=[1,1]} : (2,5,3) f32, (2,5,3) i64\n"
    "  %m = qnn.quantize(%q, @s, @z) {axis=0, saturate=true}\n"
    "}\n";
/* clang-format on */

#endif
