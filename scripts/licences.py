#!/usr/bin/env python3
"""Writes the licences of third parties: `licences.py found.json title licences.txt [name=file …]`.

found.json is what `cargo about generate --format json` found. A text that several crates share
stands once. If cargo-about recognises no file of a crate, and therefore gives the standard text,
the crate's own files take its place; without any, the standard text gets the crate's authors.
Notices (Apache-2.0, §4d) are included. Further texts are given as name=file.
"""

import json
import pathlib
import sys

RULE = "-" * 80


def main(found: str, title: str, to: str, *more: str) -> None:
    data = json.loads(pathlib.Path(found).read_text(encoding="utf-8"))
    texts: dict[str, tuple[str, set[str]]] = {}

    def add(text: str, head: str, user: str) -> None:
        lines = [line.rstrip() for line in text.strip("\r\n\f ").splitlines()]
        key = "".join(text.split())
        texts.setdefault(key, (f"{head}\n\n" + "\n".join(lines), set()))[1].add(user)

    for licence in data["licenses"]:
        for user in licence["used_by"]:
            crate = user["crate"]
            if crate["source"] is None:  # a package of this workspace
                continue
            name = f"{crate['name']} {crate['version']}"
            source, text = licence["source_path"], licence["text"]
            if source and source.endswith(".rs"):  # in comments of the code
                text = "\n".join(line for line in text.splitlines() if line.startswith("//"))
            own = [] if source else files(crate, "LICENSE*", "LICENCE*", "COPYING*")
            for found in own or [by(crate, text)]:
                add(found, f"{licence['name']} ({licence['id']})", name)
            for notice in files(crate, "NOTICE*"):
                add(notice, "Notice", name)
    for text in more:
        name, _, file = text.rpartition("=")
        add(pathlib.Path(file).read_text(encoding="utf-8"), "Licence", name)

    parts = [title]
    for text, users in sorted(texts.values(), key=lambda entry: sorted(entry[1])):
        head, _, text = text.partition("\n\n")
        parts.append(f"{RULE}\n{head}:\n" + "".join(f"    {user}\n" for user in sorted(users)) + f"\n{text}")
    pathlib.Path(to).write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def files(crate: dict, *patterns: str) -> list[str]:
    folder = pathlib.Path(crate["manifest_path"]).parent
    return [path.read_text(encoding="utf-8") for pattern in patterns for path in sorted(folder.glob(pattern))]


def by(crate: dict, text: str) -> str:
    """Returns the standard text with the authors that the crate names."""
    return text.replace("Copyright (c) <year> <copyright holders>", f"Copyright (c) {', '.join(crate['authors'])}")


if __name__ == "__main__":
    main(*sys.argv[1:])
