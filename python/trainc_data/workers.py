"""Processes that encode chunks of rows, in order and with a limit on memory."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from trainc_data.errors import InputError
from trainc_data.readers import Row

ROWS_OF_CHUNK = 256
# A template that needs more memory fails.
MAX_BYTES = 4 << 30


class Encoder(Protocol):
    """Encodes a chunk of rows."""

    def encode(self, rows: list[Row]) -> Any: ...


_encoder: Encoder | None = None


def _begin(make: Callable[[Any], Encoder], settings: Any) -> None:
    global _encoder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there is a process for each core
    _encoder = make(settings)
    _limit_memory(MAX_BYTES)


def _limit_memory(size: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (size if most == resource.RLIM_INFINITY else min(size, most), most))


@contextmanager
def _memory_limit() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    _limit_memory(MAX_BYTES)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _encode(rows: list[Row]) -> Any:
    assert _encoder is not None
    return _encoder.encode(rows)


def _why_ended(processes: set[BaseProcess], workers: int) -> str:
    """Why a worker process ended, by the exit codes. Fewer workers help only if the system lacked memory, and ended one by SIGKILL."""
    if any(process.exitcode == -signal.SIGKILL for process in processes):
        advice = f"give fewer --workers than {workers}" if workers > 1 else "free some memory"
        return f"the system ended a worker process, as it does when it lacks memory; {advice}"
    return f"a worker process ended: rows or templates may need more than the {MAX_BYTES >> 30} GiB of memory that it may use"


def encode_all(encoder: Encoder, make: Callable[[Any], Encoder], settings: Any, chunks: Iterator[list[Row]], workers: int) -> Iterator[Any]:
    """Results of all chunks, in order. `encoder` encodes a single chunk; several go to processes, whose encoders are `make(settings)`."""
    first = next(chunks, None)
    if first is None:
        return
    second = next(chunks, None)
    if second is None:
        with _memory_limit():
            result = encoder.encode(first)
        yield result
        return
    processes: set[BaseProcess] = set()
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, (make, settings))
    try:
        waiting: deque[Future[Any]] = deque(pool.submit(_encode, chunk) for chunk in (first, second))
        processes.update(multiprocessing.active_children())
        for chunk in chunks:
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
            waiting.append(pool.submit(_encode, chunk))
            processes.update(multiprocessing.active_children())
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        pool.shutdown(wait=True, cancel_futures=True)  # after which all exit codes are known
        raise InputError(_why_ended(processes, workers)) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
