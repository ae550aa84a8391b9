"""Planned bytes are allocated bytes, and fp32 has the same losses, in every combination of ranks, stage, precision, checkpointing, offload
and accumulation.

All combinations take minutes: test/run.sh matrix runs them, with TRAINC_ALL_COMBINATIONS=1 in the environment. Else some are run in which each
two settings are together, and all in fp32 that have the same losses.
"""

import concurrent.futures
import itertools
import json
import math
import os
import re
import threading
from collections import defaultdict, namedtuple
from pathlib import Path

import harness
import small_gpt

SAMPLES = 8
CUT_TOLERANCE = 1e-6  # of losses and norms of gradients: sums of micro-batches round at other places
STEPS = 3  # the losses of the later ones depend on all states
STAGES = range(4)
PRECISIONS = ["fp32", "bf16", "fp16"]
CHECKPOINTING = ["none", "selective", "full", "budget"]
OFFLOAD = ["none", "optimizer", "gradients", "parameters", "hidden_activations", "activations", "optimizer,gradients,parameters,activations"]

Combination = namedtuple("Combination", "ranks zero_stage precision activation_checkpointing offload accumulate")
ALL = [each for each in map(Combination._make, itertools.product((2, 1), STAGES, PRECISIONS, CHECKPOINTING, OFFLOAD, (1, 2)))
       if each.ranks > 1 or each.zero_stage == 0]


def two_ranks(stage, precision, checkpointing="none", offload="none", accumulate=1):
    return Combination(2, stage, precision, checkpointing, offload, accumulate)


def meetings(combination):
    """Pairs of settings that must be covered; in fp32, whose losses are compared, together with the settings that must be equal for the
    comparison."""
    settings = list(enumerate(combination))
    found = set(itertools.combinations(settings, 2))
    if combination.precision == "fp32":
        found |= {(combination.ranks, combination.accumulate, setting) for setting in settings}
    return found


def covering(combinations, chosen):
    """These and as many of the combinations as have all meetings that there are."""
    chosen, left = list(chosen), set().union(*map(meetings, combinations))
    left -= set().union(*map(meetings, chosen))
    while left:
        chosen.append(max(combinations, key=lambda each: len(left & meetings(each))))
        left -= meetings(chosen[-1])
    return chosen


class MemoryMatrixTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        # Without generation, plans are made sooner. Of so many samples activations take more than pieces of states on their way.
        self.text = harness.edited(harness.program("gpt"), ('nn.output "logits"', 'nn.output "scores"'), ("batch 3", f"batch {SAMPLES}"))
        Path("model.mlir").write_text(self.text)
        self.data = small_gpt.write_tokens("tokens.bin", 8)
        self.numbers = itertools.count()
        self.limits, self.mutex = {}, threading.Lock()

    def options(self, combination):
        """Options for a step on the same samples per rank, however it is divided."""
        given = [f"--{word.replace('_', '-')}={value}" for word, value in combination._asdict().items()]
        return [*given, f"--micro-batch={SAMPLES // combination.accumulate}", "--offload-group=16KiB"]

    def limit(self, combination):
        """The limit of a budget: halfway between a plan without recomputation and one that recomputes all blocks. If gradients dominate the peak,
        the latter may need more, because it has more instructions."""
        key = combination._replace(activation_checkpointing="none")
        with self.mutex:
            if key not in self.limits:
                options = [option for option in self.options(key) if not option.startswith("--activation-checkpointing")]
                out, _ = self.trainc("estimate", "model.mlir", "--json", *options)
                modes = {each["settings"]["activation_checkpointing"]: each["memory"] for each in json.loads(out)["strategies"]}
                none, full = (modes[mode]["peak"] + modes[mode]["unplanned"] for mode in ("none", "full"))
                self.limits[key] = (none + full) // 2
            return self.limits[key]

    def offloaded_bytes_of(self, plan):
        """Contents of the plan's own arenas outside of device memory: bytes by space and kind."""
        dump, _ = self.trainc("dump", plan)
        kinds = {"parameter": "parameters", "gradient": "gradients", "optimizer": "optimizer"}
        arenas = {name: (space, int(size), bool(persistent)) for name, space, size, persistent in
                  re.findall(r"^arena (\S+) in (\S+) bytes=(\d+)( persistent)?$", dump, re.MULTILINE) if int(size)}
        held = {space: dict.fromkeys((*kinds.values(), "activations", "workspace"), 0) for space, _, _ in arenas.values() if space != "device"}
        for space, size, persistent in arenas.values():
            if space != "device":
                held[space]["workspace" if persistent else "activations"] += size
        for arena, size, role in re.findall(r"^buffer \S+ in (\S+) at \d+ bytes=(\d+) \S+ (\w+)$", dump, re.MULTILINE):
            space, _, persistent = arenas[arena]
            if space != "device" and persistent:
                held[space][kinds[role]] += int(size)
                held[space]["workspace"] -= int(size)
        return held

    def check(self, combination, *further):
        """Compiles and trains some steps; returns the report's bytes by kind, whose sum is allocated on each rank, and the steps' metrics."""
        name = f"{next(self.numbers)}"
        budget = [f"--memory-limit={self.limit(combination)}"] if combination.activation_checkpointing == "budget" else []
        self.compile(self.text, f"--report={name}.json", *self.options(combination), *budget, *further,
                     to=f"{name}.plan")
        report = json.loads(Path(f"{name}.json").read_text())
        memory = report["memory"]
        self.assertEqual(report["offloaded_memory"], self.offloaded_bytes_of(f"{name}.plan"), combination)
        self.assertEqual([sum(report["offloaded_memory"].get(space, {}).values()) for space in ("host", "disk")], [memory["host"], memory["disk"]], combination)
        kinds = {kind: bytes for kind, bytes in memory.items() if kind not in ("peak", "unplanned", "gathered", "disk")}
        self.assertEqual(sum(kinds.values()), memory["peak"], combination)
        if "optimizer" in combination.offload or combination.offload == "none":  # of small models no activation may hide, or be large enough
            self.assertEqual(memory["disk"] > 0, combination.offload != "none" and "--offload-to=host" not in further, combination)
        self.trainrun(f"{name}.plan", f"--nproc-per-node={combination.ranks}", "--threads=1", "--data", self.data, f"--steps={STEPS}",
                      "--metrics", f"{name}.jsonl")
        lines = harness.metrics(f"{name}.jsonl")
        self.assertEqual([line["peak_bytes"] for line in lines], [memory["peak"]] * STEPS, combination)
        return kinds, [(float(line["loss"]).hex(), float(line["grad_norm"]).hex()) for line in lines]

    def check_all(self, combinations, *further):
        """Results of check() for each combination, several at a time."""
        with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count())) as pool:
            return dict(zip(combinations, pool.map(lambda each: self.check(each, *further), combinations)))

    def test_every_combination(self):
        plain = [two_ranks(stage, precision) for stage, precision in itertools.product(STAGES, PRECISIONS)]
        combinations = ALL if harness.ALL_COMBINATIONS else covering(ALL, plain)
        found = self.check_all(combinations)
        self.check_losses({combination: losses for combination, (_, losses) in found.items()})
        self.check_bytes({combination: kinds for combination, (kinds, _) in found.items()})

    def check_losses(self, found):
        """fp32 losses have the same bits if ranks have the same micro-batches, and nearly the same if these are divided differently."""
        alike = defaultdict(dict)
        for combination, losses in found.items():
            self.assertTrue(all(math.isfinite(float.fromhex(number)) for step in losses for number in step), combination)
            if combination.precision == "fp32":
                alike[combination.ranks, combination.accumulate][combination] = losses
        self.assertEqual(len(alike), 4)
        for (ranks, accumulate), runs in alike.items():
            self.assertGreater(len(runs), 2, (ranks, accumulate))
            first, expected = next(iter(runs.items()))
            for combination, losses in runs.items():
                self.assertEqual(losses, expected, f"{combination} and {first}")
        for ranks in (1, 2):
            whole, cut = ([float.fromhex(number) for step in next(iter(alike[ranks, accumulate].values())) for number in step] for accumulate in (1, 2))
            for numbers in zip(whole, cut):
                self.assertTrue(math.isclose(*numbers, rel_tol=CUT_TOLERANCE), (ranks, numbers))

    def check_bytes(self, kinds):
        """Memory saved by 16-bit types if nothing else differs."""
        for low, half in kinds.items():
            full = kinds.get(low._replace(precision="fp32"))
            if low.precision == "fp32" or low.ranks == 1 or low.offload != "none" or low.activation_checkpointing == "budget" or not full:
                continue
            # docs/reference/memory-and-communication.md: T and T/2; T/2 and T/2; for partly sharded tensors 3/4 T instead of T/2.
            copies = half["parameters"] / full["parameters"]
            least, most = [(1.5, 1.5), (1, 1), (1, 1), (1, 1.5)][low.zero_stage]
            self.assertTrue(least <= copies <= most, (low, copies))
            self.assertEqual(half["gradients"], full["gradients"], low)
            self.assertLess(half["activations"], full["activations"], low)

    def test_library_calls(self):
        pairs = itertools.product(STAGES, PRECISIONS) if harness.ALL_COMBINATIONS else zip(STAGES, itertools.cycle(PRECISIONS))
        self.check_all([two_ranks(stage, precision, "selective", accumulate=2) for stage, precision in pairs], "--library-calls=all")

    def test_states_in_the_memory_of_the_host(self):
        self.check(two_ranks(1, "fp32", "selective", "optimizer"), "--offload-to=host")

    def test_groups_of_two_of_four_ranks(self):
        self.check_all([two_ranks(3, precision, "selective", accumulate=2)._replace(ranks=4) for precision in PRECISIONS], "--hybrid-shard=2")


if __name__ == "__main__":
    harness.main()
