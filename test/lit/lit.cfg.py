"""Tests of passes, syntax and diagnostics: RUN lines in .mlir files."""
import os
import shutil
import sys

import lit.formats

config.name = "trainc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.trainc_obj_root
config.environment["PATH"] = os.pathsep.join(
    [config.trainc_bin_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
config.environment["TRAINC_KERNEL_CACHE"] = config.trainc_kernel_cache
config.substitutions.append(("%trainc_src", config.trainc_src_root))
config.substitutions.append(("%python", sys.executable))

# As trainc finds it (lib/Codegen/Cuda/Ptxas.cpp).
ptxas = shutil.which("ptxas", path=os.pathsep.join(
    [os.path.join(os.environ.get(each, "/usr/local/cuda"), "bin") for each in ("CUDA_PATH", "CUDA_HOME")]
    + ["/usr/local/cuda/bin", os.environ.get("PATH", "")]))
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
# Kernels for GPUs run on emulated libraries of the vendor's.
if config.trainc_cuda == "ON":
    config.available_features.add("cuda")
if os.environ.get("TRAINC_ALL_COMBINATIONS"):  # test/run.sh matrix
    config.available_features.add("all-combinations")
# Models use PTX only, which the emulator takes; ops also use machine code of one generation, so that NVIDIA's assembler sees all of them.
gpu_check = f"env LD_LIBRARY_PATH={config.trainc_emulators} trainc-check --kernels --target=cuda --gpu-levels="
config.substitutions.append(("%gpu_check_model", gpu_check + "none"))
config.substitutions.append(("%gpu_check_ops", gpu_check + ("sm_90" if ptxas else "none")))
