# What ends a run before its time. Nothing temporary stays, whatever the compiler was doing: the third call
# of this one makes a file of its own, signals relayc, and goes on writing.
$ mkdir tmp; { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (4,6), }"; printf '\000\001\002\000\000\001\003\000\000\000\002\000\000\000\000\004\000\000\001\000\000\000\000\005'; } >x.npy; printf '0\n1\n2\n3\n' >labels.txt
$ printf '#!/bin/sh\necho >>calls\nif [ $(wc -l <calls) -ge $AT ]; then mkdir "$TMPDIR/deep"; touch "$TMPDIR/deep/cc.s"; ls tmp | wc -l >seen; echo $$ >child; kill -$SIGNAL $PPID; exec sleep 20; fi\nexec gcc "$@"\n' >cc; chmod +x cc
$ echo 'try() { rm -f calls seen; AT=$1 SIGNAL=$2 TMPDIR=$PWD/tmp CC=./cc; export AT SIGNAL TMPDIR CC; shift 2; "$@" >/dev/null 2>&1; echo "$SIGNAL: exit $?, $(cat seen) then, $(ls tmp | wc -l) now"; [ ! -f child ] || { kill $(cat child) 2>/dev/null && echo "the compiler goes on"; rm child; }; }' >try
$ . ./try; for s in INT TERM HUP; do try 1 $s relayc run $MODELS/dense_softmax.onnx --with generated; done
INT: exit 130, 1 then, 0 now
TERM: exit 143, 1 then, 0 now
HUP: exit 129, 1 then, 0 now
$ . ./try; try 1 INT relayc verify $MODELS/dense_softmax.onnx; try 2 INT relayc bench $MODELS/dense_softmax.onnx; try 1 TERM relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1 --with generated; try 1 INT relayc compile $MODELS/dense_softmax.onnx --cc ./cc -o out; ls | grep out
INT: exit 130, 1 then, 0 now
INT: exit 130, 2 then, 0 now
TERM: exit 143, 1 then, 0 now
INT: exit 130, 1 then, 0 now
[1]
# In tune: while the third program is built, beside the folder of the usual code and that of the harness.
$ . ./try; for s in INT TERM; do try 6 $s relayc tune $MODELS/conv_bn_relu.onnx --trials 2 -o t.jsonl; rm t.jsonl; done
INT: exit 130, 3 then, 0 now
TERM: exit 143, 3 then, 0 now
# In search: while somebody else's program judges.
$ printf '#!/bin/sh\nls tmp | wc -l >seen\nkill -$SIGNAL $(cat pid)\nsleep 0.1\necho 1\n' >judge; chmod +x judge; mkdir arrays; { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2,2,6,6), }"; printf '%0144d' 7; } >arrays/a.npy; relayc calibrate $MODELS/conv_bn_relu.onnx --data arrays -o c.json -q
$ . ./try; for s in INT KILL; do try 0 $s sh -c 'echo $$ >pid; exec relayc search $MODELS/conv_bn_relu.onnx --precision int8 --calib c.json --data arrays --metric cmd:./judge -o a'; rm -f a.jsonl; done 2>/dev/null
INT: exit 130, 1 then, 0 now
KILL: exit 137, 1 then, 1 now
# What a killed run leaves goes with the next one; what only looks so stays, and what is a living one's.
$ . ./try; mkdir tmp/relayc-0123456789abcdef-00000000; touch tmp/relayc-notes; { try 3 KILL relayc tune $MODELS/conv_bn_relu.onnx --trials 2 -o t.jsonl; } 2>/dev/null; CC=gcc relayc run $MODELS/dense_softmax.onnx --with generated -q; ls tmp
KILL: exit 137, 4 then, 4 now
the compiler goes on
relayc-0123456789abcdef-00000000
relayc-notes
# Output that cannot be written: each command says so, and no file appears.
$ for c in "compile $MODELS/conv_bn_relu.onnx -o out" "compile $MODELS/conv_bn_relu.onnx -o out --json" "compile $MODELS/conv_bn_relu.onnx $MODELS/dense_softmax.onnx --share-arena -o out" "calibrate $MODELS/conv_bn_relu.onnx --data arrays -o out" "run $MODELS/conv_bn_relu.onnx --output out.npy" "compare $MODELS/conv_bn_relu.onnx --precision fp8 --scale max --calib c.json --data arrays -o out" "inspect $MODELS/conv_bn_relu.onnx" "verify $MODELS/conv_bn_relu.onnx" "eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1" targets "targets sim_npu" "explain R0001" --help "compile --help" --version "compile --target help" "compile --passes"; do relayc $c >/dev/full 2>said; echo "$? $(grep -v ^note: said | cut -c1-58)"; done; ls | grep out
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: an earlier 
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: an earlier 
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
3 error[R0002]: cannot write to standard output: No space le
[1]
$ relayc compile $MODELS/conv_bn_relu.onnx -o out | true; ls out 2>/dev/null | wc -l | sed 's/[03]/none or all/'
none or all
# Files that ulimit -f does not allow: an error, no signal.
$ (ulimit -f 8; relayc compile $MODELS/conv_bn_relu.onnx -o small; echo "exit $?"); ls | grep small
error[R0002]: cannot write small/conv_bn_relu.c: File too large
exit 3
[1]
