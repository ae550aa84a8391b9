"""Facts of the GPU, and its peak rates from the data sheet."""

import threading

import gpu_memory
import harness
from session import Failed, Skipped

QUERIES = "name", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.memory", "power.limit"
# Dense bf16 products, FLOP/s, by NVIDIA's data sheets of each; the first name that a GPU's begins with or has.
PEAKS = {"H100 PCIe": 756e12, "H100 NVL": 835e12, "H100": 989e12, "H200": 989e12, "A100": 312e12}
POLL_SECONDS = 0.2


def golden_data(model):
    return harness.GOLDEN / model / "data.safetensors"


def nvidia_smi(session):
    try:
        out, _ = session.run("nvidia-smi", f"--query-gpu={','.join(QUERIES)}", "--format=csv,noheader", gpu_memory.which_gpu())
    except OSError:
        raise Skipped("there is no nvidia-smi") from None
    return dict(zip(QUERIES, (each.strip() for each in out.split(","))))


def peak_flops(session):
    """FLOP/s, or None for a GPU that the table does not have."""
    try:
        name = nvidia_smi(session)["name"]
    except (Failed, Skipped):
        return None
    return next((peak for part, peak in PEAKS.items() if part in name), None)


class MemoryWatch:
    """Peak memory in use on the GPU while a program runs, minus that before. Polling takes the driver's time, so the program must not be timed."""

    def __init__(self):
        self.bytes, self.ended = None, threading.Event()

    def watch(self, before):
        while not self.ended.wait(POLL_SECONDS):
            used = gpu_memory.used_bytes()
            if used is None:
                return
            self.bytes = max(self.bytes, used - before)

    def __enter__(self):
        before = gpu_memory.used_bytes()
        if before is not None:
            self.bytes = 0
            self.thread = threading.Thread(target=self.watch, args=(before,))
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.bytes is not None:
            self.thread.join()
