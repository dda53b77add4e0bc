# relayc eval: a model on labelled data. Four samples of 6 numbers.
$ { printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (4,6), }"; printf '\000\001\002\000\000\001\003\000\000\000\002\000\000\000\000\004\000\000\001\000\000\000\000\005'; } >x.npy; printf '0\n1\n2\n3\n' >labels.txt
$ relayc run $MODELS/dense_softmax.onnx -i x.npy 2>&1 | sed -n 1p
error[R0502]: input "x" is (4,6) u8, expected (1,6) f32
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1,top5,auc
4 samples, judged by the generated C (generic)
top1          25.00 %
top5         100.00 %
auc            0.4167
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1,auc --with engine
4 samples, judged by oneDNN
top1          25.00 %
auc            0.4167
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric accuracy,auc --precision fp8w=f4e2m1 --against f32
fp8w=f4e2m1: 1 of 1 product, constants 112 -> 45 bytes
  loss    estimated on synthetic inputs: the results differ by 3 %
4 samples, judged by the generated C (generic); f32 by oneDNN
metric            f32  quantised             change      agree   lost / won       p
accuracy      25.00 %    25.00 %       +0.00 ± 0.00   100.00 %        0 / 0       1
auc            0.4167     0.4167   +0.0000 ± 0.0000
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1 --precision int8 --scale max --calib-data x.npy --calib-limit 2 --with generated --against f32 --json
{
	"schema":	"relayc-eval-1",
	"samples":	4,
	"with":	"generated",
	"target":	"generic",
	"metrics":	[{
			"name":	"top1",
			"value":	0.25,
			"f32":	0.25,
			"change":	0,
			"standard_error":	0,
			"agree":	3,
			"lost":	0,
			"won":	0,
			"p":	1
		}],
	"precision":	{
		"wanted":	"int8",
		"products":	1,
		"small_products":	1,
		"constant_bytes_before":	112,
		"constant_bytes_after":	72,
		"equalized_pairs":	0,
		"corrected_biases":	1,
		"uncorrected_biases":	0,
		"smoothed_norms":	0,
		"smoothing_taken_back":	false,
		"rounded_products":	0,
		"rounding_taken_back":	false,
		"corrections_taken_back":	false,
		"float_products":	0,
		"data_scale_rules":	[],
		"float_nodes":	[],
		"nodes":	[{
				"name":	"logits:dense",
				"op":	"nn.dense",
				"precision":	"int8"
			}, {
				"name":	"logits",
				"op":	"nn.bias_add",
				"precision":	"int8"
			}, {
				"name":	"y",
				"op":	"nn.softmax",
				"precision":	"int8"
			}]
	},
	"diagnostics":	[]
}
# threads share the code and have arenas of their own
$ for n in 1 2 4; do relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1,auc --precision fp8w=f4e2m1 --threads $n | sha256sum; done | uniq -c | sed 's/ *\([0-9]*\).*/\1 alike/'
3 alike
# --limit takes samples from everywhere: of these the first and the third
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1 --limit 2
2 samples, judged by the generated C (generic)
top1          50.00 %
# images, by name; what an autoencoder gives back
$ mkdir images; echo iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR42mNgYGD4z8DAwPCfgUtEDgAPYwI7U6vQagAAAABJRU5ErkJggg== | base64 -d >images/a.png; cp images/a.png images/b.png; echo '{"resize": {"mode": "exact", "width": 4, "height": 4}, "mean": 127.5, "std": 127.5}' >spec.json
$ relayc eval $MODELS/element_wise.onnx --data images --preprocess spec.json --metric mse
2 samples, judged by the generated C (generic)
mse          0.552311
$ printf 'a.png 1\nc.png 48\nd.png x\n' >bad.txt; relayc eval $MODELS/element_wise.onnx --data images --preprocess spec.json --metric top1 --labels bad.txt
error[R0009]: bad.txt:3: 'd.png x' is not a label
help: expected 'FILE LABEL' or 'LABEL', labels being 0, 1, 2 ...
[3]
$ printf 'a.png 1\nc.png 48\n' >bad.txt; relayc eval $MODELS/element_wise.onnx --data images --preprocess spec.json --metric top1 --labels bad.txt
error[R0009]: bad.txt labels 1 file that the data does not have: 'c.png'
error[R0009]: bad.txt has no label for 1 sample: 'b.png'
[3]
$ printf 'a.png 1\nb.png 48\n' >bad.txt; relayc eval $MODELS/element_wise.onnx --data images --preprocess spec.json --metric top1 --labels bad.txt
error[R0009]: the label 48 is beyond the model's 48 classes
[3]
# boxes
$ mkdir boxes; printf '3 0.5 0.5 0.1 0.1\n' >boxes/a.txt; relayc eval $MODELS/element_wise.onnx --data images --preprocess spec.json --metric map50 --labels boxes --decode yolov5
error[R0502]: --decode yolov5: the model gives (1,3,4,4) f32, expected [rows, 5 + C]: cx cy w h in pixels, objectness, scores
 --> MODELS/element_wise.onnx
help: decoders are yolov5, yolox, yolov8, boxes, ssd (docs/guide/eval.md)
[2]
$ printf '3 0.5 0.5 0.1\n' >boxes/a.txt; relayc eval $MODELS/element_wise.onnx --data images --preprocess spec.json --metric map50 --labels boxes --decode yolov5
error[R0009]: boxes/a.txt:1: '3 0.5 0.5 0.1' is not a box
help: expected 'CLASS CX CY WIDTH HEIGHT', in parts of the image
[3]
$ rm boxes/a.txt; relayc eval $MODELS/element_wise.onnx --data images --preprocess spec.json --metric map50 --labels boxes --decode yolov5
error[R0009]: boxes has no label file for any of 2 images
help: the first one is boxes/a.txt
[3]
# a detector of one box, the left half of the image, and a classifier of bright images
$ mkdir two found; echo iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAADklEQVR42mP4DwYMEAoAU7oL9YXEbhEAAAAASUVORK5CYII= | base64 -d >two/white.png; echo iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAC0lEQVR42mNgQAYAAA4AATo1BFYAAAAASUVORK5CYII= | base64 -d >two/black.png; printf '3 0.25 0.5 0.5 1\n' >found/white.txt; echo '{"resize": {"mode": "exact", "width": 4, "height": 4}, "scale": 0.00392156862745098}' >bright.json
$ echo CAc67wEKGQoBeBIBYSIRR2xvYmFsQXZlcmFnZVBvb2wKDwoBYRIBZiIHRmxhdHRlbgoSCgFmCgF3CgFiEgF5IgRHZW1tEgNkZXQqUwgDCAYQAUIBd0pIAAAAAAAAAAAAAAAAAAAAAM3MzD0AAAAAAAAAAAAAAAAAAAAAAAAAAM3MzD0AAAAAAAAAAAAAAAAAAAAAAAAAAM3MzD0AAAAAKiEIBhABQgFiShgAAAAAAAAAAAAAAEAAAIBAAAAAPwAAAABaGwoBeBIWChQIARIQCgIIAQoCCAMKAggECgIIBGITCgF5Eg4KDAgBEggKAggBCgIIBkIECgAQDQ== | base64 -d >det.onnx; echo CAc6rwEKGQoBeBIBYSIRR2xvYmFsQXZlcmFnZVBvb2wKDwoBYRIBZiIHRmxhdHRlbgoSCgFmCgF3CgFiEgF5IgRHZW1tEgN0d28qIwgDCAIQAUIBd0oYAACAvwAAgD8AAIC/AACAPwAAgL8AAIA/KhEIAhABQgFiSggAAMA/AADAv1obCgF4EhYKFAgBEhAKAggBCgIIAwoCCAQKAggEYhMKAXkSDgoMCAESCAoCCAEKAggCQgQKABAN | base64 -d >two.onnx
$ printf '0 0.25 0.5 0.5 1\n' >boxes/white.txt; printf '0 0.75 0.5 0.5 1\n' >boxes/black.txt; relayc eval det.onnx --data two --preprocess bright.json --metric map50,map --labels boxes --decode boxes
2 samples, judged by the generated C (generic)
map50          0.5050
map            0.5050
$ relayc eval det.onnx --data two --preprocess bright.json --metric map50 --labels boxes --decode boxes --precision fp8w --against f32
fp8w: 1 of 1 product, constants 96 -> 67 bytes
  loss    estimated on synthetic inputs: the results differ by less than 1 %
2 samples, judged by the generated C (generic); f32 by oneDNN
metric            f32  quantised             change      agree   lost / won       p
map50          0.5050     0.5050   +0.0000 ± 0.0000
$ relayc eval two.onnx --data two --preprocess bright.json --metric accuracy,auc --labels found --present 3:0.4
2 samples, judged by the generated C (generic)
accuracy     100.00 %
auc            1.0000
$ relayc eval two.onnx --data two --preprocess bright.json --metric accuracy --labels found --present 3:0.6
2 samples, judged by the generated C (generic)
accuracy      50.00 %
$ relayc eval two.onnx --data two --preprocess bright.json --metric accuracy --labels found --present 3:much
error[R0501]: --present: '3:much' is neither CLASS nor CLASS:SHARE
help: 0:0.005 means boxes of class 0 that cover half a percent of the image
[2]
# a precision for each node
$ printf 'y fp8w=f4e2m1\n' >q.qtable; relayc eval two.onnx --data two --preprocess bright.json --metric accuracy --labels found --present 3 --qtable q.qtable --against f32
qtable: 1 of 1 product, constants 32 -> 20 bytes
2 samples, judged by the generated C (generic); f32 by oneDNN
metric            f32  quantised             change      agree   lost / won       p
accuracy     100.00 %   100.00 %       +0.00 ± 0.00   100.00 %        0 / 0       1
$ printf 'z fp8w\n' >q.qtable; relayc eval two.onnx --data two --preprocess bright.json --metric accuracy --labels found --present 3 --qtable q.qtable
error[R0007]: q.qtable:1: no node is called 'z'
help: did you mean 'a'?
[3]
# usage
$ relayc eval $MODELS/dense_softmax.onnx
error[R0501]: 'relayc eval' needs --metric
help: metrics are top1, top5, accuracy, auc, map50, map, agree, cos, mse
error[R0501]: 'relayc eval' needs --data
[2]
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --metric top1,top3
error[R0501]: --metric: unknown metric 'top3'
help: metrics are top1, top5, accuracy, auc, map50, map, agree, cos, mse
error[R0501]: --labels are needed to judge answers
help: a file of lines 'FILE LABEL', or for boxes a folder of YOLO's .txt files (docs/guide/eval.md)
[2]
$ relayc eval --help | grep -c -e --boxes
0
[1]
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --metric map --decode yolo --boxes x --with reference
error[R0501]: --max-boxes: 'x' is not a whole number of at least 0
error[R0501]: --decode: unknown decoder 'yolo'
help: decoders are yolov5, yolox, yolov8, boxes, ssd
error[R0501]: --labels are needed to judge answers
help: a file of lines 'FILE LABEL', or for boxes a folder of YOLO's .txt files (docs/guide/eval.md)
error[R0501]: --with: 'reference' is not generated or engine
[2]
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --metric top1,map --labels labels.txt --against f32 --with engine
error[R0501]: map and map50 need --decode, the output format of the detector
help: decoders are yolov5, yolox, yolov8, boxes, ssd (docs/guide/eval.md)
error[R0501]: metrics for classes and for boxes cannot be combined
error[R0501]: --against f32 compares f32 with itself: give --precision or --qtable, or leave out --with engine
[2]
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --metric top1 --labels labels.txt --against f32 --calib-data x.npy --target host --with engine
error[R0501]: --target has no effect on --with engine
error[R0501]: --calib-data has no effect without --precision or --qtable
error[R0501]: --against f32 compares f32 with itself: give --precision or --qtable, or leave out --with engine
[2]
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --metric mse
error[R0502]: mse compares the result with the input, of which one is (1,4) f32, the other (1,6) f32
 --> MODELS/dense_softmax.onnx
[2]
# rounding of weights
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1 --precision int8w=i4 --round gptq
error[R0501]: --round gptq needs --calib-data
[2]
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1 --round adaround --calib-data x.npy
error[R0501]: --calib-data has no effect without --precision or --qtable
error[R0501]: --round has no effect without --precision or --qtable
[2]
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1 --precision int8w=i4 --round best
error[R0501]: --round: 'best' is not nearest, adaround or gptq
[2]
$ relayc eval $MODELS/dense_softmax.onnx --data x.npy --labels labels.txt --metric top1 --precision int8w=i4 --round gptq --calib-data x.npy --bias-correction none --quantize-log q.log; grep -c '^# rounding of' q.log
int8w=i4: 1 of 1 product, constants 112 -> 45 bytes
  weights to nearest: rounded otherwise, the results would be further from the float model's (1 - cosine 0.00165) than now (0.00165)
4 samples, judged by the generated C (generic)
top1          25.00 %
1
