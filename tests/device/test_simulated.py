"""Tests of the simulated device: what lands when, what is seen before it, and its faults."""

from random import Random
from typing import Any

import numpy as np
import pytest
from device_samples import ROW_BYTES, new_device, numbers

from device.digest import digest_pages
from device.layout import BadLayout, Layout, view_padding
from device.runtime import CopyFailed, DeviceLost, OutOfMemory
from device.simulated import GUARD, POISON, SimulatedDevice


def host_of(device: SimulatedDevice) -> np.ndarray:
    """The host pages, page `p` filled with byte `p + 1`."""
    pages = device.host_pages()
    pages[:] = np.arange(1, device.pages + 1, dtype=np.uint8)[:, None, None]
    return pages


def bytes_of(device: SimulatedDevice, frame: int) -> set[int]:
    """The bytes that are in a frame now."""
    stream = device.new_stream()
    return set(device.peek(stream, numbers(frame)).reshape(-1).tolist())


class Script:
    """A pick that picks what it was told, then nothing."""

    def __init__(self, *picks: int) -> None:
        self.rest = list(picks)

    def __call__(self, options: int) -> int:
        return self.rest.pop(0) if self.rest else 0


def test_memory_begins_poisoned_with_guarded_padding() -> None:
    """Zeros would pass for a fresh page."""
    device = new_device()

    assert {POISON} == set(device.host_pages().reshape(-1).tolist()) == bytes_of(device, 0)
    assert {GUARD} == set(view_padding(device.layout, device.frame_memory).reshape(-1).tolist())


def test_copy_lands_when_it_is_waited_for() -> None:
    """Who does not wait sees what was there before."""
    device = new_device()
    host_of(device)
    event = device.copy_in(device.new_stream(), numbers(3, 1), numbers(0, 2))

    assert {POISON} == bytes_of(device, 0)
    assert not device.poll(event)

    device.wait(event)

    assert device.poll(event)
    assert [{4}, {POISON}, {2}] == [bytes_of(device, frame) for frame in range(3)]


def test_copy_out_lands_in_the_host_pages() -> None:
    """The other direction."""
    device = new_device()
    pages, stream = host_of(device), device.new_stream()
    device.wait(device.copy_in(stream, numbers(3), numbers(1)))
    device.wait(device.copy_out(stream, numbers(1), numbers(0)))

    assert [4, 2, 3, 4, 5] == pages[:, 1, ROW_BYTES - 1].tolist()


def test_copies_leave_the_padding_alone() -> None:
    """A width in place of a stride writes over somebody else's bytes."""
    device = new_device()
    host_of(device)
    stream = device.new_stream()
    device.wait(device.copy_in(stream, numbers(0, 1), numbers(1, 0)))
    device.wait(device.copy_out(stream, numbers(0, 1), numbers(3, 4)))

    for memory in (device.frame_memory, device.host_memory):
        assert {GUARD} == set(view_padding(device.layout, memory).reshape(-1).tolist())


def test_wait_lands_nothing_of_another_stream() -> None:
    """A wait on one of two streams has to show."""
    device = new_device()
    host_of(device)
    first = device.copy_in(device.new_stream(), numbers(0), numbers(0))
    second = device.copy_in(device.new_stream(), numbers(1), numbers(1))
    device.wait(second)

    assert [{POISON}, {2}] == [bytes_of(device, frame) for frame in (0, 1)]
    assert not device.poll(first)


def test_wait_lands_nothing_that_is_queued_later() -> None:
    """Later work of the same stream is not waited for."""
    device = new_device()
    host_of(device)
    stream = device.new_stream()
    event = device.copy_in(stream, numbers(0), numbers(0))
    device.copy_in(stream, numbers(1), numbers(0))
    device.wait(event)

    assert {1} == bytes_of(device, 0)


def test_stream_lands_in_order() -> None:
    """The last copy to a frame wins, however late both are."""
    device = new_device()
    host_of(device)
    stream = device.new_stream()
    device.copy_in(stream, numbers(0), numbers(0))
    device.wait(device.copy_in(stream, numbers(1), numbers(0)))

    assert {2} == bytes_of(device, 0)


def test_stream_that_waits_for_an_event_lands_after_it() -> None:
    """Waiting for the second stream lands what the first has to do before, and no more."""
    device = new_device()
    host_of(device)
    first, second = device.new_stream(), device.new_stream()
    device.copy_in(first, numbers(0), numbers(0))
    computed = device.record(first)
    device.copy_in(first, numbers(0), numbers(2))
    device.wait_for(second, computed)
    device.wait(device.copy_in(second, numbers(1), numbers(0)))

    assert [{2}, {POISON}] == [bytes_of(device, frame) for frame in (0, 2)]


def test_no_scheduler_breaks_the_order_of_streams_and_events() -> None:
    """Whatever is picked, the frame filled after an event holds the later page."""
    for seed in range(50):
        device = new_device(pick=Random(seed).randrange)
        host_of(device)
        first, second = device.new_stream(), device.new_stream()
        device.copy_in(first, numbers(0), numbers(0))
        device.wait_for(second, device.record(first))
        event = device.copy_in(second, numbers(1), numbers(0))
        device.settle(first)
        device.wait(event)

        assert {2} == bytes_of(device, 0), seed


def test_schedulers_land_unordered_streams_either_way() -> None:
    """What no event orders may land in any order, and torn."""
    last = set()
    for seed in range(100):
        device = new_device(pick=Random(seed).randrange)
        host_of(device)
        first, second = device.new_stream(), device.new_stream()
        device.copy_in(first, numbers(0), numbers(0))
        device.copy_in(second, numbers(1), numbers(0))
        device.settle(first)
        device.settle(second)
        last.add(frozenset(bytes_of(device, 0)))

    assert {frozenset({1}), frozenset({2}), frozenset({1, 2})} <= last


def test_copy_lands_in_halves_of_rows() -> None:
    """Who looks while it runs sees new bytes, and poison where old ones were."""
    device = new_device(pick=Script(1, 0, 0))
    host_of(device)
    stream = device.new_stream()
    device.copy_in(stream, numbers(0), numbers(0))
    device.record(stream)
    halves = device.peek(device.new_stream(), numbers(0))[0]

    assert [1] * 14 + [POISON] * 13 == halves[0].tolist()
    assert [POISON] * ROW_BYTES == halves[1].tolist()


def test_rows_are_read_when_the_reading_has_landed() -> None:
    """Until then their memory holds poison."""
    device = new_device()
    stream = device.new_stream()
    content = np.arange(2 * ROW_BYTES, dtype=np.uint8).reshape(2, ROW_BYTES)
    device.write_rows(stream, numbers(1, 2), numbers(0, 1), content)
    reading = device.read_rows(stream, numbers(2, 1), numbers(1, 0))

    assert {POISON} == set(reading.content.reshape(-1).tolist())

    device.wait(reading.event)

    assert content[::-1].tolist() == reading.content.tolist()


def test_written_content_may_be_changed_at_once() -> None:
    """The device keeps what it was given."""
    device = new_device()
    stream = device.new_stream()
    content = np.full((1, ROW_BYTES), 7, dtype=np.uint8)
    device.write_rows(stream, numbers(1), numbers(0), content)
    content[:] = 8
    reading = device.read_rows(stream, numbers(1), numbers(0))
    device.wait(reading.event)

    assert {7} == set(reading.content.reshape(-1).tolist())


def test_peek_shows_what_the_stream_will_have_done_and_lands_nothing() -> None:
    """Views are taken after each call, and must not do the waiting for the tier."""
    device = new_device()
    stream = device.new_stream()
    content = np.full((1, ROW_BYTES), 7, dtype=np.uint8)
    device.write_rows(stream, numbers(1), numbers(0), content)

    assert {7, POISON} == set(device.peek(stream, numbers(1)).reshape(-1).tolist())
    assert {POISON} == bytes_of(device, 1)
    assert POISON == device.frame_memory[device.layout.row_stride * 2]


def test_digest_is_that_of_the_bytes() -> None:
    """Host and device agree bit for bit."""
    device = new_device()
    host_of(device)
    stream = device.new_stream()
    device.wait(device.copy_in(stream, numbers(0, 4), numbers(0, 1)))

    expected = digest_pages(device.host_pages()[[4, 0]])

    assert expected.tolist() == device.digest_frames(stream, numbers(1, 0)).tolist()


def test_discarded_memory_is_poisoned() -> None:
    """Stale bytes would pass for fresh ones."""
    device = new_device()
    host_of(device)
    stream = device.new_stream()
    device.wait(device.copy_in(stream, numbers(0), numbers(0)))
    device.discard_frames(stream, numbers(0))
    device.discard_pages(numbers(1))

    assert {1} == bytes_of(device, 0)

    device.settle(stream)

    assert {POISON} == bytes_of(device, 0)
    assert {POISON} == set(device.host_pages()[1].reshape(-1).tolist())


def test_copy_fails_late_and_the_others_may_still_run() -> None:
    """A failure is reported as soon as it is known; settling waits for the rest."""
    device = new_device()
    host_of(device)
    stream = device.new_stream()
    event = device.copy_in(stream, numbers(0, 1, 2), numbers(0, 1, 2))

    assert device.fail_copy(event, 1)
    with pytest.raises(CopyFailed) as caught:
        device.wait(event)
    assert 1 == caught.value.item
    assert {POISON} == bytes_of(device, 0)

    device.settle(stream)

    assert [{1}, {POISON}, {3}] == [bytes_of(device, frame) for frame in range(3)]


def test_copy_that_landed_cannot_fail_any_more() -> None:
    """Nobody may be told otherwise after."""
    device = new_device()
    host_of(device)
    event = device.copy_in(device.new_stream(), numbers(0), numbers(0))
    device.wait(event)

    assert not device.fail_copy(event, 0)
    device.wait(event)


def test_copy_fails_as_it_is_queued_and_its_first_items_run() -> None:
    """What was queued before the failing item is not taken back."""
    device = new_device()
    host_of(device)
    stream = device.new_stream()
    device.fail_next_copy(item=2)
    with pytest.raises(CopyFailed):
        device.copy_in(stream, numbers(0, 1, 2), numbers(0, 1, 2))
    device.settle(stream)

    assert [{1}, {2}, {POISON}] == [bytes_of(device, frame) for frame in range(3)]


@pytest.mark.parametrize("call", ["copy_in", "copy_out", "write_rows", "read_rows", "record"])
def test_memory_runs_out_once_and_nothing_is_queued(call: str) -> None:
    """The call did nothing, and the next one works."""
    device = new_device()
    stream, content = device.new_stream(), np.zeros((1, ROW_BYTES), dtype=np.uint8)
    arguments: dict[str, Any] = {"write_rows": (numbers(0), numbers(0), content), "record": ()}
    given = arguments.get(call, (numbers(0), numbers(0)))
    device.run_out_of_memory()
    with pytest.raises(OutOfMemory):
        getattr(device, call)(stream, *given)
    device.settle(stream)

    assert {POISON} == bytes_of(device, 0)
    getattr(device, call)(stream, *given)


def test_lost_device_lands_nothing_and_says_so_for_good() -> None:
    """Late reporting ends with the first report; host pages stay readable."""
    device = new_device()
    pages, stream = host_of(device), device.new_stream()
    event = device.copy_in(stream, numbers(0), numbers(0))
    device.lose("a cable")

    later = device.copy_in(stream, numbers(1), numbers(1))

    for call in (device.wait, device.poll):
        with pytest.raises(DeviceLost, match="a cable"):
            call(later)
    for call in (device.settle, device.record):
        with pytest.raises(DeviceLost):
            call(stream)
    with pytest.raises(DeviceLost):
        device.copy_in(stream, numbers(1), numbers(1))
    assert not device.fail_copy(event, 0)
    assert POISON == device.frame_memory[0]
    assert 1 == pages[0, 0, 0]


def test_frames_beyond_the_memory_are_refused() -> None:
    """Construction is where the real allocation is checked."""
    with pytest.raises(OutOfMemory) as caught:
        new_device(frames=3, memory_bytes=3 * 2 * 31 - 1)

    assert 3 * 2 * 31 == caught.value.needed_bytes


@pytest.mark.parametrize(
    ("sizes", "said"),
    [((0, 1), "pages is 0"), ((2, -1), "frames is -1"), ((2, True), "frames is True")],
)
def test_bad_counts_are_refused(sizes: tuple[Any, Any], said: str) -> None:
    """Sizes that cannot be are named."""
    with pytest.raises(BadLayout, match=said):
        SimulatedDevice(Layout(1, 16), *sizes)


def test_lent_buffers_are_used_and_checked() -> None:
    """A cache that exists already is filled in place."""
    lent = np.zeros(3 * 2 * 31 + 10, dtype=np.uint8)
    device = new_device(frame_buffer=lent)
    host_of(device)
    device.wait(device.copy_in(device.new_stream(), numbers(0), numbers(2)))

    assert [1] * ROW_BYTES + [0] * 4 == lent[5 * 31 : 6 * 31].tolist()
    with pytest.raises(BadLayout, match="the host buffer has 10 bytes"):
        new_device(host_buffer=lent[:10])


def test_same_picks_give_the_same_bytes() -> None:
    """A recorded run replays exactly."""
    seen = []
    for _ in range(2):
        device = new_device(pick=Random(7).randrange)
        host_of(device)
        streams = [device.new_stream(), device.new_stream()]
        for page in range(4):
            device.copy_in(streams[page % 2], numbers(page), numbers(page % 3))
        seen.append((device.frame_memory.tobytes(), tuple(device.recorder.picks)))

    assert seen[0] == seen[1]
