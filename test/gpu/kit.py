"""The folder that is copied to the GPU machine: programs with their libraries, compressed plans, facts about them."""

import json
import lzma
from pathlib import Path

import plans
import vendor

MANIFEST = "kit.json"


class KitError(Exception):
    """The kit or the machine cannot run the request at all."""


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
        self.vendor = {} if emulated else vendor.find(python)
        # Only for the kit's programs: its libraries differ from those that PyTorch or the system's programs expect.
        self.environment = {"TRAINC_TEST_FILES": str(self.folder / "files"), "LD_LIBRARY_PATH": ":".join(self.library_path())}

    def library_path(self):
        """The chosen libraries precede inherited ones; an emulated kit ignores the latter."""
        own = [self.folder / "lib"]
        if self.manifest["emulated"]:
            return [str(each) for each in (self.folder / "emulator", *own)]
        return [str(each) for each in dict.fromkeys((*vendor.search_path(self.vendor), *vendor.inherited_folders(), *own))]

    def program(self, name):
        return self.folder / "bin" / name

    def plan(self, name):
        """The file of a plan, which is unpacked when it is first asked for."""
        path = self.work / f"{name}.plan"
        if not path.exists():
            path.write_bytes(lzma.decompress((self.folder / "plans" / f"{name}.plan.xz").read_bytes()))
        return path

    def cases(self):
        """The folder of the cases, which is unpacked when it is first asked for."""
        folder = self.work / "cases"
        if not folder.exists():
            folder.mkdir()
            for packed in (self.folder / "cases").glob("*.xz"):
                (folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
        return folder

    def planned(self, name):
        """Bytes of a plan's arenas, as its report says."""
        return self.manifest["plans"][name]["peak_bytes"]

    def calls(self, name):
        """The library calls of a plan: description of each kind -> [entry, instruction, op in the source] of each call."""
        return self.manifest["plans"][name]["calls"]

    def symbols(self, name):
        """The kernels of a plan."""
        return self.manifest["plans"][name]["kernels"]

    def benchmarks(self):
        """Name -> Gpt2."""
        return plans.benchmarks(self.manifest["emulated"])

    def plans(self):
        return list(self.manifest["plans"])

    def plans_of_one_rank(self):
        return [name for name in self.plans() if name != plans.TWO_RANKS]
