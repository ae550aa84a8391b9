"""The emulated kit that the tests of this folder share: made once in a process."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import paths

GPU = paths.ROOT / "test" / "gpu"
BUILD = os.environ.get("BUILD_FOLDER", str(paths.ROOT / "build"))


@functools.cache
def emulated_kit():
    """Its folder."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    subprocess.run([GPU / "prepare.sh", "--emulated", f"--build={BUILD}", f"--out={folder}/kit"], check=True)
    return Path(folder, "kit")
