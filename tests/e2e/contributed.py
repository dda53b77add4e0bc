"""Operators of com.microsoft, each in a network of its own, against ONNX Runtime: what its quantiser, its
optimiser and Olive write. relayc's reference evaluator and, for a sample, the generated C compute them.

  contributed.py [CASE ...]     only cases whose name contains one of these
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

RELAYC = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "relayc"
MS = "com.microsoft"
rng = np.random.default_rng(41)


def f32(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def u8(*shape, high=256):
    return rng.integers(0, high, shape).astype(np.uint8)


def i8(*shape):
    """Of 7 bits: ONNX Runtime's products of u8 and i8 saturate at 16 bits on CPUs without VNNI."""
    return rng.integers(-63, 64, shape).astype(np.int8)


def scale(value=0.05):
    return np.array(value, np.float32)


CASES = []


def case(name, op, inputs, weights=(), outputs=1, domain=MS, tolerance=1e-4, opset=17, **attrs):
    """inputs: arrays, None where absent; weights: indices of those that are initialisers."""
    CASES.append((name, op, inputs, set(weights), outputs, domain, tolerance, opset, attrs))


def make_cases():
    x, w, b = f32(1, 4, 9, 9), f32(6, 4, 3, 3), f32(6)
    for act, params in (("Relu", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 2.0]), ("HardSigmoid", [0.3, 0.4]),
                        ("Tanh", []), ("Sigmoid", [])):
        more = {"activation_params": params} if params else {}
        case(f"fused_conv_{act}", "FusedConv", [x, w, b], [1, 2], activation=act, pads=[1] * 4, **more)
    case("fused_conv_sum", "FusedConv", [x, w, b, f32(1, 6, 9, 9)], [1, 2], activation="Relu", pads=[1] * 4)
    case("fused_matmul", "FusedMatMul", [f32(2, 5, 4), f32(2, 5, 3)], transA=1, alpha=0.25)
    case("fused_matmul_static", "FusedMatMul", [f32(2, 4, 5), f32(3, 5)], [1], transB=1, alpha=0.25)
    case("fused_matmul_batch", "FusedMatMul", [f32(5, 2, 3, 4), f32(2, 3, 6, 4)], transBatchA=1, transB=1)
    case("fused_matmul_batch_turned", "FusedMatMul", [f32(4, 2, 5), f32(4, 2, 6)], transA=1, transBatchA=1,
         transBatchB=1)
    pads = np.array([0, 1, 2, 1, 0, -1], np.int64)
    case("pad", "Pad", [f32(2, 3, 4), pads, np.array(2.5, np.float32)], [1, 2])
    case("pad_of_a_row", "Pad", [f32(2, 3, 4), pads.reshape(1, 6)], [1])
    case("pad_reflected", "Pad", [f32(2, 3, 4), abs(pads)], [1], mode="reflect")
    case("trilu", "Trilu", [f32(2, 4, 5), np.array(1, np.int64)], [1], upper=0)
    case("fused_gemm_relu", "FusedGemm", [f32(3, 5), f32(4, 5), f32(4)], [1, 2], transB=1, alpha=0.5,
         activation="Relu")
    case("fused_gemm_leaky", "FusedGemm", [f32(3, 5), f32(5, 4), f32(4)], [1, 2], activation="LeakyRelu",
         activation_alpha=0.3)
    case("nhwc_max_pool", "NhwcMaxPool", [u8(1, 8, 8, 3)], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for op, more, attrs in (("NhwcConv", [], {}), ("NhwcConv", [f32(6)], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
                            ("NhwcConv", [f32(6)], {"group": 2, "dilations": [2, 1], "pads": [2, 1, 0, 1]}),
                            ("NhwcFusedConv", [f32(6), f32(1, 9, 9, 6)], {"activation": "Relu", "pads": [1] * 4})):
        case(f"{op}_{len(CASES)}", op, [f32(1, 9, 9, 4), f32(6, 4 // attrs.get("group", 1), 3, 3), *more], [1, 2], **attrs)
    case("expand_dims", "ExpandDims", [f32(2, 3), np.array(-1, np.int32)], [1])
    case("gather_nd", "GatherND", [f32(3, 4, 2), np.array([[0, 1], [2, 3]], np.int32)])
    case("range", "Range", [np.array(3, np.int32), np.array(11, np.int32), np.array(2, np.int32)], [0, 1, 2])
    for kind in (np.uint8, np.int8):
        zero = np.array(-7 if kind == np.int8 else 120, kind)
        case(f"qlinear_where_{kind.__name__}", "QLinearWhere",
             [u8(3, 1, high=2).astype(bool), (u8(3, 4) if kind == np.uint8 else i8(3, 4)), scale(0.04), zero,
              (u8(4) if kind == np.uint8 else i8(4)), scale(0.07), np.array(3, kind), scale(0.05), np.array(1, kind)],
             [2, 3, 5, 6, 7, 8], tolerance="step")
    s, z = scale(), np.array(100, np.uint8)
    case("qlinear_pool_last", "QLinearAveragePool", [u8(1, 8, 8, 3), s, z, scale(0.04), z], [1, 2, 3, 4],
         channels_last=1, kernel_shape=[2, 2], tolerance="step")
    case("qlinear_global_last", "QLinearGlobalAveragePool", [u8(1, 8, 8, 3), s, z, scale(0.02), z], [1, 2, 3, 4],
         channels_last=1, tolerance="step")
    case("qlinear_conv_last", "QLinearConv",
         [u8(1, 8, 8, 4), s, z, i8(6, 4, 3, 3), scale(0.01), np.array(0, np.int8), scale(0.4), z,
          rng.integers(-900, 900, 6).astype(np.int32)], range(1, 9), channels_last=1, pads=[1] * 4, tolerance="step")
    case("integer_to_float", "MatMulIntegerToFloat",
         [u8(3, 16), i8(16, 8), s, f32(8) ** 2 + scale(0.01), z, np.zeros(8, np.int8), f32(8)], range(1, 7))
    case("integer_to_float_3d", "MatMulIntegerToFloat", [u8(2, 3, 16), u8(16, 8), s, scale(0.02), z, z], [1])
    case("dynamic_matmul", "DynamicQuantizeMatMul", [f32(2, 3, 16), i8(16, 8), scale(0.02), np.array(3, np.int8), f32(8)],
         range(1, 5))
    case("dynamic_matmul_columns", "DynamicQuantizeMatMul", [f32(4, 16), i8(16, 8), f32(8) ** 2 + scale(0.01)], [1, 2])
    for name, extra, out in (("", [], 1), ("_bi", [], 3)):
        d = 2 if name else 1
        case(f"dynamic_lstm{name}", "DynamicQuantizeLSTM",
             [f32(5, 2, 6), i8(d, 6, 16), i8(d, 4, 16), f32(d, 32, scale=0.2), None, None, None, None,
              np.full(d, 0.004, np.float32), np.zeros(d, np.int8), np.full(d, 0.004, np.float32),
              np.zeros(d, np.int8)],
             [1, 2, 3, 8, 9, 10, 11], outputs=out, hidden_size=4, tolerance=0.03,
             direction="bidirectional" if name else "forward")
    for name, k, block, zeros in (("", 64, 32, False), ("_zeros", 64, 16, True), ("_tail", 72, 32, True)):
        blocks = -(-k // block)
        packed = u8(12, -(-blocks // 2)) if zeros else None
        case(f"nbits{name}", "MatMulNBits",
             [f32(3, k), u8(12, blocks, block // 2), f32(12 * blocks, scale=0.1), None
              if packed is None else packed.reshape(-1)], [1, 2, 3], K=k, N=12, bits=4, block_size=block,
             accuracy_level=1)
    case("nbits_3d_bias", "MatMulNBits", [f32(2, 3, 64), u8(12, 2, 16), f32(24, scale=0.1), None, None, f32(12)],
         [1, 2, 5], K=64, N=12, bits=4, block_size=32, accuracy_level=1)
    attention_cases()
    others()


def attention_cases():
    x, w, b = f32(2, 5, 12), f32(12, 36, scale=0.4), f32(36)
    mask = (rng.random((2, 5)) > 0.3).astype(np.int32)
    mask[:, 0] = 1
    case("attention", "Attention", [x, w, b], [1, 2], num_heads=3)
    case("attention_causal", "Attention", [x, w, b], [1, 2], num_heads=3, unidirectional=1)
    case("attention_mask", "Attention", [x, w, b, mask], [1, 2], num_heads=3)
    case("attention_mask_3d", "Attention", [x, w, b, np.repeat(mask[:, None], 5, 1)], [1, 2], num_heads=3)
    case("attention_lengths", "Attention", [x, w, b, np.array([3, 5], np.int32)], [1, 2], num_heads=3)
    case("attention_ends", "Attention", [x, w, b, np.array([4, 5, 1, 0], np.int32)], [1, 2], num_heads=3)
    case("attention_bias", "Attention", [x, w, b, None, None, f32(2, 3, 5, 5)], [1, 2], num_heads=3, scale=0.3)
    case("attention_past", "Attention", [x, w, b, None, f32(2, 2, 3, 4, 4)], [1, 2], outputs=2, num_heads=3,
         unidirectional=1)
    case("attention_sizes", "Attention", [x, f32(12, 32, scale=0.4), f32(32)], [1, 2], num_heads=2,
         qkv_hidden_sizes=[12, 12, 8])
    q = [u8(2, 5, 12), i8(12, 36), f32(36), scale(0.02), scale(0.01), None, np.array(120, np.uint8),
         np.array(0, np.int8)]
    case("qattention", "QAttention", q, [1, 2, 3, 4, 6, 7], num_heads=3)
    case("qattention_mask", "QAttention", q[:5] + [mask] + q[6:], [1, 2, 3, 4, 6, 7], num_heads=3, unidirectional=1)
    q, k, v = f32(2, 5, 12), f32(2, 7, 12), f32(2, 7, 24)
    case("multi_head", "MultiHeadAttention", [q, k, v], num_heads=3)
    case("multi_head_bias", "MultiHeadAttention", [q, k, v, f32(48)], [3], num_heads=3)
    case("multi_head_mask", "MultiHeadAttention", [q, k, v, None, (rng.random((2, 7)) > 0.4).astype(np.int32)],
         num_heads=3)
    case("multi_head_scores", "MultiHeadAttention", [q, k, v, None, None, f32(2, 3, 5, 7)], num_heads=3)
    case("multi_head_past", "MultiHeadAttention",
         [q, f32(2, 5, 12), f32(2, 5, 12), None, None, None, f32(2, 3, 4, 4), f32(2, 3, 4, 4)], outputs=3,
         num_heads=3, unidirectional=1)
    case("multi_head_cross", "MultiHeadAttention", [q, f32(2, 3, 7, 4), f32(2, 3, 7, 4)], num_heads=3)
    q, kv, total = f32(1, 5, 48), [f32(1, 5, 16), f32(1, 5, 16)], np.array(9, np.int32)
    past = [f32(1, 2, 4, 8), f32(1, 2, 4, 8)]
    case("group_query", "GroupQueryAttention", [q, *kv, *past, np.array([8], np.int32), total],
         [5, 6], outputs=3, num_heads=6, kv_num_heads=2)
    case("group_query_window", "GroupQueryAttention",
         [q, *kv, *past, np.array([8], np.int32), total], [5, 6], outputs=3, num_heads=6,
         kv_num_heads=2, local_window_size=3)


def others():
    angles = rng.random((16, 4)) * 6
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    places = rng.integers(0, 16, (2, 5)).astype(np.int64)
    case("rotary", "RotaryEmbedding", [f32(2, 5, 24), places, cos, sin], [2, 3])
    case("rotary_4d", "RotaryEmbedding", [f32(2, 3, 5, 8), places, cos, sin], [2, 3], interleaved=1)
    case("rotary_first", "RotaryEmbedding", [f32(2, 5, 24), np.array([3], np.int64), cos, sin], [2, 3])
    ids, segments = rng.integers(0, 30, (2, 6)).astype(np.int32), rng.integers(0, 2, (2, 6)).astype(np.int32)
    tables = [f32(30, 8), f32(10, 8), f32(2, 8), f32(8), f32(8)]
    mask = (rng.random((2, 6)) > 0.3).astype(np.int32)
    case("embed", "EmbedLayerNormalization", [ids, segments, *tables, mask], range(2, 7), outputs=2)
    case("embed_no_segments", "EmbedLayerNormalization", [ids, None, *tables[:2], None, *tables[3:]], [2, 3, 5, 6],
         outputs=2)
    case("skip_rms", "SkipSimplifiedLayerNormalization", [f32(2, 5, 8), f32(2, 5, 8), f32(8), f32(8)], [2, 3])


def model_of(op, inputs, weights, outputs, domain, opset, attrs):
    types = {k: helper.np_dtype_to_tensor_dtype(np.dtype(k)) for k in ("float32", "uint8", "int8", "int32", "int64", "bool")}
    names = ["" if value is None else f"i{i}" for i, value in enumerate(inputs)]
    given = [i for i, value in enumerate(inputs) if value is not None]
    node = helper.make_node(op, names, [f"o{i}" for i in range(outputs)], domain=domain, **attrs)
    graph = helper.make_graph(
        [node], op,
        [helper.make_tensor_value_info(names[i], types[str(inputs[i].dtype)], inputs[i].shape)
         for i in given if i not in weights],
        [helper.make_empty_tensor_value_info(f"o{i}") for i in range(outputs)],
        [onnx.numpy_helper.from_array(inputs[i], names[i]) for i in given if i in weights])
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", opset),
                                                                 helper.make_opsetid(MS, 1)])


def with_channels_first(model):
    """NhwcConv and NhwcFusedConv, which ONNX Runtime has no kernel of for CPUs, as what they stand for."""
    node = model.graph.node[0]
    maps = [i for i in (0, 3) if i < len(node.input)]
    before = [helper.make_node("Transpose", [node.input[i]], [f"first{i}"], perm=[0, 3, 1, 2]) for i in maps]
    names = [f"first{i}" if i in maps else name for i, name in enumerate(node.input)]
    fused = node.op_type == "NhwcFusedConv"
    conv = helper.make_node("FusedConv" if fused else "Conv", names, ["conv"], domain=MS if fused else "")
    conv.attribute.extend(node.attribute)
    after = helper.make_node("Transpose", ["conv"], ["o0"], perm=[0, 2, 3, 1])
    changed = onnx.ModelProto.FromString(model.SerializeToString())
    del changed.graph.node[:]
    changed.graph.node.extend([*before, conv, after])
    return changed


def differs(ours, theirs, tolerance):
    """What is wrong; "" = nothing."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{ours.shape}, ONNX Runtime has {theirs.dtype}{theirs.shape}"
    error = np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max(initial=0)
    if tolerance == "step":
        return "" if error <= 1 else f"{error:g} steps off"
    if theirs.dtype.kind != "f":
        return "" if error == 0 else f"{error:g} off"
    largest = np.abs(theirs).max(initial=1e-3)
    return "" if error <= tolerance * largest else f"{error:g} off, of {largest:g}"


def run(folder, number, row):
    name, op, inputs, weights, outputs, domain, tolerance, opset, attrs = row
    model = model_of(op, inputs, weights, outputs, domain, opset, attrs)
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    feeds = {f"i{i}": value for i, value in enumerate(inputs) if value is not None and i not in weights}
    peer = (with_channels_first(model) if op in ("NhwcConv", "NhwcFusedConv") else model).SerializeToString()
    wanted = onnxruntime.InferenceSession(peer, providers=["CPUExecutionProvider"]).run(None, feeds)
    # every fourth as C too; the kernels have tests of their own
    for how in ["reference"] + (["generated"] if number % 4 == 0 else []):
        command = [RELAYC, "run", path, "--with", how, "-q", "--output", folder / "o.npz"]
        for key, value in feeds.items():
            np.save(folder / f"{key}.npy", value)
            command += ["-i", f"{key}={folder / key}.npy"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"{how}: {done.stderr.strip()}"
        made = np.load(folder / "o.npz")
        for i, value in enumerate(wanted):
            wrong = differs(made[f"o{i}"], value, tolerance)
            if wrong:
                return f"{how}: output {i} is {wrong}"
    return ""


def main():
    onnxruntime.set_default_logger_severity(3)
    make_cases()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(CASES):
            if sys.argv[1:] and not any(part in row[0] for part in sys.argv[1:]):
                continue
            try:
                problem = run(pathlib.Path(folder), number, row)
            except Exception as error:
                problem = f"ONNX Runtime: {error}"
            if problem:
                failed += 1
                print(f"{row[0]}: {problem}")
    print(f"{len(CASES)} operators of com.microsoft, {failed} fail")
    return failed != 0


sys.exit(main())
