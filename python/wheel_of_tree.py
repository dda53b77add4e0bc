"""The wheel of the Python package: the files of relayc/, the library and the program, with the shared objects that they
need beside the C library. Of the standard library alone.

    wheel_of_tree.py VERSION FOLDER PROGRAM LIBRARY    what `make wheel` runs

and the build backend of `pip install ./python` (PEP 517), which calls `make wheel`."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Those of the machine: the C library, and what Python and its other extensions load under the same names. An older one
# of ours, loaded first, would stand in the place of theirs.
OF_THE_SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s|crypto|z|bz2))\.so")

METADATA = """Metadata-Version: 2.1
Name: relayc
Version: {version}
Summary: From a trained network to C files
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: onnx
Requires-Dist: onnx; extra == "onnx"
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
Requires-Dist: onnx; extra == "torch"
Requires-Dist: onnxscript; extra == "torch"
Description-Content-Type: text/markdown

{readme}"""


def needed(program):
    """Shared objects that the program loads, by the names under which it asks for them."""
    listing = subprocess.run(["ldd", program], stdout=subprocess.PIPE, check=True).stdout.decode()
    for name, path in re.findall(r"^\s*(\S+) => (/\S+)", listing, re.MULTILINE):
        if not OF_THE_SYSTEM.match(name):
            yield name, Path(path).resolve()


def licence_of(path):
    """The copyright file of the Debian package that a shared object is from."""
    for spelling in (path, Path(str(path).replace("/usr/lib/", "/lib/", 1))):
        found = subprocess.run(["dpkg-query", "-S", spelling], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               check=False).stdout.decode()
        if found:
            package = found.split(":")[0]
            return package, Path("/usr/share/doc") / package / "copyright"
    return None, None


def platform_tag():
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def contents(program, library):
    """(name in the wheel, file) of everything but the metadata."""
    for path in sorted((HERE / "relayc").glob("**/*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"relayc/{path.relative_to(HERE / 'relayc')}", path
    yield "relayc/bin/relayc", Path(program)
    yield "relayc/lib/librelayc.so.0", Path(library)
    licences = {}
    for name, path in needed(program):
        yield f"relayc/lib/{name}", path
        package, copyright_file = licence_of(path)
        if package and copyright_file.exists():
            licences[package] = copyright_file
    for package, path in sorted(licences.items()):
        yield f"relayc/lib/licences/{package}", path


def write_wheel(version, folder, program, library):
    """The wheel's path. The same files give the same bytes."""
    tag = f"py3-none-{platform_tag()}"
    info = f"relayc-{version}.dist-info"
    licence = (HERE.parent / "LICENSE").read_text(encoding="utf-8")
    files = [(name, path.read_bytes(), os.access(path, os.X_OK)) for name, path in contents(program, library)]
    for name, text in (
        ("LICENSE", licence),
        ("METADATA", METADATA.format(version=version, readme=(HERE / "README.md").read_text(encoding="utf-8"))),
        ("WHEEL", f"Wheel-Version: 1.0\nGenerator: relayc\nRoot-Is-Purelib: false\nTag: {tag}\n"),
        ("entry_points.txt", "[console_scripts]\nrelayc = relayc._program:main\n"),
    ):
        files.append((f"{info}/{name}", text.encode(), False))
    record = ""
    for name, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), False))
    path = Path(folder) / f"relayc-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data, executable in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return path


# --- the hooks of PEP 517 ---------------------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = os.environ.get("BUILD", "build")
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    subprocess.run(["make", "-s", "-C", HERE.parent, f"BUILD={build}", "wheel"], env=clean, check=True, stdout=sys.stderr)
    made = max((HERE.parent / build / "wheel").glob("relayc-*.whl"), key=lambda path: path.stat().st_mtime)
    return shutil.copy(made, wheel_directory) and made.name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("relayc has no source distribution of its Python package: it is built from the whole tree")


if __name__ == "__main__":
    print(write_wheel(*sys.argv[1:5]))
