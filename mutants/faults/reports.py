"""The public reports of broken tiers and buffer pools, one a line in `reports.tsv`."""

import csv
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec

TABLE = Path(__file__).with_name("reports.tsv")
"""Where they are, sorted by class and id."""
COLUMNS = ("id", "project", "address", "class", "symptom")
"""The names of its columns."""
UNSETTLED = "C99"
"""What stands for a class where the reporters did not settle on a cause."""


class PublicReport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that broke, where others could see it."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Z][0-9]{2}$")]
    """A short name: "V01"."""
    project: Annotated[str, msgspec.Meta(min_length=1)]
    """What broke."""
    address: Annotated[str, msgspec.Meta(pattern=r"^https://\S+$")]
    """Where it was reported. Two reports may share one."""
    fault: Annotated[str, msgspec.Meta(pattern=r"^C[0-9]{2}$")] = msgspec.field(name="class")
    """The id of its class, or `UNSETTLED`."""
    symptom: Annotated[str, msgspec.Meta(pattern=r"^[A-Z].{8,78}[.]$")]
    """What happened, in one sentence of ours."""


@cache
def all_reports() -> tuple[PublicReport, ...]:
    """Return every report in the order of the table."""
    return read_reports(TABLE.read_text(encoding="utf-8"))


def read_reports(text: str) -> tuple[PublicReport, ...]:
    """Return the reports in the text of a table.

    Raises `ValueError` that says which line is wrong: its columns, a field, or an id that came
    before.
    """
    rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE, strict=True)
    found: dict[str, PublicReport] = {}
    for number, row in enumerate(rows, 1):
        if number == 1:
            if tuple(row) != COLUMNS:
                raise ValueError(f"line 1: the columns are {row}, not {list(COLUMNS)}")
            continue
        if len(row) != len(COLUMNS):
            raise ValueError(f"line {number}: {len(row)} columns, not {len(COLUMNS)}")
        try:
            report = msgspec.convert(dict(zip(COLUMNS, row, strict=True)), PublicReport)
        except msgspec.ValidationError as error:
            raise ValueError(f"line {number}: {error}") from None
        if report.id in found:
            raise ValueError(f"line {number}: {report.id} came before")
        found[report.id] = report
    return tuple(found.values())


def get_report(report_id: str) -> PublicReport:
    """Return one report. Raises `KeyError`."""
    return {report.id: report for report in all_reports()}[report_id]
