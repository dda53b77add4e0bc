"""Pieces of com.microsoft's operators: what ONNX Runtime's optimiser and quantiser write."""
import numpy as np

from elementwise import partner
from moves import piece
from network import Reject
from products import linear, sequence, width

MS = "com.microsoft"


@piece(1)
def fused_convolution(n):
    x = n.float_value(4)
    c, out, k = n.shape(x)[1], n.choice([1, 3, 8, 16]), n.choice([1, 3])
    kind, parameters = n.choice([("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.9]),
                                 ("HardSigmoid", [0.3, 0.4])])
    more = {"activation_params": parameters} if parameters else {}
    operands = [x, n.weights([out, c, k, k], c * k * k, x), n.weights([out], spread=0.3)]
    n.op("FusedConv", operands, domain=MS, activation=kind, pads=[k // 2] * 4, **more)


@piece(1)
def fused_products(n):
    x = n.float_value(2, 3, 4)
    s, out = n.shape(x), width(n)
    if len(s) == 2 and n.chance(0.4):
        operands = [x, n.weights([out, s[1]], s[1], x), n.weights([out], spread=0.3)]
        n.op("FusedGemm", operands, domain=MS, transB=1, alpha=0.7, activation=n.choice(["Relu", "Tanh", "Sigmoid"]))
    elif n.chance(0.5):
        turned = n.below(2)
        w = n.weights([out, s[-1]] if turned else [s[-1], out], s[-1], x)
        n.op("FusedMatMul", [x, w], domain=MS, transB=turned, alpha=0.7)
    else:
        y = n.op("FusedMatMul", [x, x], domain=MS, transA=1, alpha=1 / s[-2])
        n.op("FusedMatMul", [y, partner(n, y)], domain=MS, transB=1, alpha=1 / s[-1])


@piece(1)
def packed_weights(n):
    """Weights of 4 bits, whose groups have scales of their own, some with zero points."""
    x = sequence(n)
    k, out, group = n.shape(x)[-1], n.choice([1, 3, 8, 17]), n.choice([16, 32])
    groups = -(-k // group)
    codes = n.rng.integers(0, 256, [out, groups, group // 2]).astype(np.uint8)
    scales = (n.rng.uniform(0.5, 1.5, [out * groups]) / (4 * max(n.mean_size(x), 0.05) * np.sqrt(k))).astype(np.float32)
    operands = [x, n.const(codes), n.const(scales)]
    if n.chance(0.5):
        operands.append(n.const(n.rng.integers(0, 256, [out * ((groups + 1) // 2)]).astype(np.uint8)))
    n.op("MatMulNBits", operands, domain=MS, K=k, N=out, bits=4, block_size=group)


@piece(1)
def dynamic_products(n):
    """Data quantised at run time, weights before. Not as DynamicQuantizeMatMul, whose scale FP8 stores in 8 bits: the
    noise that judges has only what nodes give."""
    x = n.float_value(2, 3)
    k, out = n.shape(x)[-1], width(n)
    w = n.const(n.rng.integers(-60, 61, [k, out]).astype(np.int8))
    scale = n.const(np.float32(1 / (35 * max(n.mean_size(x), 0.05) * np.sqrt(k))))
    bias = n.weights([out], spread=0.3)
    codes, x_scale, x_zero = n.op("DynamicQuantizeLinear", [x], outputs=3, keep=False)
    n.op("MatMulIntegerToFloat", [codes, w, x_scale, scale, x_zero, n.const(np.int8(0)), bias], domain=MS)


@piece(1)
def root_mean_squares(n):
    x = sequence(n)
    d = n.shape(x)[-1]
    if d < 2:
        raise Reject("one number has no spread")
    scale = n.weights([d], spread=0.2, around=1)
    if n.chance(0.5):
        n.op("SimplifiedLayerNormalization", [x, scale], axis=-1, epsilon=1e-5)
    else:
        n.op("SkipSimplifiedLayerNormalization", [x, linear(n, x, d), scale], domain=MS, epsilon=1e-5)


@piece(1)
def heads(n):
    x = sequence(n)
    e = n.shape(x)[-1]
    count = n.choice([h for h in (1, 2, 4) if e % h == 0])
    q, k, v = (linear(n, x, e) for _ in range(3))
    bias = [n.weights([3 * e], spread=0.3)] if n.chance(0.5) else []
    n.op("MultiHeadAttention", [q, k, v] + bias, domain=MS, num_heads=count)
