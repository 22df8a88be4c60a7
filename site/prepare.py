"""Collects the sources of the documentation's site in a folder: prepare.py FOLDER

They are the pages of the repository in their own folders, so that their links remain valid; the
executed notebooks; mathematics, fonts and search from site/node_modules; and the configuration with
the navigation, which is that of docs/README.md. With names, `prepare.py FOLDER NOTEBOOK…`, only
these notebooks are executed.
"""

import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from posixpath import normpath

import notebooks

SITE = Path(__file__).resolve().parent
ROOT = SITE.parent
# Pages of the repository, and what they link to.
FILES = [":(glob)*.md", "docs", "examples"]
FILES += ["CITATION.cff", "Dockerfile", "LICENSE-*", "THIRD-PARTY-LICENSES"]
FILES += ["benches/instructions.csv", "benches/exudyn/arm.toml", "benches/host/host.c"]
FILES += ["tests/python/planar_berthing.py"]
# Files of packages from npm.
WEB = {
    "katex": ["LICENSE", "dist/katex.min.css", "dist/fonts/*"],
    "@fontsource-variable/inter": ["LICENSE", "index.css", "files/*-wght-normal.woff2"],
    "@fontsource-variable/jetbrains-mono": ["LICENSE", "index.css", "files/*-wght-normal.woff2"],
    "iframe-worker": ["LICENSE", "shim/index.js"],
}


def navigation() -> list[dict[str, list[str]] | str]:
    """Returns the sections of docs/README.md with the pages in the first columns of its tables."""
    index = "docs/README.md"
    nav: list[dict[str, list[str]] | str] = ["README.md", index]
    for section in (ROOT / index).read_text(encoding="utf-8").split("\n## ")[1:]:
        title, *rows = section.splitlines()
        cells = " ".join(row.split("|")[1] for row in rows if row.startswith("|"))
        pages = [normpath(f"docs/{link}") for link in re.findall(r"\]\(([^)#:]+\.md)\)", cells)]
        if "docs/python.md" in pages:
            pages.insert(pages.index("docs/python.md") + 1, "docs/api.md")
        if title == "Theory":
            pages += sorted(f"docs/theory/{page.name}" for page in ROOT.glob("docs/theory/[!R]*.md"))
        nav.append({title: pages})
    nav.append({"Project": ["examples/README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md"]})
    return nav


def add_playground(pages: Path) -> None:
    """Copies the page of scripts/playground, if it is there, and links it and its description."""
    built = ROOT / "target/playground"
    if not (built / "index.html").is_file():
        return
    shutil.copytree(built, pages / "docs/playground", dirs_exist_ok=True)
    page = pages / "docs/playground/index.html"
    links = '<nav><a href="../playground.html">About</a> <a href="../spec.html">Fields</a> '
    page.write_text(page.read_text(encoding="utf-8").replace("<nav>", links, 1), encoding="utf-8")
    description = pages / "docs/playground.md"
    text = description.read_text(encoding="utf-8")
    title, rest = text.split("\n", 1)
    description.write_text(f"{title}\n\n**[Open the playground](playground/index.html)**\n{rest}", encoding="utf-8")


def main(folder: Path, *names: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    listed = subprocess.check_output(["git", "ls-files", "-z", "--", *FILES], cwd=ROOT, text=True)
    for name in listed.split("\0")[:-1]:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, pages / name)
    shutil.copytree(SITE / "pages", pages, dirs_exist_ok=True)
    add_playground(pages)
    for module, patterns in WEB.items():
        source = SITE / "node_modules" / module
        for file in (file for pattern in patterns for file in source.glob(pattern)):
            target = pages / "web" / module / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    sources = [path for path in ROOT.glob("docs/notebooks/*.md") if not names or path.stem in names]
    with ThreadPoolExecutor() as pool:
        for source, notebook in zip(sources, pool.map(notebooks.executed, sources)):
            notebooks.write(notebook, pages / "docs/notebooks" / source.name)
    configuration = (SITE / "mkdocs.yml").read_text(encoding="utf-8")
    configuration += f"nav: {json.dumps(navigation())}\n"
    (folder / "mkdocs.yml").write_text(configuration, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
