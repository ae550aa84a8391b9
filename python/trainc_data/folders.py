"""Files of a data set: one file, a pattern, or a folder of Hugging Face's `datasets` (saved to disk, or as on the hub)."""

from __future__ import annotations

import glob
import json
import re
from pathlib import Path
from typing import Any

from trainc_data.errors import InputError, shown

_SUFFIXES = (".parquet", ".arrow", ".jsonl", ".json", ".csv", ".tsv")
# Words in names of files and folders that name a split.
_SPLITS = {"train": "train", "training": "train", "test": "test", "testing": "test", "eval": "test", "evaluation": "test",
           "validation": "validation", "valid": "validation", "val": "validation", "dev": "validation"}  # fmt: skip
_OTHER_FILES = {"dataset_info.json", "dataset_dict.json", "state.json", "dataset_infos.json"}


def files_of(name: str, split: str | None) -> tuple[list[Path], str]:
    """The files of an input, and a note about what was chosen; empty if there was no choice."""
    if not name:
        raise InputError("expected the name of a file or folder, found an empty one")
    path = Path(name)
    if path.is_dir():
        return _of_folder(path, split)
    if path.is_file():
        return [path], ""
    if path.exists():
        raise InputError(f"{name}: expected a file, found a pipe or a device, which cannot be read twice; write it into a file first")
    found = sorted(Path(each) for each in glob.glob(name))  # noqa: PTH207 - a pattern of any folder
    if not found:
        raise InputError(f"{name}: there is no such file or folder")
    files = [each for each in found if each.is_file()]
    if not files:
        raise InputError(f"{name}: expected files, found only folders or broken links, the first is {found[0]}; name a folder without a pattern")
    return files, ""


def _json_of(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected an object, found {shown(value)}")
    return value


def _is_name(value: Any) -> bool:
    """Whether a value names an entry of a folder: it is no path to another folder."""
    return isinstance(value, str) and value not in ("", ".", "..") and Path(value).name == value and "\0" not in value


def _of_folder(folder: Path, split: str | None) -> tuple[list[Path], str]:
    if (folder / "dataset_dict.json").exists():
        splits = _json_of(folder / "dataset_dict.json").get("splits")
        if not isinstance(splits, list) or not all(_is_name(each) for each in splits):
            raise InputError(f"{folder / 'dataset_dict.json'}: expected a list of names under 'splits', found {shown(splits)}")
        chosen = _choose(folder, {each: [folder / each] for each in splits}, split)
        if (folder / chosen / "dataset_dict.json").exists():
            raise InputError(f"{folder / chosen}: expected the files of a split, found splits again (dataset_dict.json)")
        return _of_folder(folder / chosen, None)[0], _note(splits, chosen)
    if (folder / "state.json").exists():
        return _saved(folder), ""
    groups: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if any(part.startswith(".") for part in inner.parts) or path.name in _OTHER_FILES or not path.is_file():
            continue
        if path.name.removesuffix(".gz").endswith(_SUFFIXES):
            groups.setdefault(_split_of(inner), []).append(path)
    if not groups:
        raise InputError(f"{folder}: expected files that end with {', '.join(_SUFFIXES)}, found none")
    chosen = _choose(folder, groups, split)
    return groups[chosen], _note(list(groups), chosen)


def _saved(folder: Path) -> list[Path]:
    """The files of a folder that save_to_disk wrote."""
    files = _json_of(folder / "state.json").get("_data_files")
    names = [each.get("filename") if isinstance(each, dict) else None for each in files] if isinstance(files, list) else []
    paths = [folder / str(name) for name in names if _is_name(name)]
    if not paths or len(paths) != len(names):
        raise InputError(f"{folder / 'state.json'}: expected names of files under '_data_files', found {shown(files)}")
    return paths


def _split_of(path: Path) -> str:
    for part in reversed(path.parts):
        for word in re.split(r"[^a-z]+", part.lower()):
            if word in _SPLITS:
                return _SPLITS[word]
    return "train"


def _choose(folder: Path, groups: dict[str, list[Path]], split: str | None) -> str:
    if split is None:
        split = next(iter(groups)) if len(groups) == 1 else "train"
    if split not in groups:
        raise InputError(f"{folder}: has no split '{split}'; give --split with one of {', '.join(sorted(groups))}")
    return split


def _note(splits: list[str], chosen: str) -> str:
    others = sorted(each for each in splits if each != chosen)
    return f"split {chosen}; not read: {', '.join(others)} (--split)" if others else ""
