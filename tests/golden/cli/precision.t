# Small numbers: options that contradict each other, or would change nothing, are errors.
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8= --scale nonsense
error[R0501]: --precision: 'fp8=' needs a format
help: for example fp8=f8e3m4, fp8=f8e3m4,f8e4m3 or int8w=i4
error[R0501]: --scale: unknown rule 'nonsense'
help: rules are unit, a number, max, percentile:P, paper-percentile:P, kl, mse, pow2:A..B, table, auto, search
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8w --scale search --formats f8e4m3 --limit 4
error[R0501]: --limit has no effect without --data
error[R0501]: --scale has no effect with --precision fp8w, whose data is f32
help: the rule for weights is --scale-weights
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision int8 --arithmetic integer --loss kld
error[R0501]: --arithmetic integer is for --precision fp8, not int8
error[R0501]: --loss has no effect without --topk, a search or --quantize-log
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision int8w --topk-precision int8w
error[R0501]: --topk-precision has no effect without --topk
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision int8w --topk 1 --topk-precision int8
error[R0501]: --topk-precision: int8 stores data in few bits, too
help: give fp8w, int8w, f16w, bf16w, afp, mxfp8 or mxfp6; a qtable gives each node any precision
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision int8w --topk 1 --topk-precision int9
error[R0501]: --topk-precision: unknown precision 'int9'
help: did you mean 'int8'? There are afp, bf16w, f16w, f32, fp8, fp8w, int8, int8w, mxfp4, mxfp6, mxfp8
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --keep-first --data nowhere
error[R0501]: --keep-first has no effect without --precision or --qtable
error[R0501]: --data has no effect without --precision or --qtable
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision int8
error[R0701]: the precision needs the range of 2 tensors: 'x', 'y'
 --> MODELS/conv_bn_relu.onnx
help: give --calib TABLE (relayc calibrate writes it), or --data PATH
[1]
# The rule that the network's results decide on
$ relayc compile $MODELS/conv_bn_relu.onnx --precision int8 --scale auto --scale-weights auto
error[R0501]: --scale-weights: auto is a rule for data
error[R0501]: --scale auto needs --data
[2]
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --scale auto --data nowhere
error[R0501]: --scale auto: search tries rules itself
help: --rules selects them, for --strategy sensitive
[2]
$ printf 'y int8 scale=auto scale-weights=auto\n' >auto.qtable; relayc compile $MODELS/conv_bn_relu.onnx --qtable auto.qtable; printf 'y int8 scale=auto\n' >auto.qtable; relayc compile $MODELS/conv_bn_relu.onnx --qtable auto.qtable
error[R0007]: auto.qtable:1: auto is a rule for data
error[R0501]: the rule auto for scales of data needs samples
 --> MODELS/conv_bn_relu.onnx
help: give --data PATH, or another rule: max, percentile, kl ...
[2]
# What computes in floats although integers were asked for: nothing of attention. Formats without integers are errors
$ relayc compile $MODELS/attention_block.onnx --precision fp8 --arithmetic integer -q -o floats
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8=f8e5m2 --arithmetic integer -q -o floats
error[R0501]: --precision: f8e5m2 has no --arithmetic integer: its range is so large that a product needs more than 64 bits
help: f8e4m3, f8e3m4, f8e2m5, f8e4m3fnuz, hfp8_143 and, for data, u8e4m4, u8e3m5 and u8e2m6 have it (docs/guide/fp8.md); or do without --arithmetic integer
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8=f6e2m3,f8e4m3 --arithmetic integer --scale-weights search --formats f8e4m3,f8e5m2fnuz -q -o floats
error[R0501]: --precision: f6e2m3 has no --arithmetic integer: it needs an 8-bit format
error[R0501]: --formats: f8e5m2fnuz has no --arithmetic integer: its range is so large that a product needs more than 64 bits
help: f8e4m3, f8e3m4, f8e2m5, f8e4m3fnuz, hfp8_143 and, for data, u8e4m4, u8e3m5 and u8e2m6 have it (docs/guide/fp8.md); or do without --arithmetic integer
[2]
$ printf 'y fp8 data=f8e5m2\n' >far.qtable; relayc compile $MODELS/conv_bn_relu.onnx --qtable far.qtable --arithmetic integer
error[R0501]: far.qtable:1: f8e5m2 has no --arithmetic integer: its range is so large that a product needs more than 64 bits
help: f8e4m3, f8e3m4, f8e2m5, f8e4m3fnuz, hfp8_143 and, for data, u8e4m4, u8e3m5 and u8e2m6 have it (docs/guide/fp8.md); or do without --arithmetic integer
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision int8=i4 --data nowhere
error[R0501]: --precision: precision int8 cannot have the format i4
help: it can have i8 (docs/guide/quantize.md)
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8=f8e4m3,f6e2m3
error[R0501]: --precision: precision fp8 cannot have the format f6e2m3
help: it can have auto, f8e4m3, f8e3m4, f8e2m5, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, hfp8_143, data also u8e4m4, u8e3m5, u8e2m6, weights also f6e3m2, f6e2m3, f4e2m1 (docs/guide/quantize.md)
[2]
# Samples with NaN: named at once, whatever reads them
$ mkdir nan; for v in 1 2 3; do { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1,2,6,6), }"; for i in $(seq 72); do if [ $i = $((9 * v)) ] && [ $v != 2 ]; then printf '\000\000\300\177'; else printf '\000\000\200\077'; fi; done; } >nan/$v.npy; done; relayc compile $MODELS/conv_bn_relu.onnx --precision int8 --data nan -o nan
error[R0003]: nan/1.npy: element 8 of the input 'x' is NaN
error[R0003]: nan/3.npy: element 26 of the input 'x' is NaN
[3]
$ relayc compare $MODELS/conv_bn_relu.onnx --precision fp8 --data nan
error[R0003]: nan/1.npy: element 8 of the input 'x' is NaN
error[R0003]: nan/3.npy: element 26 of the input 'x' is NaN
[3]
# A command to copy
$ relayc compile $MODELS/conv_bn_relu.onnx --precision 'afp=afp<4,3>' -o afp | tail -1
  next    relayc verify MODELS/conv_bn_relu.onnx --precision 'afp=afp<4,3>'
# Targets have an FP8 of their own only where nothing else is asked for
$ relayc compile $MODELS/conv_bn_relu.onnx --offload sim_npu --precision fp8 --keep-f32 nosuch -o own
error[R0701]: --keep-f32: no node is called 'nosuch'
 --> MODELS/conv_bn_relu.onnx
help: names are those of the ONNX nodes, or of their first outputs
[1]
$ relayc targets --explain $MODELS/conv_bn_relu.onnx --offload cmsis_nn --precision fp8w | sed -n 1p
fp8w: 1 of 1 product, constants 228 -> 79 bytes
# Inputs of FP8, with and without a scale
$ for a in float integer; do relayc verify $MODELS/conv_bn_relu.onnx --precision fp8 --quantized-io --arithmetic $a -q && echo same; done
same
same
$ relayc verify $MODELS/conv_bn_relu.onnx --precision fp8 --scale 0.25 --quantized-io -q && echo same
same
# Qtables
$ printf 'a fp8=\nb fp8 weights=\nc int9\nc f32\nc fp8\n' >bad.qtable; relayc compile $MODELS/conv_bn_relu.onnx --qtable bad.qtable
error[R0007]: bad.qtable:1: the mode 'fp8=' needs a format
error[R0007]: bad.qtable:2: 'weights=' has no value
help: a row is: node_name mode [weights=FORMAT] [data=FORMAT] [scale=RULE] [scale-weights=RULE]
error[R0007]: bad.qtable:3: unknown precision 'int9'
help: did you mean 'int8'? There are afp, bf16w, f16w, f32, fp8, fp8w, int8, int8w, mxfp4, mxfp6, mxfp8
error[R0007]: bad.qtable:5: a second row for 'c', which has one in line 4
error[R0007]: bad.qtable:1: no node is called 'a'
help: did you mean 'y'?
error[R0007]: bad.qtable:2: no node is called 'b'
help: did you mean 'y'?
error[R0007]: bad.qtable:3: no node is called 'c'
help: did you mean 'y'?
error[R0007]: bad.qtable:4: no node is called 'c'
help: did you mean 'y'?
[3]
# A graph after all passes has nothing to work on any more
$ relayc compile $MODELS/conv_bn_relu.onnx --emit json -o graph -q; relayc compile graph/conv_bn_relu.graph.json --precision fp8
error[R0501]: --precision needs a graph without regions, and this one has some
 --> graph/conv_bn_relu.graph.json
help: give the ONNX file, or give the precision to compile --emit json
[2]
$ relayc calibrate graph/conv_bn_relu.graph.json --data nowhere -o x
error[R0501]: relayc calibrate needs a graph without regions, and this one has some
 --> graph/conv_bn_relu.graph.json
help: give the ONNX file, or give the precision to compile --emit json
[2]
# A name that keeps nothing
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8w --keep-f32 y -o kept | sed -n 1,4p
warning[R0701]: --keep-f32 has no effect: it names no product
 --> MODELS/conv_bn_relu.onnx
help: products are 'bn1_y.multiply'
fp8w: 1 of 1 product, constants 228 -> 79 bytes
  loss    estimated on synthetic inputs: the results differ by less than 1 %
conv_bn_relu: 3 ONNX nodes -> 1 region, 0.00 M MACs
  flash   124 bytes of weights
# what would change nothing, or cannot be, is said
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8w --keep-f32 conv1_y -o kept | sed -n 1,3p # a node that became a part of another, by its output
fp8w: 0 of 1 product, constants 228 -> 228 bytes
  loss    estimated on synthetic inputs: the results differ by less than 1 %
  f32     bn1_y.multiply (nn.conv2d): --keep-f32
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8 --scale search --formats i8,f8e3m4,i4
error[R0501]: --formats: precision fp8 cannot compute with data of i8
error[R0501]: --formats: precision fp8 cannot compute with data of i4
help: data can be of FP8: f8e4m3, f8e3m4, f8e5m2 ...
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision int8 --scale-weights search --formats i8,i4
error[R0501]: --formats: precision int8 cannot compute with weights of i4
help: int8 computes with i8 alone
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8w --scale-weights search --formats i8,f8e3m4 -q -o chosen; grep ' numbers ' chosen/*.c | sed -n 1p
 *    numbers  weights i8, data f32: 1 product
$ relayc compile $MODELS/conv_bn_relu.onnx --fp8-params F143,F143,-1,-1 --scale max
error[R0501]: --fp8-params sets both scales: leave out --scale and --scale-weights
[2]
$ printf 'y fp8\n' >y.qtable; relayc compile $MODELS/conv_bn_relu.onnx --qtable y.qtable --keep-f32 y -q -o kept
warning[R0701]: --keep-f32 'y' is overruled by its qtable row: fp8
 --> MODELS/conv_bn_relu.onnx: node #2 "relu1" (Relu)
$ relayc compile $MODELS/conv_bn_relu.onnx --precision mxfp6=f6e2m3 -o mx | sed -n 1p; grep ' numbers ' mx/*.c | sed -n 1p
mxfp6=f6e2m3: 1 of 1 product, constants 228 -> 56 bytes
 *    numbers  weights f6e2m3 in blocks of 32, data f32: 1 product
$ relayc compare $MODELS/conv_bn_relu.onnx --precision fp8 | sed -n 2,4p; head -1 precision_compare.log | sed 's,^,> ,'
fp8: 1 of 1 product, constants 228 -> 84 bytes
  loss    estimated on synthetic inputs: the results differ by 2 %
inputs were random; use --data or -i for meaningful results
> # The quantised model against the float one, layer by layer, on 1 random sample.
# inputs of small numbers: as they are
$ { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (1,2,6,6), }"; printf '%072d' 7; } >codes.npy; relayc run $MODELS/conv_bn_relu.onnx --precision fp8 --quantized-io -i codes.npy; relayc run $MODELS/conv_bn_relu.onnx --precision fp8 -i codes.npy
y (1,3,4,4) u8e2m6 scaled(scale=0.940316) = 0 0 0 0 0 0 ...
error[R0502]: input "x" is (1,2,6,6) u8, expected (1,2,6,6) f32
 --> MODELS/conv_bn_relu.onnx
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --precision fp8 --scale 0.5 --quantized-io -q -o io; grep SCALE io/conv_bn_relu.h | sed 's,^,> ,'
> /* Input "x": f8e4m3 [1,2,6,6]; real = SCALE * the number of the code */
> #define CONV_BN_RELU_X_SCALE 0.5f
> /* Output "y": f8e4m3 [1,3,4,4]; real = SCALE * the number of the code */
> #define CONV_BN_RELU_Y_SCALE 0.5f
# --precision beside a qtable, for what has no row: formats that fit, as without a table, but those of a format that is named
$ echo CAgSADq/AQoPCgF4CgF2EgFhIgRDb252CgwKAWESAXIiBFJlbHUKDwoBcgoBdxIBeSIEQ29udhIBZyozCAMIAwgBCAEQASIkAACAP/YoHD/2KNy+MzOzPgAAgD+4HkU/4XpUP4XrEb8AAIA/QgF2KhsIAQgDCAEIARABIgxmZmY/9igcP6RwvT5CAXdaGwoBeBIWChQIARIQCgIIAQoCCAMKAggCCgIIAWIbCgF5EhYKFAgBEhAKAggBCgIIAQoCCAIKAggBQgQKABAR | base64 -d >pair.onnx; { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2,3,2,1), }"; printf '\000\001\002\003\004\005\006\007\001\003\005\002'; } >pair.npy; printf 'a f32\n' >f32.qtable; printf 'y fp8\n' >y.qtable
$ for data in '' '--data pair.npy'; do for p in '--precision fp8' '--precision fp8 --qtable f32.qtable' '--precision fp8=f8e4m3 --qtable f32.qtable' '--precision fp8 --qtable y.qtable' '--qtable y.qtable'; do relayc compile pair.onnx $p $data -q -o pair && sed -n "s,^ .    numbers ,$data $p:,p" pair/pair.c; done; done
 --precision fp8: weights f8e2m5, data f8e4m3: 1 product; weights f8e2m5, data u8e4m4: 1 product
 --precision fp8 --qtable f32.qtable: weights f32, data f32: 1 product; weights f8e2m5, data u8e4m4: 1 product
 --precision fp8=f8e4m3 --qtable f32.qtable: weights f32, data f32: 1 product; weights f8e4m3, data f8e4m3: 1 product
 --precision fp8 --qtable y.qtable: weights f8e2m5, data f8e4m3: 1 product; weights f8e4m3, data f8e4m3: 1 product
 --qtable y.qtable: weights f32, data f32: 1 product; weights f8e4m3, data f8e4m3: 1 product
--data pair.npy --precision fp8: weights f8e2m5, data f8e2m5: 1 product; weights f8e2m5, data u8e2m6: 1 product
--data pair.npy --precision fp8 --qtable f32.qtable: weights f32, data f32: 1 product; weights f8e2m5, data u8e2m6: 1 product
--data pair.npy --precision fp8=f8e4m3 --qtable f32.qtable: weights f32, data f32: 1 product; weights f8e4m3, data f8e4m3: 1 product
--data pair.npy --precision fp8 --qtable y.qtable: weights f8e2m5, data f8e4m3: 1 product; weights f8e4m3, data f8e4m3: 1 product
--data pair.npy --qtable y.qtable: weights f32, data f32: 1 product; weights f8e4m3, data f8e4m3: 1 product
