"""The program trainc-data."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from trainc_data import __version__
from trainc_data.errors import InputError
from trainc_data.settings import TRAIN_ON, ChatSettings, Conversion, Lengths

# Tokens of a row; a longer one is a mistake that fills the disk.
_MAX_LENGTH = 1 << 24
_CHAT_EXAMPLES = """examples:
  trainc-data chat rows.jsonl --tokenizer=SmolLM2/ --pack=1024 -o chats.safetensors
  trainc-data chat rows.parquet --tokenizer=SmolLM2/ --pad=512 --show=3 -o chats.safetensors
  trainc-data chat a.jsonl:0.7 b.jsonl:0.3 --tokenizer=SmolLM2/ --pack=1024 -o mixed.safetensors
then `trainc import SmolLM2 --packed -o smollm2.mlir` (--packed for --pack)."""


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="ROWS", help="JSONL, JSON, CSV, Parquet or Arrow file, "
                        ".gz or not; a folder of Hugging Face's datasets; or a pattern. "
                        "ROWS:0.3 draws 3 of 10 rows from it, until an input is used up")  # fmt: skip
    parser.add_argument("--tokenizer", required=True, type=Path, metavar="FOLDER", help="a model's folder with its tokenizer.json")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.safetensors", help="file to write")
    parser.add_argument("--split", metavar="NAME", help="split of a folder; default: train")
    parser.add_argument("--column", action="append", default=[], metavar="NEW=OLD", help="take the column OLD as NEW, in place of a "
                        "column NEW that the rows have; several times for several columns")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of mixtures; default: 0")
    parser.add_argument("--skip-bad", action="store_true", help="leave out and count bad rows; else the first is an error")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="processes; default: one for each core")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the first N samples; what is trained on is green, or in ⟦ ⟧")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON on standard output, too")
    parser.add_argument("--quiet", action="store_true", help="print only warnings and errors")


def _add_length(parser: argparse.ArgumentParser) -> None:
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--pack", type=int, metavar="T", help="rows of T tokens with several texts each: columns tokens, labels, segments, positions")
    length.add_argument("--pad", type=int, metavar="T", help="rows of T tokens with one text and padding: columns tokens, labels")
    parser.add_argument("--max-length", type=int, metavar="N", help="longest text, in tokens; default: T. Longer ones are dropped and counted")
    parser.add_argument("--truncate", action="store_true", help="cut longer texts instead of dropping them")


def _add_row_length(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pad", type=int, required=True, metavar="T", help="rows of T tokens with one text and padding")
    parser.add_argument("--truncate", action="store_true", help="cut longer texts instead of dropping them")
    parser.set_defaults(pack=None, max_length=None)


def _add_template(parser: argparse.ArgumentParser, train_on: str) -> None:
    parser.add_argument("--train-on", choices=TRAIN_ON, default=train_on, 
                        help=f"the assistant's turns, all tokens, or the assistant's last turn; default: {train_on}")  # fmt: skip
    parser.add_argument("--chat-template", type=Path, metavar="FILE", help="another template than the tokenizer's")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="trainc-data", description="Writes data files of trainrun from rows of chats, texts, preferences and labels.")
    parser.add_argument("--version", action="version", version=f"trainc-data {__version__}")
    tasks = parser.add_subparsers(dest="task", required=True, metavar="TASK")
    chat = tasks.add_parser("chat", help="chats, as the tokenizer's chat template writes them", epilog=_CHAT_EXAMPLES,
                            formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    _add_common(chat)
    _add_length(chat)
    _add_template(chat, "assistant")
    text = tasks.add_parser("text", help="texts (column text), each with the token that ends a text")
    _add_common(text)
    _add_length(text)
    preference = tasks.add_parser("preference", help="a chosen and a rejected answer (columns chosen, rejected and perhaps prompt)")
    _add_common(preference)
    _add_row_length(preference)
    _add_template(preference, "last")
    for name, description in (("classify", "texts with classes (columns text, label and perhaps text_pair)"),
                              ("token-classify", "words with classes (columns tokens and tags, lists of the same length)")):  # fmt: skip
        labels = tasks.add_parser(name, help=description)
        _add_common(labels)
        _add_row_length(labels)
        labels.add_argument("--labels", default="", metavar="A,B,...", help="names of the classes 0, 1, ...; default: the rows have numbers")
        if name == "classify":
            labels.add_argument("--token-types", action="store_true", help="write the column token_types, as `trainc import --token-types` reads it")
    return parser


def _names(options: list[str]) -> dict[str, str]:
    """The dictionary of `--column NEW=OLD`."""
    names: dict[str, str] = {}
    for option in options:
        new, separator, old = option.partition("=")
        if not (new and separator and old):
            raise InputError(f"--column {option}: expected NEW=OLD")
        if new in names:
            raise InputError(f"--column {option}: expected one column as '{new}', found '{names[new]}' and '{old}'")
        names[new] = old
    return names


def _check_range(value: int | None, option: str, minimum: int, maximum: int | None) -> None:
    if value is not None and value < minimum:
        raise InputError(f"{option}: expected at least {minimum}, found {value}")
    if value is not None and maximum is not None and value > maximum:
        raise InputError(f"{option}: expected at most {maximum:,}, found {value:,}")


def _conversion(arguments: argparse.Namespace) -> Conversion:
    for option, minimum, maximum in (("pack", 2, _MAX_LENGTH), ("pad", 2, _MAX_LENGTH), ("max_length", 2, None), ("workers", 1, None), ("show", 0, None)):
        _check_range(getattr(arguments, option, None), "--" + option.replace("_", "-"), minimum, maximum)
    if arguments.output.suffix != ".safetensors":
        raise InputError(f"-o {arguments.output}: expected a name that ends with .safetensors, by which trainrun knows the file")
    if arguments.output.is_dir():
        raise InputError(f"-o {arguments.output}: expected a file, found a folder")
    return Conversion(
        names=arguments.inputs, output=arguments.output, split=arguments.split, columns=_names(arguments.column), seed=arguments.seed,
        skip_bad=arguments.skip_bad, workers=arguments.workers, show=arguments.show, json=arguments.json, quiet=arguments.quiet,
    )  # fmt: skip


def _lengths(arguments: argparse.Namespace) -> Lengths:
    length = arguments.pack or arguments.pad
    max_length = arguments.max_length or length
    if max_length > length:
        raise InputError(f"--max-length={max_length}: expected at most the {length} tokens of a row")
    return Lengths(length, arguments.pack is not None, max_length, arguments.truncate)


def run(arguments: argparse.Namespace) -> None:
    """Runs a parsed command line."""
    conversion = _conversion(arguments)
    # --help needs none of their packages.
    from trainc_data.convert import convert_sequences, convert_table
    from trainc_data.table import TableSettings

    settings = ChatSettings(arguments.tokenizer, getattr(arguments, "chat_template", None), getattr(arguments, "train_on", "all"), conversion.columns)
    if arguments.task in ("chat", "text"):
        convert_sequences(arguments.task, conversion, settings, _lengths(arguments))
        return
    labels = tuple(each.strip() for each in getattr(arguments, "labels", "").split(",") if each.strip())
    if len(set(labels)) < len(labels):
        raise InputError(f"--labels={arguments.labels}: expected different names, found one twice")
    convert_table(arguments.task, conversion, TableSettings(settings, _lengths(arguments), labels, getattr(arguments, "token_types", False), conversion.show))


class _Ended(BaseException):
    """A signal that ends the program, which removes its temporary files first."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Raises _Ended at the signals that end the program, as Python does at an interrupt. A signal that is ignored stays ignored (nohup)."""
    numbers = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) == signal.SIG_DFL]

    def end(number: int, _: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)  # files are being removed
        raise _Ended(number)

    for each in numbers:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in numbers:
            signal.signal(each, signal.SIG_DFL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed, 2 bad usage or input."""
    try:
        with _signals_raise():
            run(_parser().parse_args(arguments))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (OSError, MemoryError) as error:
        print(f"error: {error or 'out of memory'}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except _Ended as ended:
        return 128 + ended.number
    return 0


if __name__ == "__main__":
    sys.exit(main())
