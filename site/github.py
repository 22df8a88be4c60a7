"""Markdown as on GitHub, for Python-Markdown: list items indented by two columns, anchors of headings."""

import re

from markdown import Markdown
from markdown.blockprocessors import CodeBlockProcessor, ListIndentProcessor, OListProcessor, UListProcessor
from markdown.extensions import Extension


def anchor(heading: str, separator: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


class Lists(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.tab_length = 2
        # They read the length when they are made; priorities as in markdown.blockprocessors.
        blocks = md.parser.blockprocessors
        blocks.register(ListIndentProcessor(md.parser), "indent", 90)
        blocks.register(CodeBlockProcessor(md.parser), "code", 80)
        blocks.register(OListProcessor(md.parser), "olist", 40)
        blocks.register(UListProcessor(md.parser), "ulist", 30)


def makeExtension(**_: object) -> Lists:
    return Lists()
