"""Forty steps in one run equal twenty steps, `kill -9`, and a resumption, in every byte of the final checkpoint."""

import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import harness
import small_gpt
from harness import TRAINRUN

FINAL = "step-00000040"


class ResumeTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.plan = self.compile(small_gpt.text(("schedule constant", "schedule cosine(warmup 5, total 40, minimum 1e-4)"),
                                                ("steps 10", "accumulate 2\n  steps 40")))
        # 40 steps take 640 samples: more than six epochs.
        small_gpt.write_tokens("tokens.bin", 101)
        small_gpt.write_tokens("eval.bin", 20, seed=2)

    def arguments(self, folder, *more):
        return [TRAINRUN, self.plan, "--data", "tokens.bin", "--eval-data", "eval.bin", "--eval-every", "7",
                "--checkpoint-dir", folder, "--metrics", f"{folder}.jsonl", *more]

    def kill_when(self, condition, *arguments):
        """Starts a run and kills it when the condition holds; false when it ended before."""
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 50
        while process.poll() is None and not condition():
            self.assertLess(time.monotonic(), deadline, "the condition never held")
            time.sleep(0.0005)
        process.kill()
        err = process.communicate()[1]
        self.assertIn(process.returncode, (-signal.SIGKILL, 0), err)
        return process.returncode != 0

    def losses(self, folder):
        """Step -> metrics, without times; a resumed run repeats no step."""
        lines = harness.metrics(f"{folder}.jsonl")
        keys = [(line["step"], "eval_loss" in line) for line in lines]
        self.assertEqual(len(keys), len(set(keys)))
        return [{key: line[key] for key in ("step", "loss", "lr", "grad_norm", "eval_loss") if key in line}
                for line in lines]

    def test_kill_after_step_20(self):
        self.run_program(*self.arguments("whole", "--seed", "7"))
        # Endless, so that it cannot end before it is killed; the schedule ends at 40 in any case.
        endless = self.arguments("half", "--seed", "7", "--checkpoint-every", "20", "--steps", "1000000")
        self.assertTrue(self.kill_when(Path("half/step-00000020").exists, *endless))
        for later in set(Path("half").glob("step-*")) - {Path("half/step-00000020")}:
            shutil.rmtree(later)  # of a machine so slow that the next checkpoint came before the kill
        _, err = self.run_program(*self.arguments("half", "--resume", "--threads", "1"))
        self.assertIn("step 21/40", err)
        self.assert_same_folder(f"whole/{FINAL}", f"half/{FINAL}")
        self.assertEqual(self.losses("whole"), self.losses("half"))

    def test_kills_at_any_moment(self):
        self.run_program(*self.arguments("whole", "--no-shuffle"))
        numbers = random.Random(3)
        kills = 0

        def arguments():
            """A run that resumes keeps its order of samples; on a slow machine no run may have got to a checkpoint."""
            order = [] if any(Path(".").glob("often/step-*")) else ["--no-shuffle"]
            return self.arguments("often", "--checkpoint-every", "1", "--keep-last", "2", "--resume=auto", *order)

        def is_there(step, pattern):
            """A file or folder of a checkpoint of that step or a later one, finished or not."""
            return any(int(re.search(r"step-(\d{8})", str(path))[1]) >= step for path in Path("often").glob(pattern))

        # From before the first checkpoint to late in the run: when one is begun, at each of its files, and when it is complete.
        moments = [".tmp-step-????????", *(f".tmp-step-????????/{file}" for file in ["model.safetensors", "optimizer.safetensors", "trainer_state.json"]),
                   "step-????????"]
        self.assertTrue(self.kill_when(lambda: True, *arguments()))
        for step, moment in zip(sorted(numbers.sample(range(1, 34), 7)), [*moments, *moments]):
            kills += self.kill_when(lambda: is_there(step, moment), *arguments())
        self.assertGreater(kills, 1)
        self.run_program(*arguments())
        self.assert_same_folder(f"whole/{FINAL}", f"often/{FINAL}")
        self.assertEqual(len(list(Path("often").iterdir())), 2, "left-overs of unfinished checkpoints")

    def test_another_model_of_equal_shapes_is_named(self):
        """Heads, masks and the like change no shape: what is evaluated, continued or generated is another model."""
        self.run_program(*self.arguments("whole", "--steps", "3"))
        named = "step-00000003: its weights are of a model with another text than this plan's"
        text = small_gpt.text(("schedule constant", "schedule cosine(warmup 5, total 40, minimum 1e-4)"), ("steps 10", "accumulate 2\n  steps 40"))
        same = self.compile("// The same model, written otherwise.\n" + text.replace("%x", "%stream"), to="same.plan")
        other = self.compile(text.replace(" causal", ""), to="other.plan")
        for given in (["--eval-data", "eval.bin"], ["--data", "tokens.bin", "--steps=4"]):
            for plan, is_other in ((same, False), (other, True)):
                _, err = self.run_program(TRAINRUN, plan, "--resume=whole", *given)
                self.assertEqual(named in err, is_other, err)
        _, err = self.run_program(TRAINRUN, other, "--init=whole", "--eval-data", "eval.bin")
        self.assertIn("its weights are of a model with another text", err)

    def test_a_run_of_another_length_is_told_as_just_that(self):
        text = small_gpt.text(("schedule constant", "schedule linear(warmup 1)"), ("steps 10", "accumulate 2\n  steps 3"))
        self.run_program(TRAINRUN, self.compile(text, to="three.plan"), "--data", "tokens.bin", "--checkpoint-dir", "whole")
        longer = self.compile(text.replace("steps 3", "steps 5"), to="five.plan")
        _, err = self.run_program(TRAINRUN, longer, "--resume=whole", "--data", "tokens.bin", "--checkpoint-dir=other", "-q")
        self.assertRegex(err, r"\Awarning: the run is longer, 5 steps instead of 3, and the linear schedule with it: the last step's learning rate was \S+, the next one's is [^\n]*\n\Z")

    def test_another_total_of_the_schedule_is_no_other_run(self):
        text = small_gpt.text(("schedule constant", "schedule cosine(warmup 1, total 40)"), ("steps 10", "accumulate 2\n  steps 3"))
        self.run_program(TRAINRUN, self.compile(text, to="forty.plan"), "--data", "tokens.bin", "--checkpoint-dir", "whole")
        resume = ["--resume=whole", "--data", "tokens.bin", "-q", "--steps=4"]
        for change, said in [(("total 40", "total 30"), "the cosine schedule's total was 40 steps, and is 30 in this plan: "),
                             ((", total 40", ""), "the cosine schedule had a total of 40 steps, and ends with the run's 4 steps in this plan: ")]:
            _, err = self.run_program(TRAINRUN, self.compile(text.replace(*change), to="changed.plan"), *resume)
            self.assertRegex(err, rf"\Awarning: {said}the last step's learning rate was \S+, the next one's is \S+; a plan with the schedule of before keeps one curve\n\Z")

    def test_a_plan_of_another_length_is_not_blamed_on_the_data(self):
        self.run_program(*self.arguments("whole", "--steps", "3"))
        length = small_gpt.LENGTH
        half = self.compile(small_gpt.text(("schedule constant", "schedule cosine(warmup 5, total 40, minimum 1e-4)"), ("steps 10", "accumulate 2\n  steps 40")),
                            f"--seq-len={length // 2}", to="half.plan")
        resume = [TRAINRUN, half, "--resume=whole", "--data", "tokens.bin", "--checkpoint-dir=other", "--steps=4"]
        self.fails(resume, 2, f"step-00000003: the plan has samples of another length than the run that is resumed: expected --seq-len={length}, found {length // 2}; "
                   f"compile with --seq-len={length}, or add --allow-changes")
        _, err = self.run_program(*resume, "--allow-changes")
        self.assertIn(f"seq_len was {length} and is {length // 2} in this plan", err)

    def test_settings_that_changed_are_named(self):
        self.run_program(*self.arguments("whole", "--steps", "3"))
        changed = self.compile(small_gpt.text(("steps 10", "accumulate 1\n  steps 40"), ("clip 1.0", "clip 0.5 group \"wte.*\" lr_scale 0.1")), to="changed.plan")
        _, err = self.run_program(TRAINRUN, changed, "--resume=whole", "--data", "tokens.bin", "--steps=4")
        self.assertRegex(err, r"clip was \S+ and is 0\.5, group was none and is \"wte\.\*\" lr_scale 0\.1, samples_per_step was 16 and is 8 in this plan")


class NoOptimizerStateTest(harness.EndToEndTest):
    """Without momentum, sgd keeps no tensors: optimizer.safetensors is a header alone."""

    def train(self, steps, folder, *more):
        return self.trainrun("model.plan", "--data", "tokens.bin", "--steps", steps, "--checkpoint-dir", folder, *more)

    def test_resumed_equals_uninterrupted(self):
        self.compile(small_gpt.text(("optimizer adamw(lr 1e-2, beta1 0.9, beta2 0.95, eps 1e-8, weight_decay 0.1)",
                                     "optimizer sgd(lr 1e-1)")))
        small_gpt.write_tokens("tokens.bin", 20)
        self.train(4, "whole")
        self.train(2, "half")
        _, err = self.train(4, "half", "--resume")
        self.assertIn("step 3/4", err)
        self.assert_same_folder("whole/step-00000004", "half/step-00000004")
        tensors = {step: harness.read_safetensors(f"half/step-0000000{step}/model.safetensors") for step in (2, 4)}
        self.assertNotEqual(tensors[2]["wte.weight"].values, tensors[4]["wte.weight"].values, "nothing was learned")
        self.assertEqual(harness.read_safetensors("half/step-00000004/optimizer.safetensors"), {})


if __name__ == "__main__":
    harness.main()
