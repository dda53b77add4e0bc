# --ram: the most that the arena may take; what stands at its peak where it takes more.
$ relayc compile $MODELS/conv_bn_relu.onnx --ram 1.5
error[R0501]: --ram: '1.5' is not a number of bytes such as 65536, 64K or 1.5M
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --ram 12X
error[R0501]: --ram: '12X' is not a number of bytes such as 65536, 64K or 1.5M
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --ram 0
error[R0501]: --ram: found 0 bytes, expected at least 1
[2]
$ relayc compile $MODELS/conv_bn_relu.onnx --ram 64K | grep -e arena -e next
  arena   0 bytes = lower bound, optimal; without sharing 0, in-place only 0
  next    relayc verify MODELS/conv_bn_relu.onnx --ram 64K
$ grep 'options' conv_bn_relu.c
 *    options  --ram 64K
