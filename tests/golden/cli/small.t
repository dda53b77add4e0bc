# Small things that a new user meets.
# Weights that the last compilation wrote and this one does not are removed; files of others stay.
$ relayc compile $MODELS/dense_softmax.onnx -o o --weights file -q; echo mine > o/mine_weights.c; cp o/mine_weights.c o/dense_softmax_weights_2.c; ls o; relayc compile $MODELS/dense_softmax.onnx -o o --weights inline -q; ls o
dense_softmax.c
dense_softmax.h
dense_softmax.json
dense_softmax_weights.c
dense_softmax_weights.h
dense_softmax_weights_2.c
mine_weights.c
dense_softmax.c
dense_softmax.h
dense_softmax.json
dense_softmax_weights_2.c
mine_weights.c
# run says where its inputs come from, what it wrote, and that numbers are none.
$ relayc run $MODELS/dense_softmax.onnx --output y.npy; relayc run $MODELS/dense_softmax.onnx --output y.npy --quiet
note: the inputs are random numbers of seed 1; --input gives others
y (1,4) f32 = 0.295517 0.252372 0.15404 0.298071
  wrote   y.npy
$ python3 -c 'import struct; h = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (1, 6), }"; h += " " * (117 - len(h)) + "\n"; open("n.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(h)) + h.encode() + struct.pack("<6f", *[float("nan")] * 6)); open("one.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(h)) + h.encode() + struct.pack("<6f", float("nan"), 1, 2, 3, 4, 5))'
$ relayc run $MODELS/dense_softmax.onnx -i n.npy
error[R0502]: input 'x' is NaN in all its 6 elements
 --> MODELS/dense_softmax.onnx
[2]
$ relayc run $MODELS/dense_softmax.onnx -i one.npy | cut -c1-12
note: 4 of 4 elements of output 'y' are NaN
y (1,4) f32 
# Files that are no models.
$ echo hello > h.onnx; relayc inspect h.onnx
error[R0101]: the file is malformed at byte 3: an unknown wire type
 --> h.onnx
note: in a ModelProto
help: is this an ONNX file? It does not begin as one; 'relayc help models' says which files are read
[1]
# A qtable of another model is one error.
$ for i in 1 2 3 4 5; do echo "conv$i int8"; done > q; relayc compile $MODELS/dense_softmax.onnx --qtable q
error[R0007]: q: 5 of 5 rows name no node of this model, such as 'conv1' in line 1
help: the table was made for another model: relayc search writes one for this one
[3]
# On a terminal, and there only, a step that takes over a second is shown.
$ command -v script > /dev/null && { printf '#!/bin/sh\nsleep 2.5\nexec cc "$@"\n' > slow; chmod +x slow; CC=$PWD/slow script -qec "relayc run $MODELS/dense_softmax.onnx --with generated" /dev/null | tr '\r' '\n' | grep -c 'building the C, [12] s'; }
1
# --share-arena: --shape and --freeze of one of the models.
$ relayc compile $MODELS/conv_bn_relu.onnx $MODELS/dense_softmax.onnx --share-arena -o s --shape dense_softmax:x=1,6 -q && ls s; relayc compile $MODELS/conv_bn_relu.onnx $MODELS/dense_softmax.onnx --share-arena -o s --shape none:x=1,6 -q
conv_bn_relu.c
conv_bn_relu.h
conv_bn_relu.json
dense_softmax.c
dense_softmax.h
dense_softmax.json
shared_arena.h
error[R0501]: --shape none:x: the model has no input and no dimension of this name
 --> MODELS/conv_bn_relu.onnx
[2]
# compare --calib describes what compile --calib makes: the samples choose no scale and correct no bias, unless told to.
$ D=$TESTS/../examples/digits; relayc calibrate $D/digits.onnx --data $D/test_images.npy --limit 8 -o c.json -q; for b in '' '--bias-correction none' '--bias-correction data'; do relayc compare $D/digits.onnx --precision int8 --calib c.json --data $D/test_images.npy --limit 8 --with engine -q $b -o log$(echo $b | tr -d ' '); done; cmp log log--bias-correctionnone && ! cmp -s log log--bias-correctiondata && echo the same
the same
