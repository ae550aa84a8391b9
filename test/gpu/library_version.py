"""Prints the version of a library of NVIDIA's, in the vendor's own numbers: library_version.py FILE.

A program of its own, as a process can load one version alone, and as a library that cannot be loaded may end it.
"""

import ctypes
import sys
from pathlib import Path


def by_result(function):
    """Version from an entry point that returns the number."""
    function.restype = ctypes.c_size_t
    return function()


def by_numbers(function, count):
    """Version from an entry point that writes `count` numbers."""
    numbers = [ctypes.c_int() for _ in range(count)]
    if function(*map(ctypes.byref, numbers)) != 0:
        raise OSError(f"{function.__name__} failed")
    return [number.value for number in numbers]


def nvrtc(library):
    major, minor = by_numbers(library.nvrtcVersion, 2)
    return 1000 * major + 10 * minor


TELL = {
    "libcublasLt.so.13": lambda library: by_result(library.cublasLtGetVersion),
    "libcudnn.so.9": lambda library: by_result(library.cudnnGetVersion),
    "libnccl.so.2": lambda library: by_numbers(library.ncclGetVersion, 1)[0],
    "libnvrtc.so.13": nvrtc,
}

if __name__ == "__main__":
    print(TELL[Path(sys.argv[1]).name](ctypes.CDLL(sys.argv[1])))
