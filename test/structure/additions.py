#!/usr/bin/env python3
"""Checks the example of each page docs/how-to/add-*.md.

A page begins with `Example: [NAME.patch](...), at most N files.` and a list of files. The pages and their limits are those of LIMITS. The patch
must apply to the tree, and touch the files of the list and no others. All patches together must apply to a copy, where every source that one
changes, and one that includes each other file, must compile. `--build=FOLDER` says how: its commands generate headers of the copy, and its flags
compile. Sources that it does not compile, such as the compiler's in a build of the runtime, are left out. Prints every offence and exits 1 if there is one.

test/additions/run.sh builds the copy with all patches, and runs what they add.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = re.compile(r"^Example: \[[^\]]*\]\(([^)]*)\), at most (\d+) files\.\n\n((?:    .*\n)+)", re.MULTILINE)
OBJECT = re.compile(r" -o (?:(\S+)/)?CMakeFiles/")
UNITED = re.compile(r'^#include "(.*)"$', re.MULTILINE)  # sources that a build compiles as one

# Maximum files of each change, without tests and pages.
LIMITS = {
    "add-a-backend.md": 4,  # a device that runs plans of a target that there is: its folder and the registry
    "add-a-collective.md": 8,
    "add-a-data-format.md": 2,
    "add-a-form-of-attention.md": 10,
    "add-a-plan-field.md": 6,
    "add-a-schedule.md": 2,
    "add-a-setting.md": 3,
    "add-a-target.md": 4,  # a folder and a row of the registry
    "add-a-tokenizer.md": 2,
    "add-an-op.md": 3,
    "add-an-optimizer.md": 2,
}

# A source that includes each file which is none, or what is generated from it.
INCLUDED_BY = {
    "dialects/Dist/DistOps.td": "dialects/Dist/DistDialect.cpp",
    "dialects/NN/NNElementwise.td": "dialects/NN/Unary.cpp",
    "dialects/NN/NNLinear.td": "dialects/NN/Attention.cpp",
    "dialects/Plan/PlanOps.td": "lib/Plan/PlanFile.cpp",
    "dialects/Train/Optimizers.def": "dialects/Train/Optimizers.cpp",
    "plan/settings/settings.h": "dialects/Train/ProgramSettings.cpp",
    "lib/Codegen/Kernels/AttentionShape.h": "lib/Codegen/Kernels/AttentionShape.cpp",
    "plan/facts/schedules.h": "runtime/training/learning_rate.cpp",
    "plan/schema/targets.def": "plan/facts/memory_need.cpp",
    "plan/schema/plan.fbs": "plan/facts/collective.cpp",
    "runtime/comm/communicator.h": "runtime/comm/communicator.cpp",
    "runtime/data/formats/formats.def": "runtime/data/formats/data_format.cpp",
    "runtime/data/tokenizer/models.def": "runtime/data/tokenizer/tokenizer_json.cpp",
    "runtime/device/devices.def": "runtime/device/device_kinds.cpp",
}
PRECOMPILED = "CMakeFiles/trainc_mlir_pch.dir/cmake_pch.hxx"  # in the build
NEVER_COMPILED = re.compile(r"\.md$|CMakeLists\.txt$")


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def touched(patch):
    return re.findall(r"^\+\+\+ b/(.*)$", patch.read_text(), re.MULTILINE)


def patches():
    return sorted((ROOT / "test/additions").glob("*.patch"))


def page_offences():
    """Offences of pages, and of patches against pages and the tree."""
    pages = {path.name: path for path in (ROOT / "docs/how-to").glob("add-*.md")}
    for name in sorted(pages.keys() ^ LIMITS.keys()):
        yield f"docs/how-to/{name}: " + ("expected in LIMITS of test/structure/additions.py" if name in pages else "missing")
    unnamed = set(patches())
    for name in sorted(pages.keys() & LIMITS.keys()):
        example = EXAMPLE.search(pages[name].read_text())
        if not example:
            yield f"docs/how-to/{name}: expected 'Example: [NAME.patch](...), at most N files.' and a list of files"
            continue
        patch = (pages[name].parent / example[1]).resolve()
        unnamed.discard(patch)
        files = touched(patch)
        if int(example[2]) != LIMITS[name]:
            yield f"docs/how-to/{name}: expected 'at most {LIMITS[name]} files', found {example[2]}"
        if len(files) > LIMITS[name]:
            yield f"docs/how-to/{name}: the patch touches {len(files)} files, the limit is {LIMITS[name]}"
        if sorted(files) != sorted(example[3].split()):
            yield f"docs/how-to/{name}: the page lists {example[3].split()}, the patch touches {files}"
        if (applies := run(["git", "apply", "--check", str(patch)], cwd=ROOT)).returncode:
            yield f"docs/how-to/{name}: the patch does not apply: {applies.stderr}"
    for patch in sorted(unnamed):
        yield f"{patch.relative_to(ROOT)}: no page names it"


class Copy:
    """A copy of the tree with all patches. Headers that the build generates lie in `generated`."""

    def __init__(self, folder, build):
        self.root, self.build = pathlib.Path(folder), pathlib.Path(build).resolve()
        self.generated = self.root / "generated"
        for part in ("base", "cmake", "plan", "runtime", "dialects", "lib", "tools"):
            shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("*.md", "*.json"))
        self.flags = self.read_flags()

    def moved(self, word):
        """A word of a command of the build, about this copy."""
        return word.replace(str(self.build), str(self.generated)).replace(str(ROOT), str(self.root))

    def apply(self):
        for patch in patches():
            if (applied := run(["git", "apply", str(patch)], cwd=self.root)).returncode:
                yield f"{patch.relative_to(ROOT)}: does not apply after the patches before it: {applied.stderr}"

    def has_compiler(self):
        return PRECOMPILED in self.flags

    def register_folders(self):
        """Writes the header of a registry of folders as CMake does, with the folders that patches add."""
        header = pathlib.Path("runtime/device/built_devices.h")
        lines = (self.build / header).read_text().splitlines()
        rows = re.findall(r"^TRAINC_DEVICE\((\w+)", (self.root / "runtime/device/devices.def").read_text(), re.MULTILINE)
        lines += [f"#define TRAINC_BUILT_{row} true" for row in rows if not any(line.startswith(f"#define TRAINC_BUILT_{row} ") for line in lines)]
        (self.generated / header).parent.mkdir(parents=True)
        (self.generated / header).write_text("\n".join(lines) + "\n")

    def generate(self, files):
        """Runs the build's commands that generate headers from `files`."""
        self.register_folders()
        ninja = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.*)$", (self.build / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
        targets = ["plan_schema_generate"] + (["trainc_tablegen"] if self.has_compiler() else [])
        commands = run([ninja, "-C", str(self.build), "-t", "commands", *targets]).stdout.splitlines()
        folders = {pathlib.PurePath(file).parent.as_posix() for file in files if file.endswith((".td", ".fbs"))}
        if "plan/schema" in folders:
            folders |= {"dialects/Interfaces", "dialects/Plan"}  # enums with the cases of the schema's
        for folder in folders:
            (self.generated / folder).mkdir(parents=True, exist_ok=True)
        wanted = [command for command in commands
                  if re.search(r"mlir-tblgen|flatc|SchemaEnums", command) and any(f"{ROOT}/{folder}/" in command or f"{self.build}/{folder} " in command for folder in folders)]
        if "plan/schema" in folders:  # tablegen reads the cases
            wanted.sort(key=lambda command: "mlir-tblgen" in command)
        if not wanted:
            yield f"{self.build}: no command generates {sorted(folders)}"
        for command in wanted:
            command = re.sub(r" && \S+ -E cmake_transform_depfile .*", "", command)
            if (done := run(["bash", "-c", self.moved(command)])).returncode:
                yield f"{command}: {done.stdout}{done.stderr}"

    def read_flags(self):
        """
        The command of each source, and one for each folder, without source and object. The compiler's precompiled header is the copy's
        (precompile), as it has headers of the tree. That of the runtime is left out.
        """
        commands = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            words = words[next(i for i, word in enumerate(words) if word.startswith("-")) - 1:words.index("-o")]  # no ccache
            if entry["file"] == str(self.build / f"{PRECOMPILED}.cxx"):
                commands[PRECOMPILED] = words
                continue
            if f"{PRECOMPILED}.pch" not in entry["command"] and "-Winvalid-pch" in words:
                words = words[:words.index("-Winvalid-pch")]
            folder = OBJECT.search(entry["command"])[1] or "."
            sources = UNITED.findall(pathlib.Path(entry["file"]).read_text()) if "/Unity/" in entry["file"] else [entry["file"]]
            for name in [folder, *(os.path.relpath(source, ROOT) for source in sources)]:
                commands.setdefault(name, words)
        return commands

    def own_flags(self, words):
        """Words of a command of the build, with the headers of this copy before those of the build."""
        own = {f"-I{ROOT}": [f"-I{self.root}", f"-I{self.generated}"], str(self.build / PRECOMPILED): [str(self.generated / PRECOMPILED)],
               f"{self.build / PRECOMPILED}.pch": [f"{self.generated / PRECOMPILED}.pch"]}
        return [word for flag in words for word in own.get(flag, [flag])]

    def precompile(self):
        """Returns the compiler's errors in the precompiled header of the compiler's sources."""
        if not self.has_compiler():
            return ""
        header = self.generated / PRECOMPILED
        header.parent.mkdir(parents=True)
        header.write_text((self.build / PRECOMPILED).read_text().replace(str(ROOT), str(self.root)))
        done = run([*self.own_flags(self.flags[PRECOMPILED]), "-o", f"{header}.pch", str(self.build / f"{PRECOMPILED}.cxx")], cwd=self.root)
        return f"{PRECOMPILED}: does not compile: {done.stderr}" if done.returncode else ""

    def compile(self, source):
        """Returns the compiler's errors."""
        words = self.flags.get(source) or next(self.flags[parent.as_posix()] for parent in pathlib.PurePath(source).parents
                                               if parent.as_posix() in self.flags)
        done = run([*self.own_flags(words), "-fsyntax-only", source], cwd=self.root)
        return f"{source}: does not compile: {done.stderr}" if done.returncode else ""

    def sources(self, files):
        """Sources that show whether `files` compile: those that the build compiles, and new ones."""
        files = [file for file in files if not NEVER_COMPILED.search(file)]
        found = {file if file.endswith(".cpp") else INCLUDED_BY[file] for file in files}
        return sorted(source for source in found
                      if source in self.flags or not (ROOT / source).exists() and (self.has_compiler() or not source.startswith(("dialects/", "lib/"))))


def build_offences(build):
    """Offences of all patches together."""
    files = sorted({file for patch in patches() for file in touched(patch)})
    for file in files:
        if not file.endswith(".cpp") and not NEVER_COMPILED.search(file) and file not in INCLUDED_BY:
            yield f"{file}: expected in INCLUDED_BY of test/structure/additions.py, with a source that includes it"
            return
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder, build)
        found = [*copy.apply(), *copy.generate(files)] or list(filter(None, [copy.precompile()]))
        if not found:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                found = [error for error in pool.map(copy.compile, copy.sources(files)) if error]
        yield from found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build")
    options = parser.parse_args()
    found = list(page_offences())
    if options.build and not found:
        found = list(build_offences(options.build))
    print("\n".join([*found, f"{len(LIMITS)} pages, {len(found)} offences"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
