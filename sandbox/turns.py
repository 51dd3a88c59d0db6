"""Who may go when: many together, or one alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Turns:
    """A readers and writer lock. Who waits to be alone goes before who comes later, so nobody waits for ever.

    Nobody may ask to be alone while among those together: that would wait for itself.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._together = 0
        self._waiting = 0
        self._alone = False

    @contextmanager
    def together(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._waiting)
            self._together += 1
        try:
            yield
        finally:
            with self._changed:
                self._together -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: not self._alone and not self._together)
                self._alone = True
            finally:  # also where the wait was interrupted
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
