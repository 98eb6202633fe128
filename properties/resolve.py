"""Resolving: what the names in a trace stand for in the subject it is replayed on.

On the subject it was recorded on, every name stands for what it stood for. On another one a name
may be missing or taken: a lease that was never opened there, a literal that was issued there.
Then a stand-in takes its place, something that was never issued, so that a call which was about
nobody stays one. Owned here: that choice. Not owned: how names are written (`names`).
"""

from typing import Any

from properties.names import FIELD_KINDS, Json, Kind, Names
from properties.view import View
from reference.calls import Call, Choice, Fault
from reference.words import FrameNumber, Handle, Page


class Resolver:
    """Resolves the names of one call; two names of a call never resolve to one thing."""

    def __init__(self, names: Names, view: View) -> None:
        """Use the names issued so far, and the view before the call."""
        self._names = names
        self._view = view
        self.said: dict[tuple[Kind, Any], Json] = {}
        """How the trace wrote each value that was resolved; outcomes are told in its words."""

    def read_call(self, call: type[Call], arguments: dict[str, Json]) -> Call:
        """Return the call with its names resolved."""
        return call(**{field: self._read_field(field, arguments[field]) for field in arguments})

    def read_choice(self, choice: Json) -> Choice | None:
        """Return the choice, or none if nothing here corresponds to it."""
        page = self._page(choice["page"]) if "page" in choice else None
        frames = tuple(self._frame_of_entry(entry) for entry in choice.get("frames", ()))
        if None in frames:
            return None
        fault = Fault(**choice["fault"]) if "fault" in choice else None
        return Choice(page, frames, fault)  # type: ignore[arg-type]

    def _read_field(self, field: str, value: Json) -> Any:
        if field == "pages":
            return tuple(self._page(page) for page in value)
        kind = FIELD_KINDS.get(field)
        if kind is None:
            return value
        if kind == "page":
            return self._page(value)
        found = self._handle(value) if kind == "handle" else self._number(kind, value)
        self.said[kind, found] = value
        return found

    def _number(self, kind: Kind, value: Json) -> int:
        """Resolve a lease or a ticket."""
        latest = self._names.latest[kind]
        if isinstance(value, str):
            found = self._names.values.get(value)
            if found is not None:
                return int(found)
        elif value[kind] not in latest:
            return int(value[kind])
        return max(latest, default=-1) + 1

    # ----------------------------------------------------------------------------------- pages

    def _page(self, value: Json) -> Page:
        """Resolve a page: a name, a literal object or a bare number."""
        key = {"page": value} if isinstance(value, int) else value
        direct = self._direct_page(key)
        if direct is None or self.said.get(("page", direct), key) != key:
            direct = self._stand_in_page(key)
        self.said["page", direct] = key
        return direct

    def _direct_page(self, key: Json) -> Page | None:
        latest = self._names.latest["page"]
        if not isinstance(key, str):
            return None if key["page"] in latest else int(key["page"])
        page: Page | None = self._names.values.get(key)
        # If the id was issued again since, then not so in the recording: there the newer name
        # would have been written. The old name means a page that is not the new one.
        return page if page is not None and latest[page] == key else None

    def _stand_in_page(self, key: Json) -> Page:
        """Return a page of which nothing holds: never issued if there is one, else a free one."""
        latest = self._names.latest["page"]
        shape = self._view.shape
        unissued = [page for page in range(shape.pages) if page not in latest]
        for page in (*unissued, *self._view.free):
            if self.said.get(("page", page), key) == key:
                return page
        outside = shape.pages
        while self.said.get(("page", outside), key) != key:
            outside += 1
        return outside

    # --------------------------------------------------------------------------------- handles

    def _handle(self, value: Json) -> Handle:
        if isinstance(value, str):
            found = self._names.values.get(value)
            # No frame has ever had this generation: the handle is stale, as one not issued is.
            return Handle(self._stand_in_page(value), 0, -1) if found is None else Handle(*found)
        frame, generation = value.get("frame"), value.get("generation")
        frame = self._stand_in_frame(frame) if frame is not None else self._part(value, "frame")
        if generation is None:
            generation = self._part(value, "generation") + value.get("plus", 0)
        return Handle(self._page(value["page"]), frame, generation)

    def _part(self, value: Json, part: str) -> int:
        found: int = getattr(self._handle(value[f"{part}_of"]), part)
        return found

    def _stand_in_frame(self, number: FrameNumber) -> FrameNumber:
        """Return a frame that no issued handle names, the written one if it is such."""
        known = self._names.frames
        frames = (number, *range(self._view.shape.frames))
        return next((frame for frame in frames if frame not in known), number)

    def _frame_of_entry(self, entry: dict[str, Json]) -> FrameNumber | None:
        """Return the free frame of this number, or the frame that maps the victim."""
        if "free" in entry:
            return int(entry["free"])
        page, number = self._page(entry["victim"]), entry["frame"]
        frames = self._view.frames
        if 0 <= number < len(frames) and frames[number].page == page:
            return int(number)
        return self._view.mapped.get(page)
