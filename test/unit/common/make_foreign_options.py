#!/usr/bin/env python3
"""Writes foreign_options.txt: the options of other training programs, read from their sources, which are not run.

  make_foreign_options.py --transformers=FOLDER --accelerate=FOLDER --deepspeed=FOLDER --torch=FOLDER

Each FOLDER is the package itself, e.g. site-packages/transformers.
"""
import argparse
import ast
import pathlib


def added(path):
    """The long options that a source gives to an argparse parser."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            names |= {each.value for each in node.args if isinstance(each, ast.Constant) and str(each.value).startswith("--")}
    return names


def fields(path, name):
    """The fields of a dataclass, which HfArgumentParser makes options of; a field that is true by itself also has a no_ form."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ClassDef) or node.name != name:
            continue
        for each in node.body:
            if not isinstance(each, ast.AnnAssign) or each.target.id.startswith("_"):
                continue
            names.add("--" + each.target.id)
            defaults = [keyword.value for keyword in getattr(each.value, "keywords", []) if keyword.arg == "default"]
            if ast.unparse(each.annotation) == "bool" and any(isinstance(value, ast.Constant) and value.value is True for value in [*defaults, each.value]):
                names.add("--no_" + each.target.id)
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for package in ("transformers", "accelerate", "deepspeed", "torch"):
        parser.add_argument(f"--{package}", type=pathlib.Path, required=True)
    given = parser.parse_args()
    programs = {
        "TrainingArguments": fields(given.transformers / "training_args.py", "TrainingArguments")
                             | fields(given.transformers / "training_args_seq2seq.py", "Seq2SeqTrainingArguments"),
        "deepspeed": added(given.deepspeed / "launcher/runner.py") | added(given.deepspeed / "launcher/launch.py") | added(given.deepspeed / "__init__.py"),
        "accelerate launch": added(given.accelerate / "commands/launch.py"),
        "torchrun": added(given.torch / "distributed/run.py"),
    }
    lines = [f"{name.removeprefix('--')}  {program}" for program, names in programs.items() for name in sorted(names)]
    (pathlib.Path(__file__).parent / "foreign_options.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
