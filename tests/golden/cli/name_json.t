# NAME.json is as its schema says (docs/guide/name-json.schema.json), whatever the options.
$ for options in "" "--precision fp8" "--precision afp" "--pool a=1G" "--io-in-arena" "--parallel 3" "--offload sim_npu" "--offload dnnl --no-cost" "--cc gcc" "--ram 20K" "--optimize size" "--winograd f2 --target cortex-m7" "--precision mxfp4 --step"; do relayc compile $MODELS/../networks/residual/model.onnx -o "out$options" -q $options; done; $TESTS/e2e/check_schema.py $TESTS/../docs/guide/name-json.schema.json out*/model.json
warning[R0701]: without data, precision fp8 is likely to lose accuracy: on synthetic inputs the results differ by 14 % of what they are
 --> MODELS/../networks/residual/model.onnx
note: relayc eval measures it on labelled data
help: give --data DIR (and --preprocess FILE for images), by which scales are found and biases corrected, or store weights alone in 8 bits: --precision int8w
warning[R0701]: without data, precision mxfp4 is likely to lose accuracy: on synthetic inputs the results differ by 43 % of what they are
 --> MODELS/../networks/residual/model.onnx
note: relayc eval measures it on labelled data
help: give --data DIR (and --preprocess FILE for images), by which biases are corrected, or take more bits: --precision int8w
out--cc gcc/model.json: fits
out--io-in-arena/model.json: fits
out--offload dnnl --no-cost/model.json: fits
out--offload sim_npu/model.json: fits
out--optimize size/model.json: fits
out--parallel 3/model.json: fits
out--pool a=1G/model.json: fits
out--precision afp/model.json: fits
out--precision fp8/model.json: fits
out--precision mxfp4 --step/model.json: fits
out--ram 20K/model.json: fits
out--winograd f2 --target cortex-m7/model.json: fits
out/model.json: fits
$ relayc compile $MODELS/hostile_names.onnx -o hostile -q; relayc compile $MODELS/../networks/transformer/model.onnx -o transformer -q --name t --pool dtcm=64K,fast,section=.dtcm,weights; $TESTS/e2e/check_schema.py $TESTS/../docs/guide/name-json.schema.json hostile/hostile_names.json transformer/t.json
hostile/hostile_names.json: fits
transformer/t.json: fits
# The checker can say no.
$ echo '{ "schema": "relayc-model", "version": "1", "extra": 1 }' >bad.json; $TESTS/e2e/check_schema.py $TESTS/../docs/guide/name-json.schema.json bad.json | tail -5
: no regions
: no weights
: no files
.version: 1
.extra: not in the schema
