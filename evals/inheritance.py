"""The `arms:` of a file, each made whole: what it extends or repeats, and one arm for each of several thinking efforts."""

from collections.abc import Callable
from typing import Any, NoReturn

from evals import efforts
from evals.document import Place, did_you_mean

Fail = Callable[[Place, str], NoReturn]


class Inheritance:
    """Raw sections, each over that of the arm which it names; an arm that is made of another has its lines too."""

    def __init__(self, arms: dict[str, Any], lines: dict[Place, int], fail: Fail) -> None:
        self.arms, self.lines, self.fail = arms, lines, fail

    def whole(self) -> dict[str, Any]:
        """By name, in the file's order. `thinking: [off, low]` on `a` makes the arms `a-off` and `a-low`.

        Raises:
            ConfigError: by way of `fail`.
        """
        out: dict[str, Any] = {}
        for name in self.arms:
            for made, arm in self._expanded(name, self._inherit(name, ())).items():
                if made in out or (made != name and made in self.arms):
                    self.fail(("arms", name, "thinking"), f"makes an arm {made}, and there is one already; rename one")
                out[made] = arm
        return out

    def _expanded(self, name: str, arm: Any) -> dict[str, Any]:
        place: Place = ("arms", name, "thinking")
        words = arm.get("thinking") if isinstance(arm, dict) else None
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            return {name: arm}
        if not words:
            self.fail(place, f"name at least one of: {', '.join(efforts.EFFORTS)}")
        out: dict[str, Any] = {}
        for i, word in enumerate(words):
            effort = efforts.read(word, (*place, i), self.fail)
            if (made := f"{name}-{effort}") in out:
                self.fail((*place, i), f"{effort} is given twice; keep one")
            out[made] = {**arm, "thinking": effort}
            if "repeat_of" in arm:  # of several arms, a repeat of each; of one that is named, of that one
                out[made]["repeat_of"] = f"{arm['repeat_of']}-{effort}"
            self._lend_lines(name, made)
        return out

    def _inherit(self, name: str, seen: tuple[str, ...]) -> Any:
        """An arm's own settings over those of the arm that it extends or repeats; null takes an inherited key away."""
        own = {} if self.arms[name] is None else self.arms[name]
        if not isinstance(own, dict):
            return own
        if name in seen:
            self.fail(("arms", name), f"extends in a circle: {' → '.join([*seen[seen.index(name) :], name])}; break it")
        link = "repeat_of" if own.get("repeat_of") is not None else "extends"
        parent, inherited = own.get(link), {}
        if link == "repeat_of" and len(own) > 1:
            self.fail(("arms", name), "repeat_of repeats an arm as it is; use `extends` to change something")
        if parent is not None:
            inherited = self._parent(parent, ("arms", name, link), (*seen, name))
            self._lend_lines(written_as(parent, self.arms), name)
            if not isinstance(inherited, dict):
                return inherited
        merged = _merge(inherited, own)
        arm = {k: v for k, v in merged.items() if v is not None and k not in ("extends", "repeat_of")}
        return arm | ({"repeat_of": parent} if link == "repeat_of" else {})

    def _parent(self, parent: Any, place: Place, seen: tuple[str, ...]) -> Any:
        """An arm as the file has it, or one of those that its efforts make of it."""
        written = written_as(parent, self.arms) if isinstance(parent, str) else ""
        if written not in self.arms:
            self.fail(place, f"there is no arm {parent!r}{did_you_mean(str(parent), self.arms)}")
        arm = self._inherit(written, seen)
        if written == parent:
            return arm
        made = self._expanded(written, arm)
        if parent not in made:
            self.fail(place, f"there is no arm {parent!r}; {written} is: {', '.join(made)}")
        return made[parent]

    def _lend_lines(self, owner: str, to: str) -> None:
        for place, line in [item for item in self.lines.items() if item[0][:2] == ("arms", owner)]:
            self.lines.setdefault(("arms", to, *place[2:]), line)


def written_as(name: str, arms: dict[str, Any]) -> str:
    """The name under which the file has an arm: `a-low` may be one that `thinking` makes of `a`."""
    base, _, word = name.rpartition("-")
    return base if name not in arms and base in arms and word in efforts.EFFORTS else name


_MERGED = {"args", "env", "request", "chat_template_kwargs", "extra_body"}
"""Sections that a child adds to. Everything else it replaces whole: a flag's JSON value is one value."""


def _same_engine(key: str, own: dict[str, Any], inherited: dict[str, Any]) -> bool:
    """Another image keeps the volumes and the rest of its parent's container."""
    return key == "engine" and "docker" in own and "docker" in inherited["engine"]


def _merge(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    out = dict(base)
    for key, value in own.items():
        if value is None and key in out:
            del out[key]
        elif isinstance(value, dict) and isinstance(out.get(key), dict) and (key in _MERGED or _same_engine(key, value, out)):
            out[key] = _merge(out[key], value)
        else:
            out[key] = value
    return out
