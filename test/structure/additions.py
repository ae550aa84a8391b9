#!/usr/bin/env python3
"""Checks the example of each page docs/how-to/add-*.md.

A page begins with `Example: [NAME.patch](...), at most N files.` and a list of files. The patch must apply to the tree, touch these files and no
others, and not more than N. Sources of the runtime and of plan/ that it touches must compile, which is checked with a build folder
(`--build=FOLDER`), where generated headers are. Prints every offence and exits 1 if there is one.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = re.compile(r"^Example: \[[^\]]*\]\(([^)]*)\), at most (\d+) files\.\n\n((?:    .*\n)+)", re.MULTILINE)
MPI = "runtime/comm/mpi/"
WITHOUT_LLVM = ("base/", "plan/", "runtime/", "tools/trainrun/")


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def touched(patch):
    return re.findall(r"^\+\+\+ b/(.*)$", patch.read_text(), re.MULTILINE)


def sources_to_compile(files):
    """Sources that a patch makes or changes, and one that includes each registry or header."""
    users = {"plan/facts/schedules.h": "runtime/training/learning_rate.cpp",
             "runtime/data/formats/formats.def": "runtime/data/formats/data_format.cpp"}
    sources = [users.get(file, file) for file in files if file.startswith(WITHOUT_LLVM)]
    return [source for source in sources if source.endswith(".cpp")]


def compile_sources(patch, files, build, compiler, flatc):
    """Compiles in a copy of the folders that need no LLVM; returns an error or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for part in ("base", "plan", "runtime", "dialects", "lib", "tools"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("*.md", "*.json"))
        applied = run(["git", "apply", str(patch)], cwd=copy)
        if applied.returncode:
            return applied.stderr
        if "plan/schema/plan.fbs" in files:
            generated = run([flatc, "--cpp", "--scoped-enums", "--gen-object-api", "--cpp-std", "c++17", "-o", str(copy / "plan/schema"),
                             str(copy / "plan/schema/plan.fbs")])
            if generated.returncode:
                return generated.stdout + generated.stderr
        for source in sources_to_compile(files):
            flags = run(["mpicxx", "--showme:compile"]).stdout.split() if source.startswith(MPI) else []
            compiled = run([compiler, *flags, "-std=c++20", "-fsyntax-only", "-DTRAINC_VERSION=\"\"", "-I.", f"-I{build}", source], cwd=copy)
            if compiled.returncode:
                return compiled.stderr
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--flatc", default="flatc")
    options = parser.parse_args()
    offences = 0

    def offend(page, text):
        nonlocal offences
        offences += 1
        print(f"docs/how-to/{page.name}: {text}")

    pages = sorted((ROOT / "docs/how-to").glob("add-*.md"))
    patches = set((ROOT / "test/additions").glob("*.patch"))
    for page in pages:
        example = EXAMPLE.search(page.read_text())
        if not example:
            offend(page, "expected 'Example: [NAME.patch](...), at most N files.' and a list of files")
            continue
        patch = (page.parent / example[1]).resolve()
        patches.discard(patch)
        files = touched(patch)
        if sorted(files) != sorted(example[3].split()):
            offend(page, f"the page lists {example[3].split()}, the patch touches {files}")
        if len(files) > int(example[2]):
            offend(page, f"the patch touches {len(files)} files, the limit is {example[2]}")
        applies = run(["git", "apply", "--check", str(patch)], cwd=ROOT)
        if applies.returncode:
            offend(page, f"the patch does not apply: {applies.stderr}")
        elif options.build and (error := compile_sources(patch, files, options.build, options.compiler, options.flatc)):
            offend(page, f"what the patch changes does not compile: {error}")
    for patch in sorted(patches):
        print(f"{patch.relative_to(ROOT)}: no page names it")
    print(f"{len(pages)} pages, {offences + len(patches)} offences")
    return 1 if offences or patches else 0


if __name__ == "__main__":
    sys.exit(main())
