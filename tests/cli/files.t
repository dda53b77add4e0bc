# Files that are not there, not readable, not models. Exit code 3 or 1; nothing is left behind.
$ relayc compile absent.onnx
$ relayc compile .
$ touch empty.onnx; relayc compile empty.onnx -o out; ls
$ echo 'this is text, not a network' >text.onnx; relayc compile text.onnx -o out; ls
$ head -c 100 $MODELS/conv_bn_relu.onnx >truncated.onnx; relayc compile truncated.onnx -o out; ls
$ relayc compile /dev/zero -o out; ls
$ relayc compile $MODELS/conv_bn_relu.onnx -o /proc/none; ls
$ touch file; relayc compile $MODELS/conv_bn_relu.onnx -o file/sub; ls
$ relayc compile $MODELS/conv_bn_relu.onnx -o out -q; ls out
$ cat $MODELS/conv_bn_relu.onnx | relayc compile - -o piped -q; ls piped
$ relayc run $MODELS/conv_bn_relu.onnx -i absent.npy --output y.npy; ls
$ echo nonsense >x.npy; relayc run $MODELS/conv_bn_relu.onnx -i x.npy --output y.npy; ls
