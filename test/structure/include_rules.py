#!/usr/bin/env python3
"""Checks who includes whom against the house plan, and that no files or folders include each other in a circle.

The rules are data: for each folder (the longest matching prefix wins) the folders it may include from, besides itself. System
headers are checked by prefix. Prints every offence and exits 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Errors, files and texts, which everything uses.
BASE = ["base"]
# The plan's contract: format, facts and cost. The compiler, the runtime and the tools see it.
PLAN = ["plan/schema", "plan/settings", "plan/facts", "plan/cost", "plan/simulate"]
DIALECTS = ["dialects"]
COMPILER = ["lib/Analysis", "lib/Plan", "lib/Support"] + BASE + PLAN + DIALECTS
MAY_INCLUDE = {
    "base": [],
    "plan/schema": BASE,
    "plan/settings": BASE + ["plan/schema"],
    "plan/cost": BASE + ["plan/schema"],
    "plan/facts": BASE + ["plan/schema", "plan/settings", "plan/cost"],
    "plan/verify": BASE + ["plan/schema", "plan/facts"],
    "plan/file": BASE + ["plan/schema", "plan/verify"],
    "plan/simulate": BASE + ["plan/schema", "plan/settings", "plan/cost", "plan/facts"],
    "runtime/device": BASE + PLAN + ["runtime/comm/*.h"],
    "runtime/device/cuda": BASE + PLAN + ["runtime/device/*.h", "runtime/comm/*.h", "runtime/cuda",
                                          "runtime/device/cpu/kernel_runner.h"],
    "runtime/comm": BASE + PLAN,
    # NVIDIA's driver, which the device and NCCL share; they do not know each other.
    "runtime/cuda": BASE + ["plan/schema"],
    "runtime/comm/nccl": BASE + PLAN + ["runtime/comm/*.h", "runtime/cuda"],
    "runtime/formats": BASE + ["plan/schema"],
    "runtime/data": BASE + PLAN + ["runtime/formats"],
    "runtime/state": BASE + PLAN + ["plan/file", "runtime/formats"],
    "runtime/log": BASE + ["plan/schema"],
    # exec and training drive devices and talk to other ranks through their interfaces alone.
    "runtime/exec": BASE + PLAN + ["plan/file", "runtime/device/*.h", "runtime/comm/*.h", "runtime/log"],
    "runtime/training": BASE + PLAN + ["plan/file", "runtime/device/*.h", "runtime/comm/*.h", "runtime/data", "runtime/exec",
                                       "runtime/formats", "runtime/log", "runtime/state"],
    "dialects/Interfaces": ["base/nearest_word.h", "plan/facts/scalars.h"],
    # Names of schedules are the runtime's.
    "dialects/Plan": ["dialects/Interfaces", "plan/facts/schedules.h"],
    "dialects/NN": ["dialects/Interfaces", "dialects/Plan", "base/name_pattern.h", "base/nearest_word.h", "base/plain_text.h", "base/units.h", "plan/cost/work.h"],
    "dialects/Dist": ["dialects/Interfaces", "dialects/Plan", "plan/facts/mesh.h"],
    "dialects/Train": ["dialects/Interfaces", "dialects/Plan", "dialects/NN", "base/constant_text.h", "base/name_pattern.h", "base/nearest_word.h", "base/units.h", "plan/settings", "plan/schema/targets.h", "plan/facts/schedules.h"],
    "lib/Support": [],
    "lib/Plan": ["lib/Support"] + BASE + PLAN + DIALECTS,
    "lib/Analysis": ["lib/Support"] + BASE + PLAN + DIALECTS,
    # Properties of the plan's target that passes query.
    "lib/Fusion": COMPILER + ["lib/Codegen/OpCost.h", "lib/Codegen/Target.h"],
    "lib/Remat": COMPILER + ["lib/Codegen/OpCost.h", "lib/Codegen/Target.h"],
    "lib/Memory": COMPILER + ["lib/Codegen/Target.h"],
    "lib/Offload": COMPILER + ["lib/Codegen/OpCost.h", "lib/Codegen/Target.h"],
    "lib/Schedule": COMPILER + ["lib/Codegen/OpCost.h", "lib/Codegen/Target.h"],
    # It knows no pass and no IR: the plan's cost, and an interface to what evaluates strategies.
    "lib/Planner": BASE + PLAN,
    # It writes text, and knows no IR.
    "lib/Import": ["base"],
    "lib/Reference": DIALECTS,
    "lib/Pipelines": ["lib"] + BASE + PLAN + DIALECTS,
    "lib": COMPILER,
    "tools/common": ["plan/settings", "dialects/Train/ProgramLines.h"] + BASE,
    "tools/language": DIALECTS + BASE + ["tools/common/option_homes.h"],
    "tools/trainrun": ["base", "plan", "runtime", "tools/common"],
    "tools/report": ["base", "plan", "runtime/log"],
    "tools": ["base", "plan", "tools/common", "tools/language", "tools/report", "lib", "runtime/data", "runtime/formats", "runtime/state"] + DIALECTS,
    # It calibrates with kernels of plans.
    "tools/trainc": ["base", "plan", "tools/common", "tools/language", "tools/report", "lib", "runtime"] + DIALECTS,
    # It prints the tables that the programs define.
    "tools/reference": ["base", "plan/settings", "runtime/log/metrics_keys.h", "tools/common", "tools/language", "tools/trainc/Cli.h",
                        "tools/trainrun/options.h"],
    # Emulated vendor libraries are test code; they use only the runtime's error types.
    "test/emulator": ["base"],
    "test/emulator/ptx": ["test/emulator/device_memory.h", "base"],
    "test/emulator/libcuda": ["test/emulator/calls", "test/emulator/device_memory.h", "test/emulator/ptx/*.h", "base"],
    "test/emulator/libcublaslt": ["test/emulator/calls", "test/emulator/libcuda/extension.h", "test/emulator/libcuda/workspace_use.h", "base"],
    "test/emulator/libcudnn": ["test/emulator/calls", "test/emulator/libcuda/extension.h", "test/emulator/libcuda/workspace_use.h", "base"],
    # As the vendor's NCCL it knows the driver; ranks meet by the unique id.
    "test/emulator/libnccl": ["test/emulator/calls", "test/emulator/libcuda/extension.h", "base"],
    # The checker of ops runs their kernels.
    "tools/trainc-check": ["base", "plan", "tools/common", "tools/cases", "lib", "runtime"] + DIALECTS,
    "tools/cases": ["base", "plan", "runtime"],
}
LLVM = re.compile(r"^(mlir|llvm|lld|clang)/")
VENDOR = {
    re.compile(r"^(cblas|blis|dnnl)"): "runtime/device/cpu",
    re.compile(r"^cuda\.h"): "runtime/cuda",
    re.compile(r"^(cublas|cudnn|nvtx)"): "runtime/device/cuda",
    re.compile(r"^nccl"): "runtime/comm/nccl",
    re.compile(r"^mpi\.h"): "runtime/comm/mpi",
}
OWN = ("base/", "plan/", "runtime/", "dialects/", "lib/", "tools/", "test/emulator/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def rule_for(path):
    """The folder whose rule covers a path, and the folders it may include from."""
    matches = [folder for folder in MAY_INCLUDE if path.startswith(folder + "/")]
    folder = max(matches, key=len)
    own = folder if folder not in ("lib", "tools") else "/".join(path.split("/")[:2])
    return own, [own] + MAY_INCLUDE[folder]


def allowed(include, folders):
    for folder in folders:
        if folder.endswith("/*.h"):
            if include.startswith(folder[:-3]) and "/" not in include[len(folder) - 3:]:
                return True
        elif include == folder or include.startswith(folder + "/"):
            return True
    return False


def offences(path):
    text = (ROOT / path).read_text()
    own, folders = rule_for(path)
    for include in INCLUDE.findall(text):
        if include.startswith(OWN) and not allowed(include, folders):
            yield f"{path}: includes {include}, but {own} may include only {', '.join(folders)}"
        if LLVM.match(include) and path.startswith(("base/", "plan/", "runtime/", "tools/trainrun/", "tools/cases/", "test/gpu/cases/")):
            yield f"{path}: includes {include}, but plans and the runtime never see LLVM or MLIR"
        for pattern, home in VENDOR.items():
            if pattern.match(include) and not path.startswith((home + "/", "test/")):
                yield f"{path}: includes {include}, which belongs in {home} alone"


def circles(graph):
    """The circles of a graph of includes, each as a path that ends where it begins; one for each edge that closes one."""
    state, path, found = {}, [], []

    def visit(node):
        state[node] = "open"
        path.append(node)
        for other in sorted(graph.get(node, ())):
            if state.get(other) == "open":
                found.append([*path[path.index(other):], other])
            elif other not in state:
                visit(other)
        path.pop()
        state[node] = "done"

    for node in sorted(graph):
        if node not in state:
            visit(node)
    return found


def room_of(path):
    """`lib/Shard` of lib/Shard/Flatten.cpp and of what is in its folders; `base` of base/units.h."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def circle_offences(files):
    """Circles of includes between files, between folders, and between the rooms that scripts/draw_house.py draws: lib/Shard, runtime/comm."""
    by_file, by_folder, by_room = {}, {}, {}
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        by_file[name] = {include for include in INCLUDE.findall(path.read_text()) if (ROOT / include).is_file()}
        folder = name.rpartition("/")[0]
        by_folder.setdefault(folder, set()).update({include.rpartition("/")[0] for include in by_file[name]} - {folder})
        by_room.setdefault(room_of(name), set()).update({room_of(include) for include in by_file[name]} - {room_of(name)})
    for what, graph in (("files", by_file), ("folders", by_folder), ("rooms", by_room)):
        for circle in circles(graph):
            yield f"these {what} include each other: {' -> '.join(circle)}"


def main():
    files = [path for folder in OWN for suffix in ("*.h", "*.cpp") for path in (ROOT / folder).rglob(suffix)]
    found = [line for path in sorted(files) for line in offences(path.relative_to(ROOT).as_posix())]
    found += circle_offences(files)
    print("\n".join(found) or f"include rules hold in {len(files)} files")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
