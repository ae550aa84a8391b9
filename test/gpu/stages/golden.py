"""The golden models (test/golden) in fp32 and bf16, against numbers that PyTorch computed in float64; and bf16 against its autocast."""

import array
import json

import autocast_run
import golden_numbers
import harness
import machine
import plans
from harness import GOLDEN, read_safetensors, relative_error
from plans import GOLDEN_MODELS, PRECISIONS
from session import Failed

# Bounds for ten steps in bf16 against float64: factors and results are rounded to 8 bits, and at a rate of 1e-2 norms soon diverge, on CPUs too.
LOW_LOSS_BOUND, LOW_NORM_BOUND = 1e-2, 6e-2
# As test/end_to_end/precision_test.py has them.
WINDOW_BOUND, STEP_BOUND = 1e-3, 5e-3


def train(session, plan, run, model, *arguments):
    session.trainrun(plan, "--data", machine.golden_data(model), "--init", GOLDEN / model / "inputs.safetensors", "--no-shuffle",
                     "--checkpoint-dir", run, "--metrics", f"{run}.jsonl", *arguments)  # fmt: skip
    return harness.metrics(session.work / f"{run}.jsonl")


def worst(errors):
    """The error closest to its bound, from name -> (error, bound). Fails if some exceed their bounds."""
    beyond = [f"{name}: {error:.2g} of {bound:.2g}" for name, (error, bound) in errors.items() if not error < bound]
    if beyond:
        raise Failed("; ".join(beyond))
    name, (error, bound) = max(errors.items(), key=lambda each: each[1][0] / each[1][1])
    return f"{name}: {error:.2g} of {bound:.2g}"


def ten_steps(session, plan, model, precision):
    golden = read_safetensors(GOLDEN / model / "golden.safetensors")
    run = f"{plan}-golden"
    lines = train(session, plan, run, model)
    losses, norms = [line["loss"] for line in lines], [line["grad_norm"] for line in lines]
    low = precision != "fp32"
    loss_bound, norm_bound = (LOW_LOSS_BOUND, LOW_NORM_BOUND) if low else (golden_numbers.CURVE_BOUND, golden_numbers.CURVE_BOUND)
    errors = {"first loss": (relative_error(losses[:1], golden["loss"].values), LOW_LOSS_BOUND if low else golden_numbers.LOSS_BOUND),
              "losses": (relative_error(losses, golden["losses"].values), loss_bound),
              "norms": (relative_error(norms, golden["grad_norms"].values), norm_bound)}  # fmt: skip
    if not low:
        final = read_safetensors(session.work / run / "step-00000010" / "model.safetensors")
        for name, tensor in golden_numbers.part(golden, "final").items():
            ours, theirs = (golden_numbers.without_keys(name, each.values)[0] for each in (final[name], tensor))
            errors[name] = (relative_error(ours, theirs), golden_numbers.WEIGHTS_BOUND)
    return worst(errors)


def gradients(session, model):
    run = f"{model}-gradients"
    train(session, f"{model}-gradients", run, model, "--steps=1")
    optimizer = read_safetensors(session.work / run / "step-00000001" / "optimizer.safetensors")
    errors = {}
    for name, tensor in golden_numbers.part(read_safetensors(GOLDEN / model / "golden.safetensors"), "grad").items():
        ours = array.array("d", [2 * value for value in optimizer[f"exp_avg.{name}"].values])
        (ours, keys), (theirs, _) = golden_numbers.without_keys(name, ours), golden_numbers.without_keys(name, tensor.values)
        errors[name] = (relative_error(ours, theirs), golden_numbers.GRADIENT_BOUND)
        if keys:
            errors[f"key bias of {name}"] = (max(map(abs, keys)), golden_numbers.KEYS_BOUND)
    return worst(errors)


def autocast(session, model):
    expected = json.loads((GOLDEN / "autocast.json").read_text())[model]["bf16"]
    data = autocast_run.write_tokens(session.work / "autocast.bin")
    session.trainrun(f"{model}-autocast", "--data", data, "--no-shuffle", "--seed=1", f"--steps={autocast_run.STEPS}", "--metrics=autocast.jsonl")
    losses = [line["loss"] for line in harness.metrics(session.work / "autocast.jsonl")]
    windows = max(map(abs, autocast_run.window_differences(losses, expected)))
    step, difference = autocast_run.worst_step(losses, expected)
    return worst({f"means of {autocast_run.WINDOW} steps": (windows, WINDOW_BOUND), f"step {step}": (abs(difference), STEP_BOUND)})


def run(session):
    checks = {f"{model}-{precision}": (f"{model}, {precision}, ten steps", ten_steps, (f"{model}-{precision}", model, precision))
              for model in GOLDEN_MODELS for precision in PRECISIONS}  # fmt: skip
    checks[plans.WITHOUT_LIBRARIES] = ("mlp, fp32, without library calls, ten steps", ten_steps, (plans.WITHOUT_LIBRARIES, "mlp", "fp32"))
    checks["gpt-plain"] = ("gpt, bf16, without epilogues, ten steps", ten_steps, ("gpt-plain", "gpt", "bf16"))
    checks["gpt-host-updates"] = ("gpt, fp32, updates on the host's cores, ten steps", ten_steps, ("gpt-host-updates", "gpt", "fp32"))
    checks |= {f"{model}-gradients": (f"{model}, fp32, gradients", gradients, (model,)) for model in GOLDEN_MODELS}
    checks |= {f"{model}-autocast": (f"{model}, bf16, {autocast_run.STEPS} steps beside PyTorch's autocast", autocast, (model,))
               for model in autocast_run.MODELS}  # fmt: skip
    for plan, (title, check, arguments) in checks.items():
        if plan in session.kit.plans():
            with session.line(title) as line:
                line.detail = check(session, *arguments)
