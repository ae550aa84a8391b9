"""Plans that earlier versions of trainc made: they run as they did, or are rejected in one sentence."""

import json
import re
import subprocess
from pathlib import Path

import harness
import plan_versions
from harness import MAKE_TOY_PLAN, TRAINRUN

KEPT = Path(__file__).resolve().parent / "plans"


class PlanVersions(harness.EndToEndTest):
    def test_kept_plans_run_or_are_refused(self):
        kept = sorted(KEPT.glob("*.plan"))
        self.assertTrue(kept)
        for plan in kept:
            with self.subTest(plan.name):
                self.assertEqual(plan_versions.version_of(plan), plan.stem)
                done = subprocess.run(plan_versions.command(TRAINRUN, plan, Path(".")), capture_output=True, text=True, timeout=60)
                if done.returncode == 2:
                    self.assertRegex(done.stderr, rf"^error: \S+: plan format {re.escape(plan.stem)} is (older|newer) than this program's "
                                                  rf"{re.escape(self.current())}; [^\n]+\n$")
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                expected = json.loads(plan.with_suffix(".json").read_text())["losses"]
                self.assertEqual(len(expected), plan_versions.STEPS)
                self.assert_close(plan_versions.losses_in(Path(".")), expected, 1e-5, plan.name)

    def current(self):
        self.run_program(MAKE_TOY_PLAN, "current.plan")
        return plan_versions.version_of("current.plan")

    def test_a_plan_of_this_version_is_kept(self):
        version = self.current()
        self.assertTrue((KEPT / f"{version}.plan").exists(), f"no plan of format {version} is kept: run test/end_to_end/plans/keep.py and commit what it writes")
        self.assertEqual({path.stem for path in KEPT.glob("*.plan")}, {path.stem for path in KEPT.glob("*.json")})

    def test_another_version_is_refused_by_both_names(self):
        plan = (KEPT / f"{self.current()}.plan").read_bytes()
        own = int(self.current().split(".")[0])
        for major, minor, word in ((own - 1, 8, "older"), (99, 0, "newer"), (own, 99, "newer")):
            Path("other.plan").write_bytes(plan[:8] + major.to_bytes(4, "little") + minor.to_bytes(4, "little") + plan[16:])
            self.fails([TRAINRUN, "other.plan", "--device=null"], 2, f"error: other.plan: plan format {major}.{minor} is {word} than this program's {self.current()}; ")


if __name__ == "__main__":
    harness.main()
