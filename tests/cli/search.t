# relayc search: files out, the same again from its log, and what is wrong is said at once.
$ mkdir arrays; { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2,2,6,6), }"; printf '%0144d' 7; } >arrays/a.npy
$ relayc calibrate $MODELS/conv_bn_relu.onnx --data arrays -o c.json -q
$ relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays -o a -q && ls && cat a.qtable
a.calib.json
a.jsonl
a.log
a.qtable
arrays
c.json
# node, mode, what differs from the mode's defaults
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
error[R0501]: --strategy: 'magic' is not sensitive, mixed, topk or greedy-pairs
error[R0501]: --rules: there is no rule 'table' to try
help: rules are unit, a number, max, percentile:P, paper-percentile:P, kl, mse, pow2:A..B, table, search, but not search and table
error[R0501]: --target-cos: 2 is above 1
[2]
