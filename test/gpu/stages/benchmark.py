"""GPT-2 compared with PyTorch, one after the other on the same GPU: tokens/s, memory, and the fraction of the peak."""

import json
import math
import statistics

import compare
import harness
import machine
import paths
from session import Failed, Skipped, TimedOut

WARMUP, STEPS = 5, 20
# A run at most: ours, and PyTorch's, which compiles every block of the model by itself.
OUR_SECONDS, PEER_SECONDS = 60, {"tiny": 120, "gpt2": 120, "gpt2-xl": 180}
LEAST_RATIO, MOST_MEMORY, WANTED_MFU = 1.15, 0.80, 0.60
PEER = paths.ROOT / "test" / "gpu" / "pytorch_gpt2.py"


def title(case):
    return f"{case.config}, bf16, {case.batch} x {case.length}"


def seconds(case):
    """At most: ours, once timed and once not, and each of PyTorch's."""
    return 2 * OUR_SECONDS + len(case.peers) * PEER_SECONDS[case.config]


def peer(session, case, options, data):
    """Results of pytorch_gpt2.py, measured once per call of the checklist."""
    key = case.config, case.batch, options
    if key not in session.peers:
        session.peers[key] = run_peer(session, case, options, data)
    return session.peers[key]


def run_peer(session, case, options, data):
    try:
        out, _ = session.run(session.python, PEER, f"--config={case.config}", f"--batch={case.batch}", f"--length={case.length}",
                             f"--warmup={WARMUP}", f"--steps={STEPS}", f"--data={data}", *options, seconds=PEER_SECONDS[case.config])  # fmt: skip
    except TimedOut as reason:
        raise Skipped(str(reason)) from None
    except Failed as reason:
        if "No module named 'torch'" in str(reason):
            raise Skipped("this Python has no torch; say which has with --python") from None
        raise
    found = json.loads(out.splitlines()[-1])
    if found.get("out_of_memory"):
        raise Skipped("it needs more memory than the GPU has")
    return found


def warmup_of(session):
    return 1 if session.emulated else WARMUP


def steps_of(session):
    """In all. An emulator takes long, and is not timed."""
    return 3 if session.emulated else WARMUP + STEPS


def train(session, name, data, metrics):
    session.trainrun(name, "--data", data, "--seed=1", f"--steps={steps_of(session)}", f"--metrics={metrics}", seconds=OUR_SECONDS)


def used_bytes(session, name, data):
    """Memory of a run that is not timed."""
    if session.emulated:
        return None
    with machine.MemoryWatch() as watch:
        train(session, name, data, f"{name}-memory.jsonl")
    return watch.bytes


def ours(session, name, case, data):
    train(session, name, data, f"{name}.jsonl")
    lines = [line for line in harness.metrics(session.work / f"{name}.jsonl") if "step_seconds" in line]
    losses = [line["loss"] for line in lines]
    if len(lines) != steps_of(session) or not all(math.isfinite(loss) for loss in losses):
        raise Failed(f"expected {steps_of(session)} finite losses, found {losses}")
    if lines[-1]["tokens"] != case.batch * case.length:
        raise Failed(f"steps of {lines[-1]['tokens']} tokens; expected {case.batch} x {case.length}")
    step = statistics.fmean(line["step_seconds"] for line in lines[warmup_of(session):])
    return {"step_seconds": step, "tokens_per_second": case.batch * case.length / step, "planned_bytes": lines[-1]["peak_bytes"],
            "used_bytes": used_bytes(session, name, data), "predicted_step_seconds": session.kit.manifest["plans"][name]["predicted_step_seconds"],
            "losses": losses}  # fmt: skip


def describe(found):
    used = f", {found['used_bytes'] / (1 << 20):.0f} MiB used on the GPU" if found["used_bytes"] else ""
    predicted = f" (predicted: {found['predicted_step_seconds'] * 1e3:.1f} ms)" if "predicted_step_seconds" in found else ""
    attention = f", attention by {found['attention']}" if "attention" in found else ""
    return (f"{found['tokens_per_second']:.0f} tokens/s, {found['step_seconds'] * 1e3:.1f} ms a step{predicted}{used}{attention}, "
            f"loss {found['losses'][0]:.3f} to {found['losses'][-1]:.3f}")  # fmt: skip


def judge(session, found, peers):
    """Ours against the faster PyTorch."""
    fastest = max(peers, key=lambda name: peers[name]["tokens_per_second"], default=None)

    def against():
        if found is None or fastest is None:
            raise Skipped("one side did not run")
        return peers[fastest]

    with session.line(f"tokens/s, of the fastest PyTorch's, at least {LEAST_RATIO}") as line:
        theirs = against()
        ratio = found["tokens_per_second"] / theirs["tokens_per_second"]
        line.figures = {"ratio": ratio, "peer": fastest}
        line.judge(ratio >= LEAST_RATIO, f"{ratio:.3f}, of {fastest}")
    with session.line(f"memory, of that PyTorch's, at most {MOST_MEMORY}") as line:
        theirs = against()
        if not found["used_bytes"] or not theirs["used_bytes"]:
            raise Skipped("nvidia-smi does not tell how much memory is in use")
        ratio = found["used_bytes"] / theirs["used_bytes"]
        line.figures = {"ratio": ratio}
        line.judge(ratio <= MOST_MEMORY, f"{ratio:.3f}; planned {found['planned_bytes'] / (1 << 20):.0f} MiB, "
                   f"PyTorch allocated {theirs['allocated_bytes'] / (1 << 20):.0f} and reserved {theirs['reserved_bytes'] / (1 << 20):.0f} MiB")  # fmt: skip
    with session.line(f"share of the peak FLOP/s (MFU), at least {WANTED_MFU:.0%}") as line:
        theirs, peak = against(), machine.peak_flops(session)
        if peak is None:
            raise Skipped("the table in test/gpu/machine.py does not have this GPU")
        shares = {name: theirs["flops_per_token"] * each["tokens_per_second"] / peak for name, each in (("trainc", found), *peers.items())}
        line.figures = shares | {"peak_flops": peak}
        line.judge(shares["trainc"] >= WANTED_MFU, f"{', '.join(f'{name} {share:.1%}' for name, share in shares.items())} of {peak / 1e12:.0f} TFLOP/s")


def run(name, session):
    case = session.kit.benchmarks()[name]
    data = session.work / f"{name}.bin"
    compare.write_tokens(data, case.vocabulary)
    found, peers = None, {}
    with session.line("trainc") as line:
        found = ours(session, name, case, data)
        if session.emulated:
            line.detail = f"{len(found['losses'])} steps, which are not timed"
            return
        line.figures, line.detail = found, describe(found)
    for options in case.peers:
        peer_name = f"PyTorch {' '.join(each.removeprefix('--').replace('=', ' ') for each in options)}"
        with session.line(peer_name) as line:
            line.figures = peer(session, case, options, data)
            peers[peer_name] = line.figures
            line.detail = describe(line.figures)
    judge(session, found, peers)
