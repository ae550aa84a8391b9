#!/usr/bin/env python3
"""Two ranks of one core each, side by side in one run: trainc's ZeRO-3, trainc's one rank on both cores, PyTorch's FSDP2 and one eager process.

  compare_ranks.py --python venv/bin/python               GPT-2 124M, 2 x 256 a rank
  compare_ranks.py --python venv/bin/python --quick       the small model, to see whether the script works

All train on the same samples, 4 sequences a step. The two ranks, the one and FSDP2 also begin with the same weights and take the samples in
the same order at the same rate: their losses must agree, which shows that they do the same work. Where --python has no torch, PyTorch is left out.
Each round runs all in turn, so that a machine that slows down slows all. Then compilation for 2, 64 and 4096 ranks is timed.
Exit codes: 0; 1 where a program failed, losses differ or, with --check, a target was missed; 2 bad usage.
"""
import argparse
import dataclasses
import json
import math
import os
import pathlib
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import compare
from compare import HERE, MEBI, ROOT, ProgramFailed, number, progress

RANKS = 2
COMPILED_RANKS = 2, 64, 4096
POLL_SECONDS = 0.02
PEER_SECONDS = 1800  # after which ranks of FSDP2 hang
LEARNING_RATE = 6e-4  # that of pytorch_peer.py, from the first step on: a warmup would hide the effect of updates
TOOLS = "trainc", "trainrun"


@dataclasses.dataclass(frozen=True)
class Case:
    title: str
    name: str  # in compare.CASES and of the peers' --config
    batch: int  # samples of a rank and step
    warmup: int
    steps: int
    after: int  # steps more, so that trainc's ranks live when their memory is read
    rounds: int


FULL = Case("GPT-2 124M, fp32, ZeRO-3, 2 ranks of 1 core, batch 2 x 256 a rank", "gpt2", 2, warmup=2, steps=6, after=1, rounds=2)
QUICK = Case("small GPT, fp32, ZeRO-3, 2 ranks of 1 core, batch 4 x 128 a rank", "small", 4, warmup=2, steps=10, after=20, rounds=1)

# Bounds over all rounds: lower (AT_LEAST) and upper (AT_MOST).
AT_LEAST = {"of_one_rank": 0.90, "of_fsdp": 1.9}
AT_MOST = {"pss_of_fsdp": 0.5, "exposed_difference": 0.15, "compile_seconds_64": 8.0, "compile_growth": 1.1}
# Relative differences over the steps of a run. Sums of other orders and products of other roundings grow apart with each update.
LOSS_BOUND, NORM_BOUND = 1e-4, 1e-2


# --- trainc -----------------------------------------------------------------------------------------------------


def write_model(case, path):
    """The example with the peers' learning rate at every step."""
    text = (ROOT / compare.CASES[case.name].model).read_text()
    text, rates = re.subn(r"optimizer adamw\(lr [^,]*,", f"optimizer adamw(lr {LEARNING_RATE},", text)
    text, schedules = re.subn(r"schedule cosine\(.*\)", "schedule constant", text)
    if (rates, schedules) != (1, 1):
        raise ProgramFailed(f"{compare.CASES[case.name].model}: expected one 'optimizer adamw(lr ...,' and one 'schedule cosine(...)'")
    path.write_text(text)


def compile_plan(arguments, case, folder, ranks, accumulate=1):
    """Seconds of waiting and of the processor, and the plan's report."""
    plan, report = folder / f"{ranks}.plan", folder / f"{ranks}.json"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    compare.run(
        [arguments.bin / "trainc", "compile", folder / "model.mlir", "-o", plan, f"--ranks={ranks}", "--zero-stage=3",
         f"--fp32-products={arguments.fp32_products}", f"--micro-batch={case.batch}", f"--accumulate={accumulate}",
         f"--seq-len={compare.CASES[case.name].seq_len}", f"--activation-checkpointing={arguments.activation_checkpointing}",
         f"--report={report}"])  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(report.read_text())
    return {
        "seconds": found["compile_seconds"],
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "report": found,
    }


def process_tree(root):
    """The process and its descendants."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    tree = [root]
    for process in tree:
        tree += children.get(process, [])
    return tree


def kibibytes(path, key):
    line = re.search(rf"^{key}:\s*(\d+) kB", path.read_text(), re.MULTILINE)
    return int(line[1]) * 1024


def memory(root, ranks):
    """Memory of the process and its descendants: proportional resident size now, and the sum of the peak resident sizes, both per rank."""
    folders = [pathlib.Path(f"/proc/{process}") for process in process_tree(root)]
    pss = sum(kibibytes(folder / "smaps_rollup", "Pss") for folder in folders)
    peak = sum(kibibytes(folder / "status", "VmHWM") for folder in folders)
    return {"pss_bytes": pss / ranks, "peak_rss_bytes": peak / ranks}


def processor_seconds(root):
    """CPU seconds that the process and its descendants have used so far."""
    fields = [pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split() for process in process_tree(root)]
    return sum(int(field[11]) + int(field[12]) for field in fields) / os.sysconf("SC_CLK_TCK")


def trainrun_command(arguments, case, folder, ranks, threads, steps):
    initial = folder / "initial.safetensors"
    return [arguments.bin / "trainrun", folder / f"{ranks}.plan", f"--data={folder / 'tokens.bin'}", "--no-shuffle", "--seed=1",
            f"--steps={steps}", f"--threads={threads}", *([f"--nproc-per-node={ranks}"] if ranks > 1 else []),
            *([f"--init={initial}"] if initial.exists() else [])]  # fmt: skip


def run_trainrun(arguments, case, folder, ranks, threads):
    metrics, log = folder / "metrics.jsonl", folder / "trainrun.log"
    metrics.unlink(missing_ok=True)
    counted = case.warmup + case.steps
    command = [*trainrun_command(arguments, case, folder, ranks, threads, counted + case.after), f"--metrics={metrics}"]
    used, held = None, None
    with log.open("w") as output, subprocess.Popen([str(p) for p in command], stdout=output, stderr=output) as process:
        while process.poll() is None:
            done = metrics.read_bytes().count(b"\n") if metrics.exists() else 0
            try:
                if used is None and done >= case.warmup:
                    used = processor_seconds(process.pid)
                if held is None and done >= counted:
                    per_step = (processor_seconds(process.pid) - used) / case.steps
                    held = memory(process.pid, ranks) | {"processor_seconds": per_step}
            except (OSError, TypeError):  # a rank has just ended
                pass
            time.sleep(POLL_SECONDS)
    if process.returncode != 0 or held is None:
        raise ProgramFailed(f"{command[0]} ended with {process.returncode} before its memory was read:\n{log.read_text()[-2000:]}")
    steps = [json.loads(line) for line in metrics.read_text().splitlines()]
    steps = [step for step in steps if "step_seconds" in step][:counted]
    tokens = RANKS * case.batch * compare.CASES[case.name].seq_len
    if any(step["tokens"] != tokens for step in steps):
        raise ProgramFailed(f"steps of {steps[0]['tokens']} tokens; the peers' have {tokens}")
    timed = steps[case.warmup :]
    step_seconds = statistics.median(step["step_seconds"] for step in timed)
    result = held | {
        "first_step_seconds": steps[0]["step_seconds"],
        "step_seconds": step_seconds,
        "tokens_per_second": tokens / step_seconds,
        "planned_bytes": steps[-1]["peak_bytes"],
        "losses": [step["loss"] for step in steps],
        "grad_norms": [step["grad_norm"] for step in steps],
    }
    if ranks > 1:
        waits = sum(step["wait_seconds"] for step in timed)
        result["waiting_share"] = waits / sum(step["step_seconds"] for step in timed)
        result["exposed_share"] = statistics.median(step["exposed_seconds"] / step["communication_seconds"] for step in timed)
        result["sent_bytes"] = statistics.median(s["sent_bytes"] for s in timed)
    return result


def run_profile(arguments, case, folder, ranks, threads):
    """Seconds of rank 0, by category."""
    command = trainrun_command(arguments, case, folder, ranks, threads, case.warmup + case.steps)
    _, stderr, _ = compare.run([*command, "--profile"])
    return {name: float(seconds) for seconds, _, _, name in compare.PROFILE_SUM.findall(stderr)}


# --- PyTorch ----------------------------------------------------------------------------------------------------


def has_torch(python):
    try:
        return subprocess.run([python, "-c", "import torch, numpy"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_fsdp(arguments, case, folder):
    """One process a rank, without torchrun's own, which would count as memory."""
    command = [arguments.python, HERE / "fsdp_peer.py", "--config", case.name, "--batch", case.batch, "--steps", case.steps,
               "--warmup", case.warmup, "--data", folder / "tokens.bin", "--weights", folder / "initial.safetensors"]  # fmt: skip
    group = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1",
             "GLOO_SOCKET_IFNAME": "lo"}  # fmt: skip
    outputs = [folder / f"fsdp{rank}" for rank in range(RANKS)]
    logs = [folder / f"fsdp{rank}.log" for rank in range(RANKS)]
    processes = []
    for rank in range(RANKS):
        with outputs[rank].open("w") as output, logs[rank].open("w") as log:
            environment = os.environ | group | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            processes.append(subprocess.Popen([str(p) for p in command], stdout=output, stderr=log, env=environment))
    wait_for_all(processes, logs)
    ranks = [json.loads(output.read_text().splitlines()[-1]) for output in outputs]
    means = {key: statistics.mean(rank[key] for rank in ranks) for key in ("pss_bytes", "peak_rss_bytes")}
    return ranks[0] | means | {"processor_seconds": sum(rank["processor_seconds"] for rank in ranks)}


def wait_for_all(processes, logs):
    """Ends all where one fails."""
    end = time.monotonic() + PEER_SECONDS
    try:
        while any(process.poll() is None for process in processes) and time.monotonic() < end:
            if any(process.poll() not in (None, 0) for process in processes):
                break
            time.sleep(POLL_SECONDS)
    finally:
        codes = [process.poll() for process in processes]
        for process in processes:
            process.kill()
            process.wait()
    if any(code != 0 for code in codes):
        said = "\n".join(log.read_text()[-1500:] for log in logs)
        raise ProgramFailed(f"the ranks of fsdp_peer.py ended with {codes} (None: still running):\n{said}")


# --- a comparison -----------------------------------------------------------------------------------------------


def measure(arguments, case, folder):
    data = folder / "tokens.bin"
    compare.write_tokens(data, compare.CASES[case.name].vocabulary)
    write_model(case, folder / "model.mlir")
    programs = {
        "ranks": lambda: run_trainrun(arguments, case, folder, RANKS, threads=1),
        "one": lambda: run_trainrun(arguments, case, folder, 1, threads=RANKS),
    }
    if arguments.torch:
        compare.run([arguments.python, HERE / "fsdp_peer.py", "--config", case.name, "--write-weights", folder / "initial.safetensors"])
        both_cores = argparse.Namespace(python=arguments.python, threads=RANKS)
        programs["fsdp"] = lambda: run_fsdp(arguments, case, folder)
        programs["eager"] = lambda: compare.run_peer(both_cores, case.name, case, "eager", data, folder)
    compile_plan(arguments, case, folder, ranks=1, accumulate=RANKS)
    compilation = {ranks: [] for ranks in COMPILED_RANKS}
    runs = {name: [] for name in programs}
    for round_number in range(case.rounds):
        progress(f"round {round_number + 1} of {case.rounds}: compile")
        for ranks in COMPILED_RANKS:
            compilation[ranks].append(compile_plan(arguments, case, folder, ranks))
        for name, program in programs.items():
            progress(f"round {round_number + 1} of {case.rounds}: {TITLES[name]}")
            runs[name].append(program())
    result = {name: compare.medians(rounds) for name, rounds in runs.items()}
    result["compile"] = {ranks: compare.medians(rounds) for ranks, rounds in compilation.items()}
    result["report"] = compilation[RANKS][-1]["report"]
    result["rounds"] = runs
    result["differences"] = differences(result, runs)
    if arguments.profile:
        progress("profiles")
        result["profile"] = {"ranks": run_profile(arguments, case, folder, RANKS, 1), "one": run_profile(arguments, case, folder, 1, RANKS)}
    return result | {"ratios": ratios(result)}


def differences(result, runs):
    """The greatest relative ones from the two ranks, over the steps of the first round."""
    found = {}
    for name in ("one", "fsdp"):
        if name in result:
            found[name] = {key: relative(runs[name][0][key], runs["ranks"][0][key]) for key in ("losses", "grad_norms")}
    return found


def relative(ours, theirs):
    if len(ours) != len(theirs):
        raise ProgramFailed(f"{len(ours)} steps beside {len(theirs)}")
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))


def disagreements(found):
    # `not <=` so that a NaN is one.
    bounds = {"losses": LOSS_BOUND, "grad_norms": NORM_BOUND}
    return [(name, key, value, bounds[key]) for name, values in found.items() for key, value in values.items()
            if not value <= bounds[key]]  # fmt: skip


def ratios(result):
    """Figures; None if they need a program that was left out."""
    ours, fsdp, compilation = result["ranks"], result.get("fsdp"), result["compile"]
    return {
        "of_one_rank": ours["tokens_per_second"] / result["one"]["tokens_per_second"],
        "of_fsdp": fsdp and ours["tokens_per_second"] / fsdp["tokens_per_second"],
        "pss_of_fsdp": fsdp and ours["pss_bytes"] / fsdp["pss_bytes"],
        "exposed_difference": abs(result["report"]["predicted_exposed_share"] / ours["exposed_share"] - 1) if ours["exposed_share"] else math.inf,
        "compile_seconds_64": compilation[64]["seconds"],
        # By the processor's time: waiting depends on who else works on the machine.
        "compile_growth": compilation[COMPILED_RANKS[-1]]["cpu_seconds"] / compilation[COMPILED_RANKS[0]]["cpu_seconds"],
    }


def missed_targets(found):
    """Missed targets, including those that were not measured."""
    missed = [key for key, least in AT_LEAST.items() if found[key] is None or not found[key] >= least]
    return missed + [key for key, most in AT_MOST.items() if found[key] is None or not found[key] <= most]


# --- output -----------------------------------------------------------------------------------------------------

TITLES = {"ranks": "trainc x 2", "one": "trainc x 1", "fsdp": "FSDP2 x 2", "eager": "eager x 1"}
ROWS = [  # title, key, divisor
    ("step, ms", "step_seconds", 1e-3),
    ("of processors a step, s", "processor_seconds", 1),
    ("tokens/s", "tokens_per_second", 1),
    ("PSS a rank, MiB", "pss_bytes", MEBI),
    ("peak RSS a rank, MiB", "peak_rss_bytes", MEBI),
    ("planned a rank, MiB", "planned_bytes", MEBI),
    ("first step, s", "first_step_seconds", 1),
    ("waits for others, %", "waiting_share", 1e-2),
    ("exposed communication, %", "exposed_share", 1e-2),
    ("sent a step, MiB", "sent_bytes", MEBI),
]
RATIOS = [
    ("tokens/s, trainc x 2 of x 1", "of_one_rank"),
    ("tokens/s, trainc of FSDP2", "of_fsdp"),
    ("PSS, trainc of FSDP2", "pss_of_fsdp"),
    ("exposed, relative difference", "exposed_difference"),
    ("compile for 64 ranks, s", "compile_seconds_64"),
    ("compile, 4096 of 2 ranks", "compile_growth"),
]


def print_table(case, result, products):
    names = [name for name in TITLES if name in result]
    print(f"\n{case.title}; trainc's products by {products}\n")
    print(f"{'':28}" + "".join(f"{TITLES[name]:>12}" for name in names))
    for title, key, divisor in ROWS:
        print(f"{title:28}" + "".join(f"{number(result[name].get(key), divisor):>12}" for name in names))
    ends = (result[name]["losses"] for name in names)
    print(f"{'loss, first and last':28}" + "".join(f"{f'{x[0]:.2f} {x[-1]:.2f}':>12}" for x in ends))
    for name, found in result["differences"].items():
        print(f"{TITLES[name]} differs from x 2 by {found['losses']:.1e} in the loss, {found['grad_norms']:.1e} in the gradients' norm"
              f" (bounds {LOSS_BOUND:.0e}, {NORM_BOUND:.0e})")  # fmt: skip
    reported = sum(collective["bytes"] for collective in result["report"]["collectives"].values())
    print(f"the compiler's report says: {reported / MEBI:.4g} MiB sent a step, "
          f"{result['report']['predicted_exposed_share']:.0%} of the communication exposed")


def print_profile(profile):
    print(f"\n{'of rank 0, %':28}" + "".join(f"{TITLES[name]:>12}" for name in profile))
    for part in profile["ranks"]:
        shares = (seconds.get(part, 0) / sum(seconds.values()) * 100 for seconds in profile.values())
        print(f"{part:28.27}" + "".join(f"{share:>12.1f}" for share in shares))


def print_compilation(compilation):
    print(f"\n{'compile for ranks':28}" + "".join(f"{ranks:>12}" for ranks in compilation))
    for title, key in [("seconds", "seconds"), ("of the processor", "cpu_seconds")]:
        print(f"{title:28}" + "".join(f"{number(times[key]):>12}" for times in compilation.values()))


def print_ratios(found):
    print(f"\n{'':28}{'':>12}{'target':>12}")
    for title, key in RATIOS:
        target = f">= {AT_LEAST[key]:.2f}" if key in AT_LEAST else f"<= {AT_MOST[key]:.2f}"
        verdict = " missed" if found[key] is not None and key in missed_targets(found) else ""
        print(f"{title:28}{number(found[key]) or 'no torch':>12}{target:>12}{verdict}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="a Python that has torch and numpy")
    compare.add_usual_arguments(parser)
    parser.add_argument("--quick", action="store_true", help="the small model, one round: does the script work?")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--steps", type=int, help="steps that count")
    parser.add_argument("--activation-checkpointing", choices=["none", "selective"], default="selective", help="of trainc's plans")
    parser.add_argument("--profile", action="store_true", help="two runs more: where trainc's time goes on 2 ranks and on 1")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a target is missed or could not be measured")
    arguments = parser.parse_args()
    compare.find_tools(parser, arguments, TOOLS)
    given = {key: getattr(arguments, key) for key in ("rounds", "steps") if getattr(arguments, key) is not None}
    if any(value < 1 for value in given.values()):
        parser.error("--rounds and --steps must be at least 1")
    return arguments, dataclasses.replace(QUICK if arguments.quick else FULL, **given)


def main():
    arguments, case = parse_arguments()
    arguments.torch = has_torch(arguments.python)
    if not arguments.torch:
        progress(f"{arguments.python} cannot import torch and numpy: PyTorch is left out")
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(arguments, case, pathlib.Path(folder))
    except ProgramFailed as error:
        print(f"compare_ranks: {error}", file=sys.stderr)
        return 1
    print_table(case, result, arguments.fp32_products)
    if arguments.profile:
        print_profile(result["profile"])
    print_compilation(result["compile"])
    print_ratios(result["ratios"])
    if arguments.json is not None:
        settings = {"machine": compare.machine(), "fp32_products": arguments.fp32_products, "case": dataclasses.asdict(case)}
        arguments.json.write_text(json.dumps(settings | result, indent=1) + "\n")
    wrong = disagreements(result["differences"])
    for name, key, value, bound in wrong:
        print(f"compare_ranks: {TITLES[name]} does other work than x 2: {key} differ by {value:.1e}, more than {bound:.0e}", file=sys.stderr)
    return 1 if wrong or (arguments.check and missed_targets(result["ratios"])) else 0


if __name__ == "__main__":
    sys.exit(main())
