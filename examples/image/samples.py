"""CIFAR-10 images as the network reads them: samples.py FOLDER COUNT"""
import pathlib
import sys

import numpy
from PIL import Image

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import linked  # noqa: E402

folder, count = sys.argv[1], int(sys.argv[2])
data = linked.shared() / "data/cifar10_jpg2000"
rows = linked.spread((line.split() for line in (data / "labels.txt").read_text().splitlines()), count)
images = [(numpy.asarray(Image.open(data / name).convert("RGB")).astype(int) - 128).astype(numpy.int8)[None] for name, _ in rows]
model = linked.shared() / "tflite/tiny_resnet8_int8/model.tflite"
linked.write(folder, images, [label for _, label in rows], linked.tflm(model, images))
