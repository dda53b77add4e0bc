# The graph as JSON: written by compile, read by every command with a model.
$ relayc compile $MODELS/conv_bn_relu.onnx --emit json --name net
net: the graph after all passes
  wrote   ./net.graph.json, ./net.graph.bin
$ ls
net.graph.bin
net.graph.json
$ cat net.graph.json | sed -n 1,12p
{
  "format": "relayc-graph",
  "version": 1,
  "opset": 17,
  "onnx_nodes": 3,
  "producer": "onnx_builder",
  "data": {"file":"net.graph.bin","bytes":216},
  "functions": [
    {
      "name": "main",
      "params": [
        {"name":"x","dtype":"f32","shape":[1,2,6,6]}
$ relayc inspect net.graph.json
net.graph.json: opset 17, by onnx_builder
  input   x                            (1,2,6,6) f32
  output  y                            (1,3,4,4) f32
  1 nodes: call x1
  0 constants: 0 elements, 0 bytes
$ relayc inspect net.graph.json --ir | sed -n 1,5p
module opset 17 producer "onnx_builder"

fn main(%x: (1,2,6,6) f32) -> (%y) {
  %y = call y(%x) : (1,3,4,4) f32  from Conv "conv1" #0 + BatchNormalization "bn1" #1 + Relu "relu1" #2
}
$ relayc run net.graph.json
note: the inputs are random numbers of seed 1; --input gives others
y (1,3,4,4) f32 = 0 0 0.130631 0 0 0.134666 ...
$ relayc run $MODELS/conv_bn_relu.onnx
note: the inputs are random numbers of seed 1; --input gives others
y (1,3,4,4) f32 = 0 0 0.130631 0 0 0.134666 ...
$ relayc run net.graph.json --with generated
note: the inputs are random numbers of seed 1; --input gives others
y (1,3,4,4) f32 = 0 0 0.130631 0 0 0.134666 ...
$ relayc verify net.graph.json --quiet; echo "exit $?"
exit 0
# The C is the same, but for what it says about the file.
$ relayc compile net.graph.json --name net -o a -q; relayc compile $MODELS/conv_bn_relu.onnx --name net -o b -q; diff a/net.c b/net.c | grep -c '^[<>]'
4
# Written again, it is the same graph.
$ relayc compile net.graph.json --emit json --name net -o again -q; cmp net.graph.json again/net.graph.json; cmp net.graph.bin again/net.graph.bin
# Both at once, and what is said with --json.
$ relayc compile $MODELS/conv_bn_relu.onnx --emit c,json --name net -o both -q; ls both
net.c
net.graph.bin
net.graph.json
net.h
net.json
$ relayc compile $MODELS/conv_bn_relu.onnx --emit json --name net -o out --json
{
	"schema":	"relayc-compile-1",
	"name":	"net",
	"files":	["out/net.graph.json", "out/net.graph.bin"],
	"diagnostics":	[]
}
# A pipe: what it holds is seen from its first character. The data file lies in this folder.
$ cat net.graph.json | relayc run -
note: the inputs are random numbers of seed 1; --input gives others
y (1,3,4,4) f32 = 0 0 0.130631 0 0 0.134666 ...
$ cat $MODELS/conv_bn_relu.onnx | relayc run -
note: the inputs are random numbers of seed 1; --input gives others
y (1,3,4,4) f32 = 0 0 0.130631 0 0 0.134666 ...
# Options that make no sense.
$ relayc run net.graph.json --shape x=1 --freeze x=1 --cut y --extract x..y --external-data-dir .
error[R0501]: --shape is for ONNX models, and this is a JSON graph
 --> net.graph.json
help: leave it out: its shapes are fixed
error[R0501]: --freeze is for ONNX models, and this is a JSON graph
 --> net.graph.json
help: leave it out: its inputs are read at run time
error[R0501]: --cut is for ONNX models, and this is a JSON graph
 --> net.graph.json
help: leave it out: its outputs are those in the file
error[R0501]: --extract is for ONNX models, and this is a JSON graph
 --> net.graph.json
help: leave it out: its inputs and outputs are those in the file
error[R0501]: --external-data-dir is for ONNX models, and this is a JSON graph
 --> net.graph.json
help: leave it out: its data are in it, or next to it
[2]
$ relayc compile net.graph.json --emit text
error[R0501]: --emit: found 'text', wanted c, json or c,json
[2]
# Regions of other targets come back, and are compiled as they are.
$ relayc compile $MODELS/depthwise_clip.onnx --offload sim_npu --assign priority --no-cost --emit c,json --name net -o npu -q; relayc compile npu/net.graph.json --name net -o npu2 -q; diff npu/net_sim_npu.c npu2/net_sim_npu.c | grep -c '^[<>]'
6
$ relayc run npu/net.graph.json --with generated
note: the inputs are random numbers of seed 1; --input gives others
y (1,4,4,4) f32 = 0 0 0 0 0 0 ...
$ sed 's/"compiler": "sim_npu"/"compiler": "mynpu"/' npu/net.graph.json >npu/other.json; relayc run npu/other.json
note: the inputs are random numbers of seed 1; --input gives others
error[R0602]: function "sim_npu_relu6" is for the unknown target 'mynpu'
 --> npu/other.json: node #1 "relu6" (Clip)
help: --target-dir adds targets
[2]
$ sed 's/"op":"clip"/"op":"exp"/; s/"attributes":{"a_min[^}]*},//' npu/net.graph.json >npu/other.json; relayc compile npu/other.json -o out
error[R0605]: function "y": found other nodes than the pattern of sim_npu.act, wanted '(relu(x:var f32)|clip(x:var f32)) -> cast?'
 --> npu/other.json: node #1 "relu6" (Clip)
[1]
# Damaged: every place that is wrong, at once.
$ sed 's/nn.relu/nn.rely/; s/"crc32":"./"crc32":"0/' net.graph.json >bad.json; relayc run bad.json
error[R0605]: functions[1].constants[0]: found the checksum df11337c in net.graph.bin, wanted 0f11337c
 --> bad.json
error[R0605]: functions[1].nodes[2].op: found 'nn.rely', wanted an operator
 --> bad.json
help: did you mean nn.relu?
[1]
$ rm net.graph.bin; relayc run net.graph.json
error[R0605]: data.file: net.graph.bin cannot be used: No such file or directory
 --> net.graph.json
[1]
$ echo '{"a": 1' >broken.json; relayc run broken.json
error[R0605]: line 1, column 8: this is not JSON, or is nested more than 1000 deep
 --> broken.json
[1]
$ relayc run absent.json
error[R0001]: cannot open absent.json: No such file or directory
[3]
