# relayc quantize: recipes on three parts of the digits' test set. The command that it prints compiles.
$ tail -c 360 $TESTS/../examples/digits/test_labels.npy | od -An -v -tu1 -w1 | tr -d ' ' >labels.txt; cp $TESTS/../examples/digits/digits.onnx $TESTS/../examples/digits/test_images.npy .
$ relayc quantize digits.onnx --data test_images.npy --labels labels.txt --choices int8+afp=afp4 --with engine >out; cat out
digits.onnx; 0.31 M MACs; judged by oneDNN
samples: calibration up to 128, selection 107, report 180 (parts by a hash of the name)

  recipe                         weights     arena  sums           top1             loss  lost / won       p
  f32                              43992     10880  float      100.00 %
  afp=afp4                          5800     10240  float      100.00 %      0.00 ± 0.00      0 / 0       1
* int8                             12034      2336  integer    100.00 %      0.00 ± 0.00      0 / 0       1

recommended: int8, the smallest that loses at most 1 point
on 180 samples that neither calibrated nor selected:
metric            f32  quantised             change      agree   lost / won       p
top1          99.44 %    99.44 %       +0.00 ± 0.00   100.00 %        0 / 0       1
  next    relayc compile digits.onnx --precision int8 --data test_images.npy --samples calibration --limit 128 -o gen/
$ $(sed -n 's/^  next *//p' out) -q && ls gen
digits.c
digits.h
digits.json
digits_weights.c
digits_weights.h
# the rule, written once more: sizes of the parts
$ python3 -c 'import functools as f; M = 2**64 - 1; m = lambda h, s, k: (h ^ h >> s) * k & M; q = [(lambda h: h ^ h >> 31)(m(m(f.reduce(lambda h, c: (h ^ c) * 0x100000001b3 & M, str(i).encode(), 0xcbf29ce484222325), 30, 0xbf58476d1ce4e5b9), 27, 0x94d049bb133111eb)) >> 62 for i in range(360)]; print("calibration", q.count(0), "selection", q.count(1), "report", q.count(2) + q.count(3))'
calibration 73 selection 107 report 180
# without labels: agreement with the float model; the chosen network's files
$ relayc quantize digits.onnx --data test_images.npy --choices int8w+f16w --select-limit 40 --limit 60 --calib-limit 20 --with engine -o chosen
digits.onnx; 0.31 M MACs; judged by oneDNN
samples: calibration up to 20, selection 40, report 60 (parts by a hash of the name)

  recipe                         weights     arena  sums          agree             loss  lost / won       p
  f32                              43992     10880  float      100.00 %
* int8w                            11488     10240  float      100.00 %      0.00 ± 0.00      0 / 0       1

dropped on the way:
  f16w                             22112     10240  loss 0.00 ± 0.00 of 40: int8w is no larger and loses no more

recommended: int8w, the smallest that loses at most 1 point
on 60 samples that neither calibrated nor selected:
metric            f32  quantised             change      agree   lost / won       p
agree        100.00 %   100.00 %       +0.00 ± 0.00   100.00 %        0 / 0       1
cos            1.0000     1.0000   -0.0000 ± 0.0000
  wrote   chosen/digits.h, chosen/digits.c, chosen/digits_weights.h, chosen/digits_weights.c, chosen/digits.json
  next    relayc compile digits.onnx --precision int8w --data test_images.npy --samples calibration --limit 20 -o chosen
$ ls chosen
digits.c
digits.h
digits.json
digits_weights.c
digits_weights.h
# the report, again
$ relayc eval digits.onnx --data test_images.npy --samples report --labels labels.txt --metric top1,agree --precision int8 --calib-data test_images.npy --calib-limit 128 --against f32 --with engine | tail -3
metric            f32  quantised             change      agree   lost / won       p
top1          99.44 %    99.44 %       +0.00 ± 0.00   100.00 %        0 / 0       1
agree        100.00 %   100.00 %       +0.00 ± 0.00   100.00 %        0 / 0       1
# by a list; nothing small enough; --json
$ printf '# of 360\ncalibration 0-39\nselection 40-99 101\nreport 100 102-200\n' >list; relayc quantize digits.onnx --data test_images.npy --labels labels.txt --split list --choices int8 --max-loss 0.5 --json --with engine
{
	"schema":	"relayc-quantize-1",
	"with":	"engine",
	"target":	"generic",
	"macs":	309248,
	"samples":	{
		"split":	"list",
		"calibration_limit":	128,
		"selection":	61,
		"report":	100
	},
	"metric":	"top1",
	"recipes":	[{
			"recipe":	"f32",
			"state":	"front",
			"weight_bytes":	43992,
			"arena_bytes":	10880,
			"sums":	"float"
		}, {
			"recipe":	"int8",
			"state":	"front",
			"weight_bytes":	12034,
			"arena_bytes":	2336,
			"sums":	"integer",
			"samples":	61,
			"value":	1,
			"loss":	0,
			"standard_error":	0,
			"lost":	0,
			"won":	0,
			"p":	1
		}],
	"recommended":	"int8",
	"max_loss":	0.5,
	"meets_max_loss":	true,
	"metrics":	[{
			"name":	"top1",
			"value":	1,
			"f32":	1,
			"change":	0,
			"standard_error":	0,
			"agree":	100,
			"lost":	0,
			"won":	0,
			"p":	1
		}],
	"loss":	0,
	"standard_error":	0,
	"command":	"relayc compile digits.onnx --precision int8 --data test_images.npy --samples calibration --split list --limit 128",
	"options":	{
		"precision":	"int8"
	},
	"diagnostics":	[]
}
$ relayc quantize digits.onnx --data test_images.npy --labels labels.txt --choices int8+fp8=auto --flash 4K --with engine
error[R0701]: of 2 recipes none fits --ram and --flash, or can be made
 --> digits.onnx
help: give larger limits, or other --choices such as afp=afp4+int8w=i4
[1]
# narrow weights that lose something: with layers of more bits, too
$ relayc quantize digits.onnx --data test_images.npy --choices afp=afp3 --metric cos --with engine >mixed; grep -o 'afp=afp3 .*topk-precision int8w --round [a-z]*' mixed | sort -u
afp=afp3 --topk 1 --topk-precision int8w --round adaround
$ relayc compile digits.onnx --precision afp=afp3 --topk 1 --topk-precision int8w --round adaround --data test_images.npy --samples calibration --limit 128 -o mix | head -4
afp=afp3: 3 of 3 products, constants 39720 -> 7175 bytes
  weights of 3 products rounded for the results, 0 to nearest
  biases  corrected in 3 products
  int8w   scores:dense (nn.dense): among those that lose most
# lists that do not fit
$ printf 'calibration 0-39\nselection 39\n' >twice; relayc quantize digits.onnx --data test_images.npy --labels labels.txt --split twice
error[R0013]: twice:2: here for the second time: sample '39'
[3]
$ printf 'calibration 0-39\nselection 400\n' >beyond; relayc quantize digits.onnx --data test_images.npy --labels labels.txt --split beyond
error[R0013]: beyond:2: there is no sample '400'
[3]
$ printf 'train 1\n' >words; relayc compile digits.onnx --precision int8 --data test_images.npy --samples calibration --split words
error[R0013]: words:1: expected calibration, selection or report, found 'train'
[3]
$ printf 'report 1\n' >short; relayc compile digits.onnx --precision int8 --data test_images.npy --samples calibration --split short
error[R0013]: none of 360 samples is in the part 'calibration'
help: short has no line of it
[3]
$ relayc compile digits.onnx --precision int8 --data test_images.npy --split list
error[R0501]: --split has no effect without --samples
[2]
$ relayc compile digits.onnx --samples report
error[R0501]: --samples has no effect without --data
[2]
$ relayc quantize digits.onnx --choices int9 --with magic
error[R0501]: --with: 'magic' is not generated or engine
error[R0501]: 'relayc quantize' needs --data
[2]
$ relayc eval digits.onnx --data test_images.npy --metric agree
error[R0501]: agree and cos compare with the float model: give --against f32
[2]
