"""The checklist for GPUs on emulated libraries: it passes, it fails if something is wrong, and it names what is missing."""

import json
import os
from pathlib import Path

import paths  # noqa: F401
import harness
import kit
import plans
import prepare
import report
from kit_of_tests import GPU, emulated_kit
from parts_test import PartsTest  # noqa: F401: one program runs all tests of the folder, with one kit
from stages import stages
from stand_ins_test import StandInsTest  # noqa: F401


class ChecklistTest(harness.EndToEndTest):
    @classmethod
    def setUpClass(cls):
        cls.kit = emulated_kit()

    def checklist(self, *arguments, code=0, **environment):
        """(output, results)."""
        out, _ = self.run_program(GPU / "run.sh", "--emulated", f"--kit={self.kit}", "--out=results", *arguments, code=code, timeout=300,
                                  env=os.environ | environment)
        return out, report.read(next(Path("results").glob("*.json")))

    def small_kit(self, *names):
        """Makes kit/ of the kit, with these plans and the one by which the GPU is found; its manifest."""
        manifest = json.loads((self.kit / kit.MANIFEST).read_text())
        manifest["plans"] = {name: plan for name, plan in manifest["plans"].items() if name in (*names, plans.WITHOUT_LIBRARIES)}
        Path("kit").mkdir()
        for part in self.kit.iterdir():
            if part.name != kit.MANIFEST:
                Path("kit", part.name).symlink_to(part)
        Path("kit", kit.MANIFEST).write_text(json.dumps(manifest))
        return manifest

    def verdicts(self, results):
        return {line["name"]: line["verdict"] for line in report.lines_of(results)}

    def test_passes(self):
        out, results = self.checklist()
        self.assertEqual(list(results["stages"]), list(stages(True)))
        self.assertNotIn("FAIL", out)
        self.assertGreater(report.counts(results)["PASS"], 20)
        self.assertEqual(self.verdicts(results)["cases"], "PASS")
        page = next(Path("results").glob("*.md")).read_text()
        self.assertTrue(page.startswith("# The checklist for GPUs on emulated libraries (test/emulator), not on a GPU\n"))
        self.assertNotRegex(page + json.dumps(results), r"tokens/s|seconds")  # nothing is timed

    def test_a_fault_fails_and_stops_nothing(self):
        self.small_kit("gpt-bf16", "mlp-gradients")
        out, results = self.checklist("--kit=kit", "--stage=golden,memory", code=1, TRAINC_EMULATOR_FAULT="cuGraphLaunch:3=CUDA_ERROR_ILLEGAL_ADDRESS")
        verdicts = self.verdicts(results)
        self.assertEqual(verdicts["gpt, bf16, ten steps"], "FAIL")
        self.assertEqual(verdicts["mlp, fp32, gradients"], "PASS")  # one step has no graph
        self.assertEqual(verdicts["gpt-bf16"], "PASS")
        self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS", json.dumps(results["stages"]["golden"]))
        self.assertIn("FAIL    gpt, bf16, ten steps", out)

    def test_other_bytes_than_planned_fail(self):
        manifest = self.small_kit("mlp-fp32")
        manifest["plans"]["mlp-fp32"]["peak_bytes"] += 1
        Path("kit", kit.MANIFEST).write_text(json.dumps(manifest))
        out, results = self.checklist("--kit=kit", "--stage=memory", code=1)
        self.assertEqual(self.verdicts(results)["mlp-fp32"], "FAIL")
        self.assertEqual(report.counts(results)["FAIL"], 1)
        self.assertRegex(out, r"FAIL +mlp-fp32: expected \d+ bytes, found \d+ in the dry run and \d+ allocated")

    def test_a_gpu_that_is_too_small_is_said(self):
        self.small_kit("mlp-fp32", "one-rank")
        _, results = self.checklist("--kit=kit", "--stage=memory", TRAINC_EMULATOR_MEMORY="34950000")
        verdicts = self.verdicts(results)
        self.assertEqual((verdicts["mlp-fp32"], verdicts["one-rank"]), ("PASS", "SKIPPED"))
        self.assertRegex(json.dumps(results), r"SKIPPED[^}]*expected \d+ bytes[^}]* of 34950000")

    def test_stages_are_joined(self):
        self.checklist("--stage=facts")
        _, results = self.checklist("--stage=cases")
        self.assertEqual(list(results["stages"]), ["facts", "cases"])
        first = next(Path("results").glob("*.json"))
        out, _ = self.run_program(GPU / "run.sh", "--join", first, first, "--out=joined")
        self.assertIn("joined/", out)
        page = next(Path("joined").glob("*.md")).read_text()
        self.assertIn("Stages that did not run: calls, device, golden, ", page)
        other = json.loads(first.read_text()) | {"device": "another"}
        Path("other.json").write_text(json.dumps(other))
        self.fails([GPU / "run.sh", "--join", first, "other.json", "--out=joined"], 2, "results of different runs: device is")
        Path("other.json").write_text("{}")
        self.fails([GPU / "run.sh", "--join", "other.json", "--out=joined"], 2, "other.json: expected results of test/gpu/run.sh")

    def test_what_libraries_refuse_is_listed_and_ends_nothing(self):
        self.small_kit("gpt-bf16", "gpt-plain")
        out, results = self.checklist("--kit=kit", "--stage=calls", code=1, TRAINC_EMULATOR_EPILOGUES="none")
        verdicts = self.verdicts(results)
        self.assertEqual((verdicts["gpt-bf16"], verdicts["gpt-plain"]), ("FAIL", "PASS"))
        self.assertRegex(out, r"FAIL +gpt-bf16: \d+ of \d+ calls were refused, of \d+ kinds; the first: h.0.attn.c_attn: nn.product at ")
        self.assertIn("compile the model with --library-calls=plain", out)
        kinds = next(line for line in results["stages"]["calls"]["lines"] if line["name"] == "gpt-bf16")["figures"]
        for kind, found in kinds.items():
            has_epilogue = any(word in kind for word in ("bias", "gelu", "sums of"))
            self.assertEqual(found["refused"], found["calls"] if has_epilogue else 0, kind)
        self.assertGreater(sum(found["refused"] for found in kinds.values()), 20)  # of all entries

    def test_calls_go_on_where_the_time_was_over(self):
        self.small_kit("gpt-plain")
        out, results = self.checklist("--kit=kit", "--stage=facts,calls", "--minutes=1.5")
        self.assertEqual(list(results["stages"]), ["facts"])
        self.assertRegex(out, r"calls: left for another call, as it may take 120 s, of which \d+ are left")
        out, results = self.checklist("--kit=kit", "--stage=facts,calls", "--minutes=9")
        self.assertEqual(list(results["stages"]), ["facts", "calls"])
        self.assertNotIn("facts:", out)

    def test_errors_say_what_to_do(self):
        self.fails([GPU / "run.sh", "--kit=nowhere"], 2, "nowhere: expected a kit, found no kit.json; make one with test/gpu/prepare.sh on")
        self.fails([GPU / "run.sh", f"--kit={self.kit}"], 2, "expected a kit for GPUs, found an emulated one; run both")
        self.fails([GPU / "run.sh", "--stage=goldne"], 2, "expected names of facts, calls, device, ", "found 'goldne'")
        self.fails([GPU / "run.sh", "--join", "a.json", "--emulated"], 2, "--join runs nothing")
        self.fails([GPU / "run.sh", "--minutes=0"], 2, "--minutes=0.0: expected a number above 0")
        self.fails([GPU / "run.sh", "--emulated", f"--kit={self.kit}", "--out=results"], 2, "trainrun finds no GPU that it can use", "7.5",
                   env=os.environ | {"TRAINC_EMULATOR_CAPABILITY": "7.5"})
        Path("full").mkdir()
        Path("full", "file").write_text("")
        self.fails([GPU / "prepare.sh", "--out=full"], 2, "--out=full: expected a new folder or a kit")
        self.fails([GPU / "prepare.sh", "--build=nowhere", "--out=new"], 1, "nowhere/bin/trainrun: expected a program, found none; build it")
        with self.assertRaisesRegex(prepare.PrepareError, r"expected at most 1000 bytes with the \d+ of the tracked files, found \d+; leave plans out"):
            prepare.check_size(self.kit, 1000)


if __name__ == "__main__":
    harness.main()
