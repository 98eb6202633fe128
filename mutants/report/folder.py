"""The folder of the report: written beside its place, and put there at once when it is complete.

A run that fails or is interrupted leaves the last good report where it is. Owned here: the places
of the files, the swap, and reading the last report. Not here: what is in it.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from mutants.report.markdown import write_markdown
from mutants.report.model import Report, decode, encode
from mutants.report.text import write_text
from properties.exits import Misuse

REPORT = Path("build") / "report"
"""Where the report is, relative to where the command is run."""
FILES: dict[str, str] = {"json": "report.json", "markdown": "report.md", "text": "report.txt"}
"""The file of each format."""
TIMING = "timing.json"
"""What is not the same twice."""


def check_writable(folder: Path) -> None:
    """Make sure that a report can be put here, before hours are spent on one. Raises `Misuse`."""
    with _told(folder):
        _restore(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = _beside(folder, "new")
        beside.mkdir()
        beside.rmdir()


def publish(
    folder: Path,
    report: Report,
    write_traces: Callable[[Path], object],
    timing: Callable[[], dict[str, object]],
) -> None:
    """Write everything beside the folder, then put it in its place. Raises `Misuse`.

    `timing` is asked last, when the traces are written.
    """
    beside = _beside(folder, "new")
    with _told(folder):
        try:
            beside.mkdir(parents=True)
            (beside / FILES["json"]).write_bytes(encode(report))
            (beside / FILES["markdown"]).write_text(write_markdown(report), encoding="utf-8")
            (beside / FILES["text"]).write_text(write_text(report), encoding="utf-8")
            write_traces(beside)
            times = msgspec.json.format(msgspec.json.encode(timing()), indent=1)
            (beside / TIMING).write_bytes(times + b"\n")
            _swap(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def read_report(folder: Path) -> Report | None:
    """Return the last good report, if there is one. Raises `Misuse` if it is none of ours."""
    text = read_file(folder, "json")
    if text is None:
        return None
    try:
        return decode(text)
    except msgspec.DecodeError as error:
        why = f"{error}; `python -m mutants run` makes it anew"
        raise Misuse(
            f"{folder / FILES['json']}: not a report that this version reads: {why}"
        ) from None


def read_file(folder: Path, form: str) -> bytes | None:
    """Return the last good report in one of the `FILES`, if there is one."""
    with _told(folder):
        _restore(folder)
        path = folder / FILES[form]
        return path.read_bytes() if path.exists() else None


def _beside(folder: Path, what: str) -> Path:
    return folder.with_name(f"{folder.name}.{what}-{os.getpid()}")


def _last(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.last")


def _swap(new: Path, folder: Path) -> None:
    """Put a complete folder in the place of the last one."""
    last = _last(folder)
    shutil.rmtree(last, ignore_errors=True)
    if folder.exists():
        folder.rename(last)
    try:
        new.rename(folder)
    finally:
        _restore(folder)
    shutil.rmtree(last, ignore_errors=True)


def _restore(folder: Path) -> None:
    """Bring the last report back if a swap was stopped halfway."""
    last = _last(folder)
    if not folder.exists() and last.exists():
        last.rename(folder)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Say in one line what is wrong with the folder."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        raise Misuse(f"{error.filename or folder}: cannot hold the report: {what}") from None
