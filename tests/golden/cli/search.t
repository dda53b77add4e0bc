# relayc search: files out, the same again from its log, and what is wrong is said at once.
$ mkdir arrays; { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2,2,6,6), }"; printf '%0144d' 7; } >arrays/a.npy
$ relayc calibrate $MODELS/conv_bn_relu.onnx --data arrays -o c.json -q
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays -o a -q && ls && grep -v '^#' a.qtable
a.calib.json
a.jsonl
a.log
a.qtable
arrays
c.json
conv1 int8
bn1   int8
relu1 int8
$ cp a.qtable first; cp a.jsonl log; relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays -o a -q && cmp a.qtable first && cmp a.jsonl log && echo same
same
$ relayc compile $MODELS/conv_bn_relu.onnx --qtable a.qtable --calib a.calib.json -o out -q && ls out
conv_bn_relu.c
conv_bn_relu.h
conv_bn_relu.json
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --limit 1 -o a -q
error[R0010]: a.jsonl has trials of another model, data, calibration, measure or machine
help: give another -o, or remove the file
[3]
$ relayc search $MODELS/conv_bn_relu.onnx
error[R0501]: 'relayc search' needs --data
error[R0501]: 'relayc search' needs --precision
help: for example --precision int8; docs/guide/quantize.md lists them
[2]
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --data arrays --strategy magic --rules max,table --target-cos 2
error[R0501]: --strategy: 'magic' is not sensitive, mixed, topk, greedy-pairs, budget or bayes
error[R0501]: --rules: unknown rule 'table'
help: rules are unit, a number, max, percentile:P, paper-percentile:P, kl, mse, pow2:A..B, table, auto, search, but not auto, search and table
error[R0501]: --target-cos: 2 is above 1
[2]
# a program judges the outputs of all samples, which it finds in its last word
$ printf '#!/bin/sh\npython3 -m zipfile -l "$1" | grep -c "\\.npy" >&2\necho 0.75\n' >judge; chmod +x judge; relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --metric cmd:./judge --strategy topk --max-float-layers 1 -o m >out.m 2>files; sort -u files; grep metric m.log | sed -n 1,2p | sed 's/mse 0.00172[0-9]*/mse 0.00172.../'
1
start                                                        loss 0.25, cosine 0.999999999, SQNR 42.33 dB, mse 0.00172..., metric 0.75
the worst 1 in f32                                           loss 0.25, cosine 1.000000000, SQNR inf dB, mse 0, metric 0.75
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --metric 'cmd:false' -o f
error[R0501]: --metric: 'false' failed
 --> MODELS/conv_bn_relu.onnx
help: it is run as 'false FILE.npz'
[2]
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --metric 'cmd:echo many' -o g
error[R0501]: --metric: 'echo many' printed no number in its last line
 --> MODELS/conv_bn_relu.onnx
help: it is run as 'echo many FILE.npz'
[2]
# budgets
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --strategy budget --flash 100 -o b -q && grep -v '^#' b.qtable
conv1 int8w weights=i4
bn1   int8w weights=i4
relu1 int8w weights=i4
# times that were measured: of this convolution in f32, and of another one in integers
$ echo '{"schema": "relayc-bench-1", "regions": [{"signature": "nn.conv2d(p0 f32[1,2,6,6], c f32[3,2,3,3]) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", out_layout=\"NCHW\", kernel_layout=\"OIHW\"}; nn.bias_add(_, c f32[3]); nn.relu(_)", "ms": {"median": 2}, "macs": 864, "activation_bytes": 480}, {"signature": "qnn.conv2d(p0 i8[1,9,9,9], c i8[8,9,3,3]) {groups=1}", "ms": {"median": 3}, "macs": 2592, "activation_bytes": 900}, {"signature": "qnn.quantize(p0 f32[10])", "ms": {"median": 0.1}, "macs": 0, "activation_bytes": 100}]}' >times.json
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --strategy budget --choices int8 --latency-log times.json --latency 95% -o l | sed -n 's/6\.4[0-9]*e-10/6.4...e-10/; /Pareto/,/others/p'; grep -v '^#' l.qtable | sed -n 1p
Pareto front                              flash        RAM         ms     cosine         loss
network 1 by bytes                          371         80       1.61   1.000000  6.4...e-10
network 0 by bytes                          412          0          2   1.000000            0
found takes 371 bytes of flash, 80 of RAM, ms: 1.61
up to 100.0 % of the time is estimated: regions missing from --latency-log are scaled from others
conv1 int8
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --strategy budget --choices int8 --latency-log times.json --latency 2.1ms -o l -q; grep -v '^#' l.qtable | sed -n 1p
conv1 f32
$ echo '{"schema": "relayc-bench-1", "regions": []}' >empty.json; relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --strategy budget --latency 5 --latency-log empty.json --latency-log c.json -o b -q
error[R0501]: --latency: '5' is neither a time such as 2.5ms, 800us or 0.01s, nor a share such as 80%
error[R0011]: empty.json is not a report of relayc bench --json with regions
help: relayc bench MODEL.onnx --target host --json >empty.json
error[R0011]: c.json is not a report of relayc bench --json, or of an old version
help: relayc bench MODEL.onnx --target host --json >c.json
[3]
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --strategy budget --latency 5us -o b -q
error[R0501]: --latency needs --latency-log
help: run relayc bench --json for the network in f32 and in each of --choices on the target CPU (docs/guide/search.md)
[2]
# metrics of relayc eval: classes, and boxes of a detector that finds one, the left half of the image
$ { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (4,6), }"; printf '\000\001\002\000\000\001\003\000\000\000\002\000\000\000\000\004\000\000\001\000\000\000\000\005'; } >x.npy; printf '0\n1\n2\n3\n' >labels.txt
$ relayc search $MODELS/dense_softmax.onnx --precision int8w=i4 --data x.npy --labels labels.txt --metric top1 --strategy topk --max-float-layers 1 -o t -q && grep metric t.log
start                                                        loss 0.75, cosine 0.998351168, SQNR 25.33 dB, mse 0.000334934, metric 0.25
the worst 1 in f32                                           loss 0.75, cosine 1.000000000, SQNR inf dB, mse 0, metric 0.25
found                                                        loss 0.75, cosine 1.000000000, SQNR inf dB, mse 0, metric 0.25
all in int8w=i4                                              loss 0.75, cosine 0.998351168, SQNR 25.33 dB, mse 0.000334934, metric 0.25
the worst 1 in f32                                           loss 0.75, cosine 1.000000000, SQNR inf dB, mse 0, metric 0.25
$ mkdir two boxes; echo iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAADklEQVR42mP4DwYMEAoAU7oL9YXEbhEAAAAASUVORK5CYII= | base64 -d >two/white.png; echo iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAC0lEQVR42mNgQAYAAA4AATo1BFYAAAAASUVORK5CYII= | base64 -d >two/black.png; printf '0 0.25 0.5 0.5 1\n' >boxes/white.txt; printf '0 0.75 0.5 0.5 1\n' >boxes/black.txt; echo '{"resize": {"mode": "exact", "width": 4, "height": 4}, "scale": 0.00392156862745098}' >bright.json; echo CAc67wEKGQoBeBIBYSIRR2xvYmFsQXZlcmFnZVBvb2wKDwoBYRIBZiIHRmxhdHRlbgoSCgFmCgF3CgFiEgF5IgRHZW1tEgNkZXQqUwgDCAYQAUIBd0pIAAAAAAAAAAAAAAAAAAAAAM3MzD0AAAAAAAAAAAAAAAAAAAAAAAAAAM3MzD0AAAAAAAAAAAAAAAAAAAAAAAAAAM3MzD0AAAAAKiEIBhABQgFiShgAAAAAAAAAAAAAAEAAAIBAAAAAPwAAAABaGwoBeBIWChQIARIQCgIIAQoCCAMKAggECgIIBGITCgF5Eg4KDAgBEggKAggBCgIIBkIECgAQDQ== | base64 -d >det.onnx
$ relayc search det.onnx --precision fp8w=f4e2m1 --data two --preprocess bright.json --labels boxes --decode boxes --metric map50 --strategy greedy-pairs -o d -q && grep metric d.log
start                                                        loss 0.495049505, cosine 1.000000000, SQNR inf dB, mse 0, metric 0.504950495
found: the start                                             loss 0.495049505, cosine 1.000000000, SQNR inf dB, mse 0, metric 0.504950495
all in fp8w=f4e2m1                                           loss 0.495049505, cosine 1.000000000, SQNR inf dB, mse 0, metric 0.504950495
$ relayc search det.onnx --precision fp8w --data two --preprocess bright.json --labels boxes --metric map50 -o d -q
error[R0501]: map and map50 need --decode, the output format of the detector
help: decoders are yolov5, yolox, yolov8, boxes, ssd (docs/guide/eval.md)
[2]
$ relayc search $MODELS/conv_bn_relu.onnx --precision afp --data arrays --strategy bayes --trials 3 -o y -q && grep -v '^#' y.qtable && ls y.*
conv1 afp weights=afp<2,3>
bn1   afp weights=afp<2,3>
relu1 afp weights=afp<2,3>
y.jsonl
y.log
y.qtable
$ relayc search $MODELS/dense_softmax.onnx --precision afp --data x.npy --labels labels.txt --metric top1 --strategy bayes --trials 3 -o z | grep -A1 asked; grep -c 'metric 0.25$' z.log
asked for: a cosine of 0.997295, as that of different samples is 0.7295
wrote z.qtable, z.log, z.jsonl
10
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --strategy budget --choices int8+magic -o b -q
error[R0501]: --choices: unknown precision 'magic'
help: there are afp, bf16w, f16w, f32, fp8, fp8w, int8, int8w, mxfp4, mxfp6, mxfp8; fp8=f8e5m2 and the like name another format
[2]
