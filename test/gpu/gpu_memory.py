"""How much memory of the GPU is in use, as nvidia-smi says it: one measure for whatever runs. Needs nothing else."""

import os
import subprocess


def which_gpu():
    """The one that rank 0 has, as nvidia-smi names it."""
    return "--id=" + (os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0")


def used_bytes():
    """Used by all processes; None if nvidia-smi does not tell."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", which_gpu()],
                              capture_output=True, text=True, check=True)
        return int(done.stdout) << 20
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
