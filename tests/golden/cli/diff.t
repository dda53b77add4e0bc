# What differs between two compilations: regions by their ONNX nodes, weights by name.
$ cp $MODELS/../networks/residual/model.onnx old.onnx; cp $MODELS/conv_bn_relu.onnx small.onnx
$ relayc diff old.onnx old.onnx --exit-code
old.onnx -> old.onnx: no difference
$ relayc compile old.onnx -o out -q; relayc diff out old.onnx --exit-code; cp -r out copy; relayc diff out copy/old.json --exit-code
out -> old.onnx: no difference
out -> copy/old.json: no difference
# Weights perturbed in one layer.
$ $TESTS/e2e/edit_onnx.py old.onnx weights.onnx weights conv_6.weight
$ relayc diff old.onnx weights.onnx --exit-code
error[R0412]: weights.onnx differs from old.onnx
 --> weights.onnx
old.onnx -> weights.onnx: they differ
  file       old.onnx -> weights.onnx
  sha256     b7714c119181 -> fa37b9299987
  nodes      38
  regions    14
  MACs       641610
  weights    22100 bytes
  arena      21248 bytes
  in/outputs 3888 bytes
regions: 14 equal
weights: 1 changed, 25 equal
~ conv_6.weight: f32 48: largest change 0.151, mean 0.0316 (standard deviation 0.5758), in 12 of 48 elements
[1]
# The numbers stand in the C files; without them, statistics.
$ relayc compile weights.onnx -o new -q; cp new/weights.json .; relayc diff out weights.json | tail -1
~ conv_6.weight: f32 48: other numbers: -1.702 .. 1.445 -> -1.702 .. 1.445, standard deviation 0.5758 -> 0.5866
$ echo '/* by hand */' >>new/weights_weights.c; relayc diff out new | tail -1
~ conv_6.weight: f32 48: other numbers: -1.702 .. 1.445 -> -1.702 .. 1.445, standard deviation 0.5758 -> 0.5866
# A node inserted.
$ $TESTS/e2e/edit_onnx.py old.onnx node.onnx node Conv_12
$ relayc diff old.onnx node.onnx
old.onnx -> node.onnx: they differ
  file       old.onnx -> node.onnx
  sha256     b7714c119181 -> d22a0fe13dcd
  nodes      38 -> 39 (+2.6 %)
  regions    14
  MACs       641610
  weights    22100 -> 22164 bytes (+0.3 %)
  arena      21248 bytes
  in/outputs 3888 bytes
regions: 1 changed, 13 equal
~ Conv_12 + inserted + BatchNormalization_13 + 2 more (Conv+Sigmoid+BatchNormalization+Add+Relu): nodes with inserted; weights 9344 -> 9408 bytes (+0.7 %)
weights: 1 added, 2 changed, 24 equal
~ conv_13.weight: f32 2320: largest change 0.0665, mean 0.0132 (standard deviation 0.1233), in 2304 of 2320 elements
+ bn_14.gamma: f32 1x1x1x16, 64 bytes
~ bn_14.beta: f32 16 -> f32 1x1x1x16, 64 -> 64 bytes
$ relayc diff old.onnx node.onnx --format markdown | sed "s/^#/ #/"
 ### relayc: `node.onnx` has changed

| | old | new | |
|---|---:|---:|---:|
| file | old.onnx | **node.onnx** |  |
| sha256 | b7714c1191810ab07833304ed64a04995b17ed1621851820890bc8d4775e378f | **d22a0fe13dcd11ff58bfcf37e34944916c285b97b8de62cd67174318f1bc7e64** |  |
| nodes | 38 | **39** | +2.6 % |
| regions | 14 | 14 |  |
| MACs | 641610 | 641610 |  |
| weights | 22100 | **22164** | +0.3 % |
| arena | 21248 | 21248 |  |
| in/outputs | 3888 | 3888 |  |

<details open><summary>Regions: 1 changed, 13 equal</summary>

| | region | |
|---|---|---|
| changed | `Conv_12 + inserted + BatchNormalization_13 + 2 more (Conv+Sigmoid+BatchNormalization+Add+Relu)` | nodes with inserted; weights 9344 → 9408 bytes (+0.7 %) |

</details>

<details open><summary>Weights: 1 added, 2 changed, 24 equal</summary>

| | tensor | |
|---|---|---|
| changed | `conv_13.weight` | f32 2320: largest change 0.0665, mean 0.0132 (standard deviation 0.1233), in 2304 of 2320 elements |
| added | `bn_14.gamma` | f32 1x1x1x16, 64 bytes |
| changed | `bn_14.beta` | f32 16 → f32 1x1x1x16, 64 → 64 bytes |

</details>
# All nodes renamed, as another exporter does.
$ $TESTS/e2e/edit_onnx.py old.onnx names.onnx names; relayc diff old.onnx names.onnx | tail -2
regions: 14 equal; 14 with other names
weights: 26 equal
# Another precision.
$ relayc compile small.onnx -o f32 -q; relayc compile small.onnx -o fp8 --precision fp8 -q; relayc diff f32 fp8
f32 -> fp8: they differ
  options    - -> --precision fp8
  nodes      3
  regions    1 -> 2 (+100.0 %)
  MACs       864
  weights    412 -> 128 bytes (-68.9 %)
  arena      0 -> 80 bytes (+80)
  in/outputs 480 bytes
regions: 1 added, 1 changed
+ conv1 + bn1 (Conv+BatchNormalization): kernel elementwise, 0 MACs, 4 bytes of weights
~ conv1 + bn1 + relu1 (Conv+BatchNormalization+Relu): kernel conv -> conv_small; format f32 -> f8e2m5 weights, f8e3m4 data; weights 412 -> 124 bytes (-69.9 %)
weights: 2 added, 1 changed, 1 equal
+ x_f8e3m4.scales: f32 1, 4 bytes
~ conv1.weight: f32 100 -> f8e2m5 100, 400 -> 100 bytes
+ bn1_y.multiply.float_scale: f32 3x1x1, 12 bytes
# Another version of relayc, which chose another kernel and planned another arena.
$ sed -e 's/"relayc":.*/"relayc": "0.0.9",/; s/"kernel":.*"global_pool"/"kernel": "old_pool"/' -e '/"arena"/,/bytes/s/"bytes":.*/"bytes": 30000,/' out/old.json >other.json; relayc diff other.json out --exit-code
error[R0412]: out differs from other.json
other.json -> out: they differ
  relayc     0.0.9 -> 0.2.0
  nodes      38
  regions    14
  MACs       641610
  weights    22100 bytes
  arena      30000 -> 21248 bytes (-29.2 %)
  in/outputs 3888 bytes
regions: 1 changed, 13 equal
~ GlobalAveragePool_35 (GlobalAveragePool): kernel old_pool -> global_pool
weights: 26 equal
[1]
# As JSON, all of it.
$ relayc diff out weights.json --json | grep -A12 '"retrained"'
	"retrained":	1,
	"weights":	[{
			"state":	"changed",
			"name":	"conv_6.weight",
			"old_format":	"f32",
			"new_format":	"f32",
			"retrained":	true
		}],
	"diagnostics":	[]
}
# Accuracy, where relayc eval measured it.
$ for i in 7 8; do echo "{\"schema\": \"relayc-eval-1\", \"samples\": 100, \"metrics\": [{\"name\": \"top1\", \"value\": 0.$i}]}" >$i.json; done; relayc diff f32 fp8 --eval 7.json --eval 8.json | grep top1; relayc diff f32 fp8 --eval 7.json
  top1       0.7 -> 0.8 (+0.1000)
error[R0501]: --eval: given once, expected two reports: of OLD, then of NEW
[2]
# What cannot be compared.
$ relayc diff old.onnx
error[R0501]: 'relayc diff' needs OLD NEW
help: 'relayc diff --help' shows how it is used
[2]
$ mkdir empty; relayc diff out empty
error[R0012]: empty has no NAME.json of relayc compile
help: relayc compile writes it beside NAME.c
[3]
$ cp out/old.json copy/second.json; relayc diff out copy
error[R0012]: copy has 2 compilations: old.json, second.json
help: give one of these files
[3]
$ echo '{' >bad.json; relayc diff out bad.json
error[R0012]: bad.json: the file is no JSON: it goes wrong at byte 2
[3]
$ echo '{ "schema": "other" }' >bad.json; relayc diff out bad.json
error[R0012]: bad.json: the JSON has no "schema": "relayc-model", so relayc compile did not write it
[3]
$ echo '{ "schema": "relayc-model", "version": 2 }' >bad.json; relayc diff out bad.json
error[R0012]: bad.json: its "version" is 2; this relayc reads 1
[3]
$ echo '{ "schema": "relayc-model", "macs": "many" }' >bad.json; relayc diff out bad.json
error[R0012]: bad.json: "macs" is not a number
[3]
