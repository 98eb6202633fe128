"""Phrases that every form of the report shares: a place, a difference, where was looked."""

import re

from mutants.device_run import DEVICE
from mutants.report.model import CORPUS, Compared, Differs, MutantEntry, Noticed, ScopeEntry
from properties.rules.rows import REFUSALS


def say_place(entry: MutantEntry) -> str:
    """Return where a mutant changes the code: `reference.tier.open_lease, line 40`."""
    said = []
    for place in entry.places:
        function = "" if place.function == "<module>" else f".{place.function}"
        said.append(f"{place.module}{function}, line {place.line}")
    return "; ".join(said)


def say_function(entry: MutantEntry) -> str:
    """Return the function that a mutant changes first: `reference.tier.open_lease`."""
    return say_place(entry).partition(",")[0]


def say_difference(differs: Differs) -> str:
    """Return a first difference: the call, what it came to, and what it should have."""
    return f"in {differs.scope}: {differs.call} came to {differs.got}, not {differs.wanted}"


def get_kind(differs: Differs) -> str:
    """Return in what a mutant differs: a table of the state, a refusal, a choice or a value."""
    texts = (differs.got, differs.wanted)
    for text in texts:
        if found := re.match(r"([a-z_]+): ", text):
            return found[1]
    if any(text.startswith(_CHOICES) for text in texts):
        return "choices"
    names = [text.partition("(")[0] for text in texts]
    if not any(name in _REFUSALS for name in names):
        return "values"
    return "fields of a refusal" if names[0] == names[1] else "refusals"


_CHOICES = ("no such choice", "Choice(")
_REFUSALS = {name for row in REFUSALS.values() for name in row}


def say_looked(compared: Compared) -> str:
    """Return where a mutant was compared with the original: `all of tiny`."""
    if compared.whole:
        return f"all of {compared.scope}"
    if compared.scope == CORPUS:
        return say_count(compared.states, "recorded run")
    if compared.scope == DEVICE:
        return f"{say_count(compared.states, 'run')} of the simulated device"
    return f"the first {compared.states:,} states of {compared.scope}"


def say_all_looked(entry: MutantEntry) -> str:
    """Return every place where a mutant was compared with the original."""
    return ", ".join(say_looked(one) for one in entry.compared) or "nowhere"


def say_noticed(noticed: Noticed) -> str:
    """Return who noticed and why: the rule, its reason, the number of calls."""
    return f"{noticed.rule} ({say_calls(noticed.calls, noticed.scope)}): {noticed.because}"


def say_calls(calls: int | None, scope: str) -> str:
    """Return how many calls showed it, and where."""
    if calls is None:
        return f"the whole of {scope}"
    return f"{calls} call{'' if calls == 1 else 's'}, {scope}"


def get_changed_lines(diff: str) -> str:
    """Return the lines of a unified diff that went and came, without what is around them."""
    lines = diff.splitlines()
    return "\n".join(
        line for line in lines if line[:1] in ("-", "+") and line[:3] not in ("---", "+++")
    )


def say_count(count: int, noun: str) -> str:
    """Return a number with its noun: `1 mutant`, `1,200 mutants`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def say_verdict(scope: ScopeEntry) -> str:
    """Return the verdict of a search; one that ended at a depth says at which."""
    if scope.verdict != "undetermined":
        return scope.verdict
    if scope.depth_max is not None and scope.depth >= scope.depth_max:
        return f"no break to depth {scope.depth}, its bound"
    return f"undetermined at depth {scope.depth}"
