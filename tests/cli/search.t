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
error[R0010]: a.jsonl has trials of another model, data, calibration or measure, or of another machine
help: search with another -o, or remove the file
[3]
$ relayc search $MODELS/conv_bn_relu.onnx
error[R0501]: 'relayc search' needs --data
error[R0501]: 'relayc search' needs --precision
help: for example --precision int8; docs/quantize.md lists them
[2]
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --data arrays --strategy magic --rules max,table --target-cos 2
error[R0501]: --strategy: 'magic' is not sensitive, mixed, topk, greedy-pairs, budget or bayes
error[R0501]: --rules: there is no rule 'table' to try
help: rules are unit, a number, max, percentile:P, paper-percentile:P, kl, mse, pow2:A..B, table, auto, search, but not auto, search and table
error[R0501]: --target-cos: 2 is above 1
[2]
# a program judges the outputs of all samples, which it finds in its last word
$ printf '#!/bin/sh\npython3 -m zipfile -l "$1" | grep -c "\\.npy" >&2\necho 0.75\n' >judge; chmod +x judge; relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --metric cmd:./judge --strategy topk --max-float-layers 1 -o m >out.m 2>files; sort -u files; grep metric m.log | head -2
1
start                                                        loss 0.25, cosine 0.999999999, SQNR 42.33 dB, mse 0.00172779, metric 0.75
the worst 1 in f32                                           loss 0.25, cosine 1.000000000, SQNR inf dB, mse 0, metric 0.75
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --metric 'cmd:false' -o f
error[R0501]: --metric: 'false' failed
 --> MODELS/conv_bn_relu.onnx
help: it is started as 'false FILE.npz'
[2]
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --metric 'cmd:echo many' -o g
error[R0501]: --metric: 'echo many' printed no number in its last line
 --> MODELS/conv_bn_relu.onnx
help: it is started as 'echo many FILE.npz'
[2]
# budgets
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --strategy budget --flash 100 -o b -q && grep -v '^#' b.qtable
conv1 int8w weights=i4
bn1   int8w weights=i4
relu1 int8w weights=i4
$ relayc search $MODELS/conv_bn_relu.onnx --precision afp --data arrays --strategy bayes --trials 3 -o y -q && grep -v '^#' y.qtable && ls y.*
conv1 afp weights=afp<1,3>
bn1   afp weights=afp<1,3>
relu1 afp weights=afp<1,3>
y.jsonl
y.log
y.qtable
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --strategy budget --choices int8+magic -o b -q
error[R0501]: --choices: there is no precision 'magic'
help: there are afp, bf16w, f16w, f32, fp8, fp8w, int8, int8w, mxfp4, mxfp6, mxfp8; fp8=f8e5m2 and the like name another format
[2]
