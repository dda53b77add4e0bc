# What bench measures is not the same twice; that its numbers fit together is. Then where it stops, and
# why.
$ relayc bench $MODELS/pointwise_residual.onnx --repeat 3 --json | $TESTS/e2e/check_bench_json.py
1 regions, 144 MACs, 3 rounds, against nobody
$ relayc bench $MODELS/conv_bn_relu.onnx --repeat 2 --vs engine --json | $TESTS/e2e/check_bench_json.py
1 regions, 864 MACs, 2 rounds, against engine
$ relayc bench $MODELS/../networks/residual/model.onnx --seconds 0 --target x86-64 --cc clang --json | $TESTS/e2e/check_bench_json.py
14 regions, 641610 MACs, 5 rounds, against nobody
# Against itself: smaller weights, another target.
$ relayc bench $MODELS/../networks/residual/model.onnx --repeat 2 --vs plain --precision fp8w --json | $TESTS/e2e/check_bench_json.py
14 regions, 641610 MACs, 2 rounds, against plain
$ relayc bench $MODELS/dense_softmax.onnx --repeat 2 --vs plain --offload dnnl --no-cost --json | $TESTS/e2e/check_bench_json.py
2 regions, 24 MACs, 2 rounds, against plain
# Another machine's code, run by QEMU: where the program stands is said, or it comes last.
$ relayc bench $MODELS/depthwise_clip.onnx --repeat 1 --cc aarch64-linux-gnu-gcc --cflags '-O2 -static' --runner qemu-aarch64 --json | $TESTS/e2e/check_bench_json.py
3 regions, 576 MACs, 1 rounds, against nobody
$ relayc bench $MODELS/depthwise_clip.onnx --repeat 1 --cc arm-linux-gnueabihf-gcc --cflags '-O2 -static' --runner 'qemu-arm {exe} ignored' --json | $TESTS/e2e/check_bench_json.py
3 regions, 576 MACs, 1 rounds, against nobody
# The table has a line for each region, or for those asked for.
$ relayc bench $MODELS/attention_block.onnx --repeat 1 | grep -c ' 1x'
4
$ relayc bench $MODELS/attention_block.onnx --repeat 1 --regions 2 | grep -c ' 1x'
2
$ relayc bench $MODELS/attention_block.onnx --repeat 1 --regions 0 | sed 's/[0-9.e-]*[0-9]/N/g'
N ONNX nodes -> N regions, N M MACs; -ON -march=native -ffp-contract=fast; compiled in N s; core N
  warm      N ms (N .. N, least N)
  cold      N ms (N .. N, least N)
  speed     N GFLOP/s, N % of the peak of N measured beside it
  code      N bytes of text, N constants, N data, N bss; arena N
  outputs   N off oneDNN's, relative to the largest
# Sizes known at run time: a line for each, of one program.
$ relayc bench $MODELS/unbound_dimensions.onnx --extract mask..y --vary batch=1..3 --repeat 1 --cflags '-O2' | sed 's/[0-9.e-]*[0-9]/N/g'
batch=N              N ms (N .. N, least N); cold N ms
batch=N              N ms (N .. N, least N); cold N ms
batch=N              N ms (N .. N, least N); cold N ms
N sizes, one program; -ON; compiled in N s; core N
  code      N bytes of text, N constants, N data, N bss; arena N
$ relayc bench $MODELS/unbound_dimensions.onnx --extract mask..y --max batch=2 --repeat 1 --vs engine --json | grep -c '"at":'
2
$ relayc bench $MODELS/unbound_dimensions.onnx --extract mask..y --vary batch=1..3 --vs plain
error[R0501]: --vs plain: not with dimensions that are known at run time only (--vary)
 --> MODELS/unbound_dimensions.onnx
note: with batch=3 (--vary)
help: --shape NAME=VALUE compares one size
[2]
$ relayc bench
error[R0501]: 'relayc bench' needs MODEL.onnx
help: 'relayc bench --help' shows how it is used
[2]
$ relayc bench MODELS/x.onnx --vs tensorrt --repeat 0 --seconds soon
error[R0501]: --vs: 'tensorrt' is not onnxruntime, engine or plain
error[R0501]: --seconds: 'soon' is not a number of at least 0
error[R0501]: --repeat: found 0, expected at least 1 round
[2]
$ relayc bench - --vs plain </dev/null
error[R0501]: --vs plain needs the model as a file, not from standard input
[2]
$ relayc compile --vs engine x.onnx
error[R0501]: 'relayc compile' has no option --vs
help: 'relayc compile --help' lists its options
[2]
$ relayc bench $MODELS/conv_bn_relu.onnx --cc no-such-compiler
error[R0404]: cannot run the C compiler 'no-such-compiler': No such file or directory
 --> MODELS/conv_bn_relu.onnx
[1]
$ relayc bench $MODELS/conv_bn_relu.onnx --cflags '-O2 -fno-such-flag' --repeat 1 2>&1 | grep -v '^note:'
error[R0404]: the C compiler 'cc' failed (exit code 1)
 --> MODELS/conv_bn_relu.onnx
$ relayc bench $MODELS/conv_bn_relu.onnx --runner no-such-runner
error[R0407]: cannot start the generated code: no-such-runner: No such file or directory
 --> MODELS/conv_bn_relu.onnx
[1]
$ relayc bench $MODELS/conv_bn_relu.onnx --runner false
error[R0407]: the generated code ended with exit code 1
 --> MODELS/conv_bn_relu.onnx
[1]
$ RELAYC_PYTHON=no-such-python relayc bench $MODELS/conv_bn_relu.onnx --vs onnxruntime
error[R0407]: cannot start ONNX Runtime: no-such-python: No such file or directory
 --> MODELS/conv_bn_relu.onnx
help: --vs onnxruntime runs 'no-such-python'; RELAYC_PYTHON names another Python, which needs the package onnxruntime (pip install onnxruntime)
[1]
$ printf '#!/bin/sh\nexec python3 -I -S "$@"\n' > bare; chmod +x bare
$ RELAYC_PYTHON=./bare relayc bench $MODELS/conv_bn_relu.onnx --vs onnxruntime
error[R0407]: ONNX Runtime: No module named 'numpy'
 --> MODELS/conv_bn_relu.onnx
help: --vs onnxruntime runs './bare'; RELAYC_PYTHON names another Python, which needs the package onnxruntime (pip install onnxruntime)
[1]
$ relayc bench $MODELS/../networks/transformer/model.onnx --cflags -O0 --tolerance 0 --repeat 1 2>&1 | sed 's/by [0-9.e-]* of/by SO MUCH of/'
error[R0403]: the outputs of the generated code differ from oneDNN's by SO MUCH of the largest, tolerance 0.00e+00: not timed
 --> MODELS/../networks/transformer/model.onnx
help: 'relayc verify' finds the layer; --tolerance allows more
