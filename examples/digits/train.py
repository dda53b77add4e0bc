#!/usr/bin/env python3
"""Trains a small convolutional network on scikit-learn's 8x8 digits and writes

    digits.onnx       the network, opset 13
    test_images.npy   float32 (360, 1, 8, 8), 0 .. 1
    test_labels.npy   uint8 (360)

beside this file. The same versions of the packages give the same files.
Needs torch, scikit-learn, numpy and onnx (Debian: python3-torch python3-sklearn python3-onnx).
"""

import pathlib
from collections import OrderedDict

import numpy
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED = 7
EPOCHS = 60
BATCH = 64
HERE = pathlib.Path(__file__).resolve().parent


def network():
    layers = OrderedDict()
    layers["conv1"] = nn.Conv2d(1, 16, 3, padding=1, bias=False)
    layers["norm1"] = nn.BatchNorm2d(16)
    layers["relu1"] = nn.ReLU()
    layers["conv2"] = nn.Conv2d(16, 32, 3, padding=1, bias=False)
    layers["norm2"] = nn.BatchNorm2d(32)
    layers["relu2"] = nn.ReLU()
    layers["pool"] = nn.MaxPool2d(2)
    layers["drop"] = nn.Dropout(0.3)
    layers["flatten"] = nn.Flatten()
    layers["dense"] = nn.Linear(32 * 4 * 4, 10)
    return nn.Sequential(layers)


def shifted(images):
    """Moves each image by up to one pixel, so that the network learns shapes, not places."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    out = torch.empty_like(images)
    offsets = torch.randint(0, 3, (len(images), 2)).tolist()
    for i, (top, left) in enumerate(offsets):
        out[i] = padded[i, :, top : top + 8, left : left + 8]
    return out


def train(model, images, labels):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
    steps = EPOCHS * -(-len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=steps)
    model.train()
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH):
            loss = nn.functional.cross_entropy(model(shifted(images[rows])), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    digits = load_digits()
    images = (digits.images / 16).astype(numpy.float32)[:, None]
    train_x, test_x, train_y, test_y = train_test_split(
        images, digits.target, test_size=360, stratify=digits.target, random_state=SEED
    )

    model = network()
    train(model, torch.from_numpy(train_x), torch.from_numpy(train_y))
    print(f"train {accuracy(model, torch.from_numpy(train_x), torch.from_numpy(train_y)):.2%}")
    print(f"test  {accuracy(model, torch.from_numpy(test_x), torch.from_numpy(test_y)):.2%}")

    # training=PRESERVE and no constant folding keep BatchNormalization in the file: folding it is
    # the compiler's work. The model is in evaluation mode.
    torch.onnx.export(
        model,
        torch.zeros(1, 1, 8, 8),
        HERE / "digits.onnx",
        opset_version=13,
        input_names=["image"],
        output_names=["scores"],
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
    )
    numpy.save(HERE / "test_images.npy", test_x)
    numpy.save(HERE / "test_labels.npy", test_y.astype(numpy.uint8))


if __name__ == "__main__":
    main()
