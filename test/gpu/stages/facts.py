"""Facts about this machine, and whether trainrun finds its GPU."""

import json

import machine
import plans
import vendor
from session import DEVICE_LINE, Failed, Skipped

TORCH = """
import json, torch
print(json.dumps({"torch": torch.__version__, "NCCL": ".".join(map(str, torch.cuda.nccl.version())), "cuDNN": torch.backends.cudnn.version()}))
"""


def device_line(session):
    """trainrun's description of the device; fails with trainrun's message if it finds none."""
    _, err = session.trainrun(plans.WITHOUT_LIBRARIES, "--data", machine.golden_data("mlp"), "--steps=1")
    found = DEVICE_LINE.search(err)
    if not found:
        raise Failed(f"trainrun did not say what it ran on:\n{err}")
    return found.group()


def owner(folder):
    return "Python's packages" if "nvidia" in folder.parts else "the system"


def judge_libraries(session):
    """NVRTC is loaded by cuDNN alone."""
    for name, least in vendor.LEAST.items():
        with session.line(name) as line:
            found = session.kit.vendor.get(name)
            line.detail = f"{found.version} of {owner(found.folder)}" if found else "none"
            if not found or not found.is_new_enough():
                raise Failed(f"expected {least} or newer in the system or in PyTorch's packages, found {line.detail}; give its folder in LD_LIBRARY_PATH")


def run(session):
    with session.line("device") as line:
        line.detail = device_line(session)
    with session.line("kit") as line:
        line.detail = f"{session.kit.manifest['trainrun']} of commit {session.kit.manifest['commit'][:12]}"
    if session.emulated:
        return
    with session.line("nvidia-smi") as line:
        line.figures = machine.nvidia_smi(session)
        line.detail = ", ".join(f"{key} {value}" for key, value in line.figures.items())
    judge_libraries(session)
    with session.line("PyTorch") as line:
        try:
            line.figures = json.loads(session.run(session.python, "-c", TORCH)[0])
        except Failed as reason:
            raise Skipped(f"Python has no PyTorch that works: {reason}") from None
        line.detail = ", ".join(f"{key} {value}" for key, value in line.figures.items())
