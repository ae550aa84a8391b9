#!/usr/bin/env python3
"""Checks pages of the site that scripts/docs.sh built, in a headless browser: without network, in a wide and in a narrow window.

 * Every table of the page's Markdown is a table, no row is left as text with |, no escape is visible, and no mark of a generated table is visible.
 * Every picture loads.
 * The page is as wide as the window: what is wider scrolls within the page.

Prints every offence and exits 1 if there is one.
"""
import re
import sys

from docs_pages import ROOT, without_code

sys.path.insert(0, str(ROOT / "test/end_to_end"))
import browser  # noqa: E402

PAGES = ("README", "explanation/overview", "reference/ops", "reference/settings", "reference/metrics", "reference/trainrun-options", "reference/nn-elementwise")


def offences(window, page, width):
    markdown = without_code((ROOT / f"docs/{page}.md").read_text())
    window.open(ROOT / "build/site" / f"{'index' if page == 'README' else page}.html")
    tables = len(re.findall(r"^\|[ :-]*-[ :|-]*\|$", markdown, re.MULTILINE)) + markdown.count("<table>")
    shown = window.evaluate("document.querySelectorAll('article table').length")
    if shown != tables:
        yield f"{shown} tables of {tables}"
    for line in window.evaluate("document.querySelector('article').innerText").splitlines():
        if line.startswith("| ") or "\\|" in line or "<!--" in line:
            yield f"shows {line[:80]!r}"
    for name in window.evaluate("[...document.images].filter(each => each.naturalWidth === 0).map(each => each.src)"):
        yield f"the picture {name} does not load"
    if (found := window.evaluate("document.documentElement.scrollWidth")) > width:
        yield f"{found} pixels wide"


def main():
    if not browser.PROGRAM:
        sys.exit("site_pages: expected chromium-headless-shell or chromium, found neither; scripts/setup.sh installs the first")
    found = []
    for width in (1280, 400):
        with browser.Browser(width, 900) as window:
            found += [f"docs/{page}.md in {width} pixels: {offence}" for page in PAGES for offence in offences(window, page, width)]
    print("\n".join(found) or f"{len(PAGES)} pages of the site hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
