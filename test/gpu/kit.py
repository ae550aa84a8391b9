"""The folder that travels: programs with their libraries, compressed plans, what is known of them."""

import json
import lzma
import os
import subprocess
from pathlib import Path

import plans

MANIFEST = "kit.json"
VENDOR = "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"


class KitError(Exception):
    """The kit, or the machine, cannot do at all what was asked for."""


def ldconfig_folders():
    done = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False)
    return {Path(line.rpartition(" ")[2]).name: Path(line.rpartition(" ")[2]).parent for line in done.stdout.splitlines() if "=>" in line}


def python_folders(python):
    """Where the packages that PyTorch depends on hold NVIDIA's libraries."""
    code = "import nvidia; print(*nvidia.__path__, sep='\\n')"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return [lib for path in done.stdout.split() for lib in sorted(Path(path).glob("*/lib"))]


def inherited_folders():
    return [Path(each) for each in os.environ.get("LD_LIBRARY_PATH", "").split(":") if each]


def vendor_folders(python):
    """Library -> its folder, in the loader's order: LD_LIBRARY_PATH's, the system's, or else that of Python's packages; none where there is none."""
    system = ldconfig_folders()
    folders = {}
    for name in VENDOR:
        searched = [*inherited_folders(), *([system[name]] if name in system else []), Path("/usr/local/cuda/lib64"), *python_folders(python)]
        found = next((folder for folder in searched if (folder / name).exists()), None)
        if found:
            folders[name] = found
    return folders


class Kit:
    def __init__(self, folder, emulated, work, python):
        self.folder, self.work = Path(folder).resolve(), Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        try:
            self.manifest = json.loads((self.folder / MANIFEST).read_text())
        except OSError:
            option = " --emulated" if emulated else ""
            raise KitError(f"{self.folder}: expected a kit, found no {MANIFEST}; make one with test/gpu/prepare.sh{option}"
                           " on the machine that compiles, or say where it is with --kit=DIR") from None
        if self.manifest["emulated"] != emulated:
            kinds = ("an emulated kit", "one for GPUs") if emulated else ("a kit for GPUs", "an emulated one")
            raise KitError(f"{self.folder}: expected {kinds[0]}, found {kinds[1]}; run both prepare.sh and run.sh with --emulated, or neither")
        self.vendor = {} if emulated else vendor_folders(python)
        # For the kit's programs alone: its libraries are not those that PyTorch or the system's programs expect.
        self.environment = {"TRAINC_TEST_FILES": str(self.folder / "files"), "LD_LIBRARY_PATH": ":".join(self.library_path())}

    def library_path(self):
        """What is inherited comes first, so that it decides; an emulated kit decides for itself."""
        own = [self.folder / "lib"]
        if self.manifest["emulated"]:
            return [str(each) for each in (self.folder / "emulator", *own)]
        return [str(each) for each in dict.fromkeys((*inherited_folders(), *self.vendor.values(), *own))]

    def program(self, name):
        return self.folder / "bin" / name

    def plan(self, name):
        """The file of a plan, which is unpacked when it is first asked for."""
        path = self.work / f"{name}.plan"
        if not path.exists():
            path.write_bytes(lzma.decompress((self.folder / "plans" / f"{name}.plan.xz").read_bytes()))
        return path

    def planned(self, name):
        """Bytes of a plan's arenas, as its report says."""
        return self.manifest["plans"][name]["peak_bytes"]

    def benchmarks(self):
        """Name -> Gpt2."""
        return plans.benchmarks(self.manifest["emulated"])

    def plans(self):
        return list(self.manifest["plans"])
