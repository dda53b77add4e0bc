# --deterministic: what is the same on every machine, and what cannot be.
$ relayc compile -q --deterministic $MODELS/conv_bn_relu.onnx && sed -n 5p conv_bn_relu.c && grep -c '^#pragma' conv_bn_relu.c && grep WRONG conv_bn_relu.[ch] && grep determ conv_bn_relu.json
 *    options  --deterministic
3
conv_bn_relu.c:        return CONV_BN_RELU_WRONG_ARITHMETIC;
conv_bn_relu.h:    CONV_BN_RELU_WRONG_ARITHMETIC = 5 /* another rounding, subnormal numbers flushed to zero, or FMA:
	"options":	"--deterministic",
	"deterministic":	true,
$ relayc compile -q $MODELS/conv_bn_relu.onnx && grep -c 'pragma\|WRONG' conv_bn_relu.[ch]; grep determ conv_bn_relu.json
conv_bn_relu.c:0
conv_bn_relu.h:0
	"deterministic":	false,
$ relayc verify -q --deterministic $MODELS/conv_bn_relu.onnx
$ relayc compile --deterministic $MODELS/dense_softmax.onnx --offload dnnl --no-cost
note: dnnl took no node; `relayc targets --explain MODELS/dense_softmax.onnx --offload dnnl --no-cost` explains why
dense_softmax: 2 ONNX nodes -> 2 regions, 0.00 M MACs
  targets c 2 regions
  flash   224 bytes of weights
  arena   16 bytes = lower bound, optimal; without sharing 16, in-place only 16
  wrote   ./dense_softmax.h, ./dense_softmax.c, ./dense_softmax.json
  next    relayc verify MODELS/dense_softmax.onnx --deterministic --offload dnnl --no-cost
$ relayc run --deterministic $MODELS/conv_bn_relu.onnx
error[R0501]: --deterministic has no effect without --with generated
[2]
$ relayc explain R0409
R0409: a part of the model is not deterministic

With --deterministic one NAME.c gives the same bits on every processor and from every compiler (docs/guide/deterministic.md). Functions of <math.h>, except sqrt and exact ones, differ in the last bits between libraries, and results of backends are beyond relayc's control.
# the simulation has the bits of what is generated
$ relayc run $MODELS/dense_softmax.onnx --seed 5 --output g.npy --with generated --deterministic > g.txt
note: the inputs are random numbers of seed 5; --input gives others
$ relayc run $MODELS/dense_softmax.onnx --seed 5 --output s.npy --with simulation > s.txt
note: the inputs are random numbers of seed 5; --input gives others
$ cmp g.npy s.npy && head -1 g.txt > g.1 && head -1 s.txt | cmp - g.1
$ relayc run $MODELS/dense_softmax.onnx --seed 5 --output s.npy --with simulation --offload dnnl
error[R0501]: --with simulation reproduces the host's C only: leave out --offload
[2]
$ relayc run $MODELS/dense_softmax.onnx --seed 5 --output s.npy --with simulation --deterministic
error[R0501]: --deterministic has no effect without --with generated
[2]
