"""A safetensors file whose rows come one after another."""

from __future__ import annotations

import json
import shutil
import struct
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from trainc_data.errors import InputError
from trainc_data.pack import Columns

FORMAT = "trainc-data"  # first word of the metadata "format"
_MAX_HEADER_BYTES = 1 << 20
_NAMES = {"int32": "I32", "float32": "F32"}


def is_data_file(path: Path) -> bool:
    """Whether trainc-data wrote a file, by its metadata."""
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(size, _MAX_HEADER_BYTES)))
        return str(header["__metadata__"]["format"]).startswith(FORMAT + " ")
    except (OSError, ValueError, RecursionError, struct.error, KeyError, TypeError):
        return False


class SafetensorsWriter:
    """Writes columns of equally many rows. Each column grows in a file of its own beside the output, because the format has one column after
    another; `publish` joins them. Without `publish` no file is left."""

    def __init__(self, path: Path, metadata: dict[str, str]) -> None:
        self._path, self._metadata = path, metadata
        self.rows = 0
        self._files: dict[str, IO[bytes]] = {}
        self._types: dict[str, tuple[str, tuple[int, ...]]] = {}
        try:
            self._folder = tempfile.TemporaryDirectory(prefix=path.name + ".", dir=path.parent, ignore_cleanup_errors=True)
        except OSError as error:
            raise InputError(f"-o {path}: {error}") from None

    def __enter__(self) -> SafetensorsWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for file in self._files.values():
            file.close()
        self._folder.cleanup()

    def append(self, columns: Columns) -> None:
        """Appends rows. The first call decides the columns."""
        if not self._files:
            for name in columns:
                self._files[name] = (Path(self._folder.name) / name).open("w+b")
                self._types[name] = _NAMES[columns[name].dtype.name], columns[name].shape[1:]
        for name, values in columns.items():
            little = values.astype(values.dtype.newbyteorder("<"), copy=False)
            self._files[name].write(np.ascontiguousarray(little).data)
        self.rows += len(next(iter(columns.values())))

    def _header(self) -> bytes:
        header: dict[str, Any] = {"__metadata__": self._metadata}
        begin = 0
        for name, (dtype, shape) in self._types.items():
            size = 4 * self.rows * int(np.prod(shape, dtype=np.int64))
            header[name] = {"dtype": dtype, "shape": [self.rows, *shape], "data_offsets": [begin, begin + size]}
            begin += size
        text = json.dumps(header, ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text

    def publish(self) -> None:
        """Joins the columns and gives the file its name."""
        whole = Path(self._folder.name) / "whole"
        with whole.open("wb") as output:
            output.write(self._header())
            for name, file in self._files.items():
                file.seek(0)
                shutil.copyfileobj(file, output, 1 << 20)
                file.close()
                (Path(self._folder.name) / name).unlink()
        whole.replace(self._path)
