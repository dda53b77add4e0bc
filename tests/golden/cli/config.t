# relayc.toml: options of a project. The command line comes first; a table is for its command only.
$ printf 'target = "cortex-m4" # a comment\n[compile]\nname = "net"\noutput-dir = \047o\047\nstep = true\nguard = false\n[run]\nseed = 7\n' > relayc.toml
$ relayc compile $MODELS/dense_softmax.onnx | grep -v next; ls o
note: relayc.toml: --output-dir o --name net --step --target cortex-m4
net: 2 ONNX nodes -> 2 regions, 0.00 M MACs
  flash   224 bytes of weights
  arena   16 bytes = lower bound, optimal; without sharing 16, in-place only 16
  wrote   o/net.h, o/net.c, o/net.json
net.c
net.h
net.json
$ relayc compile $MODELS/dense_softmax.onnx --name other --target generic -q; ls o
net.c
net.h
net.json
other.c
other.h
other.json
$ relayc run $MODELS/dense_softmax.onnx --json --config none | grep -c seed
1
$ relayc run $MODELS/dense_softmax.onnx --with generated --json | grep seed
	"notes":	["relayc.toml: --seed 7 --target cortex-m4", "the inputs are random numbers of seed 7; --input gives others"],
# Arrays, for options that are repeated; and what is wrong, with its line.
$ printf 'pool = [\n  "fast=64K,fast", # one\n  "slow=1M,slow",\n]\n' > pools.toml; relayc compile $MODELS/dense_softmax.onnx -o p --config pools.toml | grep -v next
note: pools.toml: --pool fast=64K,fast --pool slow=1M,slow
dense_softmax: 2 ONNX nodes -> 2 regions, 0.00 M MACs
  flash   224 bytes of weights
  arena   16 bytes; without sharing 16, in-place only 16
  fast    16 of 65536 bytes
  slow    0 of 1048576 bytes
  wrote   p/dense_softmax.h, p/dense_softmax.c, p/dense_softmax.json
$ printf 'nmae = "x"\n' > bad.toml; relayc compile $MODELS/dense_softmax.onnx --config bad.toml
error[R0501]: bad.toml:1: no option is called 'nmae'
[2]
$ printf 'name = "x\n' > bad.toml; relayc compile $MODELS/dense_softmax.onnx --config bad.toml
error[R0501]: bad.toml:1: a string does not end in its line
[2]
$ printf '\n\nstep = "yes"\n' > bad.toml; relayc compile $MODELS/dense_softmax.onnx --config bad.toml
error[R0501]: bad.toml:3: --step is true or false
[2]
$ printf 'name = true\n' > bad.toml; relayc compile $MODELS/dense_softmax.onnx --config bad.toml
error[R0501]: bad.toml:1: --name needs a value: NAME
[2]
$ printf 'name = \n' > bad.toml; relayc compile $MODELS/dense_softmax.onnx --config bad.toml
error[R0501]: bad.toml:1: expected a value: "text", a number, true, false, or [...]
[2]
$ printf '[compil]\nname = "x"\n' > bad.toml; relayc compile $MODELS/dense_softmax.onnx --config bad.toml
error[R0501]: bad.toml:1: no command is called 'compil'
[2]
$ printf 'name = "x"\nname = "y"\n' > bad.toml; relayc compile $MODELS/dense_softmax.onnx --config bad.toml
error[R0501]: bad.toml:2: 'name' is given twice
[2]
$ printf 'name = "a" "b"\n' > bad.toml; relayc compile $MODELS/dense_softmax.onnx --config bad.toml
error[R0501]: bad.toml:1: expected the end of the line
[2]
$ relayc compile $MODELS/dense_softmax.onnx --config none.toml
error[R0001]: cannot open none.toml: No such file or directory
[3]
# A folder that was fetched does not decide what runs here, or what is written where.
$ printf 'cc = "sh -c evil"\n' > relayc.toml; relayc compile $MODELS/dense_softmax.onnx -o q
error[R0501]: relayc.toml:1: --cc starts programs or loads code
help: if the file is yours, give --config relayc.toml
[2]
$ printf 'output-dir = "../q"\n' > relayc.toml; relayc compile $MODELS/dense_softmax.onnx; relayc compile $MODELS/dense_softmax.onnx --config none -q -o q && ls q
error[R0501]: relayc.toml:1: --output-dir: '../q' is outside of this folder
help: if the file is yours, give --config relayc.toml
dense_softmax.c
dense_softmax.h
dense_softmax.json
$ printf 'cc = "cc"\n' > relayc.toml; relayc compile $MODELS/dense_softmax.onnx -o q --config relayc.toml | grep -c stack
note: relayc.toml: --cc cc
1
