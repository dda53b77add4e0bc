"""The checks of tests/check_docs, which runs this in the root of the tree.

Every Markdown file of the tree:
  - no line above 120 columns, but rows of tables and lines between fences;
  - a relative link names a file or folder of the tree, and its #anchor a heading of that page.
Every text file: the pages below docs/ that it mentions are there.
Every page of docs/guide, docs/design and docs/lab is linked from the README.md of its folder.

--paths: instead, the files of the tree that docs/guide and docs/design name in `backquotes` are there. For whoever moves
files: what it prints is what the pages have to follow.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

COLUMNS = 120
LINK = re.compile(r"\]\(([^()\s]+)\)")
MENTION = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md(?:#[\w-]+)?")
FENCE = re.compile(r"^ *(```|~~~)")

problems = []


def say(path, line, text):
    problems.append(f"{path}:{line}: {text}")


def lines_outside_fences(text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path, known={}):
    """The headings of a page, as GitHub makes anchors of them."""
    if path not in known:
        known[path] = set()
        for _, line in lines_outside_fences(path.read_text(encoding="utf-8")):
            if re.match(r"#+ ", line):
                title = line.lstrip("#").strip().lower()
                slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
                same = sum(1 for anchor in known[path] if re.fullmatch(re.escape(slug) + r"(-\d+)?", anchor))
                known[path].add(f"{slug}-{same}" if same else slug)
    return known[path]


def check_target(path, number, target, folder):
    name, _, anchor = target.partition("#")
    file = (folder / name) if name else path
    if not file.exists():
        say(path, number, f"link to {target}, which is not there")
    elif anchor and file.suffix == ".md" and anchor not in anchors(file):
        say(path, number, f"link to {target}: {file} has no such heading")


def check_page(path, text):
    for number, line in lines_outside_fences(text):
        if len(line) > COLUMNS and not line.lstrip().startswith("|"):
            say(path, number, f"{len(line)} columns, {COLUMNS} are allowed")
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if not re.match(r"[a-z]+:", target):
                check_target(path, number, target, path.parent)


def check_index(folder):
    index = folder / "README.md"
    listed = set(LINK.findall(index.read_text(encoding="utf-8"))) if index.exists() else set()
    for page in sorted(folder.glob("*.md")):
        if page != index and page.name not in listed:
            say(index, 1, f"{page.name} is not listed")


def tracked():
    listing = subprocess.run(["git", "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [name for name in listing.split("\0") if name]


def expanded(path):
    """a/{b,c}.d as a/b.d, a/c.d."""
    braces = re.search(r"\{([^{}]*)\}", path)
    if not braces:
        return [path]
    return [full for word in braces.group(1).split(",")
            for full in expanded(path[:braces.start()] + word + path[braces.end():])]


def check_paths():
    files = tracked()
    folders = {name.rsplit("/", depth)[0] for name in files for depth in range(1, name.count("/") + 1)}
    tops = {folder for folder in folders if "/" not in folder}
    for page in files:
        if not re.match(r"docs/(guide|design)/.*\.md$", page):
            continue
        for number, line in lines_outside_fences(pathlib.Path(page).read_text(encoding="utf-8")):
            for name in re.findall(r"`([\w./{},*+-]+)`", line):
                if "/" not in name or "NAME" in name or name.split("/")[0] not in tops:
                    continue
                for path in expanded(name.rstrip("/")):
                    if path not in folders and not fnmatch.filter(files, path) and not fnmatch.filter(files, path + ".*"):
                        say(page, number, f"{path} is not in the tree")


def main():
    if sys.argv[1:] == ["--paths"]:
        check_paths()
        print("\n".join(problems) if problems else "docs: every path that is named is in the tree")
        return 1 if problems else 0
    pages = 0
    for name in tracked():
        path = pathlib.Path(name)
        if path.is_symlink() or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if path.suffix == ".md":
            pages += 1
            check_page(path, text)
        for number, line in enumerate(text.split("\n"), 1):
            for target in MENTION.findall(line):
                check_target(path, number, target, pathlib.Path("."))
    for wing in ("guide", "design", "lab"):
        check_index(pathlib.Path("docs") / wing)
    print("\n".join(problems) if problems else f"docs: {pages} pages, no dead link, no line too long")
    return 1 if problems else 0


sys.exit(main())
