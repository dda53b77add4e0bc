"""Photographs as the network reads them, 96x96 and grey; a person is in them where COCO's boxes of persons cover at least
half a percent: samples.py FOLDER COUNT"""
import pathlib
import sys

import numpy
from PIL import Image

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import linked  # noqa: E402

PERSON, SHARE = "0", 0.005


def has_person(boxes):
    """boxes: lines 'class cx cy width height', relative"""
    rows = [line.split() for line in boxes.read_text().splitlines()] if boxes.exists() else []
    return any(row[0] == PERSON and float(row[3]) * float(row[4]) >= SHARE for row in rows)


def grey(path):
    pixels = numpy.asarray(Image.open(path).convert("L").resize((96, 96), Image.BILINEAR)).astype(int)
    return (pixels - 128).astype(numpy.int8)[None, :, :, None]


folder, count = sys.argv[1], int(sys.argv[2])
data = linked.shared() / "data/coco_val128"
paths = linked.spread(sorted((data / "images").glob("*.jpg")), count)
images = [grey(path) for path in paths]
labels = [has_person(data / "labels" / f"{path.stem}.txt") for path in paths]
model = linked.shared() / "tflite/tflm_person_detect_int8/model.tflite"
linked.write(folder, images, labels, linked.tflm(model, images))
