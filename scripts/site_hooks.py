"""Hooks of MkDocs that make the site show what GitHub shows.

 * A link from a page to a file outside docs/ becomes the file's name, as the site does not hold the file.
 * In a table, \\| within code is |; MkDocs would show the backslash.
"""

import pathlib
import re

CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
ROOT = pathlib.Path(__file__).resolve().parents[1]


def on_page_markdown(markdown, page, **_):
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def named(link):
        target = (folder / link[2].split("#")[0]).resolve()
        if "://" in link[2] or link[2].startswith("#") or (ROOT / "docs") in [target, *target.parents] or not target.exists():
            return link[0]
        name = target.relative_to(ROOT).as_posix()
        return f"`{name}`" if link[1].strip("`") in (name, target.name) else f"{link[1]} (`{name}`)"

    return LINK.sub(named, markdown)


def on_page_content(html, **_):
    return CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), html)
