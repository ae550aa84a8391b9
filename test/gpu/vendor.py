"""NVIDIA's libraries on this machine: which of them the kit's programs take."""

import itertools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# The oldest versions that trainrun takes, in the vendor's own numbers, and NVRTC's that cuDNN 9 for CUDA 13 compiles with.
LEAST = {"libcublasLt.so.13": 130000, "libcudnn.so.9": 91800, "libnccl.so.2": 22800, "libnvrtc.so.13": 13000}
TELL_VERSION = Path(__file__).with_name("library_version.py")


@dataclass(frozen=True)
class Library:
    folder: Path
    version: int  # 0: it cannot be loaded
    least: int

    def is_new_enough(self):
        return self.version >= self.least


def version_of(path):
    done = subprocess.run([sys.executable, TELL_VERSION, path], capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 0


def ldconfig_folders():
    """Library -> the folder in which the system's loader finds it. The program is often in no user's PATH."""
    try:
        done = subprocess.run([shutil.which("ldconfig") or "/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False)
    except OSError:
        return {}
    return {Path(line.rpartition(" ")[2]).name: Path(line.rpartition(" ")[2]).parent for line in done.stdout.splitlines() if "=>" in line}


def python_folders(python):
    """Folders of NVIDIA's libraries in the packages that PyTorch depends on."""
    code = "import nvidia; print(*nvidia.__path__, sep='\\n')"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return [lib for path in done.stdout.split() for lib in sorted(Path(path).glob("*/lib"))]


def inherited_folders():
    return [Path(each) for each in os.environ.get("LD_LIBRARY_PATH", "").split(":") if each]


def choose(name, folders, tell=version_of):
    """The first one that is new enough, or else the first one, of the folders; None where none has it."""
    found = None
    for folder in folders:
        if (folder / name).exists():
            library = Library(folder, tell(folder / name), LEAST[name])
            if library.is_new_enough():
                return library
            found = found or library
    return found


def find(python):
    """Name -> Library, from LD_LIBRARY_PATH, the system, or else Python's packages; without missing ones."""
    system, packages = ldconfig_folders(), python_folders(python)
    found = {}
    for name in LEAST:
        folders = [*inherited_folders(), *([system[name]] if name in system else []), Path("/usr/local/cuda/lib64"), *packages]
        if library := choose(name, list(dict.fromkeys(folders))):
            found[name] = library
    return found


def search_path(libraries):
    """The folders of the libraries, in an order in which a loader finds each in its own folder, if there is one."""
    folders = list(dict.fromkeys(library.folder for library in libraries.values()))

    def finds_all(order):
        return all(next(folder for folder in order if (folder / name).exists()) == library.folder for name, library in libraries.items())

    return list(next(filter(finds_all, itertools.permutations(folders)), folders))
