"""What stands for what: catalogue entries for reports, by the addresses they have `seen_in`."""

from mutants.catalogue import all_mutants
from mutants.entry import Named
from mutants.faults.reports import PublicReport, all_reports


def get_mirrored(named: Named) -> tuple[PublicReport, ...]:
    """Return the reports that a mutant mirrors, in the order of their table.

    An address that several reports share does not say which of them it is about.
    """
    addresses = [report.address for report in all_reports()]
    return tuple(
        report
        for report in all_reports()
        if report.address in named.seen_in and addresses.count(report.address) == 1
    )


def get_mutants(fault: str) -> tuple[str, ...]:
    """Return the mutants that stand for a class: those that mirror one of its reports."""
    return tuple(
        named.id
        for named in all_mutants()
        if any(report.fault == fault for report in get_mirrored(named))
    )


def get_linked() -> tuple[Named, ...]:
    """Return every mutant that mirrors a report."""
    return tuple(named for named in all_mutants() if get_mirrored(named))
