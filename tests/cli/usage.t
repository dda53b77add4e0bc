# What relayc says about its own use. Exit code 2, suggestions, all problems at once.
$ relayc
$ relayc --version
$ relayc --help | head -1
$ relayc compil x.onnx
$ relayc nonsense
$ relayc compile
$ relayc compile a.onnx b.onnx
$ relayc compile --weight=file --colour never a.onnx
$ relayc compile --weights=blob a.onnx
$ relayc compile --ir a.onnx
$ relayc compile -o
$ relayc compile --step=3 a.onnx
$ relayc compile --name 3d-net a.onnx
$ relayc compile --dump-after=fold_constants a.onnx
$ relayc compile --shape 1,3,8,8 a.onnx
$ relayc compile --shape x=1,,8 a.onnx
$ relayc compile --shape x=1,a a.onnx
$ relayc verify --tolerance=much a.onnx
$ relayc explain R0301
$ relayc explain R9999
$ relayc explain nonsense
