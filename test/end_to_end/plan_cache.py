"""Plans that were compiled already, so that suites compile each plan once, whatever they call it and on however many devices it runs.

They lie in the folder TRAINC_PLAN_CACHE, by what they were compiled from and by which trainc; there is no cache if that is not set.
The same compiler makes the same plan of the same text and options (e2e_tools tests that).
"""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

# Options that write files beside the plan and the report.
OTHER_FILES = ("--dump-ir", "--compile-to")


def _folder(trainc):
    """The cache of this build of trainc; removes those of earlier builds."""
    root = Path(os.environ["TRAINC_PLAN_CACHE"])
    stat = os.stat(trainc)
    folder = root / f"{stat.st_mtime_ns:x}-{stat.st_size:x}"
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for other in set(root.iterdir()) - {folder}:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def compiled(trainc, source, plan, options, compile_plan):
    """Calls compile_plan(), which writes `plan` and, with --report=FILE among the options, the report; or copies the files of an equal earlier
    call."""
    if not os.environ.get("TRAINC_PLAN_CACHE") or any(option.startswith(OTHER_FILES) for option in options):
        compile_plan()
        return
    reports = [option for option in options if option.startswith("--report=")]
    made_from = [str(source), Path(source).read_text(), len(reports), *(option for option in options if option not in reports)]
    entry = _folder(trainc) / hashlib.sha256(repr(made_from).encode()).hexdigest()
    files = [str(plan), *(report.partition("=")[2] for report in reports)]
    if not entry.exists():
        compile_plan()
        _keep(entry, files)
    else:
        for number, file in enumerate(files):
            shutil.copyfile(entry / str(number), file)


def _keep(entry, files):
    """Whole or not at all: another test may make the same."""
    aside = Path(tempfile.mkdtemp(dir=entry.parent))
    for number, file in enumerate(files):
        shutil.copyfile(file, aside / str(number))
    try:
        aside.rename(entry)
    except OSError:  # the other test was first
        shutil.rmtree(aside)
