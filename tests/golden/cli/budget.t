# compile --ram, --flash, --board, --cc: fits or not, why, and what would.
$ relayc compile $MODELS/conv_bn_relu.onnx -o fits --ram 1K --flash 1K; ls fits
conv_bn_relu: 3 ONNX nodes -> 1 region, 0.00 M MACs
  flash   412 bytes of weights
  arena   0 bytes = lower bound, optimal; without sharing 0, in-place only 0
  fits    RAM 0 of 1024 bytes (0.0 %), flash 412 of 1024 bytes (40.2 %)
  wrote   fits/conv_bn_relu.h, fits/conv_bn_relu.c, fits/conv_bn_relu.json
  next    relayc verify MODELS/conv_bn_relu.onnx --ram 1K
conv_bn_relu.c
conv_bn_relu.h
conv_bn_relu.json
$ cp $TESTS/../examples/digits/digits.onnx .; relayc compile digits.onnx -o out --ram 2K --flash 8K; ls
error[R0410]: the network needs 43992 bytes of flash, 35800 more than --flash allows (8192)
 --> digits.onnx
note: weights only: --cc COMPILER adds the code
error[R0410]: the network needs 6784 bytes of RAM, 4736 more than --ram allows (2048)
 --> digits.onnx
note: peak in region_conv1_Conv: its scratch of 4736 bytes, /pool/MaxPool_output_0 of 2048 bytes
      3 layers are tiled depth-first already, to the smallest size found; without tiling the arena takes 10880
      inputs and outputs, 296 bytes, belong to the caller and are not counted
help: --precision f16w is not enough: RAM 5632 bytes, flash 22112
      --precision int8w is not enough: RAM 5632 bytes, flash 11488
      --precision fp8w is not enough: RAM 5632 bytes, flash 11488
      --precision int8 is not enough: RAM 2336 bytes, flash 12034
      --precision fp8 is not enough: RAM 1600 bytes, flash 11516
digits.onnx
fits
$ relayc compile digits.onnx -o out --ram 2K --force -q; echo "exit $?"; ls out
error[R0410]: the network needs 6784 bytes of RAM, 4736 more than --ram allows (2048)
 --> digits.onnx
note: peak in region_conv1_Conv: its scratch of 4736 bytes, /pool/MaxPool_output_0 of 2048 bytes
      3 layers are tiled depth-first already, to the smallest size found; without tiling the arena takes 10880
      inputs and outputs, 296 bytes, belong to the caller and are not counted
help: --precision f16w is not enough: RAM 5632 bytes, flash 22112
      --precision int8w is not enough: RAM 5632 bytes, flash 11488
      --precision fp8w is not enough: RAM 5632 bytes, flash 11488
      --precision int8 is not enough: RAM 2336 bytes, flash 12034
      --precision fp8 fits: RAM 1600 bytes, flash 11516
exit 1
digits.c
digits.h
digits.json
digits_weights.c
digits_weights.h
$ relayc compile digits.onnx -o out --ram 2K --json | grep -A6 '"ram"'
		"ram":	{
			"allowed":	2048,
			"needed":	6784,
			"fits":	false
		},
		"changes":	[{
				"option":	"precision",
--
				"ram":	5632,
				"flash":	22112,
				"fits":	false
			}, {
				"option":	"precision",
				"value":	"int8w",
				"ram":	5632,
				"flash":	11488,
				"fits":	false
			}, {
				"option":	"precision",
				"value":	"fp8w",
				"ram":	5632,
				"flash":	11488,
				"fits":	false
			}, {
				"option":	"precision",
				"value":	"int8",
				"ram":	2336,
				"flash":	12034,
				"fits":	false
			}, {
				"option":	"precision",
				"value":	"fp8",
				"ram":	1600,
				"flash":	11516,
				"fits":	true
			}]
	},
	"diagnostics":	[{
			"code":	"R0410",
$ relayc compile digits.onnx -o board --board nrf52840-dk --ram 64K
digits: 9 ONNX nodes -> 4 regions, 0.31 M MACs
  flash   43928 bytes of weights
  arena   10176 bytes = lower bound, optimal; without sharing 15904, in-place only 15904
  fits    RAM 10176 of 65536 bytes (15.5 %), flash 43928 of 1048576 bytes (4.2 %)
  wrote   board/digits.h, board/digits.c, board/digits_weights.h, board/digits_weights.c, board/digits.json
  next    relayc verify digits.onnx --target cortex-m4 --ram 64K
$ grep -E '^(_Static|typedef)' board/digits.h
_Static_assert(DIGITS_ARENA_BYTES <= DIGITS_RAM_BYTES,
_Static_assert(DIGITS_WEIGHT_BYTES <= DIGITS_FLASH_BYTES,
typedef char digits_fits_ram[DIGITS_ARENA_BYTES <=
typedef char digits_fits_flash[DIGITS_WEIGHT_BYTES <=
$ relayc compile $MODELS/conv_bn_relu.onnx --ram 64KB --flash 3X --board nucleo-h743; echo "exit $?"
error[R0501]: --flash: '3X' is not a number of bytes such as 65536, 64K or 1.5M
error[R0501]: --board: unknown board 'nucleo-h743'
help: did you mean 'nucleo-h743zi'?
exit 2
$ relayc compile $MODELS/conv_bn_relu.onnx --force
error[R0501]: --force has no effect without --ram, --flash or --board
[2]
$ relayc compile --board help | sed -n 1,3p
--board                chip          --target     MHz  pools
esp32-c3-devkitc-02    ESP32-C3      rv32imc      160  sram 384K flash 4M
nrf52840-dk            nRF52840      cortex-m4     64  ram 256K flash 1M
$ echo '{ "name": "mine", "target": "cortex-m5", "pools": [ { "name": "a", "bytes": "64Q", "kind": "rom" } ] }' >mine.json; relayc compile $MODELS/conv_bn_relu.onnx --board mine.json
error[R0501]: --target: 'cortex-m5' is not a CPU
help: did you mean cortex-m0? There are generic, x86-64, x86-64-v3, x86-64-v4, sapphirerapids, znver4, znver5, aarch64, armv7, cortex-m0, cortex-m3, cortex-m33, cortex-m4, cortex-m55, cortex-m7, rv32imc, rv32imafc, rv64gc, rv64gcv, wasm32, host
error[R0601]: mine.json:1:77: '64Q' is not a number of bytes, such as 65536, 64K or 1M
error[R0601]: mine.json:1:92: the "kind" of a pool is "ram" or "flash"
[2]
$ echo '{ "name": "mine", "target": "cortex-m4", "pools": [ { "name": "a", "bytes": "1K", "kind": "ram" } ] }' >mine.json; relayc compile $MODELS/conv_bn_relu.onnx -o mine --board mine.json
conv_bn_relu: 3 ONNX nodes -> 1 region, 0.00 M MACs
  flash   300 bytes of weights
  arena   0 bytes = lower bound, optimal; without sharing 0, in-place only 0
  fits    RAM 0 of 1024 bytes (0.0 %)
  wrote   mine/conv_bn_relu.h, mine/conv_bn_relu.c, mine/conv_bn_relu.json
  next    relayc verify MODELS/conv_bn_relu.onnx --target cortex-m4
$ echo '{ "name": "two", "target": "cortex-m4", "pools": [ { "name": "sram", "bytes": 4800, "kind": "ram" }, { "name": "ccm", "bytes": 4800, "kind": "ram" } ] }' >two.json; relayc compile digits.onnx -o two --board two.json
error[R0410]: the network needs 6784 bytes of RAM, 1984 more than the pool sram of two allows (4800)
 --> digits.onnx
note: peak in region_conv1_Conv: its scratch of 4736 bytes, /pool/MaxPool_output_0 of 2048 bytes
      3 layers are tiled depth-first already, to the smallest size found; without tiling the arena takes 10176
      inputs and outputs, 296 bytes, belong to the caller and are not counted
help: --pool board fits: RAM 6784 bytes, flash 43928
[1]
$ relayc compile digits.onnx -o two --board two.json --pool board
digits: 9 ONNX nodes -> 2 regions, 0.31 M MACs
  flash   43928 bytes of weights
  arena   6784 bytes; without sharing 15904, in-place only 15904
  sram    2048 of 4800 bytes
  ccm     4736 of 4800 bytes
  stripes 3 layers in 1 group, row by row: layer by layer the arena takes 13440 bytes; the operations are the same
  wrote   two/digits.h, two/digits.c, two/digits_weights.h, two/digits_weights.c, two/digits.json
  next    relayc verify digits.onnx --target cortex-m4 --pool sram=4800 --pool ccm=4800
$ relayc compile digits.onnx -o pools --pool dtcm=8K,fast,section=.dtcm --pool sram=12K --pool psram=1M,slow
digits: 9 ONNX nodes -> 4 regions, 0.31 M MACs
  flash   43992 bytes of weights
  arena   13440 bytes; without sharing 15936, in-place only 15936
  dtcm    5248 of 8192 bytes
  sram    8192 of 12288 bytes
  psram   0 of 1048576 bytes
  wrote   pools/digits.h, pools/digits.c, pools/digits_weights.h, pools/digits_weights.c, pools/digits.json
  next    relayc verify digits.onnx --pool dtcm=8K,fast,section=.dtcm --pool sram=12K --pool psram=1M,slow
$ grep -A3 -n 'arena_' pools/digits.h; grep -A11 'Arena:' pools/digits.c
75: *    arena_dtcm: fast, section .dtcm
76: *    arena_psram: slow
77- * Nothing else is written: calls with
78- * different outputs and arenas may run at the same time. */
79:int digits_run(const float image[8 * 8], float scores[10], void *arena_dtcm, void *arena_sram,
80:               void *arena_psram);
81-
82-#ifdef __cplusplus
83-}
 * Arena: 13440 bytes.
 * Without sharing 15936, in-place element-wise only 15936.
 *    dtcm           5248 of 8192 bytes, 309376 bytes loaded and stored
 *    sram           8192 of 12288 bytes, 16384 bytes loaded and stored
 *    psram             0 of 1048576 bytes, 0 bytes loaded and stored
 * pool          offset       bytes  written  last read  values
 * dtcm               0        4096        0          1  relu1_Relu_output_0
 * sram               0        8192        1          2  relu2_Relu_output_0
 * dtcm               0        2048        2          3  pool_MaxPool_output_0
 * dtcm            4096         448        0          0  scratch of region_conv1_Conv
 * dtcm            4096        1152        1          1  scratch of region_conv2_Conv
 */
#include "digits.h"
$ relayc compile digits.onnx -o pools --pool dtcm=2K,fast --pool sram=4K
error[R0410]: no pool has room for '/relu2/Relu_output_0' of 8192 bytes
 --> digits.onnx
note: dtcm has 2048 bytes, sram has 4096 bytes; one arena would need 13440
      layers in stripes do not fit either (docs/guide/memory.md)
[1]
$ relayc compile digits.onnx --pool dtcm --pool 1=3K --pool x=3K,quick --pool a=1 --pool a=2 --pool board
error[R0501]: --pool: 'dtcm': the form is NAME=BYTES
help: for example --pool dtcm=64K,fast --pool sram=512K --pool psram=8M,slow
error[R0501]: --pool: '1=3K': the name is not valid in C symbols
help: for example --pool dtcm=64K,fast --pool sram=512K --pool psram=8M,slow
error[R0501]: --pool: 'x=3K,quick': after the bytes: fast, slow, section=NAME, weights or const
help: for example --pool dtcm=64K,fast --pool sram=512K --pool psram=8M,slow
error[R0501]: --pool: 'a' is given twice
error[R0501]: --pool board has no effect without --board
[2]
$ relayc compile digits.onnx -o pools --board stm32f4-discovery --pool board | grep -e sram -e ccm
  sram    0 of 131072 bytes
  ccm     13440 of 65536 bytes
  next    relayc verify digits.onnx --target cortex-m4 --pool sram=128K --pool ccm=64K,fast,section=.ccmram
