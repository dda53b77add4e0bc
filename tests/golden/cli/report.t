# What a compilation takes, layer by layer.
$ cp $MODELS/../networks/residual/model.onnx net.onnx; relayc compile net.onnx -o out -q
$ relayc analyze out
net.onnx: 38 ONNX nodes -> 14 regions for generic
  flash   22100 bytes of weights; --cc measures the code as well
  RAM     21248 bytes = arena 21248; inputs and outputs, the caller's: 3888

   # nodes                        kernel        result         % MACs   weights       RAM of the arena     format
   0 Conv_0 + BatchNormalizati... conv_band     1x17x19x8        10.9       992     15176 ############.... f32
   1 Conv_5 + BatchNormalizati... conv          1x17x19x8         1.2       224     20672 ################ f32
   2 Conv_3 + BatchNormalizati... conv          1x17x19x8        29.0      2432     21248 ################ f32
   3 Conv_9 + BatchNormalizati... conv          1x9x10x16        16.2      4736     17248 #############... f32
   4 Conv_14 + BatchNormalizat... conv          1x9x10x16         1.8       640     20672 ################ f32
   5 Conv_12 + BatchNormalizat... conv          1x9x10x16        32.3      9344     13824 ###########..... f32
   6 Conv_18 + BatchNormalizat... conv          1x9x10x4          0.9       384      7200 ######.......... f32
   7 Conv_21 + BatchNormalizat... conv          1x9x10x4          2.0       704      9216 #######......... f32
   8 Conv_24 + BatchNormalizat... conv          1x9x10x16         0.9       384      7200 ######.......... f32
   9 Conv_28 + Relu_29            conv          1x9x10x4          0.9       384      7200 ######.......... f32
  10 Conv_30 + Relu_31            conv          1x9x10x7          0.4       252      6480 #####........... f32
  11 Conv_32 + Relu_33            conv          1x9x10x7          3.5      1276      7056 ######.......... f32
  12 GlobalAveragePool_35         global_pool   1x1x1x14          0.0         0      5096 ####............ f32
  13 Gemm_37                      gemv          1x3               0.0       348        56 #............... f32
$ relayc analyze net.onnx --board stm32f4-discovery | sed -n 1,6p
net.onnx: 38 ONNX nodes -> 14 regions for cortex-m4, --board stm32f4-discovery --target cortex-m4
  flash   21028 bytes of weights; --cc measures the code as well
  RAM     21248 bytes = arena 21248; inputs and outputs, the caller's: 3888
  board   fits stm32f4-discovery: RAM 21248 of 131072 bytes (16.2 %), flash 21028 of 1048576 bytes (2.0 %), about 9.67 ms (estimate)

   # nodes                        kernel        result         % MACs   weights   ms est.       RAM of the arena     format
$ relayc analyze out/net.json --ram 16K --flash 1M | grep board
  board   does not fit: RAM 21248 of 16384 bytes (129.7 %), flash 22100 of 1048576 bytes (2.1 %)
# Where the C compiler's sizes are known, they count; and what a backend's model estimates, it says is an estimate.
$ relayc analyze net.onnx --cc gcc --cflags -Os | sed -n '2,3s/[0-9][0-9]*/N/gp'
  flash   N bytes = code N + constants N + data N (gcc -Os)
  RAM     N bytes = arena N + data and bss N + stack N; inputs and outputs, the caller's: N
$ relayc analyze net.onnx --precision fp8 --offload sim_npu --no-cost | tail -1
ms est.: an estimate by the backend's cost model, not a measurement
# Times and losses that other commands measured.
$ relayc bench net.onnx --repeat 1 --json >bench.json; relayc analyze out --latency-log bench.json | tail -1
ms here: measured on the machine that wrote bench.json
$ relayc compare net.onnx --precision fp8 -q --with engine; relayc analyze net.onnx --precision fp8 --compare precision_compare.json | awk '/SQNR/ { print "SQNR"; on = 1 } on && $NF ~ /^f8e/ && $(NF - 3) > 5 { n++ } END { print n, "regions above 5 dB" }'
warning[R0701]: without data, precision fp8 is likely to lose accuracy: on synthetic inputs the results differ by 14 % of what they are
 --> net.onnx
note: relayc eval measures it on labelled data
help: give --data DIR (and --preprocess FILE for images), by which scales are found and biases corrected, or store weights alone in 8 bits: --precision int8w
warning[R0701]: without data, precision fp8 is likely to lose accuracy: on synthetic inputs the results differ by 14 % of what they are
 --> net.onnx
note: relayc eval measures it on labelled data
help: give --data DIR (and --preprocess FILE for images), by which scales are found and biases corrected, or store weights alone in 8 bits: --precision int8w
SQNR
1 regions above 5 dB
$ relayc analyze out --latency-log precision_compare.json
error[R0012]: precision_compare.json: it is no report of relayc bench --json
[3]
$ relayc bench $MODELS/conv_bn_relu.onnx --repeat 1 --json >other.json; relayc analyze out --latency-log other.json
error[R0012]: other.json: none of its regions is one of out: was another model measured, or with other options?
[3]
# As JSON, and as a page: one file, which asks for no other.
$ relayc analyze out --json | grep -A12 '"verdict"'
	"verdict":	{
		"ram":	{
			"needed":	21248
		},
		"flash":	{
			"needed":	22100
		}
	},
	"arena":	{
		"bytes":	21248,
		"lower_bound":	21248,
		"order_lower_bound":	21248,
		"without_sharing":	78560,
$ relayc report out -o page.html --board nucleo-h743zi; $TESTS/e2e/check_page.py page.html out/net.json
fits nucleo-h743zi: RAM 21248 of 524288 bytes (4.1 %), flash 22100 of 2097152 bytes (1.1 %)
wrote page.html
a page of 14 regions, complete in itself
$ relayc report out; ls *.html
wrote net.html
net.html
page.html
$ relayc compile net.onnx -o again --report again/net.html; $TESTS/e2e/check_page.py again/net.html again/net.json; for f in out/*; do cmp $f again/$(basename $f); done
net: 38 ONNX nodes -> 14 regions, 0.64 M MACs
  flash   22100 bytes of weights
  arena   21248 bytes = lower bound, optimal; without sharing 78560, in-place only 78560
  wrote   again/net.h, again/net.c, again/net_weights.h, again/net_weights.c, again/net.json, again/net.html
  next    relayc verify net.onnx
a page of 14 regions, complete in itself
$ relayc compile $MODELS/hostile_names.onnx -o hostile --report hostile.html -q; $TESTS/e2e/check_page.py hostile.html hostile/hostile_names.json
a page of 3 regions, complete in itself
$ relayc report net.onnx -q --format netron; relayc report net.onnx -q --format model-explorer; $TESTS/e2e/check_viewers.py net.netron.json net.model-explorer.json out/net.json
14 regions in both
$ relayc report net.onnx --format svg
error[R0501]: --format: 'svg' is not html, netron or model-explorer
 --> net.onnx
[2]
# A network that does not fit is an error; the page is there all the same.
$ relayc report net.onnx -o small.html --ram 4K 2>&1 | sed -n 1,2p; ls small.html
error[R0410]: the network needs 11168 bytes of RAM, 7072 more than --ram allows (4096)
 --> net.onnx
small.html
$ relayc compile net.onnx --report x.html --emit json
error[R0501]: --report needs the C: --emit c
 --> net.onnx
[2]
$ relayc analyze net.onnx --board nucleo
error[R0501]: --board: unknown board 'nucleo'
help: --board help lists them; a file of your own ends in .json
[2]
$ relayc report absent.onnx; ls absent.html
error[R0001]: cannot open absent.onnx: No such file or directory
ls: cannot access 'absent.html': No such file or directory
[2]
# The JSON is what its schema says, with what searches tried, and estimates that a clock makes time of.
$ relayc report net.onnx --precision fp8 --compare precision_compare.json --board stm32f4-discovery --json -q -o tried.html 2>err >tried.json; relayc analyze out --json >analyze.json; $TESTS/e2e/check_schema.py $TESTS/../docs/guide/report-json.schema.json tried.json analyze.json; $TESTS/e2e/estimated.py tried.json 168
tried.json: fits
analyze.json: fits
15 of 15 regions with an estimate, 14 with distributions
$ relayc analyze net.onnx --target cortex-m4 | sed -n '5p;$p'
   # nodes                        kernel        result         % MACs   weights  kcycles est.       RAM of the arena     format
kcycles est.: an estimate, 1.624 M cycles of cortex-m4 compiled with -O2, without waits for memory; not a measurement
$ mkdir arrays; $TESTS/e2e/random_npy.py out/net.json arrays/0.npy; relayc calibrate net.onnx --data arrays -o c.json -q; relayc search net.onnx --precision int8 --calib c.json --data arrays --strategy budget --flash 12K -o s -q --json >s.json; relayc report out -o tried.html -q --search s.jsonl --search s.json --json >tried.json; $TESTS/e2e/check_page.py tried.html out/net.json; $TESTS/e2e/check_schema.py $TESTS/../docs/guide/report-json.schema.json tried.json; $TESTS/e2e/tried.py tried.json s.jsonl s.json
a page of 14 regions, complete in itself
tried.json: fits
the trials
the front
$ relayc report out -o x.html --search out/net.json
error[R0012]: out/net.json: it is no report of relayc search or relayc quantize with --json, and no .jsonl of relayc search
[3]
