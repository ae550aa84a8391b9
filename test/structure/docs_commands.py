#!/usr/bin/env python3
"""Checks the pages against the programs.

  docs_commands.py --trainc=PROGRAM --trainrun=PROGRAM

 * Every source that a *.md file of the repository names exists, or the build generates it. (Records of decisions and of measurements tell of their time.)
 * Every option that README.md, CONTRIBUTING.md and the pages of docs/ and examples/ mention exists: on a command line of
   trainc or trainrun, in that (sub)command's --help.
 * Every option and page that `trainc help TOPIC` names exists, each topic begins with a command, and its lines fit a terminal.
   Every topic that `trainrun --help` names exists.
 * Every model that a page shows whole goes through the compiler, and docs/tutorials/through-the-compiler.md shows
   docs/tutorials/circle.mlir as it is.

docs_pages.py checks links. Prints every offence and exits 1 if there is one.
"""
import argparse
import re
import subprocess
import sys
import tempfile

from docs_pages import FENCE, GENERATED, OF_THEIR_TIME, ROOT, line_of, pages

SUBCOMMANDS = ["compile", "import", "export", "estimate", "tokenize", "consolidate", "dump", "report", "sign", "simulate", "calibrate"]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
COMMAND = re.compile(r"(?:^|[\s/`])(trainc-data (?:chat|text|preference|classify|token-classify)|trainc (?:compile|import|export|estimate|tokenize|consolidate|dump|report|sign|simulate|calibrate)|trainrun)(?= )(.*)")
# Options of other programs that the pages tell to run.
OTHERS = {"--all-ops", "--build", "--call-graph", "--changed", "--check", "--checkpointing", "--compare", "--compile-only", "--component", "--dir", "--disk", "--element", "--faults", "--first-seed", "--install", "--largest-steps", "--layers", "--limits", "--local-dir", "--loss", "--mca", "--no-python", "--only", "--option",
          "--plans", "--prefix", "--preset", "--programs", "--python", "--rate", "--rdzv-id", "--rounds", "--seconds", "--standalone", "--test-dir", "--to-f32", "--trainc", "--write-cases"}
SOURCE = re.compile(r"`(?:[\w.-]+/)*([\w-]+\.(?:cpp|h|td|fbs))`")
FOR_USERS = ("README.md", "CONTRIBUTING.md", "docs/", "examples/")


def options_of(command, folder=None):
    text = subprocess.run(command + ["--help"], check=True, capture_output=True, text=True, cwd=folder).stdout
    return set(OPTION.findall(text.split("\nExamples:")[0]))


def missing_sources(path, text, sources):
    for source in SOURCE.finditer(text):
        if source[1] not in sources:
            yield f"{path}:{line_of(text, source.start())}: there is no source {source[0]}"


def unknown_options(path, text, known):
    """Options that do not exist; `known` are those of each command."""
    everywhere = set().union(OTHERS, *known.values())
    joined = text.replace("\\\n", "  ")  # the same length, so that positions stay
    for option in OPTION.finditer(text):
        if option[0] not in everywhere:
            yield f"{path}:{line_of(text, option.start())}: no program has the option {option[0]}"
    for command in COMMAND.finditer(joined):
        for option in OPTION.findall(command[2].split("#")[0].split("`")[0]):
            if option not in known[command[1]]:
                yield f"{path}:{line_of(text, command.start(1))}: {command[1]} has no option {option}"


def wrong_topics(trainc, trainrun, known, texts):
    help = lambda *topic: subprocess.run([trainc, "help", *topic], check=True, capture_output=True, text=True).stdout
    topics = re.findall(r"^  (\w+) ", help().split("Topics besides the subcommands:")[1], re.MULTILINE)
    if len(topics) < 5:
        yield f"trainc help: expected a list of topics, found {topics}"
    named = re.search(r"^`trainc help TOPIC`.*: ([\w, ]+)\.$", subprocess.run([trainrun, "--help"], check=True, capture_output=True, text=True).stdout, re.MULTILINE)
    yield from (f"trainrun --help: there is no topic {topic}" for topic in (named[1].split(", ") if named else ["at all"]) if topic not in topics)
    for topic in topics:
        text = help(topic)
        where = f"trainc help {topic}"
        if not re.match(r"  (trainc|trainrun) ", text):
            yield f"{where}: begins with no command"
        if max(map(len, text.splitlines())) > 100:
            yield f"{where}: a line has more than 100 characters"
        yield from unknown_options(where, text, known)
        named = re.findall(r"docs/[\w/-]+\.md", text)
        yield from (f"{where}: there is no page {page}" for page in named if page not in texts)
        if not named:
            yield f"{where}: names no page that says more"


def failing_models(trainc, path, text):
    """The whole models of a page; one with a program goes as far as its step."""
    for block in FENCE.finditer(text):
        if block[2] != "mlir" or not re.search("^nn.model ", block[3], re.MULTILINE):
            continue
        phase = "step" if "train.program" in block[3] else "model"
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(block[3])
            file.flush()
            run = subprocess.run([trainc, "compile", file.name, f"--compile-to={phase}"], capture_output=True, text=True)
        if run.returncode != 0:
            yield f"{path}:{line_of(text, block.start())}: this model does not compile:\n{run.stderr}"


def ops_without_example(page, reference):
    """Ops of the reference that the models of the page do not use, and that its last line does not list."""
    models = "".join(block[3] for block in FENCE.finditer(page))
    shown = set(re.findall(r"nn\.\w+", models + page.rpartition("The compiler generates the other ops")[2]))
    for op in re.findall(r"^### `(nn\.\w+)`", reference, re.MULTILINE):
        if op not in shown:
            yield f"docs/reference/ops.md: {op} has no example"


def table_of_settings(text, known):
    """The table of what each program decides names options of that program alone."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| ") else []
        for command, cell in zip(["trainc compile", "trainrun"], cells[1:3]):
            for option in OPTION.findall(cell):
                if option not in known[command]:
                    yield f"docs/reference/options.md: {command} has no option {option}, which a table says"


def shown_otherwise(text):
    model = (ROOT / "docs/tutorials/circle.mlir").read_text()
    if not any(block[3] == model for block in FENCE.finditer(text)):
        yield "docs/tutorials/through-the-compiler.md: does not show docs/tutorials/circle.mlir as it is"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainc", required=True)
    parser.add_argument("--trainrun", required=True)
    programs = parser.parse_args()
    known = {f"trainc {name}": options_of([programs.trainc, name]) for name in SUBCOMMANDS}
    known["trainrun"] = options_of([programs.trainrun])
    for name in ("chat", "text", "preference", "classify", "token-classify"):
        known[f"trainc-data {name}"] = options_of([sys.executable, "-m", "trainc_data", name], ROOT / "python")
    texts = pages()
    sources = {path.name for folder in ["base", "dialects", "lib", "plan", "runtime", "tools", "test"] for path in (ROOT / folder).rglob("*.*")}
    generators = "".join(path.read_text() for path in ROOT.glob("*/*/CMakeLists.txt"))
    sources |= set(re.findall(r"[\w-]+\.(?:h|td)\b", generators))
    found = [line for path, text in texts.items() if not path.startswith(OF_THEIR_TIME) for line in missing_sources(path, text, sources)]
    for path, text in texts.items():
        if path.startswith(FOR_USERS) and not path.startswith(GENERATED):
            found.extend(unknown_options(path, text, known))
            found.extend(failing_models(programs.trainc, path, text))
    found.extend(wrong_topics(programs.trainc, programs.trainrun, known, texts))
    reference = "".join(text for path, text in texts.items() if path.startswith("docs/reference/nn-"))
    found.extend(ops_without_example(texts["docs/reference/ops.md"], reference))
    found.extend(table_of_settings(texts["docs/reference/options.md"], known))
    found.extend(shown_otherwise(texts["docs/tutorials/through-the-compiler.md"]))
    print("\n".join(found) or f"options and models hold in {len(texts)} pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
