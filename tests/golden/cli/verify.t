# What floats lose of 1025 times -2^-26 beside 432 decides between two codes of FP8, 416 and 448: neighbours, so right is either, as a code and as a number that has been one.
$ npy() { python3 -c "import struct, sys; v = $1; sys.stdout.buffer.write(b'\x93NUMPY\1\0' + struct.pack('<H', 118) + b'{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1, 1026)}'.ljust(117) + b'\n' + struct.pack('<1026f', *v))"; }; npy '[432] + [-2**-26] * 1025' >tie.npy; npy '[2**30] + [60 / 1024] * 1024 + [-2**30]' >lost.npy
$ relayc verify $MODELS/sum_fp8.onnx -i x=tie.npy -i z=tie.npy | sed '/^passes /d; /^errors /d'
layer                                shape                 largest     passes     oneDNN  generated
code                                 1                         448    0.0e+00    7.7e-02    7.7e-02
number                               1                         448    0.0e+00    7.7e-02    7.7e-02
worst of 2 layers (tolerance 1e-04, or a step where a layer quantises)    0.0e+00    7.7e-02    7.7e-02
the whole network                                                       error 1 - cosine
the graph after the passes and the imported graph                     0.0e+00    0.0e+00  argmax 8 of 8
oneDNN and the graph after the passes                                 7.7e-02    0.0e+00  argmax 8 of 8
the generated C and the graph after the passes                        7.7e-02    0.0e+00  argmax 8 of 8
the generated C and the imported graph                                7.7e-02    0.0e+00  argmax 8 of 8
4 sets of inputs: --input, made up 1, made up 2, made up 3
the imported graph has 2 of the 2 values after the passes by name
oneDNN ran 5 operators, the reference evaluator 0
# Here all of the sum is lost: 0, where 60 is wanted and a step is 4. oneDNN's order of sums is the host CPU's.
$ relayc verify $MODELS/sum_fp8.onnx -i x=lost.npy -i z=lost.npy -q >lost.txt 2>&1; echo $?; grep -A 1 'generated C' lost.txt
1
error[R0403]: the generated C differs from the reference in layer 'code'; largest error 1.00e+00, tolerance 6.68e-02
 --> MODELS/sum_fp8.onnx: node #0 "ReduceSum_0" (ReduceSum)
# From the file to the code: numbers are made up, or given with what is right.
$ npy() { python3 -c "import struct, sys; v = $1; sys.stdout.buffer.write(b'\x93NUMPY\1\0' + struct.pack('<H', 118) + (b'{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1, %d)}' % len(v)).ljust(117) + b'\n' + struct.pack('<%df' % len(v), *v))"; }; npy '[.3, -.7, .1, .9, -.2, .5]' >six.npy; npy '[.1, .2, .3, .4]' >four.npy
$ relayc verify $MODELS/conv_bn_relu.onnx | sed '/^passes /d; s/ [0-9.]*e-[0-9]*/ E/g; s/   *E/ E/g'
errors relative to a layer's largest output, layer by layer
layer                                shape                 largest     passes     oneDNN  generated
y                                    1x3x4x4                  3.89 E E E
worst of 1 layers (tolerance E) E E E
the whole network                                                       error 1 - cosine
the graph after the passes and the imported graph E E
oneDNN and the graph after the passes E E
the generated C and the graph after the passes E E
the generated C and the imported graph E E
3 sets of inputs: made up 1, made up 2, made up 3
the imported graph has 1 of the 1 values after the passes by name
oneDNN ran 3 operators, the reference evaluator 0
$ relayc run -q $MODELS/dense_softmax.onnx -i six.npy --output y.npy; relayc verify $MODELS/dense_softmax.onnx -i six.npy --expect y.npy --inputs 0 | grep -c -e --expect
2
$ relayc verify -q $MODELS/dense_softmax.onnx -i six.npy --expect four.npy 2>&1 | sed 's/by [0-9.e+-]*,/by E,/'
error[R0403]: the imported graph and --expect differ over the whole network by E, tolerance 1.00e-03
 --> MODELS/dense_softmax.onnx
error[R0403]: the generated C and --expect differ over the whole network by E, tolerance 1.00e-03
 --> MODELS/dense_softmax.onnx
$ relayc verify $MODELS/dense_softmax.onnx --expect y.npy --inputs 2000 --runner qemu-arm --cflags -O1 --against tflite
error[R0501]: --against: 'tflite' is not onnxruntime, tflm, litert or xnnpack
error[R0501]: --runner has no effect without --cc
error[R0501]: --cflags has no effect without --cc
[2]
$ relayc verify $MODELS/dense_softmax.onnx -i six.npy --expect y.npy --expect y.npy
error[R0501]: --expect: found 2 files for the 1 outputs of the model
 --> MODELS/dense_softmax.onnx
[2]
$ relayc verify $MODELS/dense_softmax.onnx --inputs 0
error[R0501]: --inputs: expected 1 to 1000, or 0 with --input
 --> MODELS/dense_softmax.onnx
[2]
$ relayc verify - <$MODELS/dense_softmax.onnx | grep worst | sed 's/ [0-9.]*e-[0-9]*/ E/g'
worst of 2 layers (tolerance E)                                   0.0e+00    E    E
# One graph for two CPUs, with its passes checked or not; another in another precision.
$ for o in "--target generic" "--target x86-64-v3 --no-check-passes" "--precision fp8"; do relayc verify -q --json --inputs 1 $MODELS/conv_bn_relu.onnx $o | grep -o '"graph_sha256":.*[0-9a-f]\{64\}"' >>sums; done; uniq -c sums | sed 's/ ".*//'
      2
      1
# What ships, as a program of its own; env stands in for an emulator.
$ relayc verify $MODELS/conv_bn_relu.onnx --target x86-64 --cc cc --cflags -O1 --runner env | sed -n 's/^the generated C for/&/p'
the generated C for x86-64 was built by 'cc' and run by 'env'
$ relayc verify $MODELS/conv_bn_relu.onnx --target cortex-m4 | grep portable
the generated C for cortex-m4 ran on this host, on its portable branch: --cc and --runner run the shipped code
$ relayc verify -q $MODELS/conv_bn_relu.onnx --cc cc --runner false
error[R0404]: the program with the generated C ended early with exit code 1
 --> MODELS/conv_bn_relu.onnx
[1]
$ relayc verify -q $MODELS/conv_bn_relu.onnx --cc no-such-compiler
error[R0404]: cannot run the C compiler 'no-such-compiler': No such file or directory
 --> MODELS/conv_bn_relu.onnx
[1]
# A mistake that only what ships has: this compiler takes the lesser for the greater.
$ printf '#!/bin/sh\nfor w; do case $w in */model.c) sed -i "s/ < 0.0f) ? / > 0.0f) ? /" "$w" ;; esac; done\nexec cc "$@"\n' >bad-cc; chmod +x bad-cc; relayc verify -q $MODELS/conv_bn_relu.onnx --cc ./bad-cc 2>&1 | sed 's/[0-9.]*e[-+][0-9]*/E/g'
error[R0403]: the generated C differs from the reference in layer 'y'; largest error E, tolerance E
 --> MODELS/conv_bn_relu.onnx: node #0 "conv1" (Conv)
# ONNX Runtime is missed at once.
$ RELAYC_PYTHON=/bin/false relayc verify -q $MODELS/conv_bn_relu.onnx --against onnxruntime
error[R0407]: ONNX Runtime ended with exit code 1
help: --against onnxruntime runs '/bin/false'; RELAYC_PYTHON names another Python, which needs the package onnxruntime (pip install onnxruntime)
[1]
# Others run TensorFlow Lite; a stand-in for Python begins as the package does that refuses the file.
$ relayc verify -q $MODELS/conv_bn_relu.onnx --against tflm
error[R0501]: --against tflm: MODELS/conv_bn_relu.onnx is no TensorFlow Lite model, TensorFlow Lite Micro reads these only
help: --against onnxruntime runs ONNX models
[2]
$ printf '\0\0\0\0TFL3' >x.tflite; relayc verify -q x.tflite --against onnxruntime
error[R0501]: --against onnxruntime: x.tflite is a TensorFlow Lite model, ONNX Runtime reads ONNX
help: --against tflm and --against litert run it
[2]
$ RELAYC_PYTHON=/bin/false relayc verify -q x.tflite --against litert
error[R0407]: LiteRT ended with exit code 1
help: --against litert runs '/bin/false'; RELAYC_PYTHON names another Python, which needs the package ai-edge-litert (pip install ai-edge-litert)
[1]
$ relayc verify -q x.tflite --against tflm --shape a=1 --cut b
error[R0501]: --against tflm runs the whole file as it is: it excludes --cut
error[R0501]: --against tflm runs the whole file as it is: it excludes --shape
[2]
$ printf '#!/bin/sh\necho ok 1.0\nread line\necho error no kernel of that kind\n' >python; chmod +x python; RELAYC_PYTHON=./python relayc verify -q x.tflite --against tflm
error[R0407]: TensorFlow Lite Micro: no kernel of that kind
help: it may lack an operator or a form of one that relayc takes; --against litert has more of them
[1]
# The same bits as the simulation.
$ relayc verify $MODELS/conv_bn_relu.onnx --deterministic --target x86-64-v3 | tail -1
--deterministic: bit-identical to the simulation
