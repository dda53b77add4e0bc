"""Windows of a machine's sound, some of them with a squeal, as the network reads them: samples.py FOLDER COUNT

The one recording that the project has (MLPerf Tiny, a toy car that runs as it should) has no anomaly. The squeal is made:
40 of its 200 frames have a few neighbouring mel bands 15 dB louder. A window is five frames of 128 bands."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import linked  # noqa: E402

BANDS, FRAMES = 128, 5
SQUEAL_FRAMES, SQUEAL_BANDS, SQUEAL_DB = slice(110, 150), slice(70, 76), 15
SCALE, ZERO = 0.39101523160934448, 89  # of the network's input

folder, count = sys.argv[1], int(sys.argv[2])
frames = numpy.fromfile(linked.shared() / "data/ad01_sample/ad01_normal_id_01_00000000_hist_librosa.bin", "<f4").reshape(-1, BANDS)
frames[SQUEAL_FRAMES, SQUEAL_BANDS] += SQUEAL_DB
windows, labels = [], []
for first in linked.spread(range(len(frames) - FRAMES + 1), count):
    codes = numpy.rint(frames[first : first + FRAMES].reshape(1, -1) / SCALE) + ZERO
    windows.append(numpy.clip(codes, -128, 127).astype(numpy.int8))
    labels.append(first + FRAMES > SQUEAL_FRAMES.start and first < SQUEAL_FRAMES.stop)
model = linked.shared() / "tflite/tiny_ad01_int8/model.tflite"
linked.write(folder, windows, labels, linked.tflm(model, windows))
