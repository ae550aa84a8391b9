#!/usr/bin/env python3
"""Checks who includes whom against the house plan, and the size of files.

The rules are data: for each folder (the longest matching prefix wins) the folders it may include from, besides itself. System
headers are checked by prefix. Prints every offence and exits 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

BASE = ["plan/schema", "base"]
COMPILER_BASE = ["dialects/Interfaces", "lib/Analysis", "lib/Support", "plan/cost"]
DIALECTS = ["dialects"]
MAY_INCLUDE = {
    "plan/schema": [],
    "base": ["base/plain_text.h"],
    # Cost and schedule of instructions: used by the compiler as well.
    "plan/cost": BASE,
    "runtime/plan": BASE,
    "plan/simulate": BASE + ["runtime/plan", "plan/cost"],
    "runtime/device": BASE + ["runtime/plan", "runtime/comm/*.h"],
    "runtime/device/cuda": BASE + ["runtime/plan", "runtime/device/*.h", "runtime/comm/*.h", "runtime/comm/nccl",
                            "runtime/device/cpu/kernel_runner.h"],
    "runtime/comm": BASE + ["runtime/plan"],
    # It needs the driver's wrappers of the device, but not its execution of plans.
    "runtime/comm/nccl": BASE + ["runtime/plan", "runtime/comm/*.h", "runtime/device/cuda/driver_library.h",
                                 "runtime/device/cuda/cuda_context.h", "runtime/device/cuda/cuda_handles.h"],
    "runtime/formats": BASE,
    "runtime/data": BASE + ["runtime/plan", "runtime/formats"],
    "runtime/state": BASE + ["runtime/plan", "runtime/formats"],
    "runtime/log": BASE,
    # exec and training drive devices and talk to other ranks through their interfaces alone.
    "runtime/exec": BASE + ["runtime/plan", "plan/simulate", "runtime/device/*.h", "runtime/comm/*.h", "runtime/log"],
    "runtime/training": BASE + ["runtime/plan", "runtime/device/*.h", "runtime/comm/*.h", "runtime/data", "runtime/exec", "runtime/formats",
                                "runtime/log", "runtime/state"],
    "dialects/Interfaces": [],
    "dialects/Plan": ["dialects/Interfaces", "plan/cost/work.h", "plan/schema/limits.h", "plan/schema/row_padding.h"],
    "dialects/NN": ["dialects/Interfaces", "dialects/Plan", "base/plain_text.h"],
    "dialects/Dist": ["dialects/Interfaces", "dialects/Plan"],
    "dialects/Train": ["dialects/Interfaces", "dialects/Plan", "dialects/NN", "base/name_pattern.h"],
    "lib/Support": [],
    "lib/Analysis": ["lib/Support", "plan/cost"] + DIALECTS + ["plan/facts/outlasting_reads.h", "plan/facts/pieces.h", "plan/schema/limits.h"],
    "lib/Codegen": COMPILER_BASE + DIALECTS + ["plan/schema/cpu_workspace.h", "plan/schema/cuda_levels.h", "plan/schema/cudnn_attention.h", "plan/schema/gpu_memory.h", "plan/schema/gpu_peaks.h", "plan/schema/row_padding.h", "base/cpu_features.h", "base/memory_file.h"],
    "lib/Instantiate": COMPILER_BASE + DIALECTS + ["base/name_pattern.h", "base/plain_text.h"],
    "lib/Target": COMPILER_BASE + DIALECTS + ["plan/schema"],
    # Properties of the plan's target that passes query.
    "lib/Fusion": COMPILER_BASE + DIALECTS + ["lib/Codegen/OpCost.h", "lib/Codegen/Target.h"],
    "lib/Remat": COMPILER_BASE + DIALECTS + ["lib/Codegen/OpCost.h", "lib/Codegen/Target.h"],
    "lib/Memory": COMPILER_BASE + DIALECTS + ["lib/Codegen/Target.h", "plan/facts/last_touches.h", "plan/schema/limits.h"],
    "lib/Offload": COMPILER_BASE + DIALECTS + ["lib/Codegen/OpCost.h", "lib/Codegen/Target.h", "plan/schema/limits.h"],
    "lib/Schedule": COMPILER_BASE + DIALECTS + ["lib/Codegen/OpCost.h", "lib/Codegen/Target.h", "plan/schema/limits.h"],
    "lib/Reference": DIALECTS,
    "lib/Pipelines": ["lib", "plan/cost"] + DIALECTS + ["base/units.h", "plan/schema/limits.h"],
    "lib": COMPILER_BASE + DIALECTS,
    "tools/common": ["base"],
    "tools/language": DIALECTS + ["base/plain_text.h"],
    "tools/trainrun": ["runtime", "tools/common"],
    "tools/report": ["dialects/Train/ProgramWords.h", "dialects/Train/Sizes.h", "base", "plan/cost", "runtime/log", "runtime/plan", "plan/schema", "plan/simulate"],
    "tools": ["tools/common", "tools/language", "tools/report", "lib", "base", "plan/cost", "plan/schema", "runtime/plan", "plan/simulate", "runtime/data", "runtime/formats", "runtime/state"] + DIALECTS,
    # It calibrates with kernels of plans.
    "tools/trainc": ["tools/common", "tools/language", "tools/report", "lib", "runtime"] + DIALECTS,
    # Emulated vendor libraries are test code; they use only the runtime's error types.
    "test/emulator": ["base"],
    "test/emulator/ptx": ["test/emulator/device_memory.h", "base"],
    "test/emulator/libcuda": ["test/emulator/calls", "test/emulator/device_memory.h", "test/emulator/ptx/*.h", "base"],
    "test/emulator/libcublaslt": ["test/emulator/calls", "test/emulator/libcuda/extension.h", "test/emulator/libcuda/workspace_use.h", "base"],
    "test/emulator/libcudnn": ["test/emulator/calls", "test/emulator/libcuda/extension.h", "test/emulator/libcuda/workspace_use.h", "base"],
    # As the vendor's NCCL it knows the driver; ranks meet by the unique id.
    "test/emulator/libnccl": ["test/emulator/calls", "test/emulator/libcuda/extension.h", "base"],
    # The checker of ops runs their kernels.
    "tools/trainc-check": ["tools/common", "tools/cases", "lib", "runtime"] + DIALECTS,
    "tools/cases": ["runtime"],
}
LLVM = re.compile(r"^(mlir|llvm|lld|clang)/")
VENDOR = {
    re.compile(r"^(cblas|blis|dnnl)"): "runtime/device/cpu",
    re.compile(r"^(cuda|cublas|cudnn|nvtx)"): "runtime/device/cuda",
    re.compile(r"^nccl"): "runtime/comm/nccl",
    re.compile(r"^mpi\.h"): "runtime/comm/mpi",
}
OWN = ("runtime/", "dialects/", "lib/", "tools/", "test/emulator/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
MOST_LINES = 500


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
    lines = text.count("\n")
    if lines > MOST_LINES:
        yield f"{path}: {lines} lines, at most {MOST_LINES} are allowed: one idea a file"
    own, folders = rule_for(path)
    for include in INCLUDE.findall(text):
        if include.startswith(OWN) and not allowed(include, folders):
            yield f"{path}: includes {include}, but {own} may include only {', '.join(folders)}"
        if LLVM.match(include) and path.startswith(("runtime/", "tools/trainrun/", "tools/cases/", "test/gpu/cases/")):
            yield f"{path}: includes {include}, but the runtime never sees LLVM or MLIR"
        for pattern, home in VENDOR.items():
            if pattern.match(include) and not path.startswith((home + "/", "test/")):
                yield f"{path}: includes {include}, which belongs in {home} alone"


def main():
    files = [path for folder in OWN for suffix in ("*.h", "*.cpp") for path in (ROOT / folder).rglob(suffix)]
    found = [line for path in sorted(files) for line in offences(path.relative_to(ROOT).as_posix())]
    print("\n".join(found) or f"include rules hold in {len(files)} files")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
