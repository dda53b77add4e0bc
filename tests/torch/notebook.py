"""notebook.py [--update] NOTEBOOK.ipynb: runs the code cells of a notebook, one after the other in one namespace, in a
folder of its own inside the build folder, and holds what they print against the outputs that it keeps. --update keeps
those of this run instead. Jupyter is not needed."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import traceback
import warnings


def run(cell, names):
    """What the cell prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    return printed.getvalue()


def kept(cell):
    return "".join(line for output in cell["outputs"] for line in output["text"])


def main():
    update = "--update" in sys.argv
    path = pathlib.Path(sys.argv[-1]).resolve()
    notebook = json.loads(path.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    failed, names = 0, {"__name__": "__main__"}
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(dir=os.environ.get("BUILD", "build")) as folder:
        os.chdir(folder)
        for number, cell in enumerate(cells, 1):
            try:
                printed = run(cell, names)
            except Exception:  # a cell that fails ends the run, as in Jupyter
                traceback.print_exc()
                failed += 1
                break
            if update:
                cell["execution_count"] = number
                lines = printed.splitlines(keepends=True)
                cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
            elif printed != kept(cell):
                print(f"cell {number} printed:\n{printed}kept is:\n{kept(cell)}")
                failed += 1
        os.chdir(path.parent)
    if update:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    print(f"{path.name}: {len(cells)} cells, {failed} failed")
    return 1 if failed or not cells else 0


sys.exit(main())
