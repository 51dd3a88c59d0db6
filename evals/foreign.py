"""A task or a group that lm-eval knows by name: found in its files, and refused where it could not be gated on.

Without lm-eval itself, which takes a second to import, and twenty for its own index of 14,000 files.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from evals.document import did_you_mean
from evals.errors import ConfigError
from tasks.foreign import Foreign

METRICS = ("acc", "exact_match", "acc_norm", "em", "prompt_level_strict_acc")
"""lm-eval's metrics that are 0 or 1 for a sample; of a task that has several, the first of these is the mark."""
_BY_DEFAULT = {"multiple_choice": ("acc", "acc_norm"), "loglikelihood": ("acc",), "generate_until": ("exact_match",)}
"""By kind of task that names no metric."""
_NAMED = re.compile(rb"""^["']?(task|group|tag)["']?:[ \t]*(.*?)[ \t]*(?:[ \t]#.*)?\r?$""", re.MULTILINE)

Config = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Index:
    files: dict[str, Path] = field(default_factory=dict)
    """By the name of a task or a group."""
    tagged: dict[str, bytes] = field(default_factory=dict)
    """The text of each file that names a tag, by the name of its task."""

    def with_tag(self, tag: str) -> list[str]:
        """The tasks that carry it."""
        near = [name for name, text in self.tagged.items() if tag.encode() in text]
        return sorted(name for name in near if tag in _listed(_yaml(self.files[name]).get("tag")))


def _function(_loader: yaml.SafeLoader, node: yaml.Node) -> str:
    return f"!function {node.value}"


class _Loader(yaml.SafeLoader):
    """`!function` names one of a task's own functions, which only lm-eval calls."""

    yaml_constructors = {**yaml.SafeLoader.yaml_constructors, "!function": _function}  # noqa: RUF012  # as PyYAML has it


def find(name: str, folder: Path | None = None) -> Foreign:
    """What lm-eval's files tell of a task, a group or a tag; or those of a folder of the user's own.

    Raises:
        ConfigError: there is none, or it can't be asked and marked sample by sample; one line.
    """
    index = _index(folder or _own_folder())
    if name not in index.files and not index.with_tag(name):
        raise ConfigError(f"{folder or 'lm-eval'} has no task {name!r}{did_you_mean(name, index.files)}")
    folders: set[str] = set()
    try:
        leaves = dict(_leaves(name, {}, index, folders, ()))
        kinds = {leaf: _kind(leaf, config) for leaf, config in leaves.items()}
        metrics = {_metric(leaf, config, kinds[leaf]) for leaf, config in leaves.items()}
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise ConfigError(f"{name}: lm-eval's files can't be read as its own ({type(e).__name__}: {e})") from e
    if not leaves:
        raise ConfigError(f"{name}: this group has no task")
    likelihood = {kind != "generate_until" for kind in kinds.values()}
    if len(likelihood) > 1 or len(metrics) > 1:
        unlike = f"marked by {' and '.join(sorted(metrics))}" if len(metrics) > 1 else "asked in two ways"
        raise ConfigError(f"{name}: its parts are {unlike}; name them one by one: {', '.join(list(leaves)[:10])}")
    return Foreign(name=name, likelihood=likelihood.pop(), metric=metrics.pop(), folders=tuple(sorted(folders)))


def _own_folder() -> Path:
    spec = find_spec("lm_eval")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError("lm-eval is not installed here; install bumpgate again")
    return Path(spec.submodule_search_locations[0]) / "tasks"


@lru_cache(maxsize=1)
def _index(root: Path) -> _Index:
    """Names alone, by the lines that hold them: parsing the files takes ten times as long."""
    out = _Index()
    for folder, inner, names in os.walk(root):
        inner.sort()
        for path in (Path(folder, n) for n in sorted(names) if n.endswith(".yaml")):
            text = path.read_bytes()
            found = {key.decode(): value.decode(errors="replace").strip("\"'") for key, value in _NAMED.findall(text)}
            name = found.get("group") or found.get("task")
            if name and name not in out.files:
                out.files[name] = path
                if "tag" in found:
                    out.tagged[name] = text
    return out


def _leaves(name: str, over: Config, index: _Index, folders: set[str], seen: tuple[str, ...]) -> Iterator[tuple[str, Config]]:
    """(name, configuration) of each task, as the group that it was reached through changes it."""
    if name in seen:
        raise ConfigError(f"{name}: is a part of itself: {' → '.join((*seen, name))}")
    if name in index.files:
        path = index.files[name]
        folders.add(str(path.parent))
        config = _yaml(path) | over
    elif tasks := index.with_tag(name):
        config = {"group": name, "task": tasks, **over}
    else:
        config = {"task": name, **over}  # written out inside its group
    if "group" not in config:
        yield name, config
        return
    handed_on = {
        k: v for k, v in config.items() if k not in ("group", "group_alias", "task", "aggregate_metric_list", "tag", "metadata")
    }
    for part in _listed(config["task"]):
        yield from _part(part, handed_on, index, folders, (*seen, name))


def _part(part: Any, over: Config, index: _Index, folders: set[str], seen: tuple[str, ...]) -> Iterator[tuple[str, Config]]:
    if isinstance(part, str):
        yield from _leaves(part, over, index, folders, seen)
    elif "group" in part and part["group"] not in index.files:  # written out inside its group
        for inner in _listed(part["task"]):
            yield from _part(inner, over, index, folders, (*seen, part["group"]))
    else:
        own = {k: v for k, v in part.items() if k not in ("group", "task")}
        yield from _leaves(part.get("group") or part["task"], over | own, index, folders, seen)


def _yaml(path: Path) -> Config:
    """A file with what it includes under it; its own keys win."""
    own: Config = yaml.load(path.read_bytes(), Loader=_Loader)  # a SafeLoader
    out: Config = {}
    for included in _listed(own.pop("include", None)):
        out |= _yaml(path.parent / included)
    return out | own


def _listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _kind(name: str, config: Mapping[str, Any]) -> str:
    kind = str(config.get("output_type", "generate_until"))
    for refused, why in (
        ("class" in config, "is a program of lm-eval's own"),
        (kind not in _BY_DEFAULT, f"measures {kind}, and no right or wrong"),
        (config.get("unsafe_code"), "runs what the model writes, outside any sandbox; `- coding` does that in containers"),
        (config.get("doc_to_image") or config.get("doc_to_audio"), "asks about images or sounds"),
        (config.get("repeats", 1) != 1, f"asks every sample {config.get('repeats')} times; `rounds:` does that"),
        (kind == "generate_until" and config.get("gen_prefix"), "begins the answer itself, which a chat can't"),
    ):
        if refused:
            raise ConfigError(f"{name}: {why}; it can't be a task here")
    return kind


def _metric(name: str, config: Mapping[str, Any], kind: str) -> str:
    given = [str(m["metric"]) for m in _listed(config.get("metric_list"))] or list(_BY_DEFAULT[kind])
    found = next((metric for metric in METRICS if metric in given), None)
    if found is None:
        shown = ", ".join(given[:5])
        raise ConfigError(
            f"{name}: is marked by {shown}, and a gate needs a mark of 0 or 1 for each sample ({', '.join(METRICS)})"
        )
    return found
