"""trainrun's messages on emulated GPUs if something is missing, too old or short, or fails: the failed call, its instruction, and advice. Ranks
that die or hang are in nccl_test.py."""

import os
import re

import emulated_gpus
import harness
from emulated_gpus import environment
from harness import GOLDEN, MAKE_TOY_PLAN, TRAINRUN
from toy_run import write_uneven_tokens

TOY = r"instruction \d+ \([^()]*at test\.mlir:\d+\): "
GPT = r"instruction \d+ \([^()]*at .*gpt\.mlir:\d+\): "


class CudaFaultsTest(harness.EndToEndTest):
    def use_toy(self):
        self.run_program(MAKE_TOY_PLAN, "toy.plan", "cuda")
        write_uneven_tokens("tokens.bin")
        self.command = [TRAINRUN, "toy.plan", "--data", "tokens.bin", "--data-dtype=uint16", "--steps=5"]

    def use_gpt(self):
        """A plan that calls cuBLASLt and cuDNN."""
        if os.environ.get("TRAINC_RUNTIME_ONLY") == "1":
            self.skipTest("there is no compiler")
        self.trainc("compile", GOLDEN / "gpt" / "gpt.mlir", "-o", "gpt.plan", "--target=cuda", "--precision=bf16")
        self.command = [TRAINRUN, "gpt.plan", "--data", GOLDEN / "gpt" / "data.safetensors", "--steps=3"]

    def fails_with(self, environment, *expected):
        """Texts, or patterns that hold a backslash."""
        return self.fails(self.command, 1, *(re.compile(text) if "\\" in text else text for text in expected), env=environment)

    def test_drivers_and_gpus(self):
        self.use_toy()
        self.fails_with(dict(os.environ, LD_LIBRARY_PATH="/nowhere"), "cannot load libcuda.so.1", "install the NVIDIA driver")
        self.fails_with(environment(driver=12040), "for CUDA 13.0 or newer, found 12.4", "install the NVIDIA driver for CUDA 13.0 or newer")
        self.fails_with(environment(devices=0), "CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES")
        self.fails(self.command, 2, "expected compute capability 8.0 or higher (A100, RTX 30 or newer), found 7.5", env=environment(capability="7.5"))
        self.fails_with(environment(fault="cuInit:1=CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"), "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "restart the machine")

    def test_the_environment_picks_the_gpu(self):
        self.use_toy()
        for variables, gpu in ((dict(), 0), (dict(CUDA_VISIBLE_DEVICES="2,1"), 2), (dict(CUDA_DEVICE_ORDER="PCI_BUS_ID"), 3),
                               (dict(CUDA_DEVICE_ORDER="PCI_BUS_ID", CUDA_VISIBLE_DEVICES="1"), 2)):
            _, err = self.run_program(*self.command, env=dict(environment(devices=4), **variables))
            self.assertIn(f"cuda 0 (emulated GPU {gpu}, ", err)

    def test_what_fails_beside_memory_is_no_lack_of_it(self):
        self.use_toy()
        err = self.fails_with(environment(fault="cuMemsetD8Async:1=CUDA_ERROR_LAUNCH_FAILED"), "CUDA_ERROR_LAUNCH_FAILED")
        self.assertNotIn("of the plan's", err)

    def test_memory(self):
        self.use_toy()
        self.fails_with(environment(memory=2000000, fault="cuMemAlloc:1=CUDA_ERROR_OUT_OF_MEMORY"), "arena 'persistent': expected", "of GPU 0 (",
                  "free of 2000000; of the plan's")
        self.fails_with(environment(fault="cuMemHostAlloc:1=CUDA_ERROR_OUT_OF_MEMORY"), "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY")
        self.fails_with(environment(fault="cuModuleLoadDataEx:1=CUDA_ERROR_OUT_OF_MEMORY"), "expected room for the plan's code for compute_80 on GPU 0 (",
                  " free of 4294967296; end what else uses the GPU")
        self.fails_with(environment(fault="cuGraphInstantiateWithFlags:1=CUDA_ERROR_OUT_OF_MEMORY"), "while entry ", "cuGraphInstantiateWithFlags: CUDA_ERROR_OUT_OF_MEMORY")

    def test_kernels(self):
        self.use_toy()
        self.fails_with(environment(fault="cuLaunchKernel:1=CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), TOY + "cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
        # Asynchronous device errors are reported by any later call.
        self.fails_with(environment(fault="cuGraphLaunch:9=CUDA_ERROR_ILLEGAL_ADDRESS"), "while entry ", "CUDA_ERROR_ILLEGAL_ADDRESS", "compute-sanitizer")

    def test_libraries(self):
        self.use_gpt()
        self.fails_with(emulated_gpus.broken(environment(), "libcublasLt.so.13"), GPT + "cannot load libcublasLt.so.13", "install cuBLAS")
        self.fails_with(emulated_gpus.broken(environment(), "libcudnn.so.9"), GPT + "cannot load libcudnn.so.9", "install cuDNN 9.18 or newer for CUDA 13")
        self.fails_with(environment(cublaslt=120800), GPT + "expected cuBLASLt 13.", "found 12.8.0; install cuBLAS")
        self.fails_with(environment(cudnn=90900), GPT + "expected cuDNN 9.", "found 9.9.0; install cuDNN 9.18 or newer")
        self.fails_with(environment(fault="cublasLtCreate:1=CUBLAS_STATUS_ALLOC_FAILED"), GPT + r"cublasLtCreate: error 3 \(CUBLAS_STATUS_ALLOC_FAILED\)")
        self.fails_with(environment(fault="cublasLtMatmul:3=CUBLAS_STATUS_EXECUTION_FAILED"), GPT + r"cublasLtMatmul: error 13 \(CUBLAS_STATUS_EXECUTION_FAILED\)")
        self.fails_with(environment(fault="cudnnBackendExecute:2=CUDNN_STATUS_EXECUTION_FAILED"), GPT + "cudnnBackendExecute: CUDNN_STATUS_EXECUTION_FAILED")


if __name__ == "__main__":
    harness.main()
