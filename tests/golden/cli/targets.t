# Targets: what there is, what one takes, why nodes go where they go; compile, run and verify with them.
$ mkdir npu; printf '%s\n' '{ "name": "npu", "description": "for this test", "format": "extern",' '  "composites": [' '    { "name": "conv2d_act", "pattern": "conv2d(x, w:const) -> bias_add(_, b:const)? -> relu|clip?",' '      "where": ["w.dim[2] <= small"], "let": { "small": "3" }, "cost_ns": "10 + macs / 64" },' '    { "name": "add", "pattern": "add(a, b)", "cost_ns": "1", "scratch": "a.bytes" } ],' '  "limits": { "max_nodes": 3, "min_macs": 0 }, "rates": { "launch_ns": 5 },' '  "keep_on_host": ["nn.softmax"] }' >npu/target.json
$ relayc targets --target-dir npu | grep -E '^npu '
npu          extern    2 composites, for this test
$ relayc targets npu --target-dir npu
npu: for this test
  file       npu/target.json
  format     extern
  limits     max_nodes 3
  rates      launch 5 ns, hand-over 0 ns/byte, call 0 ns, 0 ns/byte
  on c       nn.softmax

  npu.conv2d_act
      conv2d(x, w:const) -> bias_add(_, b:const)? -> relu|clip?
      where w.dim[2] <= small
      let small = 3
      cost 10 + macs / 64 ns

  npu.add
      add(a, b)
      cost 1 ns
      scratch a.bytes bytes
$ relayc targets npu --target-dir npu --json
{
	"schema":	"relayc-targets-1",
	"name":	"npu",
	"description":	"for this test",
	"file":	"npu/target.json",
	"format":	"extern",
	"files":	{
	},
	"limits":	{
		"max_nodes":	3,
		"weights_onchip":	false
	},
	"rates":	{
		"ns_per_mac":	{
		},
		"launch_ns":	5,
		"transfer_ns_per_byte":	0,
		"call_ns":	0,
		"ns_per_byte":	0
	},
	"keep_on_host":	["nn.softmax"],
	"composites":	[{
			"name":	"npu.conv2d_act",
			"pattern":	"conv2d(x, w:const) -> bias_add(_, b:const)? -> relu|clip?",
			"where":	["w.dim[2] <= small"],
			"let":	{
				"small":	"3"
			},
			"cost_ns":	"10 + macs / 64"
		}, {
			"name":	"npu.add",
			"pattern":	"add(a, b)",
			"where":	[],
			"let":	{
			},
			"cost_ns":	"1",
			"scratch":	"a.bytes"
		}],
	"diagnostics":	[]
}
$ relayc targets np --target-dir npu 2>&1 | sed 's/targets are .*/targets are .../'
error[R0602]: unknown target 'np'
note: the targets are ...
help: did you mean 'npu'?
$ relayc targets elsewhere 2>&1 | sed 's/targets are .*/targets are .../'
error[R0602]: unknown target 'elsewhere'
help: the targets are ...
# --explain
$ relayc targets --explain $MODELS/pointwise_residual.onnx --target-dir npu --offload npu | sed -E 's/on c [0-9.]+ [nu]s/on c T/; s/as chosen .*/as chosen T/'
conv1_y:conv  nn.conv2d  (1,4,3,3) f32  -> npu in region 0  (on c T)  from Conv conv1 #0
    npu.conv2d_act  chosen as #0: 2 nodes, 12 ns, on c T
conv1_y  nn.bias_add  (1,4,3,3) f32  -> npu in region 0  (on c T)  from Conv conv1 #0
    npu.conv2d_act  chosen as #0: 2 nodes, 12 ns, on c T
add1_y  add  (1,4,3,3) f32  -> npu in region 0  (on c T)  from Add add1 #1
    npu.conv2d_act  failed: op is add, wanted conv2d or bias_add (pattern column 23: bias_add(_, b:const)? ->...)
    npu.add         chosen as #1: 1 node, 1 ns, on c T
y  nn.relu  (1,4,3,3) f32  -> c  (on c T)  from Relu relu1 #2
    npu.conv2d_act  failed: op is add, wanted conv2d or bias_add (pattern column 23: bias_add(_, b:const)? ->...)

region 0  npu  conv1_y:conv conv1_y add1_y
    3 nodes in 2 composites, 0.00 M MACs
    bytes: 80 of weights, 144 in, 144 out, 432 on chip
    13 ns + hand-over 5 ns, on c T

npu: 1 region, 3 of 4 nodes
estimated time: all on c T, as chosen T
$ relayc targets --explain $MODELS/dense_softmax.onnx --target-dir npu --offload npu | sed -E 's/on c [0-9.]+ [nu]s/on c T/; s/as chosen .*/as chosen T/'
logits:dense  nn.dense  (1,4) f32  -> c  (on c T)  from Gemm fc #0
    npu.conv2d_act  failed: op is nn.dense, wanted conv2d (pattern column 1: conv2d(x, w:const) -> bi...)
logits  nn.bias_add  (1,4) f32  -> c  (on c T)  from Gemm fc #0
    npu.conv2d_act  failed: op is nn.dense, wanted conv2d (pattern column 1: conv2d(x, w:const) -> bi...)
y  nn.softmax  (1,4) f32  -> c  (on c T)  from Softmax softmax #1
    npu keeps nn.softmax on the host

npu: 0 regions, 0 of 3 nodes; not taken: 1 by keep_on_host
estimated time: all on c T, as chosen T
$ relayc targets --explain $MODELS/dense_softmax.onnx --target-dir npu --offload npu --node fc | grep from | sed -E 's/on c [0-9.]+ [nu]s/on c T/'
logits:dense  nn.dense  (1,4) f32  -> c  (on c T)  from Gemm fc #0
logits  nn.bias_add  (1,4) f32  -> c  (on c T)  from Gemm fc #0
$ mkdir zero; printf '%s\n' '{ "name": "zero", "format": "extern", "limits": { "max_macs": 1 }, "rates": { "call_ns": 7 },' '  "composites": [ { "name": "conv", "pattern": "conv2d(x, w) -> bias_add(_, b)", "cost_ns": "macs / (nodes - 2)" }, { "name": "tanh", "pattern": "tanh -> add" } ] }' >zero/target.json
$ relayc targets --explain $MODELS/pointwise_residual.onnx --target-dir zero --offload zero | sed -E 's/on c [0-9.]+ [nu]s/on c T/; s/as chosen .*/as chosen T/'
conv1_y:conv  nn.conv2d  (1,4,3,3) f32  -> c  (on c T)  from Conv conv1 #0
    zero.conv  matched as #0: 2 nodes, 7 ns, on c T; not taken: max_macs: 144 MACs, 1 allowed; cost_ns: macs / (nodes - 2) divides by zero, by the rates instead
conv1_y  nn.bias_add  (1,4,3,3) f32  -> c  (on c T)  from Conv conv1 #0
    zero.conv  matched as #0: 2 nodes, 7 ns, on c T; not taken: max_macs: 144 MACs, 1 allowed; cost_ns: macs / (nodes - 2) divides by zero, by the rates instead
    zero.tanh  failed: op is nn.bias_add, wanted tanh (pattern column 1: tanh -> add)
add1_y  add  (1,4,3,3) f32  -> c  (on c T)  from Add add1 #1
    zero.tanh  failed: op is nn.bias_add, wanted tanh (pattern column 1: tanh -> add)
y  nn.relu  (1,4,3,3) f32  -> c  (on c T)  from Relu relu1 #2
    no row mentions nn.relu

decisions
    zero: zero.conv#0 at conv1_y excluded: max_macs: 144 MACs, 1 allowed

zero: 0 regions, 0 of 4 nodes; not taken: 2 by max_macs
estimated time: all on c T, as chosen T
$ relayc targets --explain $MODELS/pointwise_residual.onnx --target-dir zero --offload zero --json | grep -E '"(reason|cost_problem)"'
						"reason":	"max_macs",
						"cost_problem":	"macs / (nodes - 2) divides by zero"
						"reason":	"max_macs",
						"cost_problem":	"macs / (nodes - 2) divides by zero"
$ relayc targets npu --target-dir npu --node fc
error[R0501]: --node has no effect without --explain
[2]
$ relayc targets --explain $MODELS/pool_flatten.onnx --target-dir npu --offload npu --json | grep -v _ns | sed -n 1,37p
{
	"schema":	"relayc-targets-1",
	"explanation":	{
		"nodes":	[{
				"name":	"pool1_y",
				"op":	"nn.max_pool2d",
				"type":	"(1,2,3,3) f32",
				"onnx":	[{
						"name":	"pool1",
						"op_type":	"MaxPool",
						"node":	0
					}],
				"target":	"c",
				"rows":	[]
			}, {
				"name":	"pool2_y",
				"op":	"nn.avg_pool2d",
				"type":	"(1,2,2,2) f32",
				"onnx":	[{
						"name":	"pool2",
						"op_type":	"AveragePool",
						"node":	1
					}],
				"target":	"c",
				"rows":	[]
			}, {
				"name":	"y",
				"op":	"reshape",
				"type":	"(1,8) f32",
				"onnx":	[{
						"name":	"flatten",
						"op_type":	"Flatten",
						"node":	2
					}],
				"target":	"c",
				"rows":	[]
			}],
$ relayc targets --explain $MODELS/pool_flatten.onnx
error[R0501]: --explain needs targets
help: --offload names them, `relayc targets` lists them
[2]
$ relayc targets npu --explain $MODELS/pool_flatten.onnx --target-dir npu --offload npu
error[R0501]: --explain takes the model; unexpected operand 'npu'
[2]
$ relayc targets --explain absent.onnx --target-dir npu --offload npu
error[R0001]: cannot open absent.onnx: No such file or directory
[3]
# The list of --offload
$ relayc compile $MODELS/pool_flatten.onnx --offload dnl 2>&1 | sed 's/targets are .*/targets are .../'
error[R0602]: unknown target 'dnl'
note: the targets are ...
help: did you mean 'dnnl'?
$ relayc compile $MODELS/pool_flatten.onnx --offload c,dnnl
error[R0501]: --offload: 'c' takes the remaining nodes, so it must be last
[2]
$ relayc compile $MODELS/pool_flatten.onnx --offload dnnl,,dnnl
error[R0501]: --offload: a name is missing between the commas
error[R0501]: --offload: 'dnnl' is given twice
[2]
$ relayc compile $MODELS/pool_flatten.onnx --offload ''
error[R0501]: --offload: a name is missing between the commas
[2]
$ relayc compile $MODELS/pool_flatten.onnx --offload c -o host
pool_flatten: 3 ONNX nodes -> 4 regions, 0.00 M MACs
  flash   0 bytes of weights
  arena   320 bytes = lower bound, optimal; without sharing 400, in-place only 400
  wrote   host/pool_flatten.h, host/pool_flatten.c, host/pool_flatten.json
  next    relayc verify MODELS/pool_flatten.onnx --offload c
$ relayc compile $MODELS/pool_flatten.onnx --assign cost --no-cost
error[R0501]: --assign has no effect without --offload
error[R0501]: --no-cost has no effect without --offload
[2]
$ relayc compile $MODELS/pool_flatten.onnx --offload dnnl --assign cheapest
error[R0501]: --assign: 'cheapest' is not cost or priority
[2]
$ relayc compile $MODELS/pool_flatten.onnx --precision fp16
error[R0501]: --precision: unknown precision 'fp16'
help: there are afp, bf16w, f16w, f32, fp8, fp8w, int8, int8w, mxfp4, mxfp6, mxfp8; fp8=f8e5m2 and the like name another format
[2]
$ relayc compile $MODELS/pool_flatten.onnx --precision fp8=f16
error[R0501]: --precision: precision fp8 cannot have the format f16
help: it can have auto, f8e4m3, f8e3m4, f8e2m5, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, hfp8_143, data also u8e4m4, u8e3m5, u8e2m6, weights also f6e3m2, f6e2m3, f4e2m1 (docs/guide/quantize.md)
[2]
$ relayc compile $MODELS/pool_flatten.onnx --target-dir absent --offload dnnl
error[R0601]: absent: there is no target.json, neither here nor in a folder beneath
help: --target-dir takes the folder of a target, or a folder of such folders
[1]
$ mkdir broken; echo '{ "name": "broken", "format": "extern", "composites": [ { "name": "x", "pattern": "conv3(x)" } ], "colour": 1 }' >broken/target.json; relayc targets --target-dir broken
error[R0601]: broken/target.json:1:99: unknown key 'colour'
help: there are name, description, format, composites, limits, rates, keep_on_host, prologue, region, headers, host, plugin
error[R0601]: broken/target.json:1:84: unknown operator 'conv3'
help: did you mean conv3d?
[1]
# Passes
$ relayc compile --passes | grep offload | cut -c 5-
merge_composite       matches the targets' patterns (--offload)
annotate_target       gives every node to a target or to c (--offload)
merge_regions         joins neighbouring composites of one target (--offload)
cost                  enforces limits, and returns regions that do not pay to the host (--offload)
partition             makes each region a function of composites (--offload)
optimise              runs the targets' own rewrites of their regions (--offload)
$ relayc compile $MODELS/pointwise_residual.onnx --dump-after cost
error[R0501]: --dump-after: 'cost' does not run without --offload
[2]
$ relayc compile $MODELS/pointwise_residual.onnx --dump-after merge_region
error[R0501]: --dump-after: unknown pass 'merge_region'
help: did you mean 'merge_regions'?
[2]
$ relayc compile $MODELS/pointwise_residual.onnx --target-dir npu --offload npu --dump-after merge_regions -q -o out
after merge_regions:
%conv1_y:conv = nn.conv2d  npu.conv2d_act#0  -> npu.conv2d_act#0 in region 0
%conv1_y = nn.bias_add  npu.conv2d_act#0  -> npu.conv2d_act#0 in region 0
%add1_y = add  npu.add#1  -> npu.add#1 in region 0
%y = nn.relu  -> c
region 0: npu, 3 nodes, 144 MACs, 144 bytes in, 144 out, 80 of weights, 432 on chip
$ relayc compile $MODELS/pointwise_residual.onnx --target-dir npu --offload npu --dump-after partition -q -o out
after partition:
module opset 17 producer "onnx_builder"

fn main(%x: (1,4,3,3) f32) -> (%y) {
  %add1_y = call npu_conv1(%x) : (1,4,3,3) f32  from Conv "conv1" #0 + Add "add1" #1
  %y = nn.relu(%add1_y) : (1,4,3,3) f32  from Relu "relu1" #2
}

fn npu_conv1(%x: (1,4,3,3) f32) -> (%add1_y) compiler "npu" global_symbol "npu_conv1" {
  %conv1_y = call conv1_y(%x) : (1,4,3,3) f32  from Conv "conv1" #0
  %add1_y = call add1_y(%conv1_y, %x) : (1,4,3,3) f32  from Add "add1" #1
}

fn conv1_y(%x: (1,4,3,3) f32) -> (%conv1_y) compiler "npu" composite "npu.conv2d_act" {
  const @conv1.weight : (4,4,1,1) f32 = [-0.44720912, -0.16887972, 0.15731736, -0.010039596, 0.065808706, 0.11680311, 0.3335915, -0.09649666, 0.03062271, 0.32405823, -0.4993522, 0.23641296, -0.34836948, 0.42190564, -0.4248001, -0.16918206]
  const @conv1.bias : (4) f32 = [-0.35535946, -0.48857468, 0.3546924, -0.2632613]
  %conv1_y:conv = nn.conv2d(%x, @conv1.weight) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout="NCHW", out_layout="NCHW", kernel_layout="OIHW"} : (1,4,3,3) f32  from Conv "conv1" #0
  %conv1_y = nn.bias_add(%conv1_y:conv, @conv1.bias) {axis=1} : (1,4,3,3) f32  from Conv "conv1" #0
}

fn add1_y(%conv1_y: (1,4,3,3) f32, %x: (1,4,3,3) f32) -> (%add1_y) compiler "npu" composite "npu.add" {
  %add1_y = add(%conv1_y, %x) : (1,4,3,3) f32  from Add "add1" #1
}
$ relayc inspect $MODELS/pointwise_residual.onnx --target-dir npu --offload npu --time-passes 2>&1 | grep -oE '(cost|partition|optimise|fuse_ops) .*'
cost                       4 -> 4 nodes
partition                  4 -> 7 nodes
optimise                   7 -> 7 nodes
fuse_ops                   7 -> 8 nodes
# What compile tells
$ relayc compile $MODELS/pointwise_residual.onnx --target-dir npu --offload npu,dnnl,c --assign priority --no-cost -o out; ls out
pointwise_residual: 3 ONNX nodes -> 2 regions, 0.00 M MACs
  targets dnnl 1 region, npu 1 region
  flash   80 bytes of weights
  arena   432 bytes = lower bound, optimal; without sharing 432, in-place only 432
  wrote   out/pointwise_residual.h, out/pointwise_residual.c, out/pointwise_residual_npu.h, out/pointwise_residual_npu.c, out/relayc_abi.h, out/pointwise_residual_dnnl.h, out/pointwise_residual_dnnl.c, out/relayc_dnnl.h, out/pointwise_residual.json
  next    relayc verify MODELS/pointwise_residual.onnx --target-dir npu --offload npu,dnnl,c --assign priority --no-cost
pointwise_residual.c
pointwise_residual.h
pointwise_residual.json
pointwise_residual_dnnl.c
pointwise_residual_dnnl.h
pointwise_residual_npu.c
pointwise_residual_npu.h
relayc_abi.h
relayc_dnnl.h
$ relayc compile $MODELS/pointwise_residual.onnx --target-dir npu --offload npu --json -o out | grep -A 2 '"targets"'
	"targets":	{
		"c":	1,
		"npu":	1
$ grep 'options' out/pointwise_residual.c
 *    options  --offload npu
# On this machine
$ relayc run $MODELS/pointwise_residual.onnx --offload dnnl --assign priority --no-cost --with generated | cut -c 1-17
note: the inputs are random numbers of seed 1; --input gives others
y (1,4,3,3) f32 =
$ relayc verify $MODELS/pointwise_residual.onnx --offload dnnl --assign priority --no-cost | grep -o 'dnnl$'
dnnl
$ for m in attention_block conv_bn_relu dense_softmax depthwise_clip element_wise hostile_names move_data odd_interface pool_flatten; do relayc verify $MODELS/$m.onnx --offload dnnl --assign priority --no-cost -q && echo $m; done
attention_block
conv_bn_relu
dense_softmax
depthwise_clip
element_wise
hostile_names
move_data
odd_interface
pool_flatten
$ relayc verify $MODELS/pointwise_residual.onnx --target-dir npu --offload npu 2>&1 | grep -E '^(error|help)' | sed 's|/[^ ]*/||'
error[R0404]: cannot load the generated code: model.so: undefined symbol: model_npu_conv1
help: the code calls functions of the target npu; "host" in its target.json can name files that have them on this machine
$ relayc verify $MODELS/pointwise_residual.onnx --offload dnnl --assign priority --no-cost --json | grep '"target"'
			"target":	"dnnl",
# Libraries that fail, crash, or are not there
$ mkdir acme; printf '%s\n' '{ "name": "acme", "format": "c", "prologue": "head.tmpl", "host": { "files": ["acme.c"] },' '  "composites": [ { "name": "add", "pattern": "add(a, b)", "template": "add.tmpl" } ] }' >acme/target.json; echo 'int acme_add(const float *a, const float *b, float *y, int n);' >acme/head.tmpl; printf 'if (acme_add(${a}, ${b}, ${out}, ${out.elements}) != 0)\n    return 1;\n' >acme/add.tmpl; echo 'int acme_add(const float *a, const float *b, float *y, int n) { (void)a, (void)b, (void)y; return n; }' >acme/acme.c; mkdir tmp
$ for c in run\ --with=generated verify; do TMPDIR=tmp relayc $c $MODELS/pointwise_residual.onnx --target-dir acme --offload acme --no-cost --assign priority; done; ls tmp
note: the inputs are random numbers of seed 1; --input gives others
error[R0406]: region 1 (acme_add1, acme: acme.add) failed: its function did not return 0
 --> MODELS/pointwise_residual.onnx: node #1 "add1" (Add)
error[R0406]: region 1 (acme_add1, acme: acme.add) failed: its function did not return 0
 --> MODELS/pointwise_residual.onnx: node #1 "add1" (Add)
$ echo 'int acme_add(const float *a, const float *b, float *y, int n) { (void)a, (void)b, (void)n; *(float *volatile *)&y = 0; return *(volatile int *)y; }' >acme/acme.c
$ for c in run\ --with=generated verify; do TMPDIR=tmp relayc $c $MODELS/pointwise_residual.onnx --target-dir acme --offload acme --no-cost --assign priority; echo $?; done; ls tmp
note: the inputs are random numbers of seed 1; --input gives others
error[R0406]: the generated code crashed (signal 11) in region 1 (acme_add1, acme: acme.add), or in a library that it calls
1
error[R0406]: the generated code crashed (signal 11) in region 1 (acme_add1, acme: acme.add), or in a library that it calls
1
$ printf '%s\n' '#include <stdlib.h>' 'int acme_add(const float *a, const float *b, float *y, int n);' 'int acme_add(const float *a, const float *b, float *y, int n) { (void)a, (void)b, (void)y, (void)n; abort(); }' >acme/acme.c
$ TMPDIR=tmp relayc verify $MODELS/pointwise_residual.onnx --target-dir acme --offload acme --no-cost --assign priority; echo $?; ls tmp
error[R0406]: the generated code crashed (signal 6) in region 1 (acme_add1, acme: acme.add), or in a library that it calls
1
$ printf '%s\n' '#include <stdlib.h>' 'int acme_add(const float *a, const float *b, float *y, int n);' 'int acme_add(const float *a, const float *b, float *y, int n) { int z[100]; z[n & 1] = n; return acme_add(a, b, y, z[1] + 1) + z[0]; }' >acme/acme.c
$ TMPDIR=tmp relayc verify $MODELS/pointwise_residual.onnx --target-dir acme --offload acme --no-cost --assign priority; echo $?; ls tmp
error[R0406]: the generated code crashed (signal 11) in region 1 (acme_add1, acme: acme.add), or in a library that it calls
1
$ sed -i 's/ "host".*/ /' acme/target.json; relayc verify $MODELS/pointwise_residual.onnx --target-dir acme --offload acme --no-cost --assign priority 2>&1 | sed 's|/[^ ]*/||'
error[R0404]: cannot load the generated code: model.so: undefined symbol: acme_add
 --> pointwise_residual.onnx
help: if it is a function of acme's library, name the library's C files under "host" in its target.json
# Targets that are there for nothing
$ relayc compile $MODELS/pool_flatten.onnx --target-dir acme --offload acme,dnnl --no-cost --assign priority -o out | grep -v wrote
note: acme took no node; `relayc targets --explain MODELS/pool_flatten.onnx --target-dir acme --offload acme,dnnl --assign priority --no-cost` explains why
pool_flatten: 3 ONNX nodes -> 1 region, 0.00 M MACs
  targets dnnl 1 region
  flash   0 bytes of weights
  arena   80 bytes = lower bound, optimal; without sharing 80, in-place only 80
  next    relayc verify MODELS/pool_flatten.onnx --target-dir acme --offload acme,dnnl --assign priority --no-cost
$ for c in compile\ -q\ -oout compile\ -oout\ --json; do relayc $c $MODELS/pool_flatten.onnx --target-dir acme --offload acme | grep -A 1 notes; done
	"notes":	["acme took no node; `relayc targets --explain MODELS/pool_flatten.onnx --target-dir acme --offload acme` explains why"],
	"targets":	{
$ relayc run --with reference $MODELS/pool_flatten.onnx --target-dir acme 2>&1 >out/y | grep note
note: the inputs are random numbers of seed 1; --input gives others
note: the target acme is not used without --offload acme
$ relayc verify $MODELS/pool_flatten.onnx --target-dir acme 2>&1 >out/y | grep note
note: the target acme is not used without --offload acme
# What a target consists of
$ relayc targets --target-dir acme | grep acme; relayc targets acme --target-dir acme
acme         c         1 composite
acme
  file       acme/target.json
  format     c
  prologue   head.tmpl
  limits     none
  rates      launch 0 ns, hand-over 0 ns/byte, call 0 ns, 0 ns/byte

  acme.add
      add(a, b)
      template add.tmpl
$ for i in 1 2; do relayc compile $MODELS/pointwise_residual.onnx --target-dir acme --offload acme --no-cost --assign priority -q -o out; grep -A 1 'What acme' out/pointwise_residual_acme.c; grep target_crc32 out/pointwise_residual.json; cat acme/target.json acme/add.tmpl acme/head.tmpl | gzip -c | tail -c 8 | od -An -tx4 -N4; echo >>acme/add.tmpl; done
 * What acme runs
 * The target's files: crc32 f9ac0777
			"target_crc32":	"f9ac0777"
 f9ac0777
 * What acme runs
 * The target's files: crc32 72789304
			"target_crc32":	"72789304"
 72789304
# C that the compiler refuses
$ echo 'wrong = ${a};' >>acme/add.tmpl; LC_ALL=de_DE.UTF-8 relayc verify $MODELS/pointwise_residual.onnx --target-dir acme --offload acme --no-cost --assign priority 2>&1 | grep -E '^(error|help)|wrong'  | sed "s|$TMPDIR/[^/]*/||"
error[R0404]: the C compiler 'cc' failed (exit code 1)
      model_acme.c:32:9: error: 'wrong' undeclared (first use in this function)
         32 |         wrong = input0;
help: line 32 of model_acme.c comes from acme.add, add.tmpl: add1 (Add)
# Templates are looked at before anything is compiled
$ mkdir typo; printf '%s\n' '{ "name": "typo", "format": "c", "prologue": "head.tmpl", "region": "region.tmpl",' '  "composites": [ { "name": "conv", "pattern": "conv2d(x, w:const) -> bias_add(_, b:const)? -> relu?", "let": { "tiles": "w.dim[0]" }, "template": "conv.tmpl" },' '                  { "name": "add", "pattern": "add(a, b)", "template": "add.tmpl" } ] }' >typo/target.json
$ printf '%s\n' '${nam}' >typo/head.tmpl; printf '%s\n' '//#if n_inputs' '${body}' >typo/region.tmpl; printf '%s\n' '${x.ctype} ${x.dim3} ${conv2d.strides1} ${conv2d.n_strides} ${out.bytes} ${w.min} ${macs} ${tiles}' '//#for i tiles' '${conv2d.strides${i}} ${i} ${x${tile}}' '//#end' '//#if residual' '${residual} ${x.nothing}' '//#end' '//#if !b' '${bias}' '//#end' '${conv2d.stride} ${x.dimension} ${tile} ${i} ${out1.shap} ${relu.elements}' '//#for k tile' '//#end' '//#if' '//#end' '//#while a' '//#end' '${open' >typo/conv.tmpl; echo '${a} ${b.value} ${w}' >typo/add.tmpl; relayc targets --target-dir typo
error[R0402]: typo/conv.tmpl:9: unknown key 'bias'
error[R0402]: typo/conv.tmpl:11: unknown key 'conv2d.stride'
help: did you mean 'conv2d.strides'?
error[R0402]: typo/conv.tmpl:11: unknown key 'x.dimension'
error[R0402]: typo/conv.tmpl:11: unknown key 'tile'
help: did you mean 'tiles'?
error[R0402]: typo/conv.tmpl:11: unknown key 'i'
error[R0402]: typo/conv.tmpl:11: unknown key 'out1.shap'
help: did you mean 'out1.shape'?
error[R0402]: typo/conv.tmpl:12: unknown key 'tile'
help: did you mean 'tiles'?
error[R0402]: typo/conv.tmpl:14: '//#if' is not a control line, or has the wrong number of words
error[R0402]: typo/conv.tmpl:16: '//#while' is not a control line, or has the wrong number of words
error[R0402]: typo/conv.tmpl:17: this //#end closes no block
error[R0402]: typo/conv.tmpl:18: '${open' has no closing brace
error[R0402]: typo/add.tmpl:1: unknown key 'w'
error[R0402]: typo/head.tmpl:1: unknown key 'nam'
help: did you mean 'name'?
error[R0402]: typo/region.tmpl:1: this block has no //#end
[1]
$ relayc compile $MODELS/pool_flatten.onnx --target-dir typo --offload typo 2>&1 | grep -c typo/; relayc compile $MODELS/pool_flatten.onnx --target-dir typo -q -o out
14
$ relayc compile $MODELS/pool_flatten.onnx --offload cmsis_nn,dnnl,sim_npu -q -o out 2>&1 | grep error
[1]
# A region that computes something else
$ mkdir off; printf '%s\n' '{ "name": "off", "format": "c", "composites": [ { "name": "add", "pattern": "add(a, b)", "template": "add.tmpl" },' ' { "name": "relu", "pattern": "relu(a)", "template": "relu.tmpl" } ] }' >off/target.json; printf '%s\n' 'for (int i = 0; i < ${out.elements}; i++)' '    ${out}[i] = ${a}[i] + ${b}[i] + 1.0f;' >off/add.tmpl;  printf '%s\n' 'for (int i = 0; i < ${out.elements}; i++)' '    ${out}[i] = ${a}[i] > 0 ? ${a}[i] : 0;' >off/relu.tmpl; relayc verify $MODELS/pointwise_residual.onnx --target-dir off --offload off --no-cost --assign priority 2>&1 | grep -A 3 '^error.R' | sed 's/error [0-9].*/error .../'
error[R0403]: the generated C differs from the reference in layer 'y'; largest error ...
 --> MODELS/pointwise_residual.onnx: node #1 "add1" (Add)
note: off.add: add1 (Add)
      off.relu: relu1 (Relu)
$ relayc compile $MODELS/pointwise_residual.onnx --target-dir off --offload off --no-cost --assign priority -q -o out; grep scratch out/pointwise_residual_off.c
                                void *scratch)
    float *const value0 = scratch; /* add1_y f32 [1,4,3,3], composites 0-1 */
$ printf '%s\n' 'int unused;' 'for (int i = 0; i < ${out.elements}; i++)' '    ${out}[i] = ${a}[i] + ${b}[i];' >off/add.tmpl; relayc run --with generated $MODELS/pointwise_residual.onnx --target-dir off --offload off --no-cost --assign priority 2>&1 >out/y | grep -oE "warning.*|int unused"; echo $?
warning[R0404]: the C compiler 'cc' warns about the generated code
warning: unused variable 'unused' [-Wunused-variable]
int unused
0
# FP8
$ relayc compile $MODELS/conv_bn_relu.onnx --offload sim_npu --precision fp8 --assign priority --no-cost -o fp8 | sed -n '/ONNX nodes/,/arena/p'
conv_bn_relu: 3 ONNX nodes -> 1 region, 0.00 M MACs
  targets sim_npu 1 region
  flash   432 bytes of weights
  arena   0 bytes = lower bound, optimal; without sharing 0, in-place only 0
$ relayc compile $MODELS/conv_bn_relu.onnx --offload sim_npu --precision fp8=f8e5m2 --assign priority --no-cost -o fp8 --json | grep -A 1 '"precision":.{'
	"precision":	{
		"wanted":	"fp8=f8e5m2",
$ for m in conv_bn_relu dense_softmax pointwise_residual; do relayc verify $MODELS/$m.onnx --offload sim_npu --precision fp8 --assign priority --no-cost -q && echo $m; done
conv_bn_relu
dense_softmax
pointwise_residual
