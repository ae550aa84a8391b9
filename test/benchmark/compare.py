#!/usr/bin/env python3
"""Side by side with PyTorch, in one run: the same model, batch, tokens and threads (standard library only).

  compare.py --python venv/bin/python              all models
  compare.py --python venv/bin/python --only small --check
  compare.py --python venv/bin/python --precision bf16       PyTorch in torch.autocast(bfloat16)
  compare.py --python venv/bin/python --only smollm2         needs transformers, too

Last comes the roofline: where a step's time goes (trainrun --profile) beside what the machine can do (machine_peak).

Each round runs PyTorch eager, PyTorch compiled and trainrun in turn, so that a machine that slows down slows all.
Ratios are to the faster PyTorch. Needs build/bin/{trainc,trainrun,machine_peak}, and a Python with torch for pytorch_peer.py.
Exit codes: 0; 1 where a program failed or, with --check, a target was missed; 2 bad usage.
"""
import argparse
import array
import dataclasses
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
POLL_SECONDS = 0.004, 0.02  # until the first step is done, and later, when polling would take time from it
TOKENS_IN_FILE = 1 << 20
TOOLS = "trainc", "trainrun", "machine_peak"
# Last rows of a profile: seconds, GFLOP/s, GB/s and the category; predictions are in between.
PROFILE_SUM = re.compile(r"^ *([\d.]+) +[\d.]+%(?: +[\d.]+e[-+]\d+)? +([\d.]+) +([\d.]+) +(?:\d+%)?  all (.+) but init's$", re.MULTILINE)


def has_amx():
    return re.search(r"^flags\b.*\bamx_bf16\b", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE) is not None


@dataclasses.dataclass(frozen=True)
class Case:
    title: str
    model: str  # below the repository's root; a text, or a folder with a config.json
    vocabulary: int
    batch: int
    seq_len: int
    warmup: int
    steps: int
    targets: dict  # row of the table -> greatest allowed value
    bf16_targets: dict  # targets that differ in bf16


CASES = {
    "gpt2": Case(
        "GPT-2 124M, {precision}, batch 4 x 256", "examples/gpt/gpt.mlir", 50257, 4, 256, warmup=2, steps=6,
        targets={"step_ratio": 0.80, "rss_ratio": 0.70, "start_seconds": 2.0, "compile_seconds": 5.0},
        bf16_targets={"step_ratio": 0.70 if has_amx() else 0.75, "rss_ratio": 0.60}),
    "small": Case(
        "small GPT, {precision}, batch 8 x 128", "examples/gpt/small.mlir", 256, 8, 128, warmup=20, steps=100,
        targets={"step_ratio": 0.65, "rss_ratio": 0.70, "start_seconds": 0.5, "compile_seconds": 2.0},
        bf16_targets={"rss_ratio": 0.60}),
    "smollm2": Case(
        "SmolLM2-135M, {precision}, batch 2 x 512", "test/benchmark/smollm2", 49152, 2, 512, warmup=1, steps=4,
        targets={"step_ratio": 0.75, "rss_ratio": 0.80, "start_seconds": 2.0, "compile_seconds": 5.0},
        bf16_targets={"step_ratio": 0.50}),
}  # fmt: skip


class ProgramFailed(Exception):
    """A program under measurement ended with an error."""


# --- one run of one program -------------------------------------------------------------------------------------


def run(command, **options):
    """Runs to the end; returns (stdout, stderr, seconds)."""
    began = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        raise ProgramFailed(f"{command[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout, done.stderr, seconds


def run_peer(arguments, name, case, mode, data, folder):
    """pytorch_peer.py with an empty compilation cache, as on the first day."""
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        stdout, _, _ = run(
            [arguments.python, HERE / "pytorch_peer.py", "--config", name, "--mode", mode, "--steps", case.steps,
             "--warmup", case.warmup, "--threads", arguments.threads, "--precision", arguments.precision, "--data", data],
            env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": cache})  # fmt: skip
    return json.loads(stdout.splitlines()[-1])


def precision_options(arguments):
    """bf16's products need no more than the CPU's own level, which alone says that there is an instruction for them."""
    if arguments.precision == "bf16":
        return ["--precision=bf16", "--cpu=native"]
    return ["--precision=fp32", f"--fp32-products={arguments.fp32_products}"]


def model_text(arguments, case, folder):
    """The path of the case's model; a config.json is imported."""
    if (ROOT / case.model).is_file():
        return ROOT / case.model
    text = folder / "model.mlir"
    if not text.exists():
        run([arguments.bin / "trainc", "import", ROOT / case.model, "-o", text])
    return text


def compile_plan(arguments, case, plan, report):
    text = model_text(arguments, case, plan.parent)
    _, _, seconds = run(
        [arguments.bin / "trainc", "compile", text, "-o", plan, "--target=cpu", *precision_options(arguments),
         f"--micro-batch={case.batch}", "--accumulate=1",
         f"--seq-len={case.seq_len}", f"--report={report}"])  # fmt: skip
    return seconds


def wait_and_watch(process, metrics, began):
    """Waits for the process; returns its resource usage and when, from its start, each line of metrics appeared."""
    seen, done, usage = [], 0, None
    while done == 0:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        lines = metrics.read_bytes().count(b"\n") if metrics.exists() else 0
        seen += [time.perf_counter() - began] * (lines - len(seen))
        time.sleep(POLL_SECONDS[bool(seen)])
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage, seen


def trainrun_command(arguments, case, plan, data, *options):
    return [arguments.bin / "trainrun", plan, f"--data={data}", f"--steps={case.warmup + case.steps}",
            f"--threads={arguments.threads}", "--seed=1", *options]  # fmt: skip


def run_trainrun(arguments, case, plan, data, folder, *options):
    metrics, log = folder / "metrics.jsonl", folder / "trainrun.log"
    metrics.unlink(missing_ok=True)
    command = trainrun_command(arguments, case, plan, data, f"--metrics={metrics}", *options)
    with log.open("w") as output:
        began = time.perf_counter()
        process = subprocess.Popen([str(p) for p in command], stdout=output, stderr=output, cwd=folder)
        usage, seen = wait_and_watch(process, metrics, began)
    if process.returncode != 0:
        raise ProgramFailed(f"{command[0]} ended with {process.returncode}:\n{log.read_text()[-2000:]}")
    records = [json.loads(line) for line in metrics.read_text().splitlines()]
    logged = [(t, r) for t, r in zip(seen, records) if "step_seconds" in r]
    if len(logged) != case.warmup + case.steps:
        raise ProgramFailed(f"{command[0]} logged {len(logged)} steps; expected {case.warmup + case.steps}")
    when, steps = zip(*logged)
    if any(r["tokens"] != case.batch * case.seq_len for r in steps):
        raise ProgramFailed(f"steps of {steps[0]['tokens']} tokens; the peer's have {case.batch} x {case.seq_len}")
    step_seconds = statistics.median(r["step_seconds"] for r in steps[case.warmup :])
    return {
        "start_seconds": when[0] - steps[0]["step_seconds"],
        "first_step_seconds": steps[0]["step_seconds"],
        "step_seconds": step_seconds,
        # By this program's clock, as a check on trainrun's; the mean, with logging and data between the steps.
        "wall_step_seconds": (when[-1] - when[case.warmup - 1]) / case.steps,
        "tokens_per_second": case.batch * case.seq_len / step_seconds,
        "peak_rss_bytes": usage.ru_maxrss * 1024,
        "planned_bytes": steps[-1]["peak_bytes"],
        "losses": [r["loss"] for r in steps],
    }


# --- the roofline -----------------------------------------------------------------------------------------------


def run_profile(arguments, case, plan, data):
    """Seconds, operations and bytes of all steps, by category."""
    _, stderr, _ = run(trainrun_command(arguments, case, plan, data, "--profile"))
    sums = {}
    for seconds, gflops, gigabytes, name in PROFILE_SUM.findall(stderr):
        seconds = float(seconds)
        sums[name] = {"seconds": seconds, "flop": seconds * float(gflops) * 1e9, "bytes": seconds * float(gigabytes) * 1e9}
    if "matrix products" not in sums:
        raise ProgramFailed(f"no sums at the end of the profile:\n{stderr[-2000:]}")
    return sums


def products_peak(peak, precision):
    """FLOP/s that products of factors of this precision reach in registers, and with which instructions."""
    of = "bf16_" if precision == "bf16" else ""
    return peak[of + "flop_per_second"], peak[of + "instructions"]


def roofline(profile, peak, precision):
    """Shares of the step; the products' rate against the machine's, and the rest's bandwidth against a copy's.

    Attention computes in f32, whatever its tensors are.
    """
    total = sum(part["seconds"] for part in profile.values())
    products, attention = profile.pop("matrix products"), profile.pop("attention")
    rest = {key: sum(part[key] for part in profile.values()) for key in products}

    def rates(part, work, machine):
        rate = part[work] / part["seconds"] if part["seconds"] else 0.0
        return {"share": part["seconds"] / total, "rate": rate, "of_machine": rate / machine}

    return {
        "products": rates(products, "flop", products_peak(peak, precision)[0]),
        "attention": rates(attention, "flop", peak["flop_per_second"]),
        "rest": rates(rest, "bytes", peak["copy_bytes_per_second"]),
    }


# --- a comparison -----------------------------------------------------------------------------------------------


def write_tokens(path, vocabulary):
    """Random tokens with a distribution like a language's, where the r-th token has weight 1/r."""
    weights = [1 / rank for rank in range(1, vocabulary + 1)]
    tokens = array.array("H", random.Random(1).choices(range(vocabulary), weights, k=TOKENS_IN_FILE))
    if sys.byteorder == "big":
        tokens.byteswap()
    path.write_bytes(tokens.tobytes())


def medians(runs):
    """The median of each number, the first round's list of losses."""
    return {
        key: value if key == "losses" else statistics.median(r[key] for r in runs)
        for key, value in runs[0].items()
        if key == "losses" or isinstance(value, int | float)
    }


def compare(arguments, name, peak, folder):
    case = CASES[name]
    data, plan, report = folder / "tokens.bin", folder / "model.plan", folder / "report.json"
    write_tokens(data, case.vocabulary)
    runs = {"eager": [], "compile": [], "trainc": []}
    for number in range(arguments.rounds):
        for mode in ("eager", "compile"):
            progress(f"{name}: round {number + 1} of {arguments.rounds}, PyTorch {mode}")
            runs[mode].append(run_peer(arguments, name, case, mode, data, folder))
        progress(f"{name}: round {number + 1} of {arguments.rounds}, trainc")
        compile_seconds = compile_plan(arguments, case, plan, report)
        ours = run_trainrun(arguments, case, plan, data, folder)
        runs["trainc"].append(ours | {"compile_seconds": compile_seconds})
    result = {program: medians(rounds) for program, rounds in runs.items()}
    add_gflops(result)
    progress(f"{name}: profile")
    result["roofline"] = roofline(run_profile(arguments, case, plan, data), peak, arguments.precision)
    return result | {"ratios": ratios(result), "report": json.loads(report.read_text()), "rounds": runs}


def add_gflops(result):
    """Ours by the peer's formula, so that the figures compare."""
    peer, ours = result["eager"], result["trainc"]
    flops_per_token = peer["gflop_per_second"] / peer["tokens_per_second"]
    ours["gflop_per_second"] = flops_per_token * ours["tokens_per_second"]


def ratios(result):
    """Ours over the faster PyTorch's."""
    faster = min("eager", "compile", key=lambda mode: result[mode]["step_seconds"])
    peer, ours = result[faster], result["trainc"]
    return {
        "faster_peer": faster,
        "step_ratio": ours["step_seconds"] / peer["step_seconds"],
        "rss_ratio": ours["peak_rss_bytes"] / peer["peak_rss_bytes"],
        "start_seconds": ours["start_seconds"],
        "compile_seconds": ours["compile_seconds"],
    }


# --- output -----------------------------------------------------------------------------------------------------

MEBI = 1 << 20
ROWS = [  # title, key, divisor, key of the ratio and target
    ("step, ms", "step_seconds", 1e-3, "step_ratio"),
    ("step by the clock, ms", "wall_step_seconds", 1e-3, None),
    ("tokens/s", "tokens_per_second", 1, None),
    ("GFLOP/s", "gflop_per_second", 1, None),
    ("peak RSS, MiB", "peak_rss_bytes", MEBI, "rss_ratio"),
    ("planned, MiB", "planned_bytes", MEBI, None),
    ("start until first step, s", "start_seconds", 1, "start_seconds"),
    ("first step, s", "first_step_seconds", 1, None),
    ("trainc compile, s", "compile_seconds", 1, "compile_seconds"),
]


def progress(text):
    print(text, file=sys.stderr, flush=True)


def number(value, divisor=1.0):
    if value is None:
        return ""
    return f"{value / divisor:.0f}" if value / divisor >= 1000 else f"{value / divisor:.3g}"


def targets(name, precision):
    return CASES[name].targets | (CASES[name].bf16_targets if precision == "bf16" else {})


def missed_targets(name, result, precision):
    # `not <=` so that a NaN is a miss.
    return [key for key, most in targets(name, precision).items() if not result["ratios"][key] <= most]


def print_table(name, result, arguments):
    found, most = result["ratios"], targets(name, arguments.precision)
    missed = missed_targets(name, result, arguments.precision)
    heading = CASES[name].title.format(precision=arguments.precision)
    products = f", trainc's products by {arguments.fp32_products}" if arguments.precision == "fp32" else ""
    print(f"\n{heading}{products}; ratios to PyTorch {found['faster_peer']}\n")
    print(f"{'':26}{'eager':>10}{'compile':>10}{'trainc':>10}{'ratio':>8}{'target':>10}")
    for title, key, divisor, judged in ROWS:
        values = [number(result[p].get(key), divisor) for p in ("eager", "compile", "trainc")]
        ratio = number(found[judged]) if judged and judged.endswith("_ratio") else ""
        target = f"<= {most[judged]:.2f}" if judged else ""
        verdict = " missed" if judged in missed else ""
        print(f"{title:26}" + "".join(f"{value:>10}" for value in values) + f"{ratio:>8}{target:>10}{verdict}")
    ends = {p: result[p]["losses"] for p in ("eager", "compile", "trainc")}
    print("loss, first and last      " + "".join(f" {f'{x[0]:.2f} {x[-1]:.2f}':>9}" for x in ends.values()))


def print_roofline(found, peak, precision):
    flops, instructions = products_peak(peak, precision)
    bandwidth = peak["copy_bytes_per_second"] / 1e9
    print(f"\nof a step{'share, %':>17}{'rate':>18}   of what the machine can do")
    for title, key, unit, most in [
        ("matrix products", "products", "GFLOP/s", f"{flops / 1e9:.0f} GFLOP/s of {instructions} in registers"),
        ("attention", "attention", "GFLOP/s", ""),
        ("the rest", "rest", "GB/s", f"{bandwidth:.1f} GB/s, read and written by copies"),
    ]:
        part = found[key]
        share, rate = f"{part['share'] * 100:.1f}", f"{part['rate'] / 1e9:.1f} {unit}"
        print(f"{title:18}{share:>8}{rate:>18}   {part['of_machine'] * 100:.0f} %" + (f" ({most})" if most else ""))


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    models = (line.partition(":")[2].strip() for line in info if line.startswith("model name"))
    return {"cpu": next(models, "unknown"), "cores": len(os.sched_getaffinity(0))}


def add_usual_arguments(parser):
    """Options shared by the scripts that time trainc; find_tools() checks --bin."""
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin", help="folder of trainc and trainrun")
    parser.add_argument("--fp32-products", choices=["fma", "bf16x3"], default="bf16x3" if has_amx() else "fma",
                        help="how trainc computes products (default: bf16x3 where the CPU has AMX, which it needs);"
                             " PyTorch uses MKL's fp32")
    parser.add_argument("--json", type=pathlib.Path, help="where to write all figures")


def write_figures(arguments, result):
    """Writes the measurements if --json asks for it."""
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "result": result}, indent=1) + "\n")


def find_tools(parser, arguments, tools):
    arguments.bin = arguments.bin.resolve()
    for tool in tools:
        if not (arguments.bin / tool).exists():
            parser.error(f"{arguments.bin / tool} is missing: build first (scripts/build.sh does), or give --bin")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="a Python that has torch, numpy and, for smollm2, transformers")
    add_usual_arguments(parser)
    parser.add_argument("--only", choices=CASES, help="one of the models")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32",
                        help="bf16: trainc's --precision=bf16, for this CPU alone, and PyTorch's autocast")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a target is missed")
    arguments = parser.parse_args()
    find_tools(parser, arguments, TOOLS)
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    return arguments


def main():
    arguments = parse_arguments()
    names = [arguments.only] if arguments.only else list(CASES)
    results = {"machine": machine() | {"threads": arguments.threads}, "precision": arguments.precision,
               "fp32_products": arguments.fp32_products}
    try:
        peak = json.loads(run([arguments.bin / "machine_peak", arguments.threads])[0])
        results["machine"] |= peak
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                results[name] = compare(arguments, name, peak, pathlib.Path(folder))
            print_table(name, results[name], arguments)
            print_roofline(results[name]["roofline"], peak, arguments.precision)
    except ProgramFailed as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if arguments.check and any(missed_targets(n, results[n], arguments.precision) for n in names) else 0


if __name__ == "__main__":
    sys.exit(main())
