# --check-passes: each step of the compiler against the one before it, by the reference evaluator.
$ relayc compile $MODELS/pointwise_residual.onnx -o out --check-passes | sed -n 1p
passes  24 steps keep what the network computes
$ relayc compile $MODELS/pointwise_residual.onnx -o out --precision fp8 --check-passes | sed -n 1p
passes  39 steps keep what the network computes
$ relayc compile $MODELS/pointwise_residual.onnx -o out --check-passes --time-passes 2>&1 | grep -E 'check-passes: (canon|fold_c|convert|fuse)' | sort -u
check-passes: canonicalize          promises rounding: 0 of the result
check-passes: convert_layout        promises bits: 0 of the result
check-passes: fold_constant         promises bits: 0 of the result
check-passes: fuse_ops              promises bits: 0 of the result
$ relayc compile $MODELS/pointwise_residual.onnx -o out --no-check-passes --check-passes | grep -c passes
0
[1]
$ relayc inspect $MODELS/pointwise_residual.onnx --no-check-passes
error[R0501]: 'relayc inspect' has no option --no-check-passes
help: 'relayc inspect --help' lists its options
[2]
$ relayc explain R0902
R0902: a step of the compiler changes what the network computes

With --check-passes, and always in relayc verify, the reference evaluator runs the graph as it was imported and after each step of the compiler. A step promises identical bits, differences by rounding only, or quantised values at most one step apart; this one broke its promise. This is a bug in relayc; please report it with the model.
