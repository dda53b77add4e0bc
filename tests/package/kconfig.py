"""zephyr/Kconfig and examples/zephyr/prj.conf of packages, read by kconfiglib: no warning, and the module is on.

Zephyr's own symbols are declared here. kconfig.py PACKAGE ..."""
import pathlib
import re
import sys
import tempfile

import kconfiglib

failed = 0
for tree in map(pathlib.Path, sys.argv[1:]):
    with tempfile.TemporaryDirectory() as work:
        top = pathlib.Path(work, "Kconfig")
        top.write_text('config PRINTK\n\tbool "printk"\n\nconfig MAIN_STACK_SIZE\n\tint "stack"\n\tdefault 1024\n\n'
                       f'source "{tree.resolve()}/zephyr/Kconfig"\n')
        kconfig = kconfiglib.Kconfig(str(top), warn_to_stderr=False)
        kconfig.warn_assign_undef = True
        kconfig.load_config(str(tree / "examples/zephyr/prj.conf"))
    symbols = re.findall(r"^config (\w+)", (tree / "zephyr/Kconfig").read_text(), re.M)
    off = [name for name in symbols if kconfig.syms[name].str_value != "y"]
    for problem in [*kconfig.warnings, *(f"{tree}: {name} is off" for name in off)]:
        failed += 1
        print(problem)
sys.exit(failed > 0)
