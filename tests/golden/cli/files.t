# Files that are not there, not readable, not models. Exit code 3 or 1; nothing is left behind.
$ relayc compile absent.onnx
error[R0001]: cannot open absent.onnx: No such file or directory
[3]
$ relayc compile .
error[R0001]: . is a folder, expected a file
[3]
$ touch empty.onnx; relayc compile empty.onnx -o out; echo "exit $?"; ls
error[R0101]: the file is empty
 --> empty.onnx
exit 1
empty.onnx
$ echo 'this is text, not a network' >text.onnx; relayc compile text.onnx -o out; echo "exit $?"; ls
error[R0101]: the file is malformed at byte 1: an unknown wire type
 --> text.onnx
note: in a ModelProto
help: is this an ONNX file? It does not begin as one; 'relayc help models' says which files are read
exit 1
empty.onnx
text.onnx
$ head -c 100 $MODELS/conv_bn_relu.onnx >truncated.onnx; relayc compile truncated.onnx -o out; echo "exit $?"; ls
error[R0101]: the file is malformed at byte 19: a length goes beyond the end of what contains it
 --> truncated.onnx
note: in a ModelProto
exit 1
empty.onnx
text.onnx
truncated.onnx
$ relayc compile /dev/zero -o out; echo "exit $?"; ls
error[R0001]: /dev/zero is a device, expected a file
exit 3
empty.onnx
text.onnx
truncated.onnx
$ relayc compile $MODELS/conv_bn_relu.onnx -o /proc/none; echo "exit $?"; ls
error[R0002]: cannot write /proc/none/conv_bn_relu.h: No such file or directory
error[R0002]: cannot write /proc/none/conv_bn_relu.c: No such file or directory
error[R0002]: cannot write /proc/none/conv_bn_relu.json: No such file or directory
exit 3
empty.onnx
text.onnx
truncated.onnx
$ touch file; relayc compile $MODELS/conv_bn_relu.onnx -o file/sub; echo "exit $?"; ls
error[R0002]: cannot write file/sub/conv_bn_relu.h: Not a directory
error[R0002]: cannot write file/sub/conv_bn_relu.c: Not a directory
error[R0002]: cannot write file/sub/conv_bn_relu.json: Not a directory
exit 3
empty.onnx
file
text.onnx
truncated.onnx
$ relayc compile $MODELS/conv_bn_relu.onnx -o out -q; echo "exit $?"; ls out
exit 0
conv_bn_relu.c
conv_bn_relu.h
conv_bn_relu.json
$ cat $MODELS/conv_bn_relu.onnx | relayc compile - -o piped -q; echo "exit $?"; ls piped
exit 0
model.c
model.h
model.json
$ relayc run $MODELS/conv_bn_relu.onnx -i absent.npy --output y.npy; echo "exit $?"; ls
error[R0001]: cannot open absent.npy: No such file or directory
exit 3
empty.onnx
file
out
piped
text.onnx
truncated.onnx
$ echo nonsense >x.npy; relayc run $MODELS/conv_bn_relu.onnx -i x.npy --output y.npy; echo "exit $?"; ls
error[R0003]: cannot read x.npy: it is neither a .npy nor a .npz file
exit 3
empty.onnx
file
out
piped
text.onnx
truncated.onnx
x.npy
# An interrupt while the generated C is being compiled leaves no folder behind.
$ mkdir tmp; printf '#!/bin/sh\nls tmp | wc -l >seen\nkill -INT $PPID\n' >cc; chmod +x cc
$ TMPDIR=$PWD/tmp CC=./cc relayc run $MODELS/dense_softmax.onnx --with generated; echo "exit $?"
note: the inputs are random numbers of seed 1; --input gives others
exit 130
$ cat seen; ls tmp; rm -r cc seen tmp
1
$ relayc run $MODELS/dense_softmax.onnx -i nosuch=x.npy; echo "exit $?"
error[R0001]: cannot open nosuch=x.npy: No such file or directory
help: NAME=FILE needs the name of an input; they are 'x' (1,6) f32
exit 3
$ relayc run $MODELS/conv_bn_relu.onnx --json | grep -e schema -e outputs -e name -e dtype
	"schema":	"relayc-run-1",
	"outputs":	[{
			"name":	"y",
			"dtype":	"f32",
$ cp $MODELS/conv_bn_relu.onnx "it's.onnx"; relayc compile "it's.onnx" -o quoted | tail -n 1
  next    relayc verify 'it'\''s.onnx'
# Names of models that kernels give their extents, with _H behind them.
$ for name in k in out; do relayc compile $MODELS/conv_bn_relu.onnx --name $name -o named >/dev/null && gcc -std=c99 -Wall -Wextra -Werror -c named/$name.c -o named/$name.o && echo "$name is C"; done
k is C
in is C
out is C
