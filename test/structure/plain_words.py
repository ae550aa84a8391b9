#!/usr/bin/env python3
"""Checks the words of comments, docstrings and pages.

A comment block begins with a noun phrase or a verb in the third person, never with "Of", "Those", "That", "What", "Which" or "Where".
Comments, pages and names use the field's terms instead of words that only this project used. The rules are data. Prints every offence
as FILE:LINE, with the word and what to write, and exits 1 if there is one.
"""
import ast
import io
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]

FOLDERS = ["base", "cmake", "dialects", "docs", "examples", "lib", "plan", "python", "runtime", "scripts", "test", "tools"]

BEGINNING = re.compile(r"(Of|Those|That|What|Which|Where)\b")

# Word, what to write, and uses that mean something else.
TERMS = [
    (r"borders?", "alignment, aligned to N bytes; boundary", r"`[^`]*`"),
    (r"behind", "after", r"behind (generic )?pointers|objects? behind|furthest behind|(leave|leaves|left|lag|lags|fall|falls)( \w+){0,3} behind"),
    (r"in front of", "before", None),
    (r"farewells?", "shutdown barrier", None),
    (r"hellos?", "handshake message", r"[Hh]ello,? world|\"[^\"]*hello[^\"]*\""),
    (r"patience", "timeout", None),
    (r"surroundings", "context, environment", None),
    (r"outlines?", "fingerprint, digest", None),
    (r"(?:made|make|makes|computed?|computes) again", "recomputed, recomputation", None),
    (r"under way", "in flight, in progress", None),
    (r"(?:at )?least seconds", "lower bound of the time", None),
    (r"(?:lie|lies|lay|goes|go) outside", "offloaded to host or disk", None),
    (r"saved rooms?", "spill slot", None),
    (r"(?:is|are) no (?:option|setting|command|folder|op)s?(?: any more)?", "is not a ..., is no longer a ...", r"there (is|are) no \w+"),
    (r"refus(?:e[sd]?|ing|als?)", "reject, fail with ... if", r"[Cc]onnection refused|the system refuses|\$REFUSES"),
    (r"[Ww]hoever", "the name of the caller or reader", None),
    (r"units? in the last place", "ULP", None),
    (r"(?:values?|numbers?) that (?:are|is) not finite", "non-finite values", None),
]
TERMS = [(re.compile(rf"\b{word}\b", re.IGNORECASE), advice, other and re.compile(other, re.IGNORECASE)) for word, advice, other in TERMS]
# Bounds are named kMin... and kMax...; "most used" is not a bound.
NAME = re.compile(r"\bk(Most|Least|Fewest|Maximum|Minimum)(?!Used\b)(?:[A-Z]\w*|\b)")

# Strings, numbers with separators and raw texts are matched first, so that a comment within them is none.
CPP = re.compile(r'R"([^(\s]*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\b[0-9][\w.\']*|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/')
SCRIPT = re.compile(r'`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')
# Lines of a test of MLIR that are for FileCheck and for the verifier of diagnostics.
DIRECTIVE = re.compile(r"[A-Z][A-Z0-9_-]*:|-----|expected-")
TABLEGEN = re.compile(r'\[\{(?:.|\n)*?\}\]|"(?:\\.|[^"\\\n])*"|//[^\n]*')


def slash_comments(text, pattern):
    """Yields (line, column, whether the comment has the line to itself, text) of // and /** comments, from 1."""
    line, before = 1, 0
    for match in pattern.finditer(text):
        if not match[0].startswith(("//", "/**")):
            continue
        line += text.count("\n", before, match.start())
        before = match.start()
        begin = text.rfind("\n", 0, match.start()) + 1
        yield line, match.start() - begin, not text[begin:match.start()].strip(), re.sub(r"^(//[/!]?<?|/\*\*) ?", "", match[0])


def hash_comments(text):
    """The same of # comments in CMake and shell files; only those that have the line to themselves."""
    for line, content in enumerate(text.splitlines(), 1):
        match = re.match(r"(\s*)#(?!!) ?(.*)", content)
        if match:
            yield line, len(match[1]), True, match[2]


def python_comments(text):
    """The same of # comments in Python."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            line, column = token.start
            yield line, column, not token.line[:column].strip(), re.sub(r"^# ?", "", token.string)


def docstrings(text):
    """Yields (line, text) of docstrings."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            yield node.body[0].lineno, ast.get_docstring(node)


def blocks(comments):
    """Joins comments on consecutive lines at one column. Yields (line, text)."""
    block = None
    for line, column, alone, text in comments:
        if block and alone and line == block[0] + len(block[2]) and column == block[1]:
            block[2].append(text)
            continue
        if block:
            yield block[0], "\n".join(block[2])
        block = (line, column, [text])
    if block:
        yield block[0], "\n".join(block[2])


def paragraphs(text):
    """Yields (line, text) of a page without code, links and HTML."""
    text = re.sub(r"^( *)```.*?^\1```$|`[^`\n]*`|^ {4,}\S[^\n]*$|\]\([^)]*\)|<[^>\n]*>", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.M | re.S)
    line = 1
    for part in re.split(r"(\n{2,})", text):
        yield line, part
        line += part.count("\n")


def texts_of(path, text):
    """Yields (line, text, whether the text is a comment block) of a file."""
    if path.suffix == ".md":
        yield from ((line, part, False) for line, part in paragraphs(text))
    elif path.suffix == ".py":
        yield from ((line, part, True) for line, part in blocks(python_comments(text)))
        yield from ((line, part, True) for line, part in docstrings(text))
    elif path.suffix == ".mlir":
        comments = (comment for comment in slash_comments(text, TABLEGEN) if not DIRECTIVE.match(comment[3]))
        yield from ((line, part, True) for line, part in blocks(comments))
    elif path.suffix == ".js":
        yield from ((line, part, True) for line, part in blocks(slash_comments(text, SCRIPT)))
    elif path.suffix in (".cpp", ".h", ".fbs", ".td"):
        pattern = TABLEGEN if path.suffix == ".td" else CPP
        yield from ((line, part, True) for line, part in blocks(slash_comments(text, pattern)))
    else:
        yield from ((line, part, True) for line, part in blocks(hash_comments(text)))


def offences(path, text):
    """Yields (line, word, advice)."""
    for line, part, is_comment in texts_of(path, text):
        if is_comment and (begins := BEGINNING.match(part)):
            yield line, begins[0], 'begin with a noun phrase, or with a verb such as "Returns"'
        for word, advice, other in TERMS:
            joined = part.replace("\n", " ")
            allowed = [match.span() for match in other.finditer(joined)] if other else []
            for match in word.finditer(joined):
                if not any(begin <= match.start() and match.end() <= end for begin, end in allowed):
                    yield line + part.count("\n", 0, match.start()), match[0], advice
    if path.suffix in (".cpp", ".h") and path.relative_to(ROOT).parts[0] in ("base", "dialects", "lib", "plan", "runtime", "test", "tools"):
        for match in NAME.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0], f"k{'Max' if match[1] in ('Most', 'Maximum') else 'Min'}..."


def files():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.name != pathlib.Path(__file__).name:
                if path.suffix in (".cpp", ".h", ".fbs", ".td", ".js", ".mlir", ".py", ".md", ".cmake", ".sh") or path.name == "CMakeLists.txt":
                    yield name, path
    for name in ("CMakeLists.txt", "CONTRIBUTING.md", "README.md", "SECURITY.md"):
        yield name, ROOT / name


def main():
    found = 0
    for name, path in files():
        for line, word, advice in sorted(offences(path, path.read_text())):
            print(f"{name}:{line}: '{word}': write {advice}" if not advice.startswith("begin") else f"{name}:{line}: '{word}': {advice}")
            found += 1
    print(f"{found} offences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
