"""No option that 'relayc COMMAND --help' lists is missing from its manual page or a completion script, and no line is
longer than 100 columns: check_help.py, with relayc in PATH."""
import re
import subprocess
import sys


def relayc(*words):
    return subprocess.run(["relayc", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def section(text, first, last):
    """From the line that is `first` to the next one that has `last`."""
    begin = text.index(f"\n{first}") + 1
    return text[begin:text.index(last, begin)]


def main():
    bash, zsh, fish = (relayc("completion", shell) for shell in ("bash", "zsh", "fish"))
    overview = relayc("help")
    commands = re.findall(r"^  ([a-z]+)  +\S", overview.split("Topics")[0], re.M)
    wrong, n_options = [], 0
    for command in commands:
        text = relayc(command, "--help")
        manual = relayc("help", command, "--format", "man").replace("\\-", "-")
        wrong += [f"{command}: {line}" for line in (overview + text).split("\n") if len(line) > 100]
        if "    relayc " not in text:
            wrong.append(f"{command} has no example")
        options = re.findall(r"^  (?:-.,|   ) --([a-z0-9-]+)", text, re.M)
        n_options += len(options)
        words = section(bash, f"        {command}) words=", "\n").split("'")[1].split()
        args = section(zsh, f"    {command})\n", ";;") if f"    {command})\n" in zsh else ""
        for option in options:
            for place, there in (("manual", f"\\fB--{option}\\fR" in manual), ("bash", f"--{option}" in words),
                                 ("zsh", re.search(rf"'\*--{option}(=|\[)", args)),
                                 ("fish", f"from {command}' -l {option} " in fish)):
                if not there:
                    wrong.append(f"{command}: {place} lacks --{option}")
        wrong += [f"{command}: bash has --{word}" for word in words if word[:2] == "--" and word[2:] not in options]
        for word in re.findall(r"(?<=\s)--([a-z0-9-]+)", text.split("\n\nOutput:")[0]):
            if f" --{word}" not in bash:
                wrong.append(f"{command}: its text has --{word}")
    print("\n".join(wrong) if wrong else f"{len(commands)} commands: --help, manual pages and completion agree")
    return bool(wrong) or n_options < 200


sys.exit(main())
