# What relayc tune measures is not the same twice; that it tries, notes, continues and applies is. Then
# where it stops, and why.
$ relayc tune $MODELS/conv_bn_relu.onnx --trials 1 -o t.jsonl | sed 's/ on .*//; s/trials.*/trials .../; s/^\(region_[a-z0-9]* *1x *2 \).*/\1.../; s/^[01] of/N of/; s/--target [a-z0-9-]*/--target HOST/'
1 regions that differ, at most 2 trials ...
region                                trials ...
region_conv1                       1x      2 ...
N of 1 faster than the default; t.jsonl has all trials ...
  next    relayc compile MODELS/conv_bn_relu.onnx --target HOST --tune-log t.jsonl
$ wc -l <t.jsonl | sed 's/[23]/two or three/'
two or three
$ sed 's/,"target.*//' t.jsonl | sort -u
{"relayc_tune":1,"region":"nn.conv2d(p0 f32[1,2,6,6], c f32[3,2,3,3]) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", out_layout=\"NCHW\", kernel_layout=\"OIHW\"}; nn.bias_add(_, c f32[3]); nn.relu(_)"
# Again: from the log, which does not grow.
$ cp t.jsonl before; relayc tune $MODELS/conv_bn_relu.onnx --trials 1 -o t.jsonl --quiet; cmp t.jsonl before
# A run that was killed while it wrote.
$ printf '{"relayc_tune":1,"reg' >>t.jsonl; relayc tune $MODELS/conv_bn_relu.onnx --trials 1 -o t.jsonl --quiet; cmp t.jsonl before
# A log as one could be, of a machine that is not this one.
$ sed -n 1p t.jsonl | sed 's/"target":.*/"target":"x86-64-v3","compiler":"c","flags":"f","cpu":"","runner":"","kernel":"conv","knobs":{"tile":"1x14"},"confirmed":true,"verdict":"ok","warm_us":1,"usual_warm_us":2,"warm_ratio":0.5}/' >v3.jsonl
$ relayc compile $MODELS/conv_bn_relu.onnx --target x86-64-v3 --tune-log v3.jsonl | sed 's/bytes.*//'
conv_bn_relu: 3 ONNX nodes -> 1 region, 0.00 M MACs
  tuned   region_conv1 conv (tile=1x14)
  flash   412 
  arena   0 
  wrote   ./conv_bn_relu.h, ./conv_bn_relu.c, ./conv_bn_relu.json
  next    relayc verify MODELS/conv_bn_relu.onnx --target x86-64-v3 --tune-log v3.jsonl
$ grep -E 'options|PIXELS_4_1x14 =' conv_bn_relu.c
 *    options  --target x86-64-v3 --tune-log v3.jsonl
enum { PIXELS_4_1x14 = 14, TILE_4_1x14 = LANES4 };
$ relayc compile $MODELS/conv_bn_relu.onnx --target x86-64-v3 --tune-log v3.jsonl --json | grep -A4 tuned
	"tuned":	[{
			"function":	"region_conv1",
			"choices":	"tile=1x14"
		}],
	"files":	["./conv_bn_relu.h", "./conv_bn_relu.c", "./conv_bn_relu.json"],
$ relayc compile $MODELS/conv_bn_relu.onnx --target x86-64-v3 --tune-log v3.jsonl -q -o again; cmp conv_bn_relu.c again/conv_bn_relu.c
$ relayc verify $MODELS/conv_bn_relu.onnx --target x86-64-v3 --tune-log v3.jsonl | tail -1
oneDNN ran 3 operators, the reference evaluator 0
$ relayc compile $MODELS/conv_bn_relu.onnx --target cortex-m4 --tune-log v3.jsonl -o m4 -q
warning[R0408]: the tuning log has no trial for --target cortex-m4
help: use the --target of relayc tune (default: host)
$ relayc compile $MODELS/depthwise_clip.onnx --target x86-64-v3 --tune-log v3.jsonl -o other | grep tuned
  tuned   no region: the log has nothing faster for them
# Stale: a value that the kernel does not have, and a knob that nobody has.
$ sed 's/1x14/9x9/' v3.jsonl >stale.jsonl; relayc compile $MODELS/conv_bn_relu.onnx --target x86-64-v3 --tune-log stale.jsonl -o stale -q
warning[R0408]: the tuning log says tile=9x9, which the kernel conv does not offer here
 --> MODELS/conv_bn_relu.onnx: node #0 "conv1" (Conv)
help: tune it again: relayc tune
$ sed 's/"tile"/"colour"/' v3.jsonl >strange.jsonl; relayc compile $MODELS/conv_bn_relu.onnx --target x86-64-v3 --tune-log strange.jsonl -o stale -q
warning[R0408]: the tuning log has an unknown knob: 'colour'
help: it is from another version of relayc; tune again
$ echo nonsense >>v3.jsonl; relayc compile $MODELS/conv_bn_relu.onnx --target x86-64-v3 --tune-log v3.jsonl -o stale
error[R0008]: v3.jsonl:2: the line is no JSON object
help: remove the line, or tune into a new file
[3]
$ relayc compile $MODELS/conv_bn_relu.onnx --tune-log nowhere.jsonl
error[R0001]: cannot open nowhere.jsonl: No such file or directory
[3]
# Another machine's code, run by QEMU.
$ relayc tune $MODELS/depthwise_clip.onnx --trials 1 --target aarch64 --cc aarch64-linux-gnu-gcc --cflags '-O2 -static' --runner 'qemu-aarch64 {exe}' -o arm.jsonl | tail -1
  next    relayc compile MODELS/depthwise_clip.onnx --target aarch64 --tune-log arm.jsonl
$ grep -c '"target":"aarch64".*"runner":"qemu-aarch64"' arm.jsonl | sed 's/[1-9]/some/'
some
# A variant that is wrong by more than is allowed never wins: here all that add in another order.
$ relayc tune $MODELS/conv_bn_relu.onnx --trials 2 --tolerance 0 --cflags '-O2 -ffp-contract=fast' -o w.jsonl --json | grep -E 'times|"trials|failed'
			"times":	1,
			"trials":	3,
			"failed":	0,
$ relayc tune $MODELS/conv_bn_relu.onnx --regions nonesuch
error[R0501]: --regions: no tunable region has 'nonesuch' in its name or signature
 --> MODELS/conv_bn_relu.onnx
[2]
$ relayc tune $MODELS/conv_bn_relu.onnx --cc no-such-compiler
error[R0404]: cannot run the C compiler 'no-such-compiler': No such file or directory
[1]
$ relayc tune $MODELS/conv_bn_relu.onnx --runner false -q
error[R0407]: the generated code ended with exit code 1
 --> MODELS/conv_bn_relu.onnx
[1]
$ relayc tune $MODELS/conv_bn_relu.onnx --trials many --target pdp11
error[R0501]: --trials: 'many' is not a whole number of at least 0
error[R0501]: --target: 'pdp11' is not a CPU
help: there are generic, x86-64, x86-64-v3, x86-64-v4, sapphirerapids, znver4, znver5, aarch64, armv7, cortex-m0, cortex-m3, cortex-m33, cortex-m4, cortex-m55, cortex-m7, rv32imc, rv32imafc, rv64gc, rv64gcv, wasm32, host
[2]
$ relayc tune
error[R0501]: 'relayc tune' needs MODEL.onnx
help: 'relayc tune --help' shows how it is used
[2]
