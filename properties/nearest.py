"""The nearest choice: which of the options of a call comes closest to the one that was wished.

The Hypothesis machine draws a page, a frame and a fault point as absolute numbers, before anybody
knows what is possible. Here they are mapped onto what the subject offers, so that one which offers
what the spec does not is taken at its word. Where there is too much to list, the spec decides.
"""

from itertools import islice
from typing import Any

from properties.choosing import OFFERS, choose_again, fit_choice
from properties.subject import Model, offers
from properties.view import View
from reference.calls import DEFAULT, Alloc, Call, Choice, Fault, Fill
from reference.words import Shape


def get_nearest(model: Model, state: Any, view: View, call: Call, wanted: Choice) -> Choice:
    """Return the option of the call that is nearest to the wanted one.

    A call that the subject refuses gets the spec's nearest: who does not refuse it goes on with it.
    """
    if type(call) is not Alloc and type(call) is not Fill:
        return DEFAULT
    offered = list(islice(offers(model, state, call), OFFERS + 1))
    if offered in ([], [DEFAULT]):
        return fit_choice(view, call, wanted)
    if len(offered) > OFFERS:
        return choose_again(model, state, view, call, wanted)
    return min(offered, key=lambda choice: _distance(choice, wanted, view.shape))


def _distance(choice: Choice, wanted: Choice, shape: Shape) -> tuple[int, int, list[int]]:
    """Order choices: the same fault before all, then the next page and frames going up."""
    page = 0
    if choice.page is not None and wanted.page is not None:
        page = (choice.page - wanted.page) % shape.pages
    pairs = zip(choice.frames, wanted.frames, strict=False)
    frames = [(frame - wish) % shape.frames for frame, wish in pairs]
    return _between(choice.fault, wanted.fault), page, frames


def _between(fault: Fault | None, wanted: Fault | None) -> int:
    if fault is None or wanted is None:
        return 0 if fault is wanted else 1_000
    return 2 * abs(fault.miss - wanted.miss) + (fault.unmapped != wanted.unmapped)
