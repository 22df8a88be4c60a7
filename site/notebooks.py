"""Executes notebooks, and shows them with their outputs as Markdown.

With the package that is installed: site/notebooks.py docs/notebooks/robot_on_a_bus.md page.md
"""

import base64
import html
import re
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]


def executed(path: Path, installed: bool = False) -> nbformat.NotebookNode:
    """Returns a notebook with its outputs. It runs in an empty folder at its place in the
    repository, beside the examples, with the package of this clone unless `installed`. Raises
    CellExecutionError if a cell fails."""
    package = f"import sys; sys.path.insert(0, {str(ROOT / 'tests/python')!r}); import native"
    options = [] if installed else [f"--IPKernelApp.exec_lines={package}"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / path.parent.relative_to(ROOT)
        place.mkdir(parents=True)
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        notebook = jupytext.read(path, fmt="md")
        NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            resources={"metadata": {"path": str(place)}},
            extra_arguments=["--IPKernelApp.log_level=40", *options],
        ).execute()
        return notebook


def write(notebook: nbformat.NotebookNode, page: Path) -> None:
    """Writes the page of an executed notebook, its figures and the pages of results as files, and
    the notebook itself."""
    parts: list[str] = []
    files = 0

    def written(contents: bytes, suffix: str) -> str:
        nonlocal files
        files += 1
        file = page.with_name(f"{page.stem}-{files}{suffix}")
        file.write_bytes(contents)
        return file.name

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if output.output_type == "stream":
                parts.append(f"```text\n{output.text.strip()}\n```")
            elif "image/png" in data:
                parts.append(f"![figure]({written(base64.b64decode(data['image/png']), '.png')})")
            elif "text/html" in data:
                shown = re.sub(
                    'srcdoc="([^"]*)"',
                    lambda of: f'src="{written(html.unescape(of[1]).encode(), ".html")}"',
                    data["text/html"],
                )
                parts.append(f"<div>{shown}</div>")
            else:
                parts.append(f"```text\n{data['text/plain']}\n```")
    parts.append(f"[This notebook with its outputs]({page.stem}.ipynb)")
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    nbformat.write(notebook, page.with_suffix(".ipynb"))


if __name__ == "__main__":
    write(executed(Path(sys.argv[1]).resolve(), installed=True), Path(sys.argv[2]))
