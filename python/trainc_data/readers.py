"""Rows of JSONL, JSON, CSV, Parquet and Arrow files, compressed or not. The kind follows from the content."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from trainc_data.errors import InputError, Place, RowError, kind_of, shown

# A line, or an element of a JSON list, is read whole.
MAX_ROW_BYTES = 64 << 20
_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b"


@dataclass
class Row:
    """One row. JSONL keeps its line as bytes, which a worker parses."""

    place: Place
    value: Any  # bytes of a JSONL line, or a JSON value
    error: str = ""  # what is wrong with the row, if its reader knows
    columns: tuple[str, ...] = ()  # those of the form of the file's rows
    is_of_table: bool = False  # whether its objects have all keys of a column's type, null where the row has none


@dataclass
class Source:
    """A file and what it holds."""

    path: Path
    kind: str  # "JSONL", "JSON", "CSV", "Parquet" or "Arrow"
    is_compressed: bool
    begin: bytes = field(repr=False)
    bytes_read: Callable[[], int] = field(default=lambda: 0, repr=False)

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def describe(self) -> str:
        return f"{self.kind}{' (gzip)' if self.is_compressed else ''}"


def open_source(path: Path) -> Source:
    """Finds out the kind of a file. Fails if the content is none that can be read."""
    try:
        with path.open("rb") as file:
            begin = file.read(_BLOCK)
        is_compressed = begin.startswith(_GZIP)
        if is_compressed:
            with gzip.open(path) as packed:
                begin = packed.read(_BLOCK)
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: {error}") from None
    if not begin:
        raise InputError(f"{path}: expected rows, found an empty file")
    return Source(path, _kind_of_content(path, begin), is_compressed, begin)


def _kind_of_content(path: Path, begin: bytes) -> str:
    if begin.startswith(b"PAR1"):
        return "Parquet"
    if begin.startswith(b"ARROW1") or begin.startswith(b"\xff\xff\xff\xff"):
        return "Arrow"
    try:
        text = begin.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(begin) - 4:  # not a character cut by the end of the block
            raise InputError(
                f"{path}: expected JSONL, JSON, CSV, Parquet or Arrow, found bytes that are no UTF-8 text "
                f"(at byte {error.start}); convert the file"
            ) from None
        text = begin[: error.start].decode("utf-8-sig")
    stripped = text.lstrip()
    if stripped.startswith("["):
        return "JSON"
    if stripped.startswith("{"):
        first = stripped.split("\n", 1)[0]
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            # A first line that opens an object and does not close it is pretty-printed JSON.
            is_whole = "\n" in stripped or len(begin) < _BLOCK
            return "JSON" if is_whole and not first.rstrip().endswith("}") else "JSONL"
        return "JSONL"
    header = stripped.split("\n", 1)[0]
    if _delimiter_of(header):
        return "CSV"
    raise InputError(
        f"{path}: expected JSONL, JSON, CSV, Parquet or Arrow, found a text that begins with {shown(header, 40)}; "
        "a plain text is for `trainc tokenize`"
    )


def _delimiter_of(header: str) -> str | None:
    """The delimiter of a CSV file whose header is a list of column names."""
    found = [each for each in ",\t;|" if each in header]
    return max(found, key=header.count) if found else "," if _is_known_column(header) else None


def _is_known_column(header: str) -> bool:
    return header.strip().strip('"').lower() in {"text", "messages", "conversations", "prompt"}


class _Counted(io.RawIOBase):
    """A file that knows how many of its bytes were read, compressed or not."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def rows_of(source: Source) -> Iterator[Row]:
    """The rows of a file, in order. Fails with the place of what cannot be read."""
    readers = {"JSONL": _jsonl, "JSON": _json, "CSV": _csv, "Parquet": _parquet, "Arrow": _arrow}
    try:
        yield from readers[source.kind](source)
    except (OSError, EOFError, gzip.BadGzipFile) as error:
        raise InputError(f"{source.path}: {error}") from None


def _open_bytes(source: Source) -> IO[bytes]:
    counted = _Counted(source.path.open("rb"))
    source.bytes_read = lambda: counted.count
    raw = io.BufferedReader(counted, _BLOCK)
    return gzip.GzipFile(fileobj=raw) if source.is_compressed else raw  # type: ignore[return-value]


def _jsonl(source: Source) -> Iterator[Row]:
    with _open_bytes(source) as file:
        number = 0
        while line := file.readline(MAX_ROW_BYTES + 1):
            number += 1
            place = Place(str(source.path), number)
            if len(line) > MAX_ROW_BYTES:
                raise InputError(f"{place}: expected a line of at most {MAX_ROW_BYTES >> 20} MiB")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.strip():
                yield Row(place, line)


class _Elements:
    """The elements of a JSON list, or of the list under the only key of an object that has one, read one by one."""

    def __init__(self, source: Source, file: IO[bytes]) -> None:
        self._path, self._file = source.path, io.TextIOWrapper(file, encoding="utf-8-sig")
        self._text, self._at, self._line, self._is_at_end = "", 0, 1, False
        self._decoder = json.JSONDecoder()

    def _more(self) -> bool:
        """Reads more of the text; whether there was more. What was decoded is dropped."""
        try:
            block = self._file.read(max(_BLOCK, len(self._text) - self._at))
        except UnicodeDecodeError as error:
            raise InputError(f"{self._path}: expected UTF-8, found {error}") from None
        self._line += self._text.count("\n", 0, self._at)
        self._text, self._at = self._text[self._at :] + block, 0
        self._is_at_end |= not block
        return bool(block)

    def _here(self) -> Place:
        return Place(str(self._path), self._line + self._text.count("\n", 0, self._at))

    def _skip_space(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at].isspace():
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self) -> Any:
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError:
                raise InputError(f"{self._here()}: expected JSON, found values nested too deeply") from None
            except ValueError as error:
                if len(self._text) - self._at > MAX_ROW_BYTES:
                    raise InputError(f"{self._here()}: expected elements of at most {MAX_ROW_BYTES >> 20} MiB") from None
                if self._more():
                    continue
                raise InputError(f"{self._here()}: expected JSON: {getattr(error, 'msg', error)}") from None
            if end == len(self._text) and not self._is_at_end and self._more():
                continue  # a number may go on
            self._at = end
            return value

    def _expect(self, characters: str) -> str:
        found = self._skip_space()
        if not found or found not in characters:
            raise InputError(f"{self._here()}: expected '{characters[0]}', found {shown(found) if found else 'the end'}")
        self._at += 1
        return found

    def rows(self) -> Iterator[Row]:
        if self._skip_space() == "[":
            yield from self._list()
            return
        self._expect("{")
        lists = 0
        while self._skip_space() != "}":
            key = self._value()
            self._expect(":")
            if self._skip_space() == "[" and lists == 0:
                lists += 1
                yield from self._list()
            else:
                self._value()
            if self._expect(",}") == "}":
                break
        if not lists:
            raise InputError(f"{self._path}: expected a list of rows, found an object whose last key is {shown(key)}")

    def _list(self) -> Iterator[Row]:
        self._expect("[")
        if self._skip_space() == "]":
            self._at += 1
            return
        while True:
            self._skip_space()
            yield Row(self._here(), self._value())
            if self._expect(",]") == "]":
                return


def _json(source: Source) -> Iterator[Row]:
    with _open_bytes(source) as file:
        yield from _Elements(source, file).rows()


def _check_names(columns: list[str], place: str) -> None:
    """Fails if two columns have the same name. Columns without a name are not read."""
    for index, column in enumerate(columns):
        if column and column in columns[:index]:
            raise InputError(f"{place}: expected columns with different names, found two columns {shown(column)}; rename one of them")


def _csv(source: Source) -> Iterator[Row]:
    csv.field_size_limit(MAX_ROW_BYTES)
    header = source.begin.decode("utf-8-sig", errors="replace").lstrip().split("\n", 1)[0]
    with _open_bytes(source) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        reader = csv.DictReader(text, delimiter=_delimiter_of(header) or ",", strict=True)
        begin = 1
        try:
            columns = list(reader.fieldnames or [])
            if not columns:
                raise InputError(f"{Place(str(source.path), begin)}: expected the names of the columns, found an empty line; remove it")
            _check_names(columns, f"{Place(str(source.path), begin)}")
            begin = reader.line_num + 1
            for values in reader:
                place = Place(str(source.path), begin)
                begin = reader.line_num + 1
                if None in values or None in values.values():
                    count = sum(value is not None for value in values.values()) + len(values.get(None) or []) - (None in values)
                    yield Row(place, None, f"expected {len(columns)} columns, found {count}")
                else:
                    yield Row(place, values)
        except csv.Error as error:
            raise InputError(f"{Place(str(source.path), begin)}: expected CSV: {error}") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{Place(str(source.path), begin)}: expected UTF-8, found {error}") from None


def _seekable(source: Source, stack: list[IO[bytes]]) -> IO[bytes]:
    """The file, or a temporary file with its content if it is compressed."""
    file: IO[bytes]
    if source.is_compressed:
        file = tempfile.TemporaryFile()  # noqa: SIM115
        stack.append(file)
        with gzip.open(source.path) as packed:
            shutil.copyfileobj(packed, file, _BLOCK)
        file.seek(0)
        return file
    file = source.path.open("rb")
    stack.append(file)
    return file


def _tables(source: Source, batches: Callable[[IO[bytes]], tuple[int | None, Iterator[Any]]]) -> Iterator[Row]:
    """Rows of Arrow's record batches."""
    import pyarrow

    files: list[IO[bytes]] = []
    done, total = 0, None
    source.bytes_read = lambda: int(source.size * done / total) if total else 0
    try:
        total, found = batches(_seekable(source, files))
        for batch in found:
            _check_names(batch.schema.names, str(source.path))
            for offset in range(0, batch.num_rows, 1024):
                for value in batch.slice(offset, 1024).to_pylist():
                    done += 1
                    yield Row(Place(str(source.path), done, "row"), value, is_of_table=True)
    except (pyarrow.ArrowException, ValueError) as error:
        raise InputError(f"{source.path}: expected {source.kind}: {error}") from None
    finally:
        for file in files:
            file.close()


def _parquet(source: Source) -> Iterator[Row]:
    from pyarrow import parquet

    def batches(file: IO[bytes]) -> tuple[int | None, Iterator[Any]]:
        opened = parquet.ParquetFile(file)
        return opened.metadata.num_rows, opened.iter_batches(batch_size=1024)

    yield from _tables(source, batches)


def _arrow(source: Source) -> Iterator[Row]:
    from pyarrow import ipc

    def batches(file: IO[bytes]) -> tuple[int | None, Iterator[Any]]:
        if source.begin.startswith(b"ARROW1"):
            opened = ipc.open_file(file)
            return None, (opened.get_batch(index) for index in range(opened.num_record_batches))
        return None, iter(ipc.open_stream(file))

    yield from _tables(source, batches)


def parse_row(row: Row) -> dict[str, Any]:
    """The row's dictionary. Fails if the row is none."""
    value = row.value
    if row.error:
        raise RowError(row.error)
    if isinstance(value, bytes):
        try:
            value = json.loads(value)
        except RecursionError:
            raise RowError("expected JSON, found values nested too deeply") from None
        except UnicodeDecodeError as error:
            raise RowError(f"expected UTF-8, found {error}") from None
        except ValueError as error:
            raise RowError(f"expected an object in one line: {error}") from None
    if not isinstance(value, dict):
        raise RowError(f"expected an object, found {kind_of(value)}: {shown(value)}")
    if row.is_of_table:
        return {key: _without_nulls(each) for key, each in value.items()}
    return value


def _without_nulls(value: Any) -> Any:
    """A value without the keys whose value is null."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value
