"""Plans that were compiled already, so that suites which run on several devices compile each plan once.

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
    """That of this build of trainc; those of earlier builds go."""
    root = Path(os.environ["TRAINC_PLAN_CACHE"])
    stat = os.stat(trainc)
    folder = root / f"{stat.st_mtime_ns:x}-{stat.st_size:x}"
    if not folder.exists():
        shutil.rmtree(root, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def compiled(trainc, source, plan, options, compile_plan):
    """Calls compile_plan(), which writes `plan` and, with --report=FILE among the options, that; or copies what an equal call wrote."""
    if not os.environ.get("TRAINC_PLAN_CACHE") or any(option.startswith(OTHER_FILES) for option in options):
        compile_plan()
        return
    made_from = [str(source), Path(source).read_text(), str(plan), *options]
    entry = _folder(trainc) / hashlib.sha256(repr(made_from).encode()).hexdigest()
    files = [str(plan)] + [option.partition("=")[2] for option in options if option.startswith("--report=")]
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
