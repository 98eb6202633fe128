"""Progress: one line that says what is going on, on a terminal only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shown() -> Iterator[Callable[[str], None]]:
    """Yield what shows a text until the next; in a pipe nothing is shown."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("beginning") as status:
        yield lambda text: status.update(f"{text}")
