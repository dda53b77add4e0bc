"""The list of modules: each with the inputs that it is exported and judged with."""

import torch
from torch import nn

MODULES = []  # (name, function that makes the module, inputs)


def example(*shape, high=None):
    """The shape of an input of normally distributed numbers; with `high`, of integers below it."""
    return shape, high


def module(*inputs):
    """Registers a function that makes a module, under the function's name."""
    def register(make):
        MODULES.append((make.__name__, make, inputs))
        return make
    return register


def tensor(shape, high, generator):
    if high is not None:
        return torch.randint(0, high, shape, generator=generator)
    return torch.randn(shape, generator=generator)


class Apply(nn.Module):
    """A module by its forward function, and its parts by name."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)
