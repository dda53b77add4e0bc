# --parallel: larger regions in parts; what is said about it.
$ relayc compile --parallel 1 $MODELS/conv_bn_relu.onnx
error[R0501]: --parallel: expected 2 to 64
[2]
$ relayc compile --parallel 65 $MODELS/conv_bn_relu.onnx
error[R0501]: --parallel: expected 2 to 64
[2]
$ relayc compile -q --parallel 3 $TESTS/../examples/digits/digits.onnx -o parts; grep -c part_begin parts/digits.c; grep -c "PARTS 3" parts/digits.h; grep parts parts/digits.json
3
1
	"parts":	3,
	"regions_in_parts":	1,
$ relayc compile --parallel 3 $MODELS/conv_bn_relu.onnx | tail -1; relayc compile -q $MODELS/conv_bn_relu.onnx -o alone; diff conv_bn_relu.c alone/conv_bn_relu.c
  next    relayc verify MODELS/conv_bn_relu.onnx --parallel 3
5c5
<  *    options  --parallel 3
---
>  *    options  defaults
[1]
