#!/usr/bin/env python3
"""Holds a page of relayc report against NAME.json: check_page.py PAGE.html NAME.json

The page is well-formed, asks for nothing else, and its data are those of NAME.json.
"""
import html.parser
import json
import re
import sys

VOID = {"meta", "input", "br", "link", "img"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.problems, self.data, self.script = [], [], [], "", ""

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.ids.append(values["id"])
        for key in ("src", "href", "srcset", "action", "data", "poster"):
            if key in values:
                self.problems.append(f"<{tag} {key}={values[key]}>")
        if tag not in VOID:
            self.open.append((tag, values))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.problems.append(f"line {self.getpos()[0]}: </{tag}> closes nothing")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "script":
            if self.open[-1][1].get("type") == "application/json":
                self.data += data
            else:
                self.script += data
        elif self.open and self.open[-1][0] == "style" and re.search(r"url\(|@import", data):
            self.problems.append("the style asks for a file")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        wanted = json.load(file)
    page = Page()
    page.feed(text)
    page.close()
    problems = page.problems + [f"<{tag}> stays open" for tag, _ in page.open]
    problems += [f"two elements {name}" for name in set(page.ids) if page.ids.count(name) > 1]
    problems += [f"address {url}" for url in re.findall(r"https?://[^\s\"'<>]*", page.script + text.split("<script")[0])
                 if url != "http://www.w3.org/2000/svg"]
    problems += [f"the script asks for element {name}" for name in re.findall(r"\bat\(\"([\w-]+)\"\)", page.script)
                 if name not in page.ids]
    problems += [f"the script has {word}" for word in ("fetch(", "XMLHttpRequest", "import(", "eval(", "innerHTML")
                 if word in page.script]
    data = json.loads(page.data)
    for key, found, expected in (
            ("regions", [r["function"] for r in data["regions"]], [r["function"] for r in wanted["regions"]]),
            ("macs", sum(r["macs"] for r in data["regions"]), wanted["macs"]),
            ("weights", sum(r["weight_bytes"] for r in data["regions"]), wanted["weight_bytes"]),
            ("arena", data["arena"]["bytes"], wanted["arena"]["bytes"]),
            ("blocks", len(data["arena"]["blocks"]), len(wanted["arena"]["map"]))):
        if found != expected:
            problems.append(f"{key}: {found}, NAME.json has {expected}")
    for region in data["regions"]:
        if region["arena_bytes"] > data["arena"]["bytes"]:
            problems.append(f"{region['function']} uses more than the arena")
    print("\n".join(problems) or f"a page of {len(data['regions'])} regions, complete in itself")
    return 1 if problems else 0


sys.exit(main())
