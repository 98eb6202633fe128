"""The catalogue as text: anchors, names, and that each rule has a mutant it must notice.

Whether the rules really notice is the main job's to show.
"""

from collections.abc import Iterator
from types import ModuleType

import pytest

from mutants import catalogue
from mutants.catalogue import all_mutants, gather
from mutants.entry import LOCKSTEP, Edit, Named, StaleAnchor, apply_edits
from mutants.variant import DRIVER, SHARED, all_sources, is_of_device
from mutants.worlds import WORLDS
from properties.registry import all_rules
from properties.scopes import SCOPES

NUMBERS = range(1, 33)

each_mutant = pytest.mark.parametrize("named", all_mutants(), ids=lambda named: named.id)


def get_words(named: Named) -> Iterator[str]:
    """Return every text in which a mutant might speak a rule's words."""
    yield named.id
    yield named.does
    for edit in named.edits:
        yield edit.new


def make(**fields: object) -> Named:
    """Make an entry whose one edit changes nothing that exists."""
    edits = (Edit("reference.fill", "\n    no such line\n", ""),)
    defaults = {"id": "fill.made-up", "does": "Nothing.", "edits": edits, "expect": ()}
    return Named(**{**defaults, **fields})


@each_mutant
def test_every_anchor_matches_exactly_once(named: Named) -> None:
    """A mutant that is not applied looks like one that nobody notices."""
    sources = all_sources()
    found = [(edit.old, sources[edit.module].count(edit.old)) for edit in named.edits]

    assert [(old, 1) for old, _ in found] == found


@each_mutant
def test_edited_modules_differ_and_compile(named: Named) -> None:
    """A mutant that does not compile is no wrong version of anything."""
    sources = all_sources()
    edited = apply_edits(named, sources)

    assert edited.keys() == {edit.module for edit in named.edits}
    for module, source in edited.items():
        assert source != sources[module]
        compile(source, module, "exec")


@each_mutant
def test_mutant_leaves_shared_vocabulary_alone(named: Named) -> None:
    """A mutant of the calls or nouns would change the rules that judge it."""
    assert not {edit.module for edit in named.edits} & {*SHARED, DRIVER}


@each_mutant
def test_expected_rules_are_all_known(named: Named) -> None:
    """A misspelt rule would be missed in every run, or in none."""
    known = {rule.id for rule in all_rules()}
    if is_of_device(edit.module for edit in named.edits):
        known.add(LOCKSTEP)

    assert set(named.expect) <= known
    assert named.expect or named.equivalent_because


@each_mutant
def test_no_mutant_speaks_rule_words(named: Named) -> None:
    """An edit that names its rule is written for the rule, and not like a mistake."""
    ids = {word for rule in all_rules() for word in (rule.id, rule.id.replace("-", "_"))}
    spoken = [rule for rule in ids for words in get_words(named) if rule in words]

    assert [] == spoken
    assert not any(
        "#" in edit.new.replace("# RESULT", "").replace("# EFFECT", "") for edit in named.edits
    )


@each_mutant
def test_entry_reads_well_in_tables(named: Named) -> None:
    """Reports print these texts as they are."""
    name = named.id.partition(".")[2]

    assert name == name.lower()
    assert not any(character.isdigit() for character in named.id)
    assert named.does[0].isupper() and named.does.endswith(".")
    assert all(seen.startswith(("https://", "review, remark ")) for seen in named.seen_in)
    worlds = WORLDS if named.id.startswith("device.") else SCOPES.keys() - {"tiny"}
    assert named.scope is None or named.scope in worlds


def test_mutants_are_in_right_files() -> None:
    """Who breaks a module looks for its mutants in the file of its name."""
    placed = [(m, named) for m in catalogue.modules() for named in m.MUTANTS]

    assert placed
    for module, named in placed:
        stem = module.__name__.rpartition(".")[2]
        broken = named.edits[0].module.removeprefix("reference.")
        assert broken == named.id.rpartition(".")[0], named.id
        file = broken.replace(".", "_")
        assert stem == file or stem.startswith(f"{file}_"), named.id


def test_ids_are_unique_and_sorted() -> None:
    """A report has one row for each id, always in the same place."""
    ids = [named.id for named in all_mutants()]

    assert sorted(set(ids)) == ids


def test_two_mutants_never_share_ids() -> None:
    """The second of them would hide the first."""
    module = ModuleType("twice")
    module.MUTANTS = (make(), make(does="Nothing else."))

    with pytest.raises(ValueError, match=r"two mutants are called fill\.made-up"):
        gather([module])


def test_same_edits_never_come_twice() -> None:
    """Two names for one wrong version would count it twice."""
    edits = [named.edits for named in all_mutants()]

    assert len(set(edits)) == len(edits)


def test_numbered_mutants_are_all_there() -> None:
    """The list of wrong versions that every suite must notice has no holes."""
    numbers = sorted(named.number for named in all_mutants() if named.number is not None)

    assert list(NUMBERS) == numbers


def test_every_rule_has_its_mutant() -> None:
    """A rule that no mutant is expected to turn red is not known to work."""
    rules = {rule.id for rule in all_rules()}
    expected = {rule for named in all_mutants() for rule in named.expect}

    assert rules
    assert set() == rules - expected


def test_missing_anchor_says_what_is_stale() -> None:
    """Whoever changed the reference has to find the entry and the line."""
    with pytest.raises(StaleAnchor, match=r"fill\.made-up: 'no such line' is 0 times") as caught:
        apply_edits(make(), all_sources())

    error = caught.value
    assert ("fill.made-up", "reference.fill", "no such line", 0) == (
        error.mutant,
        error.module,
        error.first_line,
        error.found,
    )


def test_ambiguous_anchor_counts_its_places() -> None:
    """Changing the first of several places would be a mutant nobody asked for."""
    named = make(edits=(Edit("reference.pool", "pool", "pond"),))

    with pytest.raises(StaleAnchor) as caught:
        apply_edits(named, {"reference.pool": "pool = pool"})

    assert 2 == caught.value.found


def test_anchor_in_unknown_module_is_stale() -> None:
    """A module that was renamed takes its mutants with it."""
    named = make(edits=(Edit("reference.gone", "x", "y"),))

    with pytest.raises(StaleAnchor) as caught:
        apply_edits(named, all_sources())

    assert ("reference.gone", 0) == (caught.value.module, caught.value.found)


def test_later_edits_see_earlier_ones() -> None:
    """Two edits of one module are one wrong version."""
    edits = (Edit("reference.pool", "one", "two"), Edit("reference.pool", "three", "four"))

    edited = apply_edits(make(edits=edits), {"reference.pool": "one three"})

    assert {"reference.pool": "two four"} == edited
