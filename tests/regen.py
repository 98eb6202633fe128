"""Rewrites the generated parts of the docs from the last report of the main job.

What a run counted and showed goes to `tests/golden/facts.json`; the tables in README.md,
CONTRIBUTING.md and the pages of `properties/` are made from it, from `tox.ini`, and from the rules
and the public reports themselves. A test makes them again and compares. Run it after
`tox run -e check`: `tox run -e regen`.
"""

import configparser
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FACTS = ROOT / "tests" / "golden" / "facts.json"
POWER = ROOT / "tests" / "golden" / "power.json"
TEETH = ROOT / "tests" / "golden" / "teeth.json"
REPORT = ROOT / "build" / "report" / "report.json"
DOCS = (
    "README.md",
    "CONTRIBUTING.md",
    "properties/RULES.md",
    "properties/POWER.md",
    "properties/FAULTS.md",
    "device/TEETH.md",
)
BLOCK = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def facts_of(path: Path) -> dict[str, Any]:
    """Return what the docs quote from the report in a file, whose traces are beside it.

    Raises `KeyError` if a mutant that stands for a public report is not in it.
    """
    import msgspec

    from mutants.faults.links import get_linked
    from mutants.faults.shown import gather_shown
    from mutants.report.model import decode

    report = decode(path.read_bytes())
    scopes = ("scope", "verdict", "states", "depth", "transitions")
    shown = gather_shown(report, path.parent, (named.id for named in get_linked()))
    facts = {
        "line": report.line,
        "exploration": [{key: getattr(one, key) for key in scopes} for one in report.exploration],
        "alike": sorted(
            {
                tuple(sorted((rule.id, *rule.indistinct_from)))
                for rule in report.rules
                if rule.indistinct_from
            }
        ),
        "faults": msgspec.to_builtins(shown),
    }
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def read_facts() -> dict[str, Any]:
    """Return the facts that the docs were last made from."""
    facts: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
    return facts


def make_blocks(facts: dict[str, Any]) -> dict[str, str]:
    """Return the text of every generated block by its name."""
    return {
        "line": f"```\n{facts['line']}\n```\n",
        "scopes": _table(
            ("scope", "pages/frames/rows", "leases", "what it is for", "states", "verdict"),
            _scopes(facts),
        ),
        "environments": _table(("environment", "what it does"), _environments()),
        "rules": _table(("rule", "kind", "what must hold", "where it broke"), _rules()),
        "goals": _table(("goal", "what was reached"), _goals()),
        "alike": _alike(facts),
        "teeth": _table(("what is left out", "what it waits for", "hasty", "plain"), _teeth()),
        "power": _table(("#", "mutant", "walks", "machine"), _power()),
        **_faults(facts),
    }


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines
    )


def _scopes(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    from properties.scopes import SCOPES

    rows = []
    for found in facts["exploration"]:
        scope = SCOPES[found["scope"]]
        verdict = found["verdict"]
        if verdict == "undetermined":
            verdict = f"holds to depth {found['depth']}"
        shape = "/".join(map(str, scope.shape))
        states = f"{found['states']:,}"
        rows.append((f"`{scope.name}`", shape, str(scope.leases), scope.purpose, states, verdict))
    return rows


def _environments() -> list[tuple[str, ...]]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini")
    names = [name for name in parser.sections() if name.startswith("testenv:")]
    return [
        (f"`tox run -e {name.partition(':')[2]}`", parser[name]["description"]) for name in names
    ]


def _rules() -> list[tuple[str, ...]]:
    from properties.registry import all_rules

    return [
        (f"`{rule.id}`", rule.kind, rule.sentence, rule.seen)
        for rule in sorted(all_rules(), key=lambda rule: (rule.kind, rule.id))
    ]


def _goals() -> list[tuple[str, ...]]:
    from properties.goals import all_goals

    return [(f"`{goal.id}`", goal.sentence) for goal in all_goals()]


def _power() -> list[tuple[str, ...]]:
    table = json.loads(POWER.read_text(encoding="utf-8"))["table"]
    return [
        (str(row["number"]), f"`{row['mutant']}`", _search(row["walks"]), _search(row["machine"]))
        for row in table
    ]


def _teeth() -> list[tuple[str, ...]]:
    found = json.loads(TEETH.read_text(encoding="utf-8"))
    rows = []
    for row in found["table"]:
        red = [f"{row[how]} of {found['seeds']}" for how in ("hasty", "plain")]
        rows.append((row["left_out"], row["purpose"], *red))
    return rows


def _search(seeds: list[dict[str, Any]]) -> str:
    """Say after how many calls each seed found it, where, and by which rule."""
    calls = " / ".join(f"{one['calls']:,}" if one["found"] else "not found" for one in seeds)
    first = next((one for one in seeds if one["found"]), None)
    return calls if first is None else f"{calls}; {first['scope']}, `{first['rule']}`"


def _alike(facts: dict[str, Any]) -> str:
    groups = facts["alike"]
    if not groups:
        return "Every rule is told apart from every other by some mutant.\n"
    return "".join(f"- {', '.join(f'`{rule}`' for rule in group)}\n" for group in groups)


def _faults(facts: dict[str, Any]) -> dict[str, str]:
    import msgspec

    from mutants.faults.page import make_blocks
    from mutants.faults.shown import Shown

    shown = msgspec.convert(facts["faults"], tuple[Shown, ...])
    return make_blocks({one.mutant: one for one in shown})


def fill_in(text: str, blocks: dict[str, str]) -> str:
    """Return a document with every generated block made again."""
    return BLOCK.sub(lambda found: found[1] + blocks[found["name"]] + found[3], text)


def main() -> int:
    """Rewrite the facts and the docs; 1 if there is no report to read them from."""
    if not REPORT.exists():
        print("no report to take the figures from: run tox run -e check first", file=sys.stderr)
        return 1
    try:
        facts = facts_of(REPORT)
    except KeyError as missing:
        print(f"{missing} is not in the report: run tox run -e check again", file=sys.stderr)
        return 1
    FACTS.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    blocks = make_blocks(read_facts())
    for name in DOCS:
        path = ROOT / name
        path.write_text(fill_in(path.read_text(encoding="utf-8"), blocks), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
