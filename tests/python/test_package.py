"""The Python package as a user has it: installed from its wheel. unittest; run in the root of the tree by
tests/e2e/run_python."""

import concurrent.futures
import pathlib
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime

import relayc

DIGITS = "examples/digits/digits.onnx"
IMAGES = np.load("examples/digits/test_images.npy")
LABELS = np.load("examples/digits/test_labels.npy")


def expected(images):
    session = onnxruntime.InferenceSession(DIGITS, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"image": image[None]})[0] for image in images])


def sum_of(types, shape=(2, 3)):
    """x + y + ... of inputs of these types, as a model."""
    names = [f"x{i}" for i in range(len(types))]
    inputs = [onnx.helper.make_tensor_value_info(n, t, shape) for n, t in zip(names, types)]
    output = onnx.helper.make_tensor_value_info("y", types[0], shape)
    graph = onnx.helper.make_graph([onnx.helper.make_node("Sum", names, ["y"])], "sum of some", inputs, [output])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)


class Compile(unittest.TestCase):
    def test_every_kind_of_model(self):
        wanted = expected(IMAGES[:4])
        proto = onnx.load(DIGITS)
        for model in (DIGITS, pathlib.Path(DIGITS), proto, proto.SerializeToString()):
            compiled = relayc.compile(model)
            found = np.concatenate([compiled.run(image=image[None])["scores"] for image in IMAGES[:4]])
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)

    def test_quantised(self):
        compiled = relayc.compile(DIGITS, precision="int8", calibration=IMAGES)
        right = sum(int(compiled(image[None]).argmax()) == label for image, label in zip(IMAGES, LABELS))
        self.assertGreaterEqual(right, 350)
        self.assertLess(compiled.memory.weight_bytes, relayc.compile(DIGITS).memory.weight_bytes / 3)

    def test_calibration_by_table(self):
        quantized = relayc.quantize(DIGITS, IMAGES, "fp8")
        self.assertGreater(len(quantized.comparison["generated"]), 0)
        by_table = relayc.compile(DIGITS, precision="fp8", calibration=quantized.table)
        self.assertEqual(by_table.diff(quantized.compile()), "")

    def test_interfaces_that_c_may_have(self):
        wanted = relayc.compile(DIGITS)(IMAGES[:1])
        for options in (
            {"pool": ["fast=8K,fast", "slow=64K,slow"]},
            {"io_in_arena": True},
            {"pool": ["fast=8K,fast", "slow=64K,slow"], "io_in_arena": True},
            {"parallel": 2, "name": "other", "step": True},
            {"weights": "inline", "guard": True},
        ):
            with self.subTest(**options):
                np.testing.assert_allclose(relayc.compile(DIGITS, **options)(IMAGES[:1]), wanted, rtol=1e-5, atol=1e-5)

    def test_quantised_interface_has_its_types(self):
        compiled = relayc.compile(DIGITS, precision="int8", calibration=IMAGES, quantized_io=True)
        self.assertEqual(compiled.inputs[0].numpy_dtype, np.dtype("int8"))
        self.assertEqual(compiled(np.zeros((1, 1, 8, 8), "int8")).dtype, np.dtype("int8"))

    def test_shapes(self):
        model = sum_of([onnx.TensorProto.FLOAT] * 2, ("n", 3))
        compiled = relayc.compile(model, shape={"n": 5})
        self.assertEqual(compiled.inputs[1].shape, (5, 3))
        self.assertEqual(compiled.name, "sum_of_some")

    def test_files_and_folders(self):
        compiled = relayc.compile(DIGITS)
        self.assertIn("digits.h", [path.name for path in compiled.files])
        self.assertEqual(compiled.memory.arena_bytes, compiled.report["arena"]["bytes"])
        with tempfile.TemporaryDirectory() as folder:
            saved = compiled.save(pathlib.Path(folder) / "a" / "b")
            self.assertEqual([p.read_bytes() for p in saved], [p.read_bytes() for p in compiled.files])
            relayc.compile(DIGITS, output_dir=folder)
            self.assertTrue((pathlib.Path(folder) / "digits.c").exists())
        folder = compiled.files[0].parent
        del compiled
        self.assertFalse(folder.exists())

    def test_diff(self):
        proto = onnx.load(DIGITS)
        tensor = next(t for t in proto.graph.initializer if t.name == "dense.bias")
        tensor.raw_data = (np.frombuffer(tensor.raw_data, "f4") + 1).tobytes()
        lines = relayc.compile(onnx.load(DIGITS)).diff(relayc.compile(proto)).split("\n")
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], "^  weights .*dense_bias: crc32 '")
        wider = relayc.compile(DIGITS).diff(relayc.compile(DIGITS, precision="fp8w"))
        self.assertIn("weights: 43992 -> ", wider)


class Run(unittest.TestCase):
    def setUp(self):
        self.sum = relayc.compile(sum_of([onnx.TensorProto.FLOAT] * 2))

    def test_inputs_by_position_and_name(self):
        x, y = np.ones((2, 3), "f4"), np.full((2, 3), 2, "f4")
        for result in (self.sum.run(x, y), self.sum.run(x, x1=y), self.sum.run(x1=y, x0=x),
                       self.sum.run({"x0": x, "x1": y}), self.sum.run([[1, 1, 1]] * 2, y)):
            np.testing.assert_array_equal(result["y"], x + y)

    def test_outputs_are_written_in_place(self):
        out = np.zeros((2, 3), "f4")
        result = self.sum.run(np.ones((2, 3), "f4"), np.ones((2, 3), "f4"), out={"y": out})
        self.assertIs(result["y"], out)
        self.assertEqual(out[1, 2], 2)

    def test_arrays_that_are_not_contiguous(self):
        x = np.arange(6, dtype="f4").reshape(3, 2).T
        np.testing.assert_array_equal(self.sum(x, x), 2 * x)

    def test_threads_have_arenas_of_their_own(self):
        compiled = relayc.compile(DIGITS)
        wanted = [compiled(image[None]) for image in IMAGES[:64]]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda image: compiled(image[None]), IMAGES[:64]))
        np.testing.assert_array_equal(found, wanted)

    def test_mistakes_say_what_was_expected(self):
        x = np.ones((2, 3), "f4")
        for arguments, named, said in (
            ((x.astype("f8"), x), {}, r"input 'x0': found float64, expected float32; convert it: array.astype"),
            ((x[:1], x), {}, r"input 'x0': found shape \[1, 3\], expected \[2, 3\]"),
            ((x,), {}, r"no value for x1; the model takes x0 \(f32 \[2, 3\]\), x1"),
            ((x, x, x), {}, r"3 inputs were given; the model takes"),
            ((x, x), {"x1": x}, r"input 'x1' was given twice"),
            ((x, x), {"z": x}, r"there is no input 'z'"),
            ((x, x), {"out": {"z": x}}, r"there is no output 'z'; there are y"),
            ((x, x), {"out": {"y": x.T}}, r"output 'y': found shape \[3, 2\]"),
        ):
            with self.subTest(said), self.assertRaisesRegex(relayc.UsageError, said):
                self.sum.run(*arguments, **named)

    def test_compilers_that_fail(self):
        with self.assertRaisesRegex(relayc.BuildError, "no C compiler 'nocc'"):
            self.sum.build(cc="nocc")
        with self.assertRaisesRegex(relayc.BuildError, "failed with code 1"):
            self.sum.build(cflags="-include nothing.h")


class Errors(unittest.TestCase):
    def test_all_diagnostics_are_there(self):
        nodes = [onnx.helper.make_node("Multinomial", ["x0"], ["a"], name="one"),
                 onnx.helper.make_node("Multinomial", ["x1"], ["b"], name="two")]
        model = sum_of([onnx.TensorProto.FLOAT] * 2)
        del model.graph.node[:]
        model.graph.node.extend(nodes)
        model.graph.output[0].name = "a"
        with self.assertRaises(relayc.CompileError) as caught:
            relayc.compile(model)
        self.assertTrue(caught.exception.is_unsupported)
        first = caught.exception.errors[0]
        self.assertEqual((first.code, first.severity, first.op_type), ("R0201", "error", "Multinomial"))
        self.assertEqual([d.node for d in caught.exception.errors][:1], ["one"])
        self.assertIn("Multinomial", str(caught.exception))
        self.assertIn("conversion", relayc.explain(first.code))
        with self.assertRaisesRegex(relayc.UsageError, "unknown diagnostic"):
            relayc.explain("R9999")

    def test_options(self):
        names = [option.keyword for option in relayc.options()]
        self.assertIn("io_in_arena", names)
        for options, said in (
            ({"precison": "int8"}, "no option 'precison'; did you mean precision"),
            ({"precision": "int9"}, "unknown precision 'int9'"),
            ({"step": "yes"}, "option step: found 'yes', expected True or False"),
            ({"ram": True}, r"option ram: found True, expected a value \(BYTES\)"),
            ({"calibration": IMAGES, "data": "x.npy"}, "calibration and data were both given"),
            ({"calibration": 3}, "calibration: found int, expected a path"),
        ):
            with self.subTest(said), self.assertRaisesRegex(relayc.UsageError, said):
                relayc.compile(DIGITS, **options)
        with self.assertRaisesRegex(relayc.UsageError, "found builtins.int, expected a path, bytes"):
            relayc.compile(3)
        with self.assertRaises(relayc.FileError):
            relayc.compile("nowhere.onnx")

    def test_budgets(self):
        with self.assertRaises(relayc.CompileError) as caught:
            relayc.compile(DIGITS, ram="100")
        self.assertFalse(caught.exception.is_unsupported)


class Program(unittest.TestCase):
    def test_verify(self):
        report = relayc.verify(onnx.load(DIGITS))
        self.assertEqual(report["schema"], "relayc-verify-1")
        with self.assertRaisesRegex(relayc.UsageError, "unknown option '--nonsense'"):
            relayc.verify(DIGITS, nonsense=True)

    def test_evaluate(self):
        lines = pathlib.Path(tempfile.mkdtemp()) / "labels.txt"
        lines.write_text("".join(f"{label}\n" for label in LABELS))
        for labels in (LABELS, lines):
            report = relayc.evaluate(DIGITS, IMAGES, labels, "top1", precision="int8", calibration=IMAGES,
                                     limit=60)
            self.assertGreater(report["metrics"][0]["value"], 0.95)

    def test_choose(self):
        choice = relayc.choose(DIGITS, IMAGES, LABELS, choices="int8+afp=afp4", select_limit=60, limit=60)
        self.assertIn(choice.recommended, ("int8", "afp=afp4"))
        self.assertEqual(choice.report["samples"]["report"], 60)
        compiled = choice.compile()
        row = [row for row in choice.report["recipes"] if row["recipe"] == choice.recommended][0]
        self.assertEqual((compiled.memory.weight_bytes, compiled.memory.arena_bytes),
                         (row["weight_bytes"], row["arena_bytes"]))

    def test_search(self):
        found = relayc.search(DIGITS, IMAGES, precision="int8", strategy="topk", limit=40)
        self.assertIsNotNone(found.qtable)
        relayc.compile(DIGITS, precision="int8", calibration=IMAGES, qtable=found.qtable)


class Backend(unittest.TestCase):
    def test_node(self):
        node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
        result = relayc.backend.run_node(node, [np.ones((2, 2), "f4"), np.ones(2, "f4")])
        np.testing.assert_array_equal(result.c, np.full((2, 2), 2))

    def test_model_of_open_shape(self):
        rep = relayc.backend.prepare(sum_of([onnx.TensorProto.FLOAT] * 2, ("n", 3)))
        for n in (2, 5):
            x = np.ones((n, 3), "f4")
            np.testing.assert_array_equal(rep.run([x, x])[0], 2 * x)

    def test_devices(self):
        self.assertFalse(relayc.backend.supports_device("CUDA"))
        self.assertFalse(relayc.backend.is_compatible(sum_of([onnx.TensorProto.FLOAT] * 2), device="CUDA"))


try:
    import torch
except ImportError:
    torch = None


@unittest.skipUnless(torch, "there is no torch: relayc.torch was NOT tested")
class Torch(unittest.TestCase):
    def test_both_exporters(self):
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.norm = torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.BatchNorm2d(8)
                self.dense = torch.nn.Linear(8 * 16, 10)

            def forward(self, image, scale):
                x = torch.nn.functional.max_pool2d(torch.relu(self.norm(self.conv(image))), 2)
                return self.dense(x.flatten(1)) * scale

        torch.manual_seed(1)
        net, image, scale = Net(), torch.randn(1, 1, 8, 8), torch.tensor([2.0])
        for exporter in ("auto", "dynamo", "torchscript"):
            for example in ((image, scale), {"image": image, "scale": scale}):
                with self.subTest(exporter=exporter, example=type(example).__name__):
                    compiled = relayc.torch.compile(net, example, exporter=exporter)
                    self.assertTrue(net.training)
                    wanted = net.eval()(image, scale).detach().numpy()
                    net.train()
                    found = compiled(image=image.numpy(), scale=scale.numpy())
                    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
        with self.assertRaisesRegex(relayc.UsageError, "needs example="):
            relayc.compile(net)

    def test_quantised_by_pytorch(self):
        from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
        from torch.ao.quantization.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

        torch.manual_seed(2)
        image = torch.randn(1, 1, 8, 8)
        net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 10)).eval()
        prepared = prepare_pt2e(torch.export.export(net, (image,)).module(),
                                XNNPACKQuantizer().set_global(get_symmetric_quantization_config()))
        for _ in range(4):
            prepared(torch.randn_like(image))
        quantised = convert_pt2e(prepared)
        found = relayc.torch.compile(quantised, image, exporter="dynamo")(image.numpy())
        self.assertLess(np.abs(found - quantised(image).detach().numpy()).max(), 0.03)


if __name__ == "__main__":
    unittest.main()
