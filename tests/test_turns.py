"""Turns: many together, or one alone, and nobody waits for ever."""

import threading
from concurrent.futures import ThreadPoolExecutor, wait

from sandbox.turns import Turns

TIMEOUT_S = 30.0


def test_many_go_together() -> None:
    turns, met = Turns(), threading.Barrier(3)

    def go() -> None:
        with turns.together():
            met.wait(TIMEOUT_S)

    with ThreadPoolExecutor(3) as threads:
        for one in [threads.submit(go) for _ in range(3)]:
            one.result()


def test_who_is_alone_is_alone_and_goes_before_who_comes_later() -> None:
    turns, order = Turns(), list[str]()
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with turns.together():
            inside.set()
            leave.wait(TIMEOUT_S)
            order.append("first")

    def alone() -> None:
        with turns.alone():
            order.append("alone")

    def later() -> None:
        with turns.together():
            order.append("later")

    with ThreadPoolExecutor(3) as threads:
        threads.submit(first)
        inside.wait(TIMEOUT_S)
        waiting = threads.submit(alone)
        assert not wait([waiting], 0.1).done
        came = threads.submit(later)
        assert not wait([came], 0.1).done, "it would keep the other from ever being alone"
        leave.set()
    assert order == ["first", "alone", "later"]


def test_never_two_at_once_where_one_is_alone() -> None:
    turns, lock, now, worst = Turns(), threading.Lock(), {"alone": 0, "together": 0}, []

    def go(kind: str) -> None:
        with getattr(turns, kind)():
            with lock:
                now[kind] += 1
                if now["alone"] > 1 or (now["alone"] and now["together"]):
                    worst.append(dict(now))
            with lock:
                now[kind] -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(go, ["together", "together", "alone"] * 300))
    assert not worst


def test_a_turn_that_ends_badly_is_over() -> None:
    turns = Turns()
    for turn in (turns.alone, turns.together, turns.alone):
        try:
            with turn():
                raise ValueError
        except ValueError:
            continue
