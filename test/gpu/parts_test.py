"""Parts of the checklist by themselves, with made-up numbers and texts: they need no kit."""

import os
import re
import shutil
import unittest
from pathlib import Path
from unittest import mock

import paths
import facts_of_plans
import harness
import prepare
import vendor
from session import Failed
from stages import benchmark, calls, golden, kernels, sanitizer, stages

CUBLASLT, NCCL = "libcublasLt.so.13", "libnccl.so.2"
PROFILE = {
    "rates": {"copied_bytes": 3e12, "half_flops": 9e14, "flops_source": "H100"}, "steps": 2, "step_seconds": 0.3, "idle_seconds": 0.1,
    "rows": [{"entry": "micro_step", "what": "matrix product", "kind": "products", "source": "a:1", "calls": 2, "seconds": 0.1, "flops": 5e13,
              "bytes": 1e9, "least_seconds": 0.05},
             {"entry": "micro_step", "what": "rows_1", "kind": "kernels", "source": "b:2", "calls": 1, "seconds": 1e-3, "flops": 0, "bytes": 2.7e9,
              "least_seconds": 9e-4},
             {"entry": "micro_step", "what": "rows_small", "kind": "kernels", "source": "c:3", "calls": 9, "seconds": 1e-3, "flops": 0, "bytes": 9e3,
              "least_seconds": 1e-6},
             {"entry": "init", "what": "rows_2", "kind": "kernels", "source": "d:4", "calls": 1, "seconds": 5e-3, "flops": 0, "bytes": 1e9,
              "least_seconds": 4e-4}],
}  # fmt: skip
DUMP = """kernel rows_1 rows grid=1 threads=256 flops=0 (write f32 bytes=128)
entry micro_step flops=1 {
  3: matrix product 48 x 96 x 32 (a x, b w, out result y, bias b, out workspace s bytes=33554432)  // h.0: nn.product (gpt.mlir:4:10), predicted 3.22 us
  4: loop x2 {  // h.1: nn.chunks
    0: matrix product 48 x 96 x 32 (a x, b w, out result y, bias b, out workspace s bytes=33554432) after 1  // h.1: nn.product (gpt.mlir:4:10)
    1: launch rows_1 x1 (out x)  // h.1: nn.add (gpt.mlir:5:1)
  }
}
entry eval flops=1 {
  7: attention batch 3, 16 queries, 16 keys, bf16, causal, scale 0.35 (query q, out workspace s bytes=1048576)  // h.0: nn.attention (gpt.mlir:6:18)
}
"""
REPORTS = """========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at rows_1+0x120
=========     by thread (0,0,0) in block (0,0,0)
=========
========= Invalid __global__ write of size 16 bytes
=========     at cutlass_80_tensorop(Params)+0x40
=========
========= Target application returned an error
========= ERROR SUMMARY: 2 errors
"""


class PartsTest(harness.EndToEndTest):
    def folders(self, **libraries):
        """Folder -> its names; each as an absolute path."""
        for folder, names in libraries.items():
            Path(folder).mkdir()
            for name in names:
                Path(folder, name).touch()
        return [Path(folder).resolve() for folder in libraries]

    def test_takes_the_first_library_that_is_new_enough(self):
        old, none, new, newer = self.folders(old=[CUBLASLT], none=[], new=[CUBLASLT], newer=[CUBLASLT])
        versions = {old / CUBLASLT: 120900, new / CUBLASLT: 130000, newer / CUBLASLT: 130100}
        tell = versions.__getitem__
        self.assertEqual(vendor.choose(CUBLASLT, [none, old, new, newer], tell), vendor.Library(new, 130000, 130000))
        self.assertEqual(vendor.choose(CUBLASLT, [newer, new], tell).folder, newer)
        only = vendor.choose(CUBLASLT, [none, old], tell)
        self.assertEqual((only.folder, only.is_new_enough()), (old, False))
        self.assertIsNone(vendor.choose(CUBLASLT, [none], tell))

    def test_a_loader_finds_what_was_chosen(self):
        system, packages = self.folders(system=[CUBLASLT, NCCL], packages=[NCCL])
        chosen = {CUBLASLT: vendor.Library(system, 130000, 130000), NCCL: vendor.Library(packages, 23000, 22800)}
        self.assertEqual(vendor.search_path(chosen), [packages, system])

    def test_libraries_tell_their_versions(self):
        emulated = Path(os.environ.get("BUILD_FOLDER", paths.ROOT / "build"), "test", "emulator", "lib")
        with mock.patch.dict(os.environ, TRAINC_EMULATOR_CUBLASLT="130002", TRAINC_EMULATOR_CUDNN="91900", TRAINC_EMULATOR_NCCL_VERSION="22809"):
            found = {name: vendor.version_of(emulated / name) for name in vendor.LEAST if (emulated / name).exists()}
        self.assertEqual(found, {CUBLASLT: 130002, "libcudnn.so.9": 91900, NCCL: 22809})
        Path(CUBLASLT).write_text("no library")
        self.assertEqual(vendor.version_of(Path(CUBLASLT).resolve()), 0)

    @unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
    def test_nvrtc_tells_its_version(self):
        Path("nvrtc.c").write_text("int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 1; return 0; }\n")
        self.run_program("cc", "-shared", "-fPIC", "nvrtc.c", "-o", "libnvrtc.so.13")
        self.assertEqual(vendor.version_of(Path("libnvrtc.so.13").resolve()), 13010)

    def test_all_say_the_same_oldest_versions(self):
        def number(path, pattern):
            return int(re.search(pattern, (paths.ROOT / path).read_text()).group(1))

        cuda = paths.ROOT / "runtime" / "device" / "cuda"
        cmake = "cmake/TraincCuda.cmake"
        cublaslt, cudnn = (vendor.LEAST[name] for name in (CUBLASLT, "libcudnn.so.9"))
        self.assertEqual(number(cuda / "cublaslt_library.cpp", r"\.minVersion = (\d+)"), cublaslt)
        self.assertEqual(number(cuda / "cudnn_library.cpp", r"\.minVersion = (\d+)"), cudnn)
        self.assertEqual(number("runtime/cuda/driver_library.cpp", r"\.minVersion = (\d+)"), vendor.LEAST["libnvrtc.so.13"])
        self.assertEqual(number(cmake, r"elseif\(version LESS (\d+)\)") // 10, cublaslt // 100)
        self.assertEqual(number(cmake, r"cudnn_version LESS (\d+)"), cudnn)
        self.assertEqual(number(cmake, r"nccl_version LESS (\d+)"), vendor.LEAST[NCCL])
        self.assertIn("NCCL_VERSION(2, 28, 0)", (paths.ROOT / "runtime/comm/nccl/nccl_library.cpp").read_text())
        docs = (paths.ROOT / "docs" / "how-to" / "run-on-gpus.md").read_text()
        for text in ("`libcublasLt.so.13`, 13.0 or newer", "`libcudnn.so.9` for CUDA 13, 9.18 or newer", "`libnvrtc.so.13`"):
            self.assertIn(text, docs)

    def test_a_dump_shows_calls_and_kernels(self):
        self.assertEqual(facts_of_plans.kernels(DUMP), ["rows_1"])
        self.assertEqual(facts_of_plans.calls(DUMP), {
            "matrix product 48 x 96 x 32, bias": [["micro_step", "3", "h.0: nn.product"], ["micro_step", "0", "h.1: nn.product"]],
            "attention batch 3, 16 queries, 16 keys, bf16, causal, scale 0.35": [["eval", "7", "h.0: nn.attention"]]})  # fmt: skip

    def test_refusals_are_read(self):
        text = ("error: a.plan: entry micro_step, instruction 3 (h.0: nn.product at a.mlir:4): matrix product: expected b, found c; do (d)\n"
                "entry eval, instruction 7 (nn.matmul): no\n")  # fmt: skip
        self.assertEqual(calls.REFUSED.findall(text), [
            ("micro_step", "3", "h.0: nn.product", " at a.mlir:4", "matrix product: expected b, found c; do (d)"),
            ("eval", "7", "nn.matmul", "", "no")])  # fmt: skip

    def test_each_call_has_its_verdict(self):
        refused = {("micro_step", "0", "h.1: nn.product"): "no such product", ("init", "2", "x"): "no such thing"}
        rows = calls.rows("gpt", facts_of_plans.calls(DUMP), refused)
        self.assertEqual([row[2:] for row in rows], [[2, 1, "no such product"], [1, 0, ""], [1, 1, "no such thing"]])

    def test_cases_come_from_the_tests_of_kernels(self):
        commands = list(prepare.case_commands(prepare.CASE_TESTS / "ops-bf16.test", "CHECK"))
        self.assertIn(f"CHECK {prepare.CASE_TESTS}/../elementwise.mlir --bound=1.6e-06 --precision=bf16", commands)
        self.assertFalse([command for command in commands if "%" in command])

    def test_reports_of_the_sanitizer_are_divided(self):
        own, others = sanitizer.divided(sanitizer.reports_of(REPORTS), ["rows_1", "rows_12"])
        self.assertEqual([len(own), len(others)], [1, 1])
        self.assertIn("rows_1+0x120", own[0])
        self.assertIn("cutlass", others[0])

    def test_every_stage_fits_a_call(self):
        for emulated in (False, True):
            for name, stage in stages(emulated).items():
                self.assertLess(stage.seconds, 9 * 60, name)
        self.assertEqual(set(benchmark.PEER_SECONDS), {"tiny", "gpt2", "gpt2-xl"})

    def test_kernels_stand_beside_a_copy(self):
        self.assertEqual(kernels.copy_shares(PROFILE), [("rows_1", "b:2", 0.9)])
        self.assertEqual([row[1] for row in kernels.table(PROFILE)], ["matrix product", "rows_1", "rows_small"])
        self.assertEqual(kernels.table(PROFILE)[0][5:], ["500.0", "10", "50%"])

    def test_idle_is_a_lower_bound(self):
        self.assertAlmostEqual(kernels.least_idle_share(PROFILE, 0.101), 1 - 0.1 / 0.101)
        self.assertEqual(kernels.least_idle_share(PROFILE, 0.09), 0)

    def test_what_lies_beyond_its_bound_fails(self):
        self.assertEqual(golden.worst({"a": (0.1, 1), "b": (0.2, 1)}), "b: 0.2 of 1")
        for error in (2, float("nan"), float("inf")):
            with self.assertRaisesRegex(Failed, "a: .* of 1"):
                golden.worst({"a": (error, 1), "b": (0.2, 1)})


if __name__ == "__main__":
    harness.main()
