"""Trains forest.onnx on the digits of scikit-learn, less the 360 of ../digits that test it. Needs scikit-learn and skl2onnx;
takes seconds, and is seeded."""
import pathlib

import numpy
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

here = pathlib.Path(__file__).parent
test = numpy.load(here.parent / "digits/test_images.npy").reshape(-1, 64)
labels = numpy.load(here.parent / "digits/test_labels.npy")
x, y = load_digits(return_X_y=True)
x = (x / 16).astype(numpy.float32)
is_test = {row.tobytes() for row in test}
train = numpy.array([row.tobytes() not in is_test for row in x])
forest = RandomForestClassifier(n_estimators=12, max_leaf_nodes=40, random_state=1).fit(x[train], y[train])
print(f"{train.sum()} digits to train, {len(test)} to test: {100 * forest.score(test, labels):.2f} %")
model = to_onnx(forest, initial_types=[("pixels", FloatTensorType([1, 64]))], options={"zipmap": False},
                target_opset={"": 15, "ai.onnx.ml": 3})
(here / "forest.onnx").write_bytes(model.SerializeToString())
