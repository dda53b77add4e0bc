# What relayc says about its own use. Exit code 2, suggestions, all problems at once.
$ relayc
relayc: from a trained neural network (ONNX, TensorFlow Lite) to self-contained C

  relayc compile kws.onnx -o gen/        write kws.h, kws.c, kws_weights.c, kws.json
  relayc verify kws.onnx                 file = passes = oneDNN = generated C?
  relayc run kws.onnx -i x.npy --output y.npy

  compile     write NAME.h, NAME.c, weights and NAME.json
  inspect     show inputs, outputs, operators, or the graph (--ir)
  run         execute a model on this machine
  verify      compare the file's graph, passes, oneDNN and C layer by layer
  bench       time the generated C on this machine, region by region and against others (--vs)
  tune        find the fastest code for each region, by trying it here (or through --runner)
  calibrate   record what the tensors hold, for quantisation
  compare     say layer by layer what --precision costs: precision_compare.log and .json
  eval        say what a model is worth on labelled data: top-1, mAP ... in f32 or any --precision
  search      find the precision that each layer needs: a qtable, and a better calibration table
  quantize    find the precision that fits: tries recipes on a part of --data, reports on another
  package     make a package for CMake, Zephyr, Arduino ... (--format) of what compile wrote into
              FOLDER
  targets     list the targets, show one, or explain what goes where (--explain)
  diff        say what differs between two models, folders of generated files, or NAME.json files
  analyze     show layer by layer what a compilation takes: MACs, weights, RAM, time and loss if
              measured
  report      write the same as a page for the browser, with the network and its memory drawn
  explain     what a diagnostic's code means
  help        a command, an option, or a topic such as memory; --format man: as a manual page
  completion  print a shell's completion script

'relayc COMMAND --help' for the options, 'relayc help' for topics; docs/ for the rest.
error[R0501]: no command given
[2]
$ relayc --version
relayc 0.2.0
$ relayc --help | sed -n 1p
relayc: from a trained neural network (ONNX, TensorFlow Lite) to self-contained C
$ relayc compil x.onnx
error[R0501]: unknown command 'compil'
help: did you mean 'compile'?
[2]
$ relayc nonsense
error[R0501]: unknown command 'nonsense'
help: 'relayc --help' lists the commands
[2]
$ relayc compile
error[R0501]: 'relayc compile' needs MODEL.onnx ...
help: 'relayc compile --help' shows how it is used
[2]
$ relayc compile a.onnx b.onnx
error[R0501]: compile takes one model
help: --share-arena compiles several, for one arena; --shared-kernels, for one program
[2]
$ relayc compile a.onnx --shared-kernels
error[R0501]: --shared-kernels needs at least two models
[2]
$ relayc compile --weight=file --colour never a.onnx
error[R0501]: unknown option '--colour'
help: did you mean --color?
[2]
$ relayc compile --weights=blob a.onnx
error[R0501]: --weights: 'blob' is not auto, inline or file
[2]
$ relayc compile --ir a.onnx
error[R0501]: 'relayc compile' has no option --ir
help: 'relayc compile --help' lists its options
[2]
$ relayc compile -o
error[R0501]: option '-o' needs a value
error[R0501]: 'relayc compile' needs MODEL.onnx ...
help: 'relayc compile --help' shows how it is used
[2]
$ relayc compile --step=3 a.onnx
error[R0501]: option --step takes no value
[2]
$ relayc compile --name 3d-net a.onnx
error[R0501]: --name: '3d-net' cannot be the prefix of C symbols
help: try --name n3d_net
[2]
$ relayc compile --dump-after=fold_constants a.onnx
error[R0501]: --dump-after: unknown pass 'fold_constants'
help: did you mean 'fold_constant'?
[2]
$ relayc compile --shape 1,3,8,8 a.onnx
error[R0501]: --shape: '1,3,8,8' is not NAME=DIM,DIM,...
help: for example --shape data=1,3,224,224, or --shape batch=1 for a symbolic dimension; at most 8 dimensions
[2]
$ relayc compile --shape x=1,,8 a.onnx
error[R0501]: --shape: 'x=1,,8' is not NAME=DIM,DIM,...
help: for example --shape data=1,3,224,224, or --shape batch=1 for a symbolic dimension; at most 8 dimensions
[2]
$ relayc compile --shape x=1,a a.onnx
error[R0501]: --shape: 'x=1,a' is not NAME=DIM,DIM,...
help: for example --shape data=1,3,224,224, or --shape batch=1 for a symbolic dimension; at most 8 dimensions
[2]
$ relayc compile --freeze sr=x a.onnx
error[R0501]: --freeze: 'sr=x' is not NAME=NUMBER,NUMBER,...
help: for example --freeze sr=16000: one number for all elements, or one for each
[2]
$ relayc compile --cut a,,b --extract .. --extract a,b a.onnx
error[R0501]: --cut: 'a,,b' is not NAME,NAME,...
help: for example --cut boxes,scores
error[R0501]: --extract: '..' is not A,...,A..B,...,B
help: for example --extract features..boxes,scores
error[R0501]: --extract: 'a,b' is not A,...,A..B,...,B
help: for example --extract features..boxes,scores
[2]
$ relayc compile --freeze 16000 --freeze =1 --freeze a=1, a.onnx
error[R0501]: --freeze: '16000' is not NAME=NUMBER,NUMBER,...
help: for example --freeze sr=16000: one number for all elements, or one for each
error[R0501]: --freeze: '=1' is not NAME=NUMBER,NUMBER,...
help: for example --freeze sr=16000: one number for all elements, or one for each
error[R0501]: --freeze: 'a=1,' is not NAME=NUMBER,NUMBER,...
help: for example --freeze sr=16000: one number for all elements, or one for each
[2]
$ relayc compile --shape a=1 --shape b=2 --shape a=3 --freeze c=1 --freeze c=1 a.onnx
error[R0501]: --shape: 'a' is given twice
help: remove one of them
error[R0501]: --freeze: 'c' is given twice
help: remove one of them
[2]
$ relayc verify --tolerance=much a.onnx
error[R0501]: --tolerance: 'much' is not a number of at least 0
[2]
$ relayc explain R0301
R0301: shapes do not fit together

An input's shape does not fit the operator.
$ relayc explain R9999
error[R0501]: unknown diagnostic 'R9999'
help: a code such as R0301 precedes each message
[2]
$ relayc explain nonsense
error[R0501]: unknown diagnostic 'nonsense'
help: a code such as R0301 precedes each message
[2]
$ relayc inspect --operators | sed -n '1p;$p'
Abs                                    7 to 28
com.microsoft.Trilu                    1
