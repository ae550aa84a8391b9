"""From inputs to a data file: reads, encodes, packs and writes rows, and counts them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from tqdm import tqdm

from trainc_data import __version__
from trainc_data.chats import ChatEncoder, Encoded
from trainc_data.errors import InputError, Place
from trainc_data.forms import form_of
from trainc_data.inputs import FindForm, RowReader, chunks_of, open_inputs
from trainc_data.pack import Packer, Padder, Sequence
from trainc_data.readers import Row
from trainc_data.samples import sample_text
from trainc_data.settings import ChatSettings, Conversion, Lengths
from trainc_data.summary import Summary
from trainc_data.table import ClassEncoder, PreferenceEncoder, Sample, TableSettings, TokenClassEncoder
from trainc_data.texts import TextEncoder, text_form
from trainc_data.tokenizer import TokenizerFolder
from trainc_data.workers import ROWS_OF_CHUNK, encode_all
from trainc_data.write import FORMAT, SafetensorsWriter, is_data_file


class Report:
    """Messages to the user: what was found, a progress bar, and the summary."""

    def __init__(self, conversion: Conversion, reader: RowReader, noun: str) -> None:
        self._conversion, self._reader = conversion, reader
        self.summary = Summary(noun)
        self._said = self._shown = 0
        self._begin = time.monotonic()
        self._bar = tqdm(total=reader.size(), unit="B", unit_scale=True, leave=False, file=sys.stderr,
                         disable=conversion.quiet or not sys.stderr.isatty())  # fmt: skip

    def __enter__(self) -> Report:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.close()

    def say(self, text: str) -> None:
        """Prints a line, unless the program is quiet."""
        if not self._conversion.quiet:
            self._bar.write(text, file=sys.stderr)

    def progress(self) -> None:
        """Shows how much was read, and what was found in new files."""
        for text in self._reader.said[self._said :]:
            self.say(text)
        self._said = len(self._reader.said)
        self._bar.update(self._reader.bytes_read() - self._bar.n)

    def take_bad(self, bad: list[tuple[Place, str]]) -> None:
        """Counts bad rows. Fails at the first unless they are skipped."""
        for place, text in bad:
            if not self._conversion.skip_bad:
                raise InputError(f"{place}: {text}; --skip-bad leaves out and counts such rows")
            self.summary.dropped["bad rows"] += 1
            if self.summary.dropped["bad rows"] <= 5:
                self.say(f"warning: {place}: {text}")

    def show(self, folder: TokenizerFolder, parts: list[Sample]) -> None:
        """Prints a sample, unless enough of them were printed."""
        if self._shown == self._conversion.show:
            return
        self._shown += 1
        for name, sequence in parts:
            text = sample_text(folder.tokenizer, sequence, sys.stderr.isatty())
            self.say(f"--- sample {self._shown}{name and ', '}{name}: {len(sequence[0])} tokens\n{text}")

    def finish(self) -> None:
        """Prints the summary."""
        self.progress()
        self._bar.close()
        self.summary.seconds = time.monotonic() - self._begin
        for each in self._reader.inputs:
            for note in each.notes:
                self.say(f"{each.name}: {note}")
            if each.weight is not None:
                self.say(f"{each.name}: {each.rows_read:,} rows read{', all' if each.is_used_up else ''}")
        output = str(self._conversion.output)
        for line in self.summary.lines(output):
            self.say(line)
        if self._conversion.json:
            print(json.dumps(self.summary.json(output), ensure_ascii=False))


def _check_output(conversion: Conversion, reader: RowReader, folder: Path) -> None:
    output = conversion.output.resolve()
    for each in reader.inputs:
        if any(source.path.resolve() == output for source in each.sources):
            raise InputError(f"-o {conversion.output}: is one of the inputs")
    if conversion.output.parent.resolve() == folder.resolve() and conversion.output.exists() and not is_data_file(conversion.output):
        raise InputError(f"-o {conversion.output}: is a file of the tokenizer's folder that trainc-data did not write; choose another name")


def _counted(rows: RowReader, summary: Summary) -> Iterator[Row]:
    for row in rows:
        summary.rows_read += 1
        yield row


def _fitting(encoded: Encoded, summary: Summary, lengths: Lengths) -> Iterator[Sequence]:
    """The sequences that have a length of at most `lengths.max_text`, or are cut to it."""
    for ids, mask in encoded.sequences():
        if len(ids) > lengths.max_text:
            if not lengths.truncate:
                summary.dropped[f"longer than {lengths.max_text:,} tokens"] += 1
                continue
            ids, mask = ids[: lengths.max_text], mask[: lengths.max_text]
            if not mask[1:].any():
                summary.dropped["no token to train on after truncation"] += 1
                continue
            summary.truncated += 1
        summary.kept += 1
        summary.tokens += len(ids)
        summary.trained_tokens += int(mask[1:].sum())
        summary.longest = max(summary.longest, len(ids))
        yield ids, mask


def _reader(conversion: Conversion, find_form: FindForm, folder: TokenizerFolder) -> RowReader:
    reader = RowReader(open_inputs(conversion.names, conversion.split), find_form, conversion.columns, conversion.seed)
    _check_output(conversion, reader, folder.folder)
    return reader


def _metadata(task: str, folder: TokenizerFolder) -> dict[str, str]:
    return {"format": f"{FORMAT} {__version__} {task}", "tokenizer_sha256": folder.checksum}


def _publish(conversion: Conversion, writer: SafetensorsWriter, report: Report) -> None:
    if not writer.rows:
        reasons = ", ".join(f"{count:,}: {reason}" for reason, count in report.summary.dropped.items())
        raise InputError(f"-o {conversion.output}: no row is left to write ({reasons or 'no rows'})")
    report.summary.rows_written = writer.rows
    writer.publish()
    report.finish()


def convert_sequences(task: str, conversion: Conversion, settings: ChatSettings, lengths: Lengths) -> Summary:
    """Writes chats or texts as rows of tokens."""
    make: Callable[[ChatSettings], ChatEncoder | TextEncoder] = ChatEncoder if task == "chat" else TextEncoder
    encoder = make(settings)
    reader = _reader(conversion, form_of if task == "chat" else text_form, encoder.folder)
    report = Report(conversion, reader, task + "s")
    summary = report.summary
    summary.row_length = lengths.row
    padding = encoder.folder.padding()
    packer: Packer | Padder = Packer(lengths.row, padding) if lengths.is_packed else Padder(lengths.row, padding)
    chunks = chunks_of(_counted(reader, summary), ROWS_OF_CHUNK)
    with SafetensorsWriter(conversion.output, _metadata(task, encoder.folder)) as writer, report:
        for encoded in encode_all(encoder, make, settings, chunks, conversion.workers):
            report.progress()
            report.take_bad(encoded.bad)
            summary.dropped.update(encoded.dropped)
            for sequence in _fitting(encoded, summary, lengths):
                report.show(encoder.folder, [("", sequence)])
                for rows in packer.add(sequence):
                    writer.append(rows)
        for rows in packer.finish():
            writer.append(rows)
        _publish(conversion, writer, report)
    return summary


def convert_table(task: str, conversion: Conversion, settings: TableSettings) -> Summary:
    """Writes one row for each input row."""
    make = {"preference": PreferenceEncoder, "classify": ClassEncoder, "token-classify": TokenClassEncoder}[task]
    encoder = make(settings)
    reader = _reader(conversion, make.find_form, encoder.folder)
    report = Report(conversion, reader, make.noun)
    summary = report.summary
    summary.row_length = settings.lengths.row * (2 if task == "preference" else 1)
    metadata = _metadata(task, encoder.folder)
    if settings.labels:
        metadata["labels"] = json.dumps(settings.labels, ensure_ascii=False)
    chunks = chunks_of(_counted(reader, summary), ROWS_OF_CHUNK)
    with SafetensorsWriter(conversion.output, metadata) as writer, report:
        for table in encode_all(encoder, make, settings, chunks, conversion.workers):
            report.progress()
            report.take_bad(table.bad)
            summary.take(table)
            for sample in table.samples:
                report.show(encoder.folder, sample)
            if table.columns:
                writer.append(table.columns)
        _publish(conversion, writer, report)
    return summary
