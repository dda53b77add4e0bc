"""The manifests of packages: what their ecosystems demand of them, and that the files they name are there.

    manifests.py TREE ...

The rules are those of Arduino's library specification, PlatformIO's library.json, PACK.xsd's required elements, and
Zephyr's module.yml, restated."""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree

problems = []
VERSION = r"\d+\.\d+\.\d+"


def want(tree, holds, what):
    if not holds:
        problems.append(f"{tree}: {what}")


def arduino(tree):
    rows = dict(line.split("=", 1) for line in (tree / "library.properties").read_text().splitlines())
    for key in ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"):
        want(tree, rows.get(key), f"library.properties: no {key}")
    want(tree, re.fullmatch(VERSION, rows["version"]), "library.properties: version")
    want(tree, re.fullmatch(r"[A-Za-z0-9][\w.-]{0,31}", rows["name"]), "library.properties: name")
    want(tree, rows["category"] == "Data Processing", "library.properties: category")
    want(tree, rows["sentence"] not in rows["paragraph"], "library.properties: paragraph repeats sentence")
    for header in rows["includes"].split(","):
        want(tree, (tree / "src" / header).exists(), f"library.properties: includes {header}")
    for sketch in tree.glob("examples/*/*.ino"):
        want(tree, sketch.stem == sketch.parent.name, f"{sketch}: not the folder's name")
    want(tree, list(tree.glob("examples/*/*.ino")), "no sketch")
    for name in ("README.md", "LICENSE"):
        want(tree, (tree / name).exists(), f"no {name}")


def platformio(tree):
    manifest = json.loads((tree / "library.json").read_text())
    want(tree, re.fullmatch(r"[^:;/,@<>]{1,100}", manifest["name"]), "library.json: name")
    want(tree, re.fullmatch(VERSION, manifest["version"]), "library.json: version")
    known = {"name", "version", "description", "authors", "homepage", "frameworks", "platforms", "headers", "examples",
             "build"}
    want(tree, set(manifest) <= known, f"library.json: {set(manifest) - known}")
    for header in manifest["headers"]:
        want(tree, (tree / manifest["build"]["includeDir"] / header).exists(), f"library.json: {header}")
    for example in manifest["examples"]:
        for name in example["files"]:
            want(tree, (tree / example["base"] / name).exists(), f"library.json: {name}")


def cmsis_pack(tree):
    path, = tree.glob("*.pdsc")
    root = xml.etree.ElementTree.parse(path).getroot()
    want(tree, root.get("schemaVersion"), "pdsc: schemaVersion")
    for key in ("vendor", "name", "description", "url"):
        want(tree, root.findtext(key), f"pdsc: no {key}")
    want(tree, path.name == f"{root.findtext('vendor')}.{root.findtext('name')}.pdsc", "pdsc: its name")
    want(tree, re.fullmatch(VERSION, root.find("releases/release").get("version")), "pdsc: version")
    for component in root.iter("component"):
        want(tree, all(component.get(k) for k in ("Cclass", "Cgroup", "Cversion")), "pdsc: component")
    listed = {file.get("name") for file in root.iter("file") if file.get("category") == "source"}
    want(tree, listed == {f"src/{p.name}" for p in tree.glob("src/*.c")}, "pdsc: sources")
    layer, = tree.glob("*.clayer.yml")
    listed = set(re.findall(r"file: (\S+)", layer.read_text()))
    want(tree, listed == {f"src/{p.name}" for p in tree.glob("src/*.c")}, "clayer: sources")


def zephyr(tree):
    module = (tree / "zephyr/module.yml").read_text()
    want(tree, re.search(r"^name: \w+$", module, re.M), "module.yml: name")
    cmake, kconfig = re.search(r"cmake: (\S+)", module)[1], re.search(r"kconfig: (\S+)", module)[1]
    want(tree, (tree / cmake / "CMakeLists.txt").exists(), "module.yml: build.cmake")
    symbols = set(re.findall(r"^config (\w+)", (tree / kconfig).read_text(), re.M))
    used = set(re.findall(r"^CONFIG_(\w+)=y", (tree / "examples/zephyr/prj.conf").read_text(), re.M))
    want(tree, symbols and symbols <= used, "prj.conf: the module is off")
    want(tree, used <= symbols | {"PRINTK"}, f"prj.conf: {used - symbols}")
    for sample in re.findall(r"^  - (\S+)$", module, re.M):
        want(tree, (tree / sample / "sample.yaml").exists(), f"module.yml: {sample}")


def esp_idf(tree):
    rows = dict(re.findall(r'^(\w+): "(.*)"$', (tree / "idf_component.yml").read_text(), re.M))
    want(tree, re.fullmatch(VERSION, rows.get("version", "")), "idf_component.yml: version")
    want(tree, {"description", "url", "license"} <= set(rows), "idf_component.yml: keys")
    example = (tree / "examples/esp_idf/main/idf_component.yml").read_text()
    override = re.search(r'override_path: "(.*)"', example)[1]
    want(tree, (tree / "examples/esp_idf/main" / override).resolve() == tree.resolve(), "override_path")


def main(trees):
    for tree in map(pathlib.Path, trees):
        for path in tree.glob("**/*"):
            if path.is_file():
                left = re.findall(r"@[a-zA-Z_]+@", path.read_text(encoding="utf-8"))
                want(tree, not left, f"{path}: {left}")
        for check in (arduino, platformio, cmsis_pack, zephyr, esp_idf):
            check(tree)
    print("\n".join(problems) or f"manifests: {len(trees)} packages, nothing is wrong")
    return 1 if problems else 0


sys.exit(main(sys.argv[1:]))
