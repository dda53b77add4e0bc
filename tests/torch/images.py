"""Modules that see: blocks of image networks as people write them in PyTorch."""

import torch
import torch.nn.functional as F
from torch import nn

from registry import Apply, example, module


def conv(inputs, outputs, size=3, stride=1, groups=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs), act())


@module(example(1, 1, 28, 28))
def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(),
                         nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 84), nn.Tanh(), nn.Linear(84, 10))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(conv(inputs, outputs, 3, stride), nn.Conv2d(outputs, outputs, 3, padding=1),
                                  nn.BatchNorm2d(outputs))
        self.skip = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x), inplace=True)


@module(example(2, 3, 17, 17))
def resnet():
    return nn.Sequential(conv(3, 8), Residual(8, 8, 1), Residual(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(16, 5))


@module(example(1, 8, 12, 12))
def inverted_residual():
    body = nn.Sequential(conv(8, 24, 1, act=nn.ReLU6), conv(24, 24, 3, groups=24, act=nn.ReLU6),
                         nn.Conv2d(24, 8, 1), nn.BatchNorm2d(8))
    return Apply(lambda m, x: x + m.body(x), body=body)


@module(example(1, 8, 9, 9))
def squeeze_excite_hardswish():
    gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 4, 1), nn.ReLU(), nn.Conv2d(4, 16, 1),
                         nn.Hardsigmoid())
    return Apply(lambda m, x: (y := m.first(x)) * m.gate(y), first=conv(8, 16, act=nn.Hardswish), gate=gate)


@module(example(1, 8, 9, 9))
def mbconv_silu():
    gate = nn.Sequential(nn.Conv2d(16, 4, 1), nn.SiLU(), nn.Conv2d(4, 16, 1), nn.Sigmoid())
    return Apply(lambda m, x: (y := m.first(x)) * m.gate(y.mean((2, 3), keepdim=True)),
                 first=conv(8, 16, act=nn.SiLU), gate=gate)


def shuffled(m, x):
    kept, moved = x.chunk(2, dim=1)
    y = torch.cat((kept, m.branch(moved)), 1)
    n, c, h, w = y.shape
    return y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)


@module(example(1, 16, 8, 8))
def shufflenet():
    return Apply(shuffled, branch=nn.Sequential(conv(8, 8, 1), conv(8, 8, 3, groups=8)))


@module(example(1, 16, 8, 8))
def channel_shuffle():
    return nn.Sequential(nn.ChannelShuffle(4), nn.Conv2d(16, 8, 1, groups=4))


def dense(m, x):
    for layer in m.layers:
        x = torch.cat([x, layer(x)], 1)
    return m.transition(x)


@module(example(1, 8, 10, 10))
def densenet():
    return Apply(dense, layers=nn.ModuleList(nn.Sequential(nn.BatchNorm2d(8 + 4 * i), nn.ReLU(),
                                                           nn.Conv2d(8 + 4 * i, 4, 3, padding=1)) for i in range(3)),
                 transition=nn.Sequential(nn.Conv2d(20, 10, 1), nn.AvgPool2d(2, 2)))


@module(example(1, 8, 11, 11))
def fire():
    return Apply(lambda m, x: torch.cat([F.relu(m.one(y := F.relu(m.squeeze(x)))), F.relu(m.three(y))], 1),
                 squeeze=nn.Conv2d(8, 4, 1), one=nn.Conv2d(4, 8, 1), three=nn.Conv2d(4, 8, 3, padding=1))


@module(example(1, 6, 11, 11))
def inception():
    return Apply(lambda m, x: torch.cat([m.a(x), m.b(x), F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
                                         F.max_pool2d(x, 3, 1, 1)], 1), a=conv(6, 4, 1), b=conv(6, 4, 5))


@module(example(1, 8, 10, 10))
def convnext():
    def block(m, x):
        y = m.norm(m.depthwise(x).permute(0, 2, 3, 1))
        y = m.gamma * m.down(F.gelu(m.up(y)))
        return x + y.permute(0, 3, 1, 2)
    return Apply(block, depthwise=nn.Conv2d(8, 8, 7, padding=3, groups=8), norm=nn.LayerNorm(8), up=nn.Linear(8, 32),
                 down=nn.Linear(32, 8), gamma=nn.Parameter(torch.full((8,), 0.5)))


@module(example(1, 8, 8, 8))
def c2f():
    def forward(m, x):
        parts = list(m.first(x).chunk(2, 1))
        parts.extend(layer(parts[-1]) for layer in m.layers)
        return m.last(torch.cat(parts, 1))
    return Apply(forward, first=conv(8, 16, 1, act=nn.SiLU), layers=nn.ModuleList(conv(8, 8, act=nn.SiLU)
                                                                               for _ in range(2)),
                 last=conv(32, 8, 1, act=nn.SiLU))


@module(example(1, 8, 9, 9))
def sppf():
    def forward(m, x):
        parts = [m.first(x)]
        for _ in range(3):
            parts.append(m.pool(parts[-1]))
        return m.last(torch.cat(parts, 1))
    return Apply(forward, first=conv(8, 4, 1), pool=nn.MaxPool2d(5, 1, 2), last=conv(16, 8, 1))


@module(example(1, 4, 16, 16))
def feature_pyramid():
    def forward(m, x):
        high = m.high(x)
        low = m.low(high)
        joined = m.side(high) + F.interpolate(low, scale_factor=2, mode="nearest")
        return m.out(joined), low
    return Apply(forward, high=conv(4, 8), low=conv(8, 8, 3, 2), side=nn.Conv2d(8, 8, 1), out=nn.Conv2d(8, 2, 3, padding=1))


@module(example(1, 3, 16, 16))
def unet():
    def forward(m, x):
        a = m.down1(x)
        b = m.down2(F.max_pool2d(a, 2))
        return m.head(m.join(torch.cat([m.up(b), a], 1)))
    return Apply(forward, down1=conv(3, 8), down2=conv(8, 16), up=nn.ConvTranspose2d(16, 8, 2, 2), join=conv(16, 8),
                 head=nn.Conv2d(8, 2, 1))


@module(example(1, 4, 13, 15))
def aspp():
    def forward(m, x):
        size = x.shape[-2:]
        whole = F.interpolate(m.whole(x), size=size, mode="bilinear", align_corners=False)
        return m.join(torch.cat([m.one(x), m.wide(x), whole], 1))
    return Apply(forward, one=conv(4, 4, 1), wide=nn.Conv2d(4, 4, 3, padding=3, dilation=3),
                 whole=nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 4, 1), nn.ReLU()), join=conv(12, 4, 1))


@module(example(1, 3, 9, 7))
def super_resolution():
    return nn.Sequential(nn.Conv2d(3, 8, 5, padding=2), nn.PReLU(8), nn.Conv2d(8, 27, 3, padding=1), nn.PixelShuffle(3))


@module(example(1, 3, 8, 12))
def pixel_unshuffle():
    return nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(12, 4, 3, padding=1))


@module(example(1, 3, 12, 12))
def style():
    return nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(3, 6, 5), nn.InstanceNorm2d(6, affine=True), nn.ReLU(),
                         nn.Upsample(scale_factor=2), nn.ReplicationPad2d(1), nn.Conv2d(6, 3, 3), nn.Tanh())


@module(example(2, 8, 7, 7))
def group_norm():
    return nn.Sequential(nn.Conv2d(8, 12, 3), nn.GroupNorm(3, 12), nn.LeakyReLU(0.1), nn.Conv2d(12, 4, 1))


@module(example(1, 4, 12, 12))
def adaptive_pools():
    return Apply(lambda m, x: (F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_max_pool2d(x, (2, 6))))


@module(example(1, 4, 11, 13))
def ceil_pools():
    return Apply(lambda m, x: (F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
                               F.avg_pool2d(x, 2, 2, ceil_mode=True)))


@module(example(1, 3, 24, 24))
def alexnet_lrn():
    return nn.Sequential(nn.Conv2d(3, 8, 5, 2), nn.ReLU(), nn.LocalResponseNorm(5), nn.MaxPool2d(3, 2), nn.Flatten(),
                         nn.Dropout(), nn.Linear(8 * 4 * 4, 6))


@module(example(1, 3, 6, 5))
def resizes():
    return Apply(lambda m, x: (F.interpolate(x, size=(11, 13), mode="bilinear", align_corners=True),
                               F.interpolate(x, scale_factor=2.0, mode="bicubic", align_corners=False),
                               F.interpolate(x, size=(9, 4), mode="nearest")))


@module(example(1, 1, 12, 12))
def spatial_transformer():
    def forward(m, x):
        theta = m.locate(x).view(-1, 2, 3)
        return F.grid_sample(x, F.affine_grid(theta, [1, 1, 12, 12], align_corners=False), align_corners=False)
    return Apply(forward, locate=nn.Sequential(nn.Conv2d(1, 4, 5, 2), nn.ReLU(), nn.Flatten(), nn.Linear(64, 6)))


@module(example(1, 2, 6, 8, 8))
def conv3d():
    return nn.Sequential(nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d((1, 2, 2)),
                         nn.ConvTranspose3d(4, 2, 2, 2))


@module(example(1, 3, 16, 16))
def vision_transformer():
    def forward(m, x):
        y = m.patches(x).flatten(2).transpose(1, 2)
        y = torch.cat([m.token.expand(y.shape[0], -1, -1), y], 1) + m.position
        return m.head(m.encoder(y)[:, 0])
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True, activation="gelu")
    return Apply(forward, patches=nn.Conv2d(3, 16, 4, 4), token=nn.Parameter(torch.randn(1, 1, 16)),
                 position=nn.Parameter(torch.randn(1, 17, 16)), encoder=nn.TransformerEncoder(layer, 2),
                 head=nn.Linear(16, 5))


@module(example(1, 8, 8, 12))
def swin_window():
    def forward(m, x):  # channels last, cyclic shift, windows of 4 x 4
        y = torch.roll(x, shifts=(-2, -2), dims=(1, 2))
        n, h, w, c = y.shape
        y = y.view(n, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = m.qkv(y).reshape(-1, 16, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        y = torch.softmax(q @ k.transpose(-2, -1) * (c // 2) ** -0.5 + m.bias, -1) @ v
        y = y.transpose(1, 2).reshape(n, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return torch.roll(y, shifts=(2, 2), dims=(1, 2))
    return Apply(forward, qkv=nn.Linear(12, 36), bias=nn.Parameter(torch.randn(1, 2, 16, 16)))


@module(example(1, 8, 8, 8))
def detection_head():
    def forward(m, x):
        y = m.head(x)
        n, c, h, w = y.shape
        y = y.view(n, 2, c // 2, h, w).permute(0, 1, 3, 4, 2).sigmoid()
        rows, cols = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        grid = torch.stack((cols, rows), 2).view(1, 1, h, w, 2).float()
        centre = (y[..., 0:2] * 2 + grid - 0.5) * 8
        size = (y[..., 2:4] * 2) ** 2 * m.anchors.view(1, 2, 1, 1, 2)
        return torch.cat((centre, size, y[..., 4:]), -1).view(n, -1, c // 2)
    return Apply(forward, head=nn.Conv2d(8, 14, 1), anchors=nn.Parameter(torch.tensor([[10., 13.], [30., 20.]])))


@module(example(1, 4, 9, 9))
def unfold_fold():
    return Apply(lambda m, x: F.fold(F.unfold(x, 3, padding=1) * 0.5, (9, 9), 3, padding=1))


@module(example(1, 4, 8, 8))
def weight_norm():
    return nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 6, 3)),
                         nn.utils.parametrizations.spectral_norm(nn.Conv2d(6, 4, 1)))


@module(example(1, 4, 10, 10))
def rotations():
    return Apply(lambda m, x: torch.rot90(m.conv(x.flip(3)), 1, (2, 3)) + m.conv(x).transpose(2, 3),
                 conv=nn.Conv2d(4, 4, 3, padding=1))


@module(example(1, 16, 6, 6))
def coordinate_attention():
    def forward(m, x):
        n, c, h, w = x.shape
        rows, cols = x.mean(3, keepdim=True), x.mean(2, keepdim=True).permute(0, 1, 3, 2)
        y = F.relu(m.squeeze(torch.cat([rows, cols], 2)))
        rows, cols = torch.split(y, [h, w], 2)
        return x * m.up(rows).sigmoid() * m.up(cols.permute(0, 1, 3, 2)).sigmoid()
    return Apply(forward, squeeze=nn.Conv2d(16, 4, 1), up=nn.Conv2d(4, 16, 1))
