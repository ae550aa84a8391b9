"""docs/tutorials/through-the-compiler.md is correct: its commands run, in order, and the shown output is part of theirs. README.md's first example
runs, too."""

import os
import re
import subprocess
from pathlib import Path

import harness

DOCS = harness.ROOT / "docs"
PAGES = [*sorted((DOCS / "tutorials").glob("*.md")), DOCS / "how-to" / "use-your-own-data.md"]
FIRST = DOCS / "tutorials" / "first-model.md"
VARIES = [  # what other machines and compilers print otherwise
    (r"_[0-9a-f]{16}\b", "_HASH"),
    (r"[\d.]+[kMG]? samples/s", "RATE"),
    (r"ETA \S+", "ETA"),
    (r"\d+\.\d+s\)", "SECONDS)"),
    (r"\(x86-64-v\d, \d+ threads\)", "(CPU)"),
    (r"(object \S+) bytes=\d+", r"\1 bytes=SIZE"),
    (r"build/tutorial/", ""),  # README.md writes into the current folder
]


def blocks(text):
    """(language, content) of each block of code; indented ones have no language."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$|((?:^ {4}[^\n]*\n)+)", text, re.MULTILINE | re.DOTALL)
    return [(language, fenced or re.sub("^ {4}", "", indented, flags=re.MULTILINE)) for language, fenced, indented in found]


def commands(text):
    """The commands of a page; those of `how-to` that name files nobody has are left out."""
    scripts = [content for language, content in blocks(text) if language in ("", "sh")]
    return [script for script in scripts if "gpt2/tokenizer.json" not in script and "venv/bin" not in script]


def excerpts(text):
    return [(language, content) for language, content in blocks(text) if language in ("mlir", "text", "json")]


def normal(text):
    for pattern, replacement in VARIES:
        text = re.sub(pattern, replacement, text)
    return [" ".join(line.split()) for line in text.splitlines()]


def one_line(script):
    return " ".join(normal(script.replace("\\\n", " ")))


def missing_line(language, excerpt, shown):
    """The first line of the excerpt that is not in `shown` after the ones before it; lines may be cut by '...'. Of JSON lines are left out at '...' alone."""
    if language == "json":
        parts = re.split(r"^ *\.\.\.\n", excerpt, flags=re.MULTILINE)
        pattern = ".*".join(re.escape("\n".join(normal(part))) for part in parts)
        return None if re.search(pattern, "\n".join(normal(shown)), re.DOTALL) else excerpt
    rest = iter(normal(shown))
    for line in normal(excerpt):
        start = line.split("...")[0]
        if start and not any(other.startswith(start) if start != line else other == line for other in rest):
            return line
    return None


class PagesTest(harness.EndToEndTest):
    def test_run_sh_says_what_it_takes_before_it_installs(self):
        run = harness.ROOT / "examples" / "gpt" / "run.sh"
        done = subprocess.run([run, "--help"], capture_output=True, text=True, check=True)
        self.assertTrue(done.stdout.startswith("usage: examples/gpt/run.sh"))
        self.assertEqual(done.stderr, "")
        done = subprocess.run([run, "nosuch"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("found 'nosuch'", done.stderr)

    def run_commands(self, page):
        """The output of each block of commands."""
        for name in ["docs", "examples", "LICENSE"]:
            Path(name).symlink_to(harness.ROOT / name)
        path = os.pathsep.join([str(Path(harness.TRAINC).parent), str(Path(harness.TRAINRUN).parent), os.environ["PATH"]])
        outputs = []
        for script in commands(page.read_text()):
            script = re.sub("^export PATH.*\n", "", script)
            done = subprocess.run(["bash", "-e"], input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env=os.environ | {"PATH": path, "COLUMNS": "120"}, check=False)
            self.assertEqual(done.returncode, 0, f"{page.name}: {script}\n{done.stdout}")
            outputs.append(done.stdout)
        return outputs

    def check_excerpts(self, page, shown):
        for language, excerpt in excerpts(page.read_text()):
            with self.subTest(f"{page.name}: {excerpt.splitlines()[0]}"):
                missing = {missing_line(language, excerpt, text) for text in shown}
                self.assertTrue(None in missing, f"in no output, after the lines before it: {missing}")

    def check(self, page):
        outputs = self.run_commands(page)
        files = [*sorted(Path("build/tutorial/ir").glob("*.mlir")), *sorted(Path("build/tutorial").glob("report.json")), *sorted((DOCS / "tutorials").glob("*.mlir"))]
        shown = outputs + [file.read_text() for file in files]
        self.check_excerpts(page, shown)
        return shown

    def test_readme_shows_a_part_of_the_first_tutorial(self):
        shown = self.check(FIRST)
        readme = harness.ROOT / "README.md"
        known = one_line("".join(commands(FIRST.read_text())))
        for script in commands(readme.read_text()):
            for command in script.splitlines():
                if command.startswith("train"):
                    self.assertIn(one_line(command), known)
        self.check_excerpts(readme, [*shown, "".join(shown)])


def add_test(page):
    def test(self):
        self.check(page)

    setattr(PagesTest, f"test_{page.stem.replace('-', '_')}", test)


for each in PAGES:
    if each != FIRST:
        add_test(each)


if __name__ == "__main__":
    harness.main()
