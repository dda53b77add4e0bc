"""The test digits, and what ONNX Runtime makes of them: digits.py MODEL ROW|IMAGE FOLDER COUNT

ROW: 64 numbers each, the reference's label, 8 bytes. IMAGE: 1x8x8; the class of the greatest score, 1 byte."""
import pathlib
import sys

import linked
import numpy

model, form, folder, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
digits = pathlib.Path(__file__).parents[1] / "digits"
images = numpy.load(digits / "test_images.npy")
labels = numpy.load(digits / "test_labels.npy")
which = linked.spread(range(len(images)), count)
rows = [images[i].reshape((1, 64) if form == "ROW" else (1, 1, 8, 8)) for i in which]
results = linked.onnxruntime(model, rows)
linked.write(folder, rows, labels[which],
             [r[0] if form == "ROW" else r[0].argmax().astype(numpy.uint8) for r in results])
