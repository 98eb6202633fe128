"""Writing the trace of every cell: the shortest calls by which a rule turned red on a mutant."""

import gc
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mutants.candidate import Candidate
from mutants.engine import Cell
from mutants.matrix import Matrix
from mutants.report.make import trace_path
from mutants.variant import Variant
from mutants.worlds import get_picks, get_world
from properties.trace import Header, Trace, encode, record


class _Task(NamedTuple):
    """What the processes inherit."""

    folder: Path
    todo: list[tuple[Candidate, list[Cell]]]

    def run(self, index: int) -> int:
        """Write the traces of one mutant and return how many there are."""
        candidate, cells = self.todo[index]
        for cell, trace in record_cells(candidate, cells):
            path = self.folder / trace_path(cell.rule, candidate.id)
            path.write_text(encode(trace), encoding="utf-8")
        return len(cells)


_inherited: list[_Task] = []
"""The task under way: a forked process inherits it, and is sent a number only."""


def write_traces(folder: Path, matrix: Matrix, graph: frozenset[str], workers: int) -> int:
    """Write every cell's trace into the folder of a report and return how many there are.

    A rule of the whole space (`graph`) has none. Raises `OSError`.
    """
    todo = [
        (one, [cell for rule, cell in matrix.rows[one.id].cells.items() if rule not in graph])
        for one in matrix.candidates
    ]
    task = _Task(folder, [(one, cells) for one, cells in todo if cells])
    for rule in sorted({cell.rule for _, cells in task.todo for cell in cells}):
        (folder / trace_path(rule, "")).parent.mkdir(parents=True, exist_ok=True)
    if workers == 1:
        return sum(map(task.run, range(len(task.todo))))
    _inherited.append(task)
    gc.freeze()  # Else the collector of each process would copy the whole matrix.
    try:
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            return sum(pool.imap_unordered(_run_one, range(len(task.todo)), chunksize=8))
    finally:
        gc.unfreeze()
        _inherited.pop()


def _run_one(index: int) -> int:
    return _inherited[-1].run(index)


def record_cells(candidate: Candidate, cells: list[Cell]) -> Iterator[tuple[Cell, Trace]]:
    """Make the calls of each cell on the mutant once more, and yield what happened."""
    variant = Variant(candidate.sources)
    for cell in cells:
        scope = get_world(cell.scope)
        header = Header(
            shape=scope.shape,
            off=scope.off,
            subject=candidate.id,
            rule=cell.rule,
            because=cell.because,
            scope=scope.name,
        )
        model = variant.model(scope.shape, scope.off)
        if candidate.of_device:
            model = variant.device(scope.shape, scope.off, *get_picks(cell.moods))
        yield cell, record(model, header, cell.path)
