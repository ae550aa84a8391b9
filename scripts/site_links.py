"""A hook of MkDocs: on the site, a link from a page to a file outside docs/ becomes the file's name, as the site does not hold the file."""

import pathlib
import re

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
