#!/usr/bin/env python3
"""Writes pytorch-*.mlir beside this script: functions with literal arguments, and PyTorch's float64 results as
expectations. Run it with PyTorch 2.11 after changing a case; the tests themselves need no PyTorch."""
import itertools
import math
import pathlib

import torch
from torch.nn import functional

HERE = pathlib.Path(__file__).resolve().parent
torch.manual_seed(3)


def literal(tensor):
    if tensor.dtype == torch.float64:
        numbers, element = [f"{x:.16e}".replace("inf", "0x7FF0000000000000") for x in tensor.flatten().tolist()], "f64"
        numbers = ["0xFFF0000000000000" if x.startswith("-0x") else x for x in numbers]
    else:
        numbers, element = [str(x) for x in tensor.flatten().tolist()], "i32"

    def nest(shape):
        if not shape:
            return numbers.pop(0)
        return "[" + ", ".join(nest(shape[1:]) for _ in range(shape[0])) + "]"

    shape = "".join(f"{size}x" for size in tensor.shape)
    return f"dense<{nest(list(tensor.shape))}> : tensor<{shape}{element}>"


def type_of(tensor):
    element = "f32" if tensor.dtype == torch.float64 else "i32"
    return "tensor<" + "".join(f"{size}x" for size in tensor.shape) + element + ">"


def function(name, op, arguments, results, constants=""):
    """`op` is the op's text with {0}, {1} ... for the arguments' types, and %a, %b ... for the arguments.
    `constants` names arguments that the op gives no gradient."""
    types = [type_of(a) for a in arguments]
    arguments_text = ",\n    ".join(f"%{'abcdefg'[i]}: {t} {{{'check.constant, ' * ('abcdefg'[i] in constants)}check.values = {literal(a)}}}" for i, (t, a) in enumerate(zip(types, arguments)))
    outcome = ",\n        ".join(f"{type_of(r)} {{check.expect = {literal(r)}}}" for r in results)
    names = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    count = f":{len(results)}" if len(results) > 1 else ""
    body = op.format(*types)
    returned = ", ".join(type_of(r) for r in results)
    return (f"func.func @{name}(\n    {arguments_text})\n    -> ({outcome}) {{\n"
            f"  %r{count} = nn.{body}\n  return {names} : {returned}\n}}\n")  # fmt: skip


def write(name, modes, functions):
    text = f"// RUN: trainc-check %s {modes}\n// Written by pytorch_numbers.py with torch {torch.__version__.split('+')[0]}.\n\n"
    (HERE / f"pytorch-{name}.mlir").write_text(text + "\n".join(functions))


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def integers(end, *shape):
    return torch.randint(end, shape, dtype=torch.int32)


# --- elementwise ------------------------------------------------------------------------------------------------


def unary():
    everywhere = torch.tensor([-20.0, -3.5, -0.75, -1e-3, 1e-3, 0.5, 1.25, 4.0, 20.0], dtype=torch.float64)
    positive = torch.tensor([0.1, 0.3, 0.5, 1.0, 2.5, 40.0, 1e6], dtype=torch.float64)
    cases = {"neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh,
             "erf": torch.erf, "sigmoid": torch.sigmoid, "relu": torch.relu, "silu": functional.silu, "square": torch.square,
             "gelu": functional.gelu, "softplus": lambda x: functional.softplus(x, threshold=1000), "log_sigmoid": functional.logsigmoid}  # fmt: skip
    functions = [function(n, f"{n} %a : {{0}}", [everywhere], [f(everywhere)]) for n, f in cases.items()]
    for n, f in {"reciprocal": torch.reciprocal, "log": torch.log, "log1p": torch.log1p, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt}.items():
        functions.append(function(n, f"{n} %a : {{0}}", [positive], [f(positive)]))
    tanh = functional.gelu(everywhere, approximate="tanh")
    functions.append(function("gelu_tanh", "gelu %a approximate tanh : {0}", [everywhere], [tanh]))
    write("unary", "--reference --gradients --kernels --bound=2e-7", functions)


# --- composite ops ----------------------------------------------------------------------------------------------


def norms():
    x, eps = normal(2, 3, 5), 1e-5
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
    rstd = torch.rsqrt(variance + eps)
    rms = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    large = torch.tensor([[-1e3, 0.0, 1e3], [700.0, 701.0, 702.0]], dtype=torch.float64)
    write("norms", "--reference --decompose --kernels --bound=5e-7", [
        function("standardize", "standardize %a eps 1.0e-5 : {0}", [x], [functional.layer_norm(x, (5,)), rstd.squeeze(-1)]),
        function("standardize_wide_eps", "standardize %a eps 0.5 : {0}", [x],
                 [(x - mean) * torch.rsqrt(variance + 0.5), torch.rsqrt(variance + 0.5).squeeze(-1)]),
        function("rms_standardize", "rms_standardize %a eps 1.0e-5 : {0}", [x], [x * rms, rms.squeeze(-1)]),
        function("softmax", "softmax %a : {0}", [x], [torch.softmax(x, -1)]),
        function("softmax_large", "softmax %a : {0}", [large], [torch.softmax(large, -1)]),
    ])  # fmt: skip


def rotated(x, positions, heads, theta):
    """As transformers' apply_rotary_pos_emb, on heads side by side."""
    b, t, width = x.shape
    d = width // heads
    frequencies = theta ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions.double()[..., None] * frequencies
    angles = torch.cat((angles, angles), -1).expand(b, t, d)[:, :, None]
    x = x.view(b, t, heads, d)
    x1, x2 = x.chunk(2, -1)
    return (x * angles.cos() + torch.cat((-x2, x1), -1) * angles.sin()).view(b, t, width)


def partly_rotated(x, positions, heads, theta, rotary, interleaved=False):
    """The same of the first `rotary` numbers of each head; interleaved as in GPT-J: pairs are neighbours."""
    b, t, width = x.shape
    first, rest = x.view(b, t, heads, width // heads).split((rotary, width // heads - rotary), -1)
    if interleaved:
        first = first.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)
    first = rotated(first.flatten(2), positions, heads, theta).view(b, t, heads, rotary)
    if interleaved:
        first = first.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)
    return torch.cat((first, rest), -1).view(b, t, width)


def rope():
    x, together, apart = normal(2, 3, 8), torch.tensor([0, 1, 7], dtype=torch.int32), integers(50, 2, 3)
    back = rotated(x, -apart, 1, 100.0)
    write("rope", "--reference --gradients --decompose --kernels --bound=2e-6", [
        function("together", "rope %a positions %b heads 2 theta 1.0e4 : {0}, {1}", [x, together], [rotated(x, together, 2, 1e4)]),
        function("apart", "rope %a positions %b heads 1 theta 100.0 : {0}, {1}", [x, apart], [rotated(x, apart, 1, 100.0)]),
        function("inverse", "rope %a positions %b heads 1 theta 100.0 inverse : {0}, {1}", [x, apart], [back]),
        function("part", "rope %a positions %b heads 1 theta 100.0 rotary 6 : {0}, {1}", [x, apart], [partly_rotated(x, apart, 1, 100.0, 6)]),
        function("interleaved", "rope %a positions %b heads 2 theta 1.0e4 interleaved : {0}, {1}", [x, together],
                 [partly_rotated(x, together, 2, 1e4, 4, True)]),
        function("part_interleaved", "rope %a positions %b heads 1 theta 100.0 rotary 4 interleaved : {0}, {1}", [x, apart],
                 [partly_rotated(x, apart, 1, 100.0, 4, True)]),
    ])  # fmt: skip


def cross_entropy():
    logits, labels = 3 * normal(2, 4, 5), integers(5, 2, 4)
    labels[0, 1] = labels[1, 3] = -100
    other = labels.clone()
    other[other == -100] = 3
    weights = torch.rand(5, dtype=torch.float64) + 0.5
    lse = torch.logsumexp(logits, -1)

    def loss(labels, **options):
        flat = functional.cross_entropy(logits.flatten(0, 1), labels.flatten().long(), reduction="none", **options)
        return [flat.view(2, 4), lse]

    two, three = [logits, labels], [logits, labels, weights]
    write("cross_entropy", "--reference --gradients --decompose --kernels --bound=5e-7", [
        function("plain", "cross_entropy %a, %b : {0}, {1}", two, loss(labels)),
        function("ignore", "cross_entropy %a, %b ignore 3 : {0}, {1}", [logits, other], loss(other, ignore_index=3)),
        function("smoothing", "cross_entropy %a, %b smoothing 0.1 : {0}, {1}", two, loss(labels, label_smoothing=0.1)),
        function("weights", "cross_entropy %a, %b weights %c : {2} : {0}, {1}", three, loss(labels, weight=weights), "c"),
        function("all", "cross_entropy %a, %b ignore 3 smoothing 0.2 weights %c : {2} : {0}, {1}", [logits, other, weights],
                 loss(other, weight=weights, ignore_index=3, label_smoothing=0.2), "c"),
    ])  # fmt: skip


# --- attention --------------------------------------------------------------------------------------------------


def slopes_of(heads):
    """Returns ALiBi's slopes: the geometric sequence of the largest power of two, then every second slope of the next power's sequence."""
    power = 2 ** int(math.log2(heads))
    return [2.0 ** (-8.0 * h / power) for h in range(1, power + 1)] + [2.0 ** (-4.0 * h / power) for h in range(1, 2 * power, 2)][:heads - power]


def philox(counter, key):
    """Philox4x32-10 of Salmon et al. (2011): four words of 32 bits."""
    a, b, c, d = counter
    x, y = key
    for _ in range(10):
        even, odd = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = odd >> 32 ^ b ^ x, odd % 2**32, even >> 32 ^ d ^ y, even % 2**32
        x, y = (x + 0x9E3779B9) % 2**32, (y + 0xBB67AE85) % 2**32
    return a, b, c, d


# A known answer of the paper's test vectors.
assert philox([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)


def dropped_weights(batch, heads, positions, p, key):
    """Returns attention with equal scores, whose values are the unit vectors of the keys: the weights of the causal mask after dropout."""
    weights = torch.zeros(batch, positions, heads, positions, dtype=torch.float64)
    for b, i, h in itertools.product(range(batch), range(positions), range(heads)):
        for j in range(i + 1):
            word = philox((j // 4, i, ((batch * key[3] + b) * heads + h) % 2**32, key[2]), key[:2])[j % 4]
            weights[b, i, h, j] = 0 if word >> 8 < p * 2**24 else 1 / (1 - p) / (i + 1)
    return weights.flatten(2)


def biases(heads, distances):
    return torch.arange(heads * distances, dtype=torch.float64).mul(2.3).sin().view(heads, distances)


def attend(q, k, v, heads, kv_heads, causal=False, segments=None, scale=None, window=None, softcap=None, alibi=None, sinks=None, distances=None):
    """PyTorch's scaled_dot_product_attention, and the log-sum-exp it does not return. It has no soft cap and no sinks, with which both are
    computed here."""
    split = lambda x, n: x.unflatten(-1, (n, -1)).transpose(1, 2)
    repeat = lambda x: x.repeat_interleave(heads // kv_heads, dim=1)
    q, k, v = split(q, heads), repeat(split(k, kv_heads)), repeat(split(v, kv_heads))
    t, s = q.shape[2], k.shape[2]
    mask = torch.ones(t, s, dtype=torch.bool).tril(s - t) if causal else torch.ones(t, s, dtype=torch.bool)
    if window is not None:
        distance = torch.arange(t)[:, None] + s - t - torch.arange(s)
        mask = mask & (distance.abs() < window)
    if segments is not None:
        mask = mask & (segments[:, None, :, None] == segments[:, None, None, :])
    bias = torch.zeros((), dtype=torch.float64)
    if alibi is not None:
        bias = alibi * torch.tensor(slopes_of(heads), dtype=torch.float64)[:, None, None] * (torch.arange(s) - torch.arange(t)[:, None] - s + t)
    if distances is not None:
        bias = bias + distances[:, distances.shape[1] // 2 + s - t + torch.arange(t)[:, None] - torch.arange(s)]
    given = mask if bias.dim() == 0 else bias.masked_fill(~mask, -math.inf)
    out = functional.scaled_dot_product_attention(q, k, v, attn_mask=given, scale=scale)
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1])) + bias
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    scores = scores.masked_fill(~mask, -math.inf)
    if softcap is not None:
        out = torch.softmax(scores, -1) @ v
    if sinks is not None:
        scores = torch.cat([scores, sinks[:, None, None].expand(*scores.shape[:-1], 1)], -1)
        out = torch.softmax(scores, -1)[..., :-1] @ v
    return [out.transpose(1, 2).flatten(2), torch.logsumexp(scores, -1)]


def dropout():
    """Dropout of equal weights, with values that show each weight: the mask of a Philox that is independent of the compiler's."""
    batch, heads, positions, p, key = 2, 2, 7, 0.25, (12345678, 16777215, 7654321, 5)
    zeros = torch.zeros(batch, positions, heads, dtype=torch.float64)
    units = torch.eye(positions, dtype=torch.float64).repeat(batch, 1, heads)
    op = f"attention %a, %b, %c heads {heads} causal dropout {p} dropout_key %d : {{3}} : {{0}}, {{1}}, {{2}}"
    lse = torch.arange(1, positions + 1, dtype=torch.float64).log().repeat(batch, heads, 1)
    return function("dropout", op, [zeros, zeros, units, torch.tensor(key, dtype=torch.int32)], [dropped_weights(batch, heads, positions, p, key), lse])


def attention():
    q, k, v = normal(2, 4, 6), normal(2, 4, 6), normal(2, 4, 4)
    small_k, small_v = normal(2, 4, 3), normal(2, 4, 2)
    few = normal(2, 2, 6)
    segments = torch.tensor([[0, 0, 1, 1], [2, 2, 2, 5]], dtype=torch.int32)
    sinks = torch.tensor([0.25, -1.5], dtype=torch.float64)
    bias = biases(2, 9)
    write("attention", "--reference --kernels --bound=1e-6", [
        function("bidirectional", "attention %a, %b, %c heads 2 : {0}, {1}, {2}", [q, k, v], attend(q, k, v, 2, 2)),
        function("causal", "attention %a, %b, %c heads 2 causal : {0}, {1}, {2}", [q, k, v], attend(q, k, v, 2, 2, True)),
        function("grouped", "attention %a, %b, %c heads 2 kv_heads 1 causal : {0}, {1}, {2}", [q, small_k, small_v],
                 attend(q, small_k, small_v, 2, 1, True)),
        function("scaled", "attention %a, %b, %c heads 1 scale 0.3 : {0}, {1}, {2}", [q, k, v],
                 attend(q, k, v, 1, 1, scale=0.3)),
        function("later_queries", "attention %a, %b, %c heads 2 causal : {0}, {1}, {2}", [few, k, v],
                 attend(few, k, v, 2, 2, True)),
        function("segments", "attention %a, %b, %c heads 2 causal segments %d : {3} : {0}, {1}, {2}", [q, k, v, segments],
                 attend(q, k, v, 2, 2, True, segments)),
        function("window", "attention %a, %b, %c heads 2 causal window 2 : {0}, {1}, {2}", [q, k, v],
                 attend(q, k, v, 2, 2, True, window=2)),
        function("window_of_both_sides", "attention %a, %b, %c heads 2 window 2 : {0}, {1}, {2}", [q, k, v],
                 attend(q, k, v, 2, 2, window=2)),
        function("window_of_later_queries", "attention %a, %b, %c heads 2 window 2 : {0}, {1}, {2}", [few, k, v],
                 attend(few, k, v, 2, 2, window=2)),
        function("softcap", "attention %a, %b, %c heads 2 kv_heads 1 causal softcap 0.5 : {0}, {1}, {2}", [q, small_k, small_v],
                 attend(q, small_k, small_v, 2, 1, True, softcap=0.5)),
        function("softcap_in_window", "attention %a, %b, %c heads 1 causal window 3 softcap 2.0 scale 0.7 : {0}, {1}, {2}", [q, k, v],
                 attend(q, k, v, 1, 1, True, scale=0.7, window=3, softcap=2.0)),
        function("alibi", "attention %a, %b, %c heads 2 causal alibi 4.0 : {0}, {1}, {2}", [q, k, v], attend(q, k, v, 2, 2, True, alibi=4.0)),
        function("alibi_of_later_queries", "attention %a, %b, %c heads 2 causal alibi 4.0 : {0}, {1}, {2}", [few, k, v],
                 attend(few, k, v, 2, 2, True, alibi=4.0)),
        function("sinks", "attention %a, %b, %c heads 2 causal window 2 sinks %d : {3} : {0}, {1}, {2}", [q, k, v, sinks],
                 attend(q, k, v, 2, 2, True, window=2, sinks=sinks)),
        dropout(),
        function("bias", "attention %a, %b, %c heads 2 scale 1.0 bias %d : {3} : {0}, {1}, {2}", [q, k, v, bias],
                 attend(q, k, v, 2, 2, scale=1.0, distances=bias)),
        function("causal_bias_of_later_queries", "attention %a, %b, %c heads 2 causal bias %d : {3} : {0}, {1}, {2}", [few, k, v, bias],
                 attend(few, k, v, 2, 2, True, distances=bias)),
    ])  # fmt: skip


def gradient(q, k, v, dout, *options, **named):
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    if "distances" in named:
        leaves.append(named["distances"].clone().requires_grad_())
        named["distances"] = leaves[-1]
    out, lse = attend(*leaves[:3], *options, **named)
    return list(torch.autograd.grad(out, leaves, dout)), out.detach(), lse.detach()


def attention_grad():
    q, k, v, dout = normal(2, 4, 6), normal(2, 4, 6), normal(2, 4, 4), normal(2, 4, 4)
    small_k, small_v = normal(2, 4, 3), normal(2, 4, 2)
    segments = torch.tensor([[0, 0, 1, 1], [2, 2, 2, 5]], dtype=torch.int32)
    bias = biases(2, 7)

    def case(name, text, arguments, result):
        gradients, out, lse = result
        q, k, v, dout, *rest = arguments
        given = [q, k, v, out, lse, dout, *rest]
        op = f"attention_grad %a, %b, %c, %d, %e, %f {text} : {{0}}, {{1}}, {{2}}, {{3}}, {{4}}, {{5}}"
        return function(name, op, given, gradients)

    plain = [q, k, v, dout]
    write("attention_grad", "--reference --kernels --bound=5e-6", [
        case("bidirectional", "heads 2 kv_heads 2 scale 0.5", plain, gradient(*plain, 2, 2, scale=0.5)),
        case("causal", "heads 2 kv_heads 2 causal scale 0.5", plain, gradient(*plain, 2, 2, True, scale=0.5)),
        case("grouped", "heads 2 kv_heads 1 causal scale 1.0", [q, small_k, small_v, dout],
             gradient(q, small_k, small_v, dout, 2, 1, True, scale=1.0)),
        case("segments", "heads 2 kv_heads 2 scale 0.5 segments %g : {6}", [*plain, segments],
             gradient(*plain, 2, 2, segments=segments, scale=0.5)),
        case("window", "heads 2 kv_heads 2 causal window 2 scale 0.5", plain, gradient(*plain, 2, 2, True, scale=0.5, window=2)),
        case("window_of_both_sides", "heads 2 kv_heads 2 window 2 scale 0.5", plain, gradient(*plain, 2, 2, scale=0.5, window=2)),
        case("softcap", "heads 2 kv_heads 2 causal softcap 0.5 scale 0.5", plain, gradient(*plain, 2, 2, True, scale=0.5, softcap=0.5)),
        case("softcap_in_window", "heads 2 kv_heads 1 causal window 3 softcap 2.0 scale 1.0", [q, small_k, small_v, dout],
             gradient(q, small_k, small_v, dout, 2, 1, True, scale=1.0, window=3, softcap=2.0)),
        case("alibi", "heads 2 kv_heads 1 causal scale 1.0 alibi 4.0", [q, small_k, small_v, dout],
             gradient(q, small_k, small_v, dout, 2, 1, True, scale=1.0, alibi=4.0)),
        case("sinks", "heads 2 kv_heads 1 causal scale 1.0", [q, small_k, small_v, dout],
             gradient(q, small_k, small_v, dout, 2, 1, True, scale=1.0, sinks=torch.tensor([0.25, -1.5], dtype=torch.float64))),
        case("bias", "heads 2 kv_heads 1 scale 1.0 bias %g : {6}", [q, small_k, small_v, dout, bias],
             gradient(q, small_k, small_v, dout, 2, 1, scale=1.0, distances=bias)),
        case("causal_bias_softcap_in_window", "heads 2 kv_heads 2 causal window 3 softcap 2.0 scale 0.5 bias %g : {6}", [*plain, bias],
             gradient(*plain, 2, 2, True, scale=0.5, window=3, softcap=2.0, distances=bias)),
    ])  # fmt: skip


for write_file in (unary, norms, rope, cross_entropy, attention, attention_grad):
    write_file()
