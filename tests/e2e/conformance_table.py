"""What comes of ONNX's own node tests, as they are, operator by operator: a table in Markdown (make conformance).

  conformance_table.py [--stages STAGES] [--markdown FILE]     the tests of the onnx of this Python

Older releases have the tests as files, newer ones make them. $BUILD/tests/conformance runs them; it counts as an
error if a case is refused, or differs, for another reason than the ones below, or if a program dies.
"""

import argparse
import collections
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

import onnx

BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()

# Cases that relayc does not mean to take.
OUT_OF_SCOPE = [
    ("training", ["test_adagrad*", "test_adam*", "test_momentum*", "test_nesterov*", "test_training_dropout*"]),
    ("random numbers", ["test_bernoulli*"]),
    ("decoders of image files", ["test_image_decoder*"]),
    ("strings that are computed with", ["test_equal_string*", "test_regex_*", "test_string_*", "test_strnorm*", "test_ai_onnx_ml_label_encoder_*",
                                        "*_STRING*", "*STRING_to*", "test_tfidfvectorizer_*string*"]),
]
# Cases whose data are not the results that the standard defines.
DIFFERS = [
    ("sums in f32, the data round halves after each operator", "*", ["test_attention_*_bf16*", "test_attention_*_fp16*"]),
    ("the data have 1.9e-7 for 0", "*", ["test_dft_inverse*"]),
    ("attention as it was before the errata of onnx 1.19 to 1.23", "1.18", ["test_attention_*"]),
    ("the data wrap where the standard saturates", "1.18", ["test_qlinearmatmul_*_int8_*"]),
    ("off the simulation by the last bit of exp, in f64", "*", ["test_flexattention_*"]),
]


def find_tests():
    """The folder of the node tests, made if there is none."""
    import onnx.backend.test.cmd_tools as tools

    made = BUILD / f"onnx-{onnx.__version__}" / "node"
    for data in (pathlib.Path(tools.DATA_DIR) / "node", made):
        if any(data.glob("test_*")):
            return data
    import onnx.backend.test.case.model as model
    import onnx.backend.test.case.node as node

    cases = node.collect_testcases()
    model.collect_testcases = lambda: cases
    tools.generate_data(argparse.Namespace(output=str(made.parent)))
    return made


def operator_of(folder):
    """That of the test: the function's, where a test has its body written out."""
    name = re.sub(r"_expanded(_ver\d+)?$", "", folder.name)
    graph = onnx.load(folder.parent / name / "model.onnx" if (folder.parent / name).exists() else folder / "model.onnx",
                      load_external_data=False).graph
    nodes = [n for n in graph.node if n.op_type != "Constant"] or list(graph.node)
    return nodes[-1 if nodes[0].op_type.startswith("Sequence") else 0].op_type


def known(rows, name):
    for reason, *version, patterns in rows:
        if version and version[0] != "*" and not onnx.__version__.startswith(version[0]):
            continue
        if any(fnmatch.fnmatchcase(name, p) for p in patterns):
            return reason
    return None


def run(tests, stages):
    work = BUILD / "conformance-table"
    work.mkdir(parents=True, exist_ok=True)
    command = [BUILD / "tests/conformance", "--as-is", "--stages", stages, "--work", work, tests]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"conformance: exit code {done.returncode}: {done.stderr}")
    for line in done.stdout.splitlines():
        if found := re.match(r"(pass|unsupported|FAIL) +(\S+)(.*)", line):
            yield found[2], found[1], found[3].strip(" ()")


def short(reason):
    """Of a refusal: without the stage, the operator and names of the file."""
    reason = re.sub(r"^(import|passes|engine|c|bits): \w+: ", "", reason)
    reason = re.sub(r' \("[^"]*"\)', "", reason)
    reason = re.sub(r"must be known at compile time, but is computed at run time", "is computed at run time", reason)
    return re.sub(r"is computed at run time.*", "is known at run time only", reason)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stages", default="import,passes,engine,c,bits")
    parser.add_argument("--markdown", type=pathlib.Path)
    args = parser.parse_args()
    tests = find_tests()
    table = collections.defaultdict(lambda: collections.defaultdict(list))
    unknown = []
    for name, verdict, reason in run(tests, args.stages):
        kind, why = {"pass": "pass", "unsupported": "refused", "FAIL": "differs"}[verdict], short(reason)
        if kind == "refused" and (out := known(OUT_OF_SCOPE, name)):
            kind, why = "out of scope", out
        elif kind == "differs":
            why = known(DIFFERS, name)
            if not why:
                unknown.append(f"{name}: {reason}")
                why = "WRONG"
        table[operator_of(tests / name)][kind].append(why)
    count = collections.Counter(k for row in table.values() for k, whys in row.items() for _ in whys)
    n_scope = sum(count.values()) - count["out of scope"]
    lines = [f"onnx {onnx.__version__}, operator set {onnx.defs.onnx_opset_version()}, stages {args.stages}: {sum(count.values())} cases, "
             f"{n_scope} in scope,", f"of which {count['pass']} pass ({100 * count['pass'] / n_scope:.1f} %), {count['differs']} differ and "
             f"{count['refused']} are refused.", "", "| operator | cases | pass | refused | differs | out of scope | why |",
             "|---|---:|---:|---:|---:|---:|---|"]
    for operator in sorted(table, key=str.lower):
        row = table[operator]
        whys = dict.fromkeys(w for k in ("refused", "differs", "out of scope") for w in row[k])
        numbers = [sum(map(len, row.values()))] + [len(row[k]) for k in ("pass", "refused", "differs", "out of scope")]
        lines.append(f"| `{operator}` | {' | '.join(str(n or '') for n in numbers)} | {'; '.join(whys).replace('|', '/')} |")
    text = "\n".join(lines) + "\n"
    if args.markdown:
        args.markdown.write_text(text)
    print("\n".join(lines[:2]) if args.markdown else text)
    for line in unknown:
        print(f"WRONG {line}")
    return len(unknown) > 0


if __name__ == "__main__":
    sys.exit(main())
