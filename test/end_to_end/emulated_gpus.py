"""Environments in which trainrun finds the libraries of test/emulator instead of NVIDIA's."""

import os
from pathlib import Path

import harness

LIBRARIES = str(Path(os.environ.get("BUILD_FOLDER", harness.ROOT / "build"), "test", "emulator", "lib"))

# Options by target for plans that run here and compile faster: this CPU only, or PTX for emulated GPUs.
FOR_HERE = {"cpu": ["--target=cpu", "--cpu=native"], "cuda": ["--target=cuda", "--gpu-levels=none"]}


def broken(environment, library):
    """The same without a library: the first file of its name is none. The system may have one of its own, which a missing file would not hide."""
    folder = Path("broken", library)
    folder.mkdir(parents=True)
    Path(folder, library).write_text("no library")
    return dict(environment, LD_LIBRARY_PATH=f"{folder.resolve()}:{LIBRARIES}")


def environment(**settings):
    """The settings are those of the READMEs in test/emulator: seed=3 is TRAINC_EMULATOR_SEED=3. Reads of unwritten scratch fail."""
    return dict(os.environ, LD_LIBRARY_PATH=LIBRARIES, TRAINC_UNWRITTEN_SCRATCH="1", **{f"TRAINC_EMULATOR_{name.upper()}": str(value) for name, value in settings.items()})
