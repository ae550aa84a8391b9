#!/usr/bin/env python3
"""Makes a kit for test/gpu/run.sh out of a build: trainrun, tests of the runtime, the libraries that these need, and compiled plans.

  prepare.py                 build/gpu-kit, for GPUs
  prepare.py --emulated      build/gpu-kit-emulated, with test/emulator's libraries and small models

Exit codes: 0; 1 where a program failed or the kit is too large; 2 bad usage.
"""

import argparse
import concurrent.futures
import json
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import facts_of_plans
import kit
import paths
import plans

MOST_BYTES = 60 << 20  # of the kit and of the tracked files together, of the 64 MiB that may travel
PROGRAMS = "trainrun", "runtime_cuda_test", "runtime_executor_test", "runtime_training_test", "run-cases"
# Files that the tests read, from the sources and from the build.
FILES = "test/unit/plan/plans/test_kernels.ptx", "test/unit/runtime/training/toy_kernels.ptx"
BUILT_FILES = "test/unit/plan/test_kernels.so", "test/unit/runtime/training/toy_kernels.so"
# Libraries of the C runtime and the compiler: every system has them, and a process must not have two.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))[-.]")
EMULATED_LIBRARIES = "libcuda.so.1", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"
# Tests of ops on emulated GPUs: their RUN lines name files, precisions and bounds. Those of whole models are left out: their numbers take 150 MiB.
CASE_TESTS = paths.ROOT / "test" / "lit" / "check" / "gpu"
CASE_LINE = re.compile(r"^// RUN: (%gpu_check_ops .*)$", re.MULTILINE)
# Libraries of a GPU sum in orders of their own, and its exp and tanh approximate.
BOUND_FACTOR = 8
# A single case for an emulated kit, as an example: the test itself runs all.
EMULATED_CASES = "lookup.mlir"


class PrepareError(Exception):
    """A program failed, or the kit cannot be."""


def run(*command, folder=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise PrepareError(f"{' '.join(str(part) for part in command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def libraries(program):
    """Shared libraries of a program, without the system's own."""
    lines = run("ldd", program).splitlines()
    if missing := [line.split()[0] for line in lines if "not found" in line]:
        raise PrepareError(f"{program} needs {', '.join(missing)}, which the loader does not find")
    found = [Path(line.split("=>")[1].split()[0]) for line in lines if "=>" in line]
    return [path for path in found if not SYSTEM.match(path.name)]


def copy_programs(build, target):
    (target / "bin").mkdir()
    (target / "lib").mkdir()
    for name in PROGRAMS:
        program = build / "bin" / name
        if not program.exists():
            raise PrepareError(f"{program}: expected a program, found none; build it: cmake --build {build} --target {name}")
        run("strip", "-o", target / "bin" / name, program)
        for library in libraries(program):
            shutil.copy(library, target / "lib" / library.name)


def copy_emulator(build, target):
    folder = build / "test" / "emulator" / "lib"
    (target / "emulator").mkdir()
    for name in EMULATED_LIBRARIES:
        if not (folder / name).exists():
            raise PrepareError(f"{folder}: expected the emulated libraries, found no {name}; build them: cmake --build {build}")
        shutil.copy(folder / name, target / "emulator" / name)


def compile_plan(build, emulated, name, plan, target):
    levels = ["--gpu-levels=none"] if emulated else []  # emulated GPUs take PTX
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{name}.mlir").write_text(plan.text)
        run(build.resolve() / "bin" / "trainc", "compile", f"{name}.mlir", "-o", "plan", "--target=cuda", "--report=report", *levels, *plan.options, folder=folder)
        (target / "plans" / f"{name}.plan.xz").write_bytes(lzma.compress(Path(folder, "plan").read_bytes(), preset=3))
        found = json.loads(Path(folder, "report").read_text())
        dump = run(build.resolve() / "bin" / "trainc", "dump", "plan", folder=folder)
    return {"options": plan.options, "peak_bytes": found["memory"]["peak"], "predicted_step_seconds": found["predicted_step_seconds"],
            "calls": facts_of_plans.calls(dump), "kernels": facts_of_plans.kernels(dump)}  # fmt: skip


def compile_plans(build, emulated, target, jobs):
    (target / "plans").mkdir()
    wanted = plans.kit_plans(emulated)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda name: compile_plan(build, emulated, name, wanted[name], target), wanted)
        return dict(zip(wanted, found, strict=True))


def case_commands(path, check):
    """The shell commands of a test that writes cases instead of checking."""
    for command in CASE_LINE.findall(path.read_text()):
        command = command.replace("%gpu_check_ops", check).replace("%S", str(path.parent))
        yield re.sub(r"--bound=(\S+)", lambda match: f"--bound={BOUND_FACTOR * float(match.group(1)):g}", command)


def write_cases(build, emulated, target, jobs):
    """The tests run concurrently, the lines of each in order."""
    check = f"{build.resolve() / 'bin' / 'trainc-check'} --kernels --target=cuda --write-cases"

    def write(path):
        for command in case_commands(path, f"{check}={Path(folder, 'cases')}"):
            if not emulated or f"{EMULATED_CASES} " in command:
                run("sh", "-c", command)

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(write, sorted(CASE_TESTS.glob("ops-*.test"))))
        (target / "cases").mkdir()
        for path in Path(folder, "cases").iterdir():
            (target / "cases" / f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes(), preset=3))


def bytes_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def tracked_bytes():
    names = run("git", "-C", paths.ROOT, "ls-files", "-z").split("\0")
    return sum((paths.ROOT / name).stat().st_size for name in names if name and (paths.ROOT / name).is_file())


def check_size(target, most):
    own, beside = bytes_of(target), tracked_bytes()
    if own + beside > most:
        raise PrepareError(f"{target}: expected at most {most} bytes with the {beside} of the tracked files, found {own + beside}; "
                           "leave plans out of test/gpu/plans.py")
    return own, beside


def make(arguments):
    """A kit appears whole, or the one before stays."""
    target = arguments.out.with_name(arguments.out.name + ".unfinished")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    copy_programs(arguments.build, target)
    if arguments.emulated:
        copy_emulator(arguments.build, target)
    write_cases(arguments.build, arguments.emulated, target, arguments.jobs)
    (target / "files").mkdir()
    for path in (*(paths.ROOT / name for name in FILES), *(arguments.build / name for name in BUILT_FILES)):
        shutil.copy(path, target / "files")
    manifest = {"emulated": arguments.emulated, "commit": run("git", "-C", paths.ROOT, "rev-parse", "HEAD").strip(),
                "trainrun": run(arguments.build / "bin" / "trainrun", "--version").strip()}  # fmt: skip
    manifest["plans"] = compile_plans(arguments.build, arguments.emulated, target, arguments.jobs)
    (target / kit.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    sizes = check_size(target, arguments.most)
    shutil.rmtree(arguments.out, ignore_errors=True)
    target.rename(arguments.out)
    return sizes


def main():
    parser = argparse.ArgumentParser(prog="test/gpu/prepare.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true", help="for test/emulator, with small models")
    parser.add_argument("--build", type=Path, default=paths.ROOT / "build", help="folder of the build (default: build)")
    parser.add_argument("--out", type=Path, help="folder of the kit (default: build/gpu-kit); what it held is removed")
    parser.add_argument("--jobs", type=int, default=2, help="plans compiled at a time (default: 2)")
    parser.add_argument("--most", type=int, default=MOST_BYTES, help=f"bytes that may travel (default: {MOST_BYTES})")
    arguments = parser.parse_args()
    arguments.out = arguments.out or (paths.EMULATED_KIT if arguments.emulated else paths.KIT)
    if arguments.out.exists() and any(arguments.out.iterdir()) and not (arguments.out / kit.MANIFEST).exists():
        parser.error(f"--out={arguments.out}: expected a new folder or a kit, found other files in it")
    try:
        own, beside = make(arguments)
    except PrepareError as error:
        print(f"prepare: {error}", file=sys.stderr)
        return 1
    print(f"{arguments.out}: {own / (1 << 20):.1f} MiB, with the tracked files {(own + beside) / (1 << 20):.1f} MiB of {arguments.most / (1 << 20):.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
