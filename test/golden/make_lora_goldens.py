#!/usr/bin/env python3
"""Writes golden numbers of adapters, which PEFT computes in float64 on the golden GPT-2 and Llama.

For each variant a folder beside this script, lora/NAME, receives
  adapter/             an adapter with random matrices, as PEFT saves it (f32)
  golden.safetensors   loss, gradients, and the outcome of ten AdamW steps, as make_goldens.py writes them; `logits` of the first
                       two samples with the adapter after ten steps
The names are those of trainc's parameters. Needs torch, transformers, safetensors and peft:

  python make_lora_goldens.py                         write the files
  python make_lora_goldens.py --adapter VARIANT PATH  instead compare the logits of an adapter that trainc exported after the ten
                                                      steps of lora_test.py
"""
import argparse
import pathlib
import tempfile

import peft
import torch
import transformers
from safetensors.torch import load_file, save_file

import make_goldens
from make_goldens import batches, load_model, public_name

HERE = make_goldens.HERE / "lora"
PREFIX = "base_model.model."
# The seeds keep gradients away from zero, as in make_goldens.py.
VARIANTS = {
    "gpt": ("gpt", 3, {"target_modules": ["c_attn", "c_proj"], "r": 4, "lora_alpha": 6, "fan_in_fan_out": True}),
    "gpt_rslora": ("gpt", 4, {"target_modules": ["mlp.c_fc"], "r": 8, "lora_alpha": 5, "use_rslora": True, "fan_in_fan_out": True}),
    "llama": ("llama", 5, {"target_modules": "all-linear", "r": 4, "lora_alpha": 8}),
    "llama_rslora": ("llama", 6, {"target_modules": ["q_proj", "v_proj"], "r": 2, "lora_alpha": 3, "use_rslora": True, "modules_to_save": ["lm_head"]}),
}


def trainc_name(name):
    """The name of trainc's parameter for PEFT's `name`."""
    name = name.removeprefix(PREFIX).replace(".default", "").replace("modules_to_save.", "")
    return public_name(name.replace("base_layer.", ""))


def base_of(model):
    """A golden model in float64, exact, and its inputs."""
    inputs = load_file(make_goldens.HERE / model / "inputs.safetensors")
    return load_model(model, inputs, torch.float64, exact=True)


def adapted(model, seed, settings):
    """The golden model with an adapter of random matrices."""
    base = base_of(model)
    config = peft.LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, **settings)
    with_adapter = peft.get_peft_model(base, config, autocast_adapter_dtype=False)
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in with_adapter.named_parameters():
        if "lora_" in name:
            parameter.data = (0.15 * torch.randn(parameter.shape, generator=generator)).double()
    return with_adapter


def train(model, data):
    """As make_goldens.train, of the trained parameters alone."""
    trained = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW([parameter for _, parameter in trained], lr=make_goldens.LEARNING_RATE, betas=make_goldens.BETAS,
                                  eps=make_goldens.EPSILON, weight_decay=make_goldens.WEIGHT_DECAY)
    golden, losses, norms = {}, [], []
    for step, batch in enumerate(batches(data)):
        optimizer.zero_grad()
        loss = make_goldens.mean_loss(model, batch)
        loss.backward()
        if step == 0:
            golden |= {f"grad.{trainc_name(name)}": parameter.grad.clone() for name, parameter in trained}
        losses.append(loss.detach())
        norms.append(torch.nn.utils.clip_grad_norm_([parameter for _, parameter in trained], make_goldens.MAX_NORM))
        optimizer.step()
    golden |= {f"final.{trainc_name(name)}": parameter.detach().clone() for name, parameter in trained}
    return golden | {"losses": torch.stack(losses), "grad_norms": torch.stack(norms), "loss": losses[0].clone()}


def logits_of(model, data):
    with torch.no_grad():
        return model(input_ids=data["tokens"][:2].long(), use_cache=False).logits.double().contiguous()


def write(name):
    base, seed, settings = VARIANTS[name]
    folder = HERE / name
    data = load_file(make_goldens.HERE / base / "data.safetensors")
    model = adapted(base, seed, settings)
    for parameter in model.parameters():  # the file is f32, and so the numbers begin there
        parameter.data = parameter.data.float().double()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as saved:
        model.save_pretrained(saved)
        (folder / "adapter").mkdir(exist_ok=True)
        tensors = load_file(pathlib.Path(saved) / "adapter_model.safetensors")
        save_file({key: value.float().contiguous() for key, value in tensors.items()}, folder / "adapter" / "adapter_model.safetensors")
        (folder / "adapter" / "adapter_config.json").write_text((pathlib.Path(saved) / "adapter_config.json").read_text())
    golden = train(model, data)
    golden["logits"] = logits_of(model, data)
    made_by = {"made_by": f"make_lora_goldens.py, torch {torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}"}
    save_file(golden, folder / "golden.safetensors", metadata=made_by)
    print(f"{name}: losses {golden['losses'].tolist()}, {len(tensors)} tensors")


def compare(variant, folder):
    """PEFT's logits of an adapter that trainc wrote."""
    base = VARIANTS[variant][0]
    data = load_file(make_goldens.HERE / base / "data.safetensors")
    model = peft.PeftModel.from_pretrained(base_of(base), folder, autocast_adapter_dtype=False).double()
    expected = load_file(HERE / variant / "golden.safetensors")["logits"]
    apart = (logits_of(model, data) - expected).abs().max() / expected.abs().max()
    print(f"{variant}: logits differ by {apart:.1e} of the largest")
    assert apart < 1e-4, "the adapter is another one"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapter", nargs=2, metavar=("VARIANT", "PATH"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.adapter:
        compare(arguments.adapter[0], arguments.adapter[1])
    else:
        for name in VARIANTS:
            write(name)


if __name__ == "__main__":
    main()
