/* The toy target in plain C, and a network of its regions. */
#include "tests/support/toy_target.h"

#define CONV                                                                                       \
    " {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "         \
    "kernel_layout=\"OIHW\"}"

const char toy_plain_json[] =
    "{ \"name\": \"toy\", \"description\": \"plain C\", \"format\": \"c\",\n"
    "  \"composites\": [\n"
    "    { \"name\": \"conv2d_act\",\n"
    "      \"pattern\": \"conv2d(x, w:const) -> bias_add(_, b:const)? -> relu?\",\n"
    "      \"let\": { \"patch\": \"w.dim[1] * w.dim[2] * w.dim[3]\" },\n"
    "      \"scratch\": \"patch * 4\", \"template\": \"conv2d.c.tmpl\" },\n"
    "    { \"name\": \"dense\", \"pattern\": \"dense(x, w:const) -> bias_add(_, b:const)?\",\n"
    "      \"template\": \"dense.c.tmpl\" },\n"
    "    { \"name\": \"clip\", \"pattern\": \"clip(x)\", \"in_place\": [\"x\"], \"template\": "
    "\"clip.c.tmpl\" },\n"
    "    { \"name\": \"scale\", \"pattern\": \"multiply(x, s:const)\",\n"
    "      \"template\": \"scale.c.tmpl\" },\n"
    "    { \"name\": \"split\", \"pattern\": \"split(x)\", \"template\": \"split.c.tmpl\" },\n"
    "    { \"name\": \"add\", \"pattern\": \"add(x, other)\", \"in_place\": [\"x\", \"other\"], "
    "\"template\": \"add.c.tmpl\" } ],\n"
    "  \"prologue\": \"prologue.c.tmpl\", \"headers\": [\"toy_max.h\"] }\n";

const struct toy_file toy_plain_files[] = {
    { "conv2d.c.tmpl",
      "enum {\n"
      "    IN_C = ${x.dim1}, IN_H = ${x.dim2}, IN_W = ${x.dim3}, OUT_C = ${out.dim1},\n"
      "    OUT_H = ${out.dim2}, OUT_W = ${out.dim3}, K_H = ${w.dim2}, K_W = ${w.dim3},\n"
      "    STRIDE_H = ${conv2d.strides0}, STRIDE_W = ${conv2d.strides1}, PATCH = ${patch}\n"
      "};\n"
      "${x.ctype} *const column = ${scratch};\n\n"
      "for (int oh = 0; oh < OUT_H; oh++)\n"
      "    for (int ow = 0; ow < OUT_W; ow++) {\n"
      "        for (int ic = 0, at = 0; ic < IN_C; ic++)\n"
      "            for (int kh = 0; kh < K_H; kh++)\n"
      "                for (int kw = 0; kw < K_W; kw++, at++)\n"
      "                    column[at] = ${x}[(ic * IN_H + oh * STRIDE_H + kh) * IN_W + "
      "ow * STRIDE_W + kw];\n"
      "        for (int oc = 0; oc < OUT_C; oc++) {\n"
      "            //#if b\n"
      "            float acc = ${b}[oc];\n"
      "            //#end\n"
      "            //#if !b\n"
      "            float acc = 0.0f;\n"
      "            //#end\n\n"
      "            for (int i = 0; i < PATCH; i++)\n"
      "                acc += column[i] * ${w}[oc * PATCH + i];\n"
      "            //#if relu\n"
      "            acc = toy_max(acc, 0.0f);\n"
      "            //#end\n"
      "            ${out}[(oc * OUT_H + oh) * OUT_W + ow] = acc;\n"
      "        }\n"
      "    }\n" },
    { "dense.c.tmpl", "for (int r = 0; r < ${x.dim0}; r++)\n"
                      "    for (int o = 0; o < ${w.dim0}; o++) {\n"
                      "        float acc = 0.0f;\n\n"
                      "        for (int i = 0; i < ${w.dim1}; i++)\n"
                      "            acc += ${x}[r * ${w.dim1} + i] * ${w}[o * ${w.dim1} + i];\n"
                      "        //#if b\n"
                      "        acc += ${b}[o];\n"
                      "        //#end\n"
                      "        ${out}[r * ${w.dim0} + o] = acc;\n"
                      "    }\n" },
    { "clip.c.tmpl",
      "for (int i = 0; i < ${x.elements}; i++) {\n"
      "    const float least = (float)${clip.a_min}, most = (float)${clip.a_max};\n\n"
      "    ${out}[i] = ${x}[i] < least ? least : ${x}[i] > most ? most : ${x}[i];\n"
      "}\n" },
    { "scale.c.tmpl", "for (int i = 0; i < ${x.elements}; i++)\n"
                      "    //#if s.value\n"
                      "    ${out}[i] = ${x}[i] * ${s.value};\n"
                      "    //#end\n"
                      "    //#if !s.value\n"
                      "    ${out}[i] = ${x}[i] * ${s}[i];\n"
                      "    //#end\n" },
    { "split.c.tmpl", "memcpy(${out}, ${x}, ${out.bytes});\n"
                      "memcpy(${out1}, ${x} + ${out.elements}, ${out1.bytes});\n" },
    { "add.c.tmpl", "/* ${x.shape} of rank ${x.rank}, ${x.bytes} bytes of ${x.dtype} */\n"
                    "for (int i = 0; i < ${out.elements}; i++)\n"
                    "    ${out}[i] = ${x}[i] + ${other}[i];\n" },
    { "prologue.c.tmpl", "#include <string.h>\n\n#include \"toy_max.h\"\n" },
    { "toy_max.h", "#ifndef TOY_MAX_H\n#define TOY_MAX_H\n\n"
                   "static inline float toy_max(float a, float b)\n{\n"
                   "    return a > b ? a : b;\n}\n\n#endif\n" },
    { NULL, NULL }
};

struct targets *toy_plain(struct ctx *ctx)
{
    struct target *target = toy_target(ctx, toy_plain_json, toy_plain_files);

    return toy_targets(ctx, 1, &target);
}

const char toy_net[] =
    "fn main(%x: (1,2,6,6) f32, %skip: (1,3,2,2) f32) -> (%y, %b) {\n"
    "  %a, %b = call toy_conv1(%x, %skip) : (1,3,2,2) f32, (1,3,4,4) f32  from Conv \"conv1\" #0 + "
    "Conv \"conv2\" #1\n"
    "  %m = call ours(%a) : (1,3,2,2) f32  from Exp \"exp\" #2\n"
    "  %v = reshape(%m) {shape=[2,6]} : (2,6) f32\n"
    "  %y = call toy_fc(%v) : (2,4) f32  from Gemm \"fc\" #3\n"
    "}\n"
    "fn toy_conv1(%x: (1,2,6,6) f32, %skip: (1,3,2,2) f32) -> (%a, %b) compiler \"toy\" "
    "global_symbol \"toy_conv1\" {\n"
    "  %b = call k1(%x) : (1,3,4,4) f32  from Conv \"conv1\" #0\n"
    "  %c = call k2(%b) : (1,3,2,2) f32  from Conv \"conv2\" #1\n"
    "  %a = call k3(%c, %skip) : (1,3,2,2) f32\n"
    "}\n"
    "fn k1(%x: (1,2,6,6) f32) -> (%r) compiler \"toy\" composite \"toy.conv2d_act\" {\n"
    "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
    "  const @bias : (3) f32 = crc32:00000001\n"
    "  %c = nn.conv2d(%x, @w)" CONV " : (1,3,4,4) f32\n"
    "  %b = nn.bias_add(%c, @bias) {axis=1} : (1,3,4,4) f32\n"
    "  %r = nn.relu(%b) : (1,3,4,4) f32\n"
    "}\n"
    "fn k2(%x: (1,3,4,4) f32) -> (%c) compiler \"toy\" composite \"toy.conv2d_act\" {\n"
    "  const @w2 : (3,3,3,3) f32 = crc32:00000002\n"
    "  %c = nn.conv2d(%x, @w2)" CONV " : (1,3,2,2) f32\n"
    "}\n"
    "fn k3(%x: (1,3,2,2) f32, %o: (1,3,2,2) f32) -> (%s) compiler \"toy\" composite \"toy.add\" {\n"
    "  %s = add(%x, %o) : (1,3,2,2) f32\n"
    "}\n"
    "fn ours(%x: (1,3,2,2) f32) -> (%e) compiler \"c\" composite "
    "\"c.exp\" {\n"
    "  const @half : (3,1,1) f32 = [0.5, 0.25, 1]\n"
    "  %h = multiply(%x, @half) : (1,3,2,2) f32\n"
    "  %e = exp(%h) : (1,3,2,2) f32\n"
    "}\n"
    "fn toy_fc(%v: (2,6) f32) -> (%y) compiler \"toy\" global_symbol "
    "\"toy_fc\" {\n"
    "  %y = call k4(%v) : (2,4) f32  from Gemm \"fc\" #3\n"
    "}\n"
    "fn k4(%x: (2,6) f32) -> (%d) compiler \"toy\" composite \"toy.dense\" {\n"
    "  const @fc.weight : (4,6) f32 = crc32:00000003\n"
    "  %d = nn.dense(%x, @fc.weight) : (2,4) f32\n"
    "}\n";
