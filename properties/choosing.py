"""Choosing: one of the options of a call, drawn or fitted, without listing them all.

A fill of ten misses has more options than there is time. What the spec allows is simple enough to
be drawn one frame at a time: a `FREE` frame while there is one, else an evictable one whose page
the fill does not ask for. Owned here: that, and what becomes of a choice where it is not allowed.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any, TypeAlias

from properties.subject import Model, offers
from properties.view import View
from reference.calls import DEFAULT, Alloc, Call, Choice, Fault, Fill
from reference.words import FrameNumber

Offers: TypeAlias = Callable[[Call], Iterator[Choice]]
"""What a subject offers for a call in its state, one after the other, its default first."""

OWN = 0.4
"""The share of choices that are among the first which the subject itself offers."""
OFFERS = 12
"""So many of those: all of them on small shapes, and the rest is drawn."""
DEFAULTS = 0.4
"""The share of the others that are the spec's defaults: what implementations mostly do."""
FAULTS = 0.12
"""The share of fills with misses that meet a fault."""


def draw_choice(
    random: Random, view: View, call: Call, offer: Offers, faults: float = FAULTS
) -> Choice:
    """Return an option of the call, any of them with some chance.

    `offer` gives the subject's own options: one that offers what the spec does not is taken at its
    word. A call that will be refused gets a choice too: who does not refuse it goes on with it.
    """
    if type(call) is not Fill and type(call) is not Alloc:
        return DEFAULT
    if random.random() < OWN:
        offered = [
            choice for choice in islice(offer(call), OFFERS) if faults or choice.fault is None
        ]
        # A call that the subject refuses leaves nothing open; then ours is as good.
        if offered and offered != [DEFAULT]:
            return offered[int(random.random() * len(offered))]
    if type(call) is Fill:
        return _draw_frames(random, view, call, faults)
    free = view.free
    if not free:
        return DEFAULT
    default = random.random() < DEFAULTS
    return Choice(page=min(free) if default else free[int(random.random() * len(free))])


def _draw_frames(random: Random, view: View, call: Fill, faults: float) -> Choice:
    misses = count_misses(view, call)
    if misses == 0:
        return DEFAULT
    free_frames = view.free_frames
    fault = None
    if random.random() < faults:
        miss = 1 + int(random.random() * misses)
        unmapped = miss > len(free_frames) and random.random() < 0.5
        fault = Fault(miss, unmapped)
        misses = miss if unmapped else miss - 1
    default = random.random() < DEFAULTS
    frames = _take(random, free_frames, misses, default)
    if misses > len(frames):
        frames += _take(random, get_evictable(view, call), misses - len(frames), default)
    return Choice(frames=tuple(frames), fault=fault)


def _take(
    random: Random, frames: Sequence[FrameNumber], count: int, default: bool
) -> list[FrameNumber]:
    """Return so many of the frames, or all: the first ones, or any."""
    count = min(count, len(frames))
    return list(frames[:count]) if default else random.sample(frames, count)


def fit_choice(view: View, call: Call, wanted: Choice) -> Choice:
    """Return the wanted choice, or the option nearest to it where it is not allowed."""
    if type(call) is Alloc:
        free = view.free
        if not free:
            return DEFAULT
        return wanted if wanted.page in free else Choice(page=min(free))
    if type(call) is not Fill:
        return DEFAULT
    misses = count_misses(view, call)
    free_frames, fault = list(view.free_frames), None
    if wanted.fault is not None and misses > 0:
        miss = min(wanted.fault.miss, misses)
        unmapped = wanted.fault.unmapped and miss > len(free_frames)
        fault = Fault(miss, unmapped)
        misses = miss if unmapped else miss - 1
    evictable = get_evictable(view, call)
    frames: list[FrameNumber] = []
    for index in range(misses):
        allowed = free_frames or evictable
        if not allowed:
            break
        want = wanted.frames[index] if index < len(wanted.frames) else None
        number = want if want in allowed else allowed[0]
        allowed.remove(number)
        frames.append(number)
    return Choice(frames=tuple(frames), fault=fault)


def choose_again(model: Model, state: Any, view: View, call: Call, wanted: Choice) -> Choice:
    """Return the wanted choice if the subject or the spec allows it, else one near to it."""
    if type(call) is not Fill and type(call) is not Alloc:
        return DEFAULT
    if wanted in islice(offers(model, state, call), OFFERS):
        return wanted
    return fit_choice(view, call, wanted)


def count_misses(view: View, call: Fill) -> int:
    """Return how many pages of a fill no frame maps."""
    mapped = view.mapped
    return sum(page not in mapped for page in call.pages)


def get_evictable(view: View, call: Fill) -> list[FrameNumber]:
    """Return the frames that a fill may take from their pages, least recently filled first."""
    evictable, mapped = view.evictable, view.mapped
    if view.recency is None:
        return [number for number in evictable if view.frames[number].page not in call.pages]
    numbers = {mapped[page]: None for page in view.recency if page in mapped}
    kept = {mapped[page] for page in call.pages if page in mapped}
    allowed = set(evictable) - kept
    return [number for number in numbers if number in allowed]
