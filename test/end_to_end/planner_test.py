"""`trainc estimate`, and decisions of `trainc compile --memory-limit`: estimates without code equal compiled plans."""

import json
import os
import re
import subprocess
from pathlib import Path

import harness
import small_gpt
from harness import TRAINC

EXAMPLE = harness.ROOT / "examples/gpt/small.mlir"
STEP = (200 if harness.ALL_COMBINATIONS else 450) << 10  # bytes from limit to limit
TWO = ["--ranks=2", "--micro-batch=4", "--offload=none"]


# The loss of a sample depends on the others of its micro-batch.
CONTRASTIVE = """nn.model @pairs(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) {
  %a = nn.linear "a" %x to 128
  %b = nn.linear "b" %y to 128
  %s = nn.matmul %a, %b transposed
  %ab = nn.mul %a, %b
  %own = nn.reduce sum %ab over [1]
  %e = nn.exp %s
  %sum = nn.reduce sum %e over [1]
  %all = nn.log %sum
  %l = nn.sub %all, %own
  nn.loss "loss" %l
}
train.program @p { model @pairs optimizer adamw(lr 1e-3) batch 256 }
"""


class PlannerTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        Path("gpt.mlir").write_text(small_gpt.text())

    def report(self, *options):
        cpu = [] if "--target=cuda" in options else ["--cpu=native"]
        self.trainc("compile", "gpt.mlir", "-o", "gpt.plan", *cpu, "--report=report.json", *options)
        return json.loads(Path("report.json").read_text())

    def estimate(self, *options):
        return json.loads(self.trainc("estimate", "gpt.mlir", "--json", *options)[0])

    def options_of(self, strategy):
        return [f"--{word.replace('_', '-')}={value}" for word, value in strategy["settings"].items()]

    def bytes(self, strategy):
        return strategy["needed_bytes"]

    def assert_table(self, table, strategies):
        """The table has the strategies by time, marks the one that is taken, and fits a terminal."""
        self.assertLessEqual(max(map(len, table.splitlines())), 100, table)
        by_time = sorted(strategies, key=lambda each: each["predicted_step_seconds"])
        lines = table.splitlines()[2:]
        for line, each in zip(lines, by_time):
            self.assertTrue(line.endswith("  " + each["verdict"]), f"{line}\n{each}\n{table}")
            self.assertEqual(line.startswith("*"), each["verdict"].startswith("the fastest"), table)
            self.assertIn(f"  {each['predicted_step_seconds']:.4g}  ", line)

    # --- Samples that are combined ---

    def compile_pairs(self, *options, **kwargs):
        Path("pairs.mlir").write_text(CONTRASTIVE)
        _, err = self.trainc("compile", "pairs.mlir", "-o", "pairs.plan", "--cpu=native", "--report=report.json", *options, **kwargs)
        return json.loads(Path("report.json").read_text()), err

    def test_a_limit_leaves_combined_samples_together(self):
        whole, err = self.compile_pairs()
        self.assertNotIn("combined", err)
        limit = int(whole["memory"]["peak"]) + int(whole["memory"].get("unplanned", 0)) - (200 << 10)
        for bytes in (limit, limit + (8 << 20)):
            done = subprocess.run([TRAINC, "compile", "pairs.mlir", "-o", "limited.plan", "--cpu=native", f"--memory-limit={bytes}", "--report=limited.json"],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                settings = {each["setting"]: each["value"] for each in json.loads(Path("limited.json").read_text())["settings"]}
                self.assertEqual((settings["micro_batch"], settings["accumulate"]), ("256", "1"))
            else:
                self.assertRegex(done.stderr, r"--micro-batch stays at 256, because the loss combines the samples of a micro-batch \(pairs.mlir:4\)")

    def test_why_combined_samples_are_not_split(self):
        """Also where the process alone exceeds the limit, and in the table of strategies."""
        Path("pairs.mlir").write_text(CONTRASTIVE)
        self.fails([TRAINC, "compile", "pairs.mlir", "-o", "limited.plan", "--memory-limit=2MiB"], 2,
                   "; or: --micro-batch stays at 256, because the loss combines the samples of a micro-batch (pairs.mlir:4): a smaller one keeps fewer activations, but changes the loss\n")
        out, _ = self.trainc("estimate", "pairs.mlir", "--memory=2MiB")
        self.assertTrue(out.endswith("\ntrainc compile --memory-limit also tries more checkpointing and offload; a smaller --micro-batch changes the loss, which combines the "
                                     "samples of a micro-batch (pairs.mlir:4)\n"), out)
        out, _ = self.trainc("estimate", "gpt.mlir", "--memory=2MiB")
        self.assertTrue(out.endswith("\ntrainc compile --memory-limit also tries smaller micro-batches, more checkpointing and offload\n"), out)

    def test_what_the_loss_of_combined_samples_means(self):
        _, err = self.compile_pairs("--micro-batch=64", "--accumulate=4")
        self.assertRegex(err, r"pairs.mlir:4:\d+: warning: samples of a micro-batch are combined here: the loss of a step is the mean of those of 4 "
                              r"micro-batches of 64 samples, not that of 256 samples together")
        _, err = self.compile_pairs("--ranks=2", "--micro-batch=1")
        self.assertIn("2 micro-batches of 1 samples, not that of 2 samples together", err)
        _, err = self.compile_pairs("--eval-batch=32")
        self.assertRegex(err, r"pairs.mlir:4:\d+: warning: samples of a batch are combined here: the loss of evaluation is that of batches of 32 samples")
        _, err = self.trainc("compile", "gpt.mlir", "-o", "gpt.plan", "--cpu=native", "--accumulate=4")
        self.assertNotIn("combined", err)

    # --- estimate ---

    def test_estimates_are_what_plans_take(self):
        strategies = self.estimate(*TWO)["strategies"]
        self.assertEqual({strategy["settings"]["zero_stage"] for strategy in strategies}, {"0", "1", "2", "3"})
        for strategy in strategies[:3] + strategies[-3:]:
            with self.subTest(strategy=strategy["settings"]):
                report = self.report(*TWO, *self.options_of(strategy))
                self.assertEqual({kind: report["memory"][kind] for kind in strategy["memory"]}, strategy["memory"])
                self.assertEqual(report["flops_per_step"], strategy["flops_per_step"])
                self.assertEqual(sum(kind["bytes"] for kind in report["collectives"].values()), strategy["sent_bytes"])

    def test_estimates_of_offload_are_what_plans_take(self):
        strategies = self.estimate("--activation-checkpointing=none")["strategies"]
        self.assertEqual([strategy["settings"]["offload"] for strategy in strategies], ["none", "optimizer", "optimizer,gradients,parameters", "activations"])
        for strategy in strategies:
            report = self.report("--activation-checkpointing=none", *self.options_of(strategy))
            self.assertEqual({kind: report["memory"][kind] for kind in strategy["memory"]}, strategy["memory"])
            self.assertEqual(report["offloaded_memory"], strategy["offloaded_memory"])
            # With a single micro-batch, gradients are consumed at once.
            self.assertEqual({kind for kind, held in strategy["offloaded_memory"].get("disk", {}).items() if held},
                             {*strategy["settings"]["offload"].split(",")} - {"none", "gradients"})
        for offloaded in strategies[1:]:
            self.assertGreater(offloaded["memory"]["disk"], 0)
            self.assertLess(self.bytes(offloaded), self.bytes(strategies[0]))

    def test_what_is_given_stays(self):
        (strategy,) = self.estimate(*TWO, "--zero-stage=2", "--activation-checkpointing=selective")["strategies"]
        self.assertEqual(strategy["settings"], {})
        one = self.estimate()["strategies"]
        self.assertTrue(all("zero_stage" not in strategy["settings"] for strategy in one))
        self.assertEqual([strategy["settings"]["activation_checkpointing"] for strategy in one], 4 * ["none", "selective", "full"])

    @harness.in_matrix
    def test_a_stage_that_offloads_at_a_lower_price(self):
        """Stage 1 takes more seconds and bytes than stage 2 with all in memory, and fewer seconds with the optimizer on disk."""
        options = ["--ranks=2", "--micro-batch=1", "--accumulate=8", "--activation-checkpointing=none"]
        limit, seconds = 54 << 20, {}
        for stage in range(4):
            (strategy,) = json.loads(self.trainc("estimate", EXAMPLE, "--json", f"--zero-stage={stage}", "--offload=optimizer", *options)[0])["strategies"]
            if self.bytes(strategy) <= limit:
                seconds[stage] = strategy["predicted_step_seconds"]
        self.trainc("compile", EXAMPLE, "--cpu=native", "--ranks=2", f"--memory-limit={limit}", "--report=report.json", "-o", "gpt.plan")
        found = json.loads(Path("report.json").read_text())["planner"]
        taken = found["strategies"][found["taken"]]["predicted_step_seconds"]
        self.assertEqual(min(seconds, key=seconds.get), 1)
        self.assertLessEqual(taken, seconds[1])

    def test_the_fastest_that_fits(self):
        strategies = self.estimate(*TWO)["strategies"]
        limit = sorted(map(self.bytes, strategies))[len(strategies) // 2]
        found = self.estimate(*TWO, f"--memory={limit}")["fastest"]
        fitting = [i for i, strategy in enumerate(strategies) if self.bytes(strategy) <= limit]
        self.assertEqual(found, min(fitting, key=lambda i: strategies[i]["predicted_step_seconds"]))
        self.assertIsNone(self.estimate(*TWO, "--memory=1KiB")["fastest"])
        table, _ = self.trainc("estimate", "gpt.mlir", *TWO, f"--memory={limit}")
        self.assertEqual(table.count("the fastest that fits"), 1)
        self.assertEqual(len(table.splitlines()), 3 + len(strategies))
        self.assertIn("\ntrainc compile --memory-limit also tries ", table)
        self.assertEqual(table.count(" too much"), len(strategies) - len(fitting))
        judged = self.estimate(*TWO, f"--memory={limit}")["strategies"]
        self.assert_table(table, judged)
        self.assertEqual([each["verdict"].endswith(" too much") for each in judged], [self.bytes(each) > limit for each in strategies])

    def test_what_a_host_has_no_room_for_is_too_much(self):
        for memory in ([], ["--memory=1TiB"]):
            gpu = ["--target=cuda", "--host-memory=1B", *memory]
            found = self.estimate(*gpu)
            judged = found["strategies"]
            for strategy in judged:
                self.assertEqual(strategy["verdict"].endswith(" too much on host"), strategy["memory"]["host"] > 0, strategy)
            self.assertEqual({strategy["memory"]["host"] > 0 for strategy in judged}, {False, True})
            self.assertEqual(judged[found["fastest"]]["memory"]["host"], 0)
            self.assert_table(self.trainc("estimate", "gpt.mlir", *gpu)[0], judged)

    def test_a_memory_limit_is_what_estimates_compare_with(self):
        options = ["--offload=none", "--accumulate=1"]
        limit = self.bytes(self.estimate(*options)["strategies"][1])
        strategies = self.estimate(*options, f"--memory={limit}")["strategies"]
        Path("limited.mlir").write_text(small_gpt.text(("  optimizer ", f"  memory_limit {limit}\n  optimizer ")))
        for model, given in (("gpt.mlir", [f"--memory-limit={limit}"]), ("limited.mlir", []), ("gpt.mlir", ["--memory-limit=1GiB", f"--memory={limit}"])):
            with self.subTest(model=model, given=given):
                found = json.loads(self.trainc("estimate", model, "--json", *options, *given)[0])
                self.assertEqual(found, {"strategies": strategies, "fastest": 1})
        self.assertIn(" too much", self.trainc("estimate", "limited.mlir", *options)[0])

    def test_what_an_estimate_of_a_budget_advises_works(self):
        Path("budget.mlir").write_text(small_gpt.text(("  optimizer ", "  activation_checkpointing budget\n  optimizer ")))
        for model, given in (("budget.mlir", []), ("budget.mlir", ["--memory-limit=1GiB"]), ("gpt.mlir", ["--activation-checkpointing=budget"])):
            self.fails([TRAINC, "estimate", model, *given], 2, f"{model}:", "error: activation_checkpointing budget leaves nothing to compare",
                       "give --activation-checkpointing=none, selective or full", "leave activation_checkpointing out", "trainc compile --memory-limit=SIZE")
        for level in ("none", "selective", "full"):
            table, _ = self.trainc("estimate", "budget.mlir", "--offload=none", f"--activation-checkpointing={level}")
            self.assertEqual(table.count("  the fastest\n"), 1, table)
        self.trainc("compile", "budget.mlir", "--memory-limit=1GiB", "--report=report.json", "-o", "gpt.plan")
        self.assertGreater(json.loads(Path("report.json").read_text())["memory"]["peak"], 0)

    def test_bad_models_are_refused_once(self):
        Path("bad.mlir").write_text(small_gpt.text().replace("nn.linear", "nn.liner", 1))
        err = self.fails([TRAINC, "estimate", "bad.mlir"], 2, "bad.mlir:")
        self.assertEqual(err.count("error:"), 1, err)
        self.fails([TRAINC, "estimate", "none.mlir"], 2, "none.mlir")
        self.fails([TRAINC, "estimate", "gpt.mlir", "--memory=16GB"], 2, "write 16GiB")
        self.fails([TRAINC, "estimate", "gpt.mlir", "--data=x"], 2, "trainrun decides it")

    # --- --memory-limit ---

    def report_within(self, limit, *options):
        """The report of a plan under the limit; None, with an error that names the strategy, if nothing fits."""
        command = [TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", "--cpu=native", "--report=report.json", f"--memory-limit={limit}", *options]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            self.assertIn("which takes the least memory of all planned strategies, the plan needs", run.stderr)
            return None
        self.assertEqual(run.stderr.count("the fastest that fits\n"), 1)
        return json.loads(Path("report.json").read_text())

    def check_sweep(self, *options):
        """Each limit is below the previous plan's memory. The smaller the limit, the slower the fastest plan that fits."""
        limit, fastest, decided = 1 << 40, 0, []
        while report := self.report_within(limit, *options):
            planner, memory = report["planner"], report["memory"]
            taken = planner["strategies"][planner["taken"]]
            seconds = taken["predicted_step_seconds"]
            with self.subTest(limit=limit, taken=taken["settings"]):
                self.assertEqual(memory["peak"], taken["memory"]["peak"])
                self.assertLessEqual(self.bytes(taken), limit)
                self.assertEqual(seconds, min(each["predicted_step_seconds"] for each in planner["strategies"] if self.bytes(each) <= limit))
                self.assertGreaterEqual(seconds, fastest)
                settings = {each["setting"]: each for each in report["settings"]}
                for word, value in taken["settings"].items():
                    self.assertEqual((settings[word]["value"], settings[word]["source"]), (value, "derived: memory_limit"))
                self.assertEqual(int(settings["micro_batch"]["value"]) * int(settings["accumulate"]["value"]), small_gpt.BATCH)
            limit, fastest = self.bytes(taken) - STEP, seconds
            decided.append(taken["settings"])
        return decided

    def test_a_smaller_limit_takes_more_time(self):
        decided = self.check_sweep()
        self.assertGreater(len(decided), 3)
        self.assertLess(int(decided[-1]["micro_batch"]), small_gpt.BATCH)

    def test_what_was_decided_trains_as_before(self):
        """Recomputation changes no bit, and a step has the same samples however it is cut."""
        small_gpt.write_tokens("tokens.bin", 40)
        losses = {}
        most = self.report()["memory"]
        for name, limit in {"all": 1 << 40, "less": most["peak"] + most["unplanned"] - 1}.items():
            self.report(f"--memory-limit={limit}")
            self.trainrun("gpt.plan", "--data=tokens.bin", "--steps=4", f"--metrics={name}.jsonl")
            losses[name] = [line["loss"] for line in harness.metrics(f"{name}.jsonl")]
        for a, b in zip(*losses.values()):
            self.assertLess(abs(a - b), 2e-6 * a)

    def plan_text(self, *options):
        """The program of phase `plan` without the table of settings, which says where each comes from, and the options that the planner chose."""
        text, err = self.trainc("compile", EXAMPLE, "--compile-to=plan", *options)
        chosen = re.search("^took (.*?): ", err, re.MULTILINE)
        return re.sub(r"train\.settings = .*", "", text), chosen[1].split() if chosen else []

    @harness.in_matrix
    def test_the_plan_is_the_one_that_the_chosen_options_give(self):
        """Evaluated strategies are planned from copies of the program, and copies have other lists of uses."""
        gpu = ["--target=cuda", "--gpu-levels=none", "--precision=bf16"]
        for given in (["--memory-limit=62MiB"], ["--memory-limit=54MiB", "--ranks=2"], ["--memory-limit=54MiB"], ["--memory-limit=49MiB", "--ranks=4"],
                      ["--memory-limit=80MiB", "--activation-checkpointing=budget", "--offload=none", "--micro-batch=8"], ["--memory-limit=57MiB", "--reserve-memory=1MiB", *gpu]):  # fmt: skip
            with self.subTest(given=given):
                others = [option for option in given if option != "--activation-checkpointing=budget" and not option.startswith("--memory-limit")]
                planned, chosen = self.plan_text(*given)
                if "--activation-checkpointing=budget" in given:
                    chosen.append("--activation-checkpointing=full")
                self.assertGreater(len(chosen), 0)
                self.assertEqual(planned, self.plan_text(*others, *chosen)[0])

    def decided(self, *options):
        """The decision for examples/gpt/small.mlir under a limit: the chosen strategy, and the number of plans tried."""
        self.trainc("compile", EXAMPLE, "-o", "small.plan", "--report=small.json", *options)
        planner = json.loads(Path("small.json").read_text())["planner"]
        return planner["strategies"][planner["taken"]], len(planner["strategies"])

    def test_what_is_computed_again_is_not_copied(self):
        """Copying activations takes longer than recomputing them. No given checkpointing is faster than the planner's choice."""
        estimate = json.loads(self.trainc("estimate", EXAMPLE, "--json", "--offload=activations")[0])
        given = {each["settings"]["activation_checkpointing"]: each["predicted_step_seconds"] for each in estimate["strategies"]}
        self.assertLess(given["full"], given["none"])
        taken, tried = self.decided("--memory-limit=1GiB", "--offload=activations")
        self.assertLessEqual(taken["predicted_step_seconds"], min(given.values()))
        self.assertLess(tried, 14)

    @harness.in_matrix
    def test_a_smaller_limit_takes_more_time_where_all_states_are_offloaded(self):
        seconds = [self.decided(f"--memory-limit={mib}MiB")[0]["predicted_step_seconds"] for mib in (50, 49, 48)]
        self.assertEqual(seconds, sorted(seconds))

    @harness.in_matrix
    def test_states_whose_update_does_not_fit_do_not_go_alone(self):
        """The weights fetched by GPT-2's update do not fit beside parameters and gradients; no setting other than `optimizer` helps."""
        gpt2 = [harness.ROOT / "examples/gpt/gpt.mlir", "--cpu=native", "--memory-limit=1GiB"]
        self.trainc("compile", *gpt2, "-o", "gpt2.plan", "--report=gpt2.json")
        offloads = {each["settings"].get("offload") for each in json.loads(Path("gpt2.json").read_text())["planner"]["strategies"]}
        self.assertIn("optimizer,gradients", offloads)
        self.assertFalse(offloads & {"optimizer", "optimizer,activations", "optimizer,hidden_activations"})
        for alone in ("optimizer", "optimizer,activations"):
            self.fails([TRAINC, "compile", *gpt2, "-o", "gpt2.plan", f"--offload={alone}"], 2, "--memory-limit=")

    def test_what_takes_the_least_memory_is_found(self):
        """The minimum is not at maximum recomputation, if little more than an op's operands is in memory."""
        outside = ["--offload=optimizer,gradients,parameters", "--micro-batch=1", "--accumulate=8"]
        least = min(json.loads(self.trainc("estimate", EXAMPLE, "--json", *outside)[0])["strategies"], key=self.bytes)
        self.assertEqual(least["settings"]["activation_checkpointing"], "selective")
        _, table = self.trainc("compile", EXAMPLE, "--compile-to=plan", f"--memory-limit={self.bytes(least)}")
        self.assertEqual(table.count("the fastest that fits\n"), 1)

    def test_limits_that_nothing_fits_into_name_about_the_same_least(self):
        """Far below, fewer strategies are tried, and the named limit may be a little higher."""
        def named(limit):
            return re.search(r"the plan fits into --memory-limit=([0-9.]+)MiB", self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", f"--memory-limit={limit}MiB"], 2))[1]
        far = named(1)
        near = named(f"{0.985 * float(far):.6f}")
        self.assertLessEqual(float(near), float(far))
        self.assertLess(float(far), 1.01 * float(near))
        self.assertEqual(named(f"{0.985 * float(near):.6f}"), near)  # which is rounded up by less than 1 %
        for least in (near, far):
            self.trainc("compile", "gpt.mlir", "--compile-to=plan", f"--memory-limit={least}MiB")

    def test_what_else_would_help_if_nothing_fits_does(self):
        command = [TRAINC, "compile", EXAMPLE, "-o", "small.plan", "--memory-limit=46MiB"]
        err = self.fails(command, 2, "--offload=optimizer,gradients,parameters, which takes the least memory of all planned strategies",
                         "a smaller --offload-group has less of the states in memory")
        table, _, error = err.partition(f"{EXAMPLE}:")
        self.assertLessEqual(max(map(len, table.splitlines())), 100, table)
        strategies = [line for line in table.splitlines()[2:-1] if not line.startswith("      --")]  # their settings are below them
        self.assertTrue(all(line.endswith(" too much") for line in strategies), table)
        self.assertGreater(len(table.splitlines()), len(strategies) + 3, table)
        self.assertRegex(table, r"\nand \d+ more\n$")
        self.assertNotIn("--activation-checkpointing", error.partition("; the plan fits into")[2])  # which was tried
        least = re.search(r"the plan fits into --memory-limit=([0-9.]+MiB)", error)[1]
        self.decided(f"--memory-limit={least}")
        self.decided("--memory-limit=46MiB", "--offload=optimizer,gradients,parameters,activations", "--offload-group=256KiB")

    def test_on_two_ranks(self):
        self.assertGreater(len(self.check_sweep("--ranks=2", "--accumulate=1", "--offload=none")), 2)

    def test_equal_questions_have_equal_answers_with_fewer_threads(self):
        cores, answers = os.sched_getaffinity(0), []
        for usable in (cores, {min(cores)}):
            os.sched_setaffinity(0, usable)
            answers.append(self.report("--memory-limit=110MiB", "--ranks=2")["planner"])
        os.sched_setaffinity(0, cores)
        self.assertEqual(*answers)

    def test_errors_of_what_is_tried_are_said_once(self):
        for options in (["--activation-checkpointing=full"], ["--activation-checkpointing=budget"], []):
            err = self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", "--memory-limit=1GiB", "--checkpoint-blocks=none", *options], 2, "gpt.mlir:")
            self.assertEqual(err.count("error:"), 1, err)

    # --- --host-memory ---

    @harness.in_matrix
    def test_what_a_host_gives_bounds_what_goes_out(self):
        gpu = ["--target=cuda", "--gpu-levels=none", "--ranks=2", "--accumulate=1", "--zero-stage=0"]
        strategies = self.estimate(*gpu)["strategies"]
        limit = f"--memory-limit={min(self.bytes(each) for each in strategies if each['settings']['offload'] == 'none') - 1}"

        def taken(host):
            self.trainc("compile", "gpt.mlir", "-o", "gpt.plan", "--report=report.json", *gpu, limit, f"--host-memory={host}")
            planner = json.loads(Path("report.json").read_text())["planner"]
            return planner["strategies"][planner["taken"]]

        outside = taken("1TiB")
        both = 2 * outside["memory"]["host"]
        self.assertGreater(both, 0)
        self.assertEqual(taken(both)["settings"], outside["settings"])
        less = taken(both - 1)
        self.assertLess(2 * less["memory"]["host"], both)
        self.assertGreater(less["predicted_step_seconds"], outside["predicted_step_seconds"])
        table, _ = self.trainc("estimate", "gpt.mlir", *gpu, limit, f"--host-memory={both - 1}")
        self.assertIn(" too much on host", table)
        self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", "--host-memory=1GiB"], 2, "host_memory (--host-memory) is for GPUs")

    # --- --largest-batch ---

    def test_one_sample_more_does_not_fit(self):
        plan = self.report("--offload=none")["memory"]
        limit = f"--memory-limit={plan['peak'] + plan['unplanned'] + (12 << 20)}"
        found = self.report(limit, "--offload=none", "--largest-batch")["largest_batches"]["strategies"]
        self.assertEqual([each["settings"]["activation_checkpointing"] for each in found], ["none", "selective", "full"])
        samples = [int(each["settings"]["micro_batch"]) for each in found]
        self.assertTrue(small_gpt.BATCH < samples[0] < samples[1] < samples[2], samples)
        for each in found:
            with self.subTest(each["settings"]):
                memory = self.report(limit, "--offload=none", *self.options_of(each))["memory"]
                self.assertEqual({kind: memory[kind] for kind in each["memory"]}, each["memory"])
                more = {"settings": each["settings"] | {"micro_batch": str(int(each["settings"]["micro_batch"]) + 1)}}
                self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", limit, "--offload=none", *self.options_of(more)], 2, "error: the plan needs")
        report, _ = self.trainc("report", "gpt.plan")
        self.assertNotIn("The largest micro-batches", report)  # of a plan that was not asked for them

    def test_the_largest_batches_have_what_was_decided_for_the_plan(self):
        command = ["compile", EXAMPLE, "--compile-to=plan", "--memory-limit=72MiB", "--largest-batch"]
        _, err = self.trainc(*command)
        (taken,) = re.findall("^took (.*): ", err, re.MULTILINE)
        (shared,) = re.findall("^the largest micro-batches that fit into 72.0 MiB, as in the plan with (.*):$", err, re.MULTILINE)
        self.assertIn(shared, taken)
        self.assertRegex(shared, "^--offload=\\S+$")
        _, err = self.trainc(*command, shared)
        self.assertIn("the largest micro-batches that fit into 72.0 MiB:\n", err)

    def test_a_report_says_how_many_times_the_samples_of_none_fit(self):
        found = self.report("--memory-limit=70MiB", "--largest-batch")["largest_batches"]
        batches = json.loads(self.trainc("report", "gpt.plan", "--json")[0])["largest_batches"]
        self.assertEqual(batches["memory_limit"], 70 << 20)
        none, selective, full = batches["batches"]
        accumulate = int(found["strategies"][1]["settings"]["accumulate"])
        self.assertEqual((none["times"], none["extra_time"]), (1, 0))
        self.assertEqual(full["times"], full["samples"] / none["samples"])
        self.assertAlmostEqual(selective["seconds_a_sample"], found["strategies"][1]["predicted_step_seconds"] / selective["samples"] / accumulate, delta=2e-8)
        self.assertGreater(full["extra_time"], selective["extra_time"])
        text, _ = self.trainc("report", "gpt.plan")
        self.assertRegex(text, rf"fit into 70.0 MiB, by activation checkpointing:\n  none +{none['samples']}, 1.00 times")

    def test_says_which_checkpointing_no_sample_fits_with(self):
        one = self.report("--offload=none", "--micro-batch=1", "--activation-checkpointing=none")["memory"]
        limit = f"--memory-limit={one['peak'] + one['unplanned'] - 1}"
        _, err = self.trainc("compile", "gpt.mlir", "-o", "gpt.plan", "--cpu=native", "--offload=none", limit, "--micro-batch=1", "--largest-batch")
        self.assertIn("with --activation-checkpointing=none not one sample fits\n", err)
        self.assertRegex(self.trainc("report", "gpt.plan")[0], r"\n  none +0, not one sample fits\n  selective +[1-9]")

    def test_the_largest_batch_may_be_as_large_as_any(self):
        _, err = self.trainc("compile", "gpt.mlir", "-o", "gpt.plan", "--memory-limit=4000000TiB", "--largest-batch", "--offload=none")
        self.assertEqual(err.count(" more than the 1048576 samples that --micro-batch allows may fit\n"), 3)

    @harness.in_matrix
    def test_a_host_bounds_the_largest_batch(self):
        """GPU memory suffices for any batch, so a search that considers only the GPU does not terminate."""
        gpu = ["--target=cuda", "--gpu-levels=none", "--offload=activations", "--memory-limit=4000000TiB"]
        (kept,) = self.estimate(*gpu, "--activation-checkpointing=none")["strategies"]
        gpu += [f"--host-memory={5 * kept['memory']['host']}"]
        found = self.report(*gpu, "--largest-batch")["largest_batches"]["strategies"]
        samples = [int(each["settings"]["micro_batch"]) for each in found]
        self.assertTrue(small_gpt.BATCH < samples[0] < samples[1], samples)
        for each in found[:2]:
            more = {"settings": each["settings"] | {"micro_batch": str(int(each["settings"]["micro_batch"]) + 1)}}
            self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", *gpu, *self.options_of(more)], 2, " of the host's memory; the host may give ")

    def test_the_largest_batch_needs_a_limit_that_something_fits_into(self):
        self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", "--largest-batch"], 2,
                   "error: --largest-batch fits micro-batches into a memory limit, and the program has none; expected memory_limit SIZE (--memory-limit=SIZE)\n")
        Path("open.mlir").write_text(small_gpt.text((f"  batch {small_gpt.BATCH} x {small_gpt.LENGTH}\n", "")))
        given = ["--memory-limit=1GiB", "--activation-checkpointing=none", "--offload=none"]
        self.fails([TRAINC, "compile", "open.mlir", "-o", "gpt.plan", "--largest-batch", *given], 2,
                   "error: --largest-batch looks for the largest micro-batch, and the program has none to begin with")
        self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", "--largest-batch", "--memory-limit=1MiB"], 2, "the plan needs")

    def settings_around_full(self, *given):
        """Settings under which a limit that `selective` exceeds leads to `full`, and the resulting settings."""
        options = ["--offload=none", f"--micro-batch={small_gpt.BATCH}"]
        (selective,) = self.estimate(*options, "--activation-checkpointing=selective")["strategies"]
        report = self.report(f"--memory-limit={self.bytes(selective) - 1}", *options, *given)
        full = [each["settings"] for each in report["planner"]["strategies"] if each["settings"]["activation_checkpointing"] == "full"]
        self.assertGreater(len(full), 0)
        return full, {each["setting"]: each["value"] for each in report["settings"]}

    def test_what_is_given_of_checkpoints_stays(self):
        kept, force = self.settings_around_full("--checkpoint-keep=40")
        self.assertEqual(kept, [{"activation_checkpointing": "full", "checkpoint_rest": "selective"}])
        self.assertEqual(force["checkpoint_keep"], "40")
        rest, force = self.settings_around_full("--checkpoint-rest=none")
        self.assertTrue(all(each.keys() == {"activation_checkpointing", "checkpoint_keep"} for each in rest), rest)
        self.assertEqual(force["checkpoint_rest"], "none")
        both, _ = self.settings_around_full("--checkpoint-keep=40", "--checkpoint-rest=selective")
        self.assertEqual(both, [{"activation_checkpointing": "full"}])

    def test_checkpointing_alone_fits_into_what_takes_less_than_the_last_level(self):
        """To make a block's values again takes memory, too: if the last blocks keep a little, that takes the least."""
        given = ["--micro-batch=8", "--accumulate=1", "--offload=none"]
        kept = {keep: self.bytes(json.loads(self.trainc("estimate", EXAMPLE, "--json", *given, "--activation-checkpointing=full", f"--checkpoint-keep={keep}",
                                                        "--checkpoint-rest=selective")[0])["strategies"][0]) for keep in ("2x0,15", "0")}
        self.assertLess(kept["2x0,15"], kept["0"])
        for limit in (kept["0"] - 1, kept["2x0,15"]):
            self.trainc("compile", EXAMPLE, "-o", "gpt.plan", "--cpu=native", *given, f"--memory-limit={limit}", "--report=report.json")
            memory = json.loads(Path("report.json").read_text())["memory"]
            self.assertLessEqual(memory["peak"] + memory["unplanned"], limit)

    @harness.in_matrix
    def test_a_last_level_that_is_the_fastest_and_misses_by_a_byte(self):
        """If activations are copied, the most recomputation may take the least time. The level before it takes less memory, and is slower."""
        Path("deep.mlir").write_text(harness.edited(EXAMPLE.read_text(), ("times 4", "times 48"), ("n_layer = 4", "n_layer = 48")))
        given = ["--target=cuda", "--gpu-levels=none", "--precision=bf16", "--offload=activations", "--micro-batch=256", "--accumulate=1"]
        last = ["--activation-checkpointing=full", "--checkpoint-keep=0", "--checkpoint-rest=selective"]
        (most,) = json.loads(self.trainc("estimate", "deep.mlir", "--json", *given, *last)[0])["strategies"]
        limit = self.bytes(most) - 1
        _, err = self.trainc("compile", "deep.mlir", "--compile-to=plan", *given, f"--memory-limit={limit}")
        self.assertIn("took --activation-checkpointing=full --checkpoint-keep=46x0,15 --checkpoint-rest=selective: ", err)

    def test_given_settings_are_not_decided(self):
        given = ["--micro-batch=8", "--activation-checkpointing=none", "--offload=none"]
        peak = self.report(*given)["memory"]
        limit = peak["peak"] + peak["unplanned"]
        self.assertNotIn("planner", self.report(*given, f"--memory-limit={limit}"))
        self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", *given, f"--memory-limit={limit - 1}"], 2, "error: the plan needs")

    # --- a host that is short ---

    GPU = ["--target=cuda", "--gpu-levels=none", "--ranks=2", "--zero-stage=0", "--micro-batch=2"]

    def refused(self, *options):
        return self.fails([TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", *self.GPU, *options], 2, "gpt.mlir:")

    def test_a_plan_that_the_host_has_no_room_for_is_refused(self):
        (offloaded,) = self.estimate(*self.GPU, "--offload=optimizer", "--activation-checkpointing=none")["strategies"]
        host = offloaded["memory"]["host"]
        for level in ("none", "budget"):
            with self.subTest(level):
                given = ["--memory-limit=4GiB", "--offload=optimizer", f"--activation-checkpointing={level}"]
                err = self.refused(*given, f"--host-memory={2 * host - 1}B")
                self.assertIn(f" ({host} bytes) of the host's memory for each of the 2 ranks of a node, together ", err)
                self.assertIn(f" ({2 * host} bytes); the host may give ", err)
                self.assertIn(f" ({2 * host - 1} bytes; host_memory): optimizer states ", err)
                self.report(*self.GPU, *given, f"--host-memory={2 * host}B")

    def test_what_nothing_fits_into_without_more_of_the_host_says_so(self):
        given = ["--activation-checkpointing=none"]
        inside = next(each for each in self.estimate(*self.GPU, *given)["strategies"] if each["settings"]["offload"] == "none")
        limit = f"--memory-limit={self.bytes(inside) - 1}"
        err = self.refused(*given, limit, "--host-memory=1B")
        self.assertIn("error: the plan needs", err)
        enough = re.search(r"a plan that fits needs more host memory: (--host-memory=[0-9.]+KiB); ", err)[1]
        planner = self.report(*self.GPU, *given, limit, enough)["planner"]
        taken = 2 * planner["strategies"][planner["taken"]]["memory"]["host"] / 1024
        self.assertTrue(0.99 * float(enough[len("--host-memory="):-len("KiB")]) < taken, (enough, taken))
        self.assertNotIn("a plan that fits", self.refused(*given, "--memory-limit=1MiB", "--host-memory=1B"))


if __name__ == "__main__":
    harness.main()
