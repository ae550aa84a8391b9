"""docs/tutorials/through-the-compiler.md does what it says: its commands run, in order, and what it shows is in their output. README.md's first example runs, too."""

import os
import re
import subprocess
from pathlib import Path

import harness

PAGE = harness.ROOT / "docs" / "tutorials" / "through-the-compiler.md"
VARIES = [  # what other machines and compilers print otherwise
    (r"_[0-9a-f]{16}\b", "_HASH"),
    (r"[\d.]+[kMG]? samples/s", "RATE"),
    (r"ETA \S+", "ETA"),
    (r"\d+\.\d+s\)", "SECONDS)"),
    (r"\(x86-64-v\d, \d+ threads\)", "(CPU)"),
    (r"(object \S+) bytes=\d+", r"\1 bytes=SIZE"),
]


def blocks(text):
    """(language, content) of each block of code; indented ones have no language."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$|((?:^ {4}[^\n]*\n)+)", text, re.MULTILINE | re.DOTALL)
    return [(language, fenced or re.sub("^ {4}", "", indented, flags=re.MULTILINE)) for language, fenced, indented in found]


def commands(text):
    return [content for language, content in blocks(text) if language in ("", "sh")]


def excerpts(text):
    return [(language, content) for language, content in blocks(text) if language in ("mlir", "text", "json")]


def normal(text):
    for pattern, replacement in VARIES:
        text = re.sub(pattern, replacement, text)
    return [" ".join(line.split()) for line in text.splitlines()]


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


class TutorialTest(harness.EndToEndTest):
    def run_commands(self):
        Path("docs").symlink_to(harness.ROOT / "docs")
        path = os.pathsep.join([str(Path(harness.TRAINC).parent), str(Path(harness.TRAINRUN).parent), os.environ["PATH"]])
        outputs = []
        for script in commands(PAGE.read_text()):
            if script.startswith("export PATH"):
                script = script.partition("\n")[2]
            done = subprocess.run(["bash", "-e"], input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env=os.environ | {"PATH": path, "COLUMNS": "120"}, check=False)
            self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout}")
            outputs.append(done.stdout)
        return outputs

    def test_commands_print_what_is_shown(self):
        outputs = self.run_commands()
        files = [*sorted(Path("build/tutorial/ir").glob("*.mlir")), Path("build/tutorial/report.json"), Path("docs/tutorials/circle.mlir")]
        shown = outputs + [file.read_text() for file in files]
        for language, excerpt in excerpts(PAGE.read_text()):
            with self.subTest(excerpt.splitlines()[0]):
                missing = {missing_line(language, excerpt, text) for text in shown}
                self.assertTrue(None in missing, f"in no output, after the lines before it: {missing}")


class ReadmeTest(harness.EndToEndTest):
    def test_the_first_example_can_be_typed(self):
        """But for the build, which has happened."""
        block = re.search(r"\n\n((?: {4}\S.*\n)+)", (harness.ROOT / "README.md").read_text())[1]
        build, *commands = [line.strip() for line in block.splitlines()]
        self.assertEqual(build, "./scripts/build.sh")
        self.assertTrue((harness.ROOT / build).exists())
        self.assertEqual(len(commands), 3)
        for folder in ["docs", "examples"]:
            os.symlink(harness.ROOT / folder, folder)
        os.makedirs("build/bin")
        for program in [harness.TRAINC, harness.TRAINRUN]:
            os.symlink(program, Path("build/bin", Path(program).name))
        for command in commands:
            out, _ = self.run_program("bash", "-c", command)
        self.assertTrue(out.startswith("The plan "), out)


if __name__ == "__main__":
    harness.main()
