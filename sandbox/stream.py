"""The connection that is attached to a container: what is sent goes to its stdin, what comes is its stdout."""

import struct
import time
from typing import Any

PIECE = 65536
MOMENT_S = 0.002
_HEAD = struct.Struct(">BxxxL")
_STDOUT = 1


class Stream:
    """Docker multiplexes what it forwards: eight bytes say which stream and how much, then that much follows.

    Never is more than one piece held here, however much comes.
    """

    def __init__(self, attached: Any) -> None:
        # Over a Unix socket or plain TCP the SDK gives a file around the socket; over TLS the socket, over ssh a channel.
        self._attached = attached
        self._socket = getattr(attached, "_sock", attached)
        self._head = bytearray()
        self._left = 0
        self._stdout = False

    def send(self, data: bytes, deadline: float) -> None:
        """Raises EOFError where nobody reads it any more, TimeoutError at the deadline (of the monotonic clock)."""
        self._socket.settimeout(_left_s(deadline))
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise
        except OSError as e:
            raise EOFError from e

    def receive(self, deadline: float) -> bytes:
        """What comes next of stdout; maybe nothing, where it was part of a head.

        Raises EOFError at the end, also where the connection breaks; TimeoutError at the deadline (of the monotonic clock).
        """
        self._socket.settimeout(_left_s(deadline))
        try:
            piece = self._socket.recv(PIECE)
        except TimeoutError:
            raise
        except OSError as e:
            raise EOFError from e
        if not piece:
            raise EOFError
        return self._demultiplexed(memoryview(piece))

    def ended(self) -> bool:
        """Whether the other side is gone, of a container that has nothing to say now."""
        try:
            self.receive(time.monotonic() + MOMENT_S)
        except TimeoutError:
            return False
        except EOFError:
            return True
        return False

    def close(self) -> None:
        getattr(self._attached, "_response", self._attached).close()  # in this order: each closes what it holds
        self._socket.close()

    def _demultiplexed(self, piece: memoryview) -> bytes:
        out = bytearray()
        while piece:
            if self._left:
                part, piece = piece[: self._left], piece[self._left :]
                self._left -= len(part)
                if self._stdout:
                    out += part
                continue
            missing = _HEAD.size - len(self._head)
            self._head += piece[:missing]
            piece = piece[missing:]
            if len(self._head) == _HEAD.size:
                kind, self._left = _HEAD.unpack(self._head)
                self._stdout = kind == _STDOUT
                self._head.clear()
        return bytes(out)


def _left_s(deadline: float) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s
