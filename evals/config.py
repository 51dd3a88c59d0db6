"""A YAML file → `Experiment`. Whatever is wrong with it is one line: file, line, place, what to do."""

import re
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from pydantic import ValidationError

from evals import efforts, engines, gate_settings, prompt_room, sampling, shipped, task_settings
from evals.changes import blind_gate
from evals.document import Document, Place, did_you_mean
from evals.errors import ConfigError
from evals.experiment import Arm, CommandEngine, DockerEngine, Engine, Experiment, RequestSettings, UrlEngine
from evals.inheritance import Inheritance, written_as
from evals.schema import ArmYaml, ExperimentYaml, TaskYaml, keys_at
from tasks import TASKS

_ARM_NAME = re.compile(r"[^\W_][\w.+-]{0,63}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NEEDED: dict[Place, str] = {("arms",): "name a baseline and a candidate", ("tasks",): "name what is asked, such as gsm8k"}
"""What to do where a whole section is empty; any other list may be left out."""
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


def load(path: Path) -> Experiment:
    """Read an experiment.

    Raises:
        ConfigError: one line with the place in the file and what to do.
    """
    try:
        data = path.read_bytes()
    except OSError as e:
        raise ConfigError(
            f"{path}: cannot be read ({e.strerror}); name an experiment file or one of: {', '.join(shipped.names())}"
        ) from e
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 (byte 0x{data[e.start]:02x}); save the file as UTF-8") from e
    return _Reader(path, text).experiment()


class _Reader:
    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        document = Document(path, text)
        self.data, self.lines, self.fail = document.data, document.lines, document.fail

    def experiment(self) -> Experiment:
        raw = self._validated()
        arms = self._arms(raw)
        self._check_equal(arms)
        tasks = task_settings.read(_twice_if_thinking(raw.tasks, arms), raw.seed, self._data_dir, self._text, self.fail)
        gates = gate_settings.read(raw.gates, tasks, list(raw.arms), raw.baseline, self.fail)
        tasks = tuple(gate_settings.starting(tasks, raw.tasks, gates, self.fail))
        tasks = prompt_room.fitted(tasks, arms, self.fail)
        out = Experiment(
            name=raw.name,
            arms=arms,
            baseline=raw.baseline,
            launches=raw.launches,
            restarts=raw.restarts,
            parallel=raw.parallel,
            sensors=_ours(arms) if raw.sensors is None else raw.sensors,
            tasks=tasks,
            gates=gates,
            source=self.text,
        )
        if blind := blind_gate(out):
            self.fail(("gates",) if raw.gates else ("tasks",), blind)
        return out

    def _validated(self) -> ExperimentYaml:
        if not isinstance(self.data, dict):
            self.fail((), "an experiment is a mapping with name, baseline, arms and tasks")
        if isinstance(tasks := self.data.get("tasks"), list):
            self.data["tasks"] = [{"task": item} if isinstance(item, str) else item for item in tasks]
        arms = self.data.get("arms")
        if "baseline" not in self.data:
            self.fail(
                (),
                f"no baseline; add `baseline: NAME` with one of: {', '.join(arms) if isinstance(arms, dict) else 'the arms'}",
            )
        if isinstance(arms, dict):
            self.data["arms"] = Inheritance(arms, self.lines, self.fail).whole()
        try:
            return ExperimentYaml.model_validate(self.data)
        except ValidationError as e:
            self._explain(e)

    def _explain(self, error: ValidationError) -> NoReturn:
        """The first mistake; a misspelt key before all, since it explains a missing one."""
        first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        place = self._place(first["loc"], missing=first["type"] == "missing")
        if first["type"] == "extra_forbidden":
            place = first["loc"]
            known = keys_at(place[:-1])
            self.fail(place, f"unknown key{did_you_mean(str(place[-1]), known)}; known: {', '.join(known)}")
        said = {"missing": "is required", "model_type": "should be a mapping", "dict_type": "should be a mapping"}
        message = said.get(first["type"], first["msg"].replace("Input s", "s").replace("String s", "s"))
        if first["type"] == "too_short" or (place in _NEEDED and not first.get("input")):
            message = f"none is there; {_NEEDED.get(place, 'name one, or leave the key out')}"
        if place[-1:] == ("n",):
            message = "should be a whole number from 1, or `all`"
        if place[-2:-1] == ("lengths",) and isinstance(first.get("input"), str):
            message = "should be a number of tokens, or `max`"
        if place[:1] == ("gates",) and place[2:3] == ("looks",):
            message = "should be how many looks there are, 2 to 20, or the samples at each, such as [440, 880, 1319]"
        shown = first.get("input")
        # A url may hold a password.
        told = isinstance(shown, int | float | bool) or (isinstance(shown, str) and "://" not in shown)
        self.fail(place, message + (f", got {shown!r:.80}" if told else ""))

    def _place(self, loc: Place, missing: bool) -> Place:
        """pydantic's place, without the member of a union that it tried, which is no key of the file."""
        known = next(loc[:i] for i in range(len(loc), -1, -1) if loc[:i] in self.lines)
        return (*known, loc[-1]) if missing else known

    def _arms(self, raw: ExperimentYaml) -> tuple[Arm, ...]:
        if raw.baseline not in raw.arms:
            if made := [name for name in raw.arms if written_as(name, {raw.baseline: None}) == raw.baseline]:
                self.fail(("baseline",), f"{raw.baseline!r} is an arm for each of its efforts; name one: {', '.join(made)}")
            self.fail(("baseline",), f"there is no arm {raw.baseline!r}{did_you_mean(raw.baseline, raw.arms)}")
        return efforts.with_contrasts(tuple(self._arm(name, arm, raw.model) for name, arm in raw.arms.items()))

    def _arm(self, name: str, arm: ArmYaml, default_model: str | None) -> Arm:
        place: Place = ("arms", name)
        if not _ARM_NAME.fullmatch(name):
            self.fail(place, "an arm's name is 1 to 64 letters, digits and . _ + -, and begins with a letter or a digit")
        engine = engines.read(arm.engine, (*place, "engine"), self.path.parent, self.fail)
        model, files = self._model(engine, arm.model or default_model, (*place, "model"))
        for key, value in arm.args.items():
            if value is None:
                self.fail(
                    (*place, "args", key), "null takes an inherited flag away, and none was inherited; a bare flag is `true`"
                )
            if key.startswith("-") or "_" in key:
                self.fail((*place, "args", key), f"write the flag as {key.lstrip('-').replace('_', '-')!r}")
        if isinstance(engine, UrlEngine) and (arm.args or arm.env or arm.devices):
            self.fail(place, "args, env and devices belong to servers that bumpgate starts; a url is used as it runs")
        if isinstance(engine, CommandEngine) and arm.args and "{args}" not in engine.command:
            self.fail((*place, "args"), "the command has no place for them; write {args} where they belong")
        if isinstance(engine, CommandEngine) and arm.model and "{model}" not in " ".join(engine.command):
            self.fail((*place, "model"), "the command has no place for it; write {model} where it belongs")
        for key in {"host", "port", "uds"} & arm.args.keys():
            self.fail((*place, "args", key), "bumpgate chooses where its servers listen; leave it out")
        for key in arm.env:
            if not _ENV_NAME.fullmatch(key):
                self.fail((*place, "env", key), "is not the name of an environment variable")
        out = Arm(
            name=name, engine=engine, model=model, model_files=files, args=dict(arm.args),
            env={k: _env_text(v) for k, v in arm.env.items()}, devices=tuple(arm.devices),
            request=RequestSettings(**arm.request.model_dump()), sampling=arm.sampling, repeat_of=arm.repeat_of,
            start_timeout_s=arm.start_timeout_s,
        )  # fmt: skip
        if arm.thinking is not None:
            effort = efforts.read(arm.thinking, (*place, "thinking"), self.fail)
            try:
                out = efforts.applied(out, effort, arm.model_fields_set | arm.request.model_fields_set)
            except ConfigError as e:
                self.fail((*place, "thinking"), str(e))
        try:
            sampling.settings(out)
        except ConfigError as e:
            why = "" if out.sampling == arm.sampling else "what thinks is sampled unless it says `sampling: greedy`, and "
            self.fail((*place, "sampling"), f"{why}{e}")
        return out

    def _model(self, engine: Engine, given: str | None, place: Place) -> tuple[str | None, str]:
        """What the server is told, and what its files were: a folder, from the file's own, or an id for vLLM to ask the hub."""
        if isinstance(engine, UrlEngine):
            return given, ""
        if isinstance(engine, CommandEngine) and "{model}" not in " ".join(engine.command):
            return None, ""
        if not given:
            self.fail(place[:-1], "no model; add `model:` to the arm or to the experiment (a folder or a hub id)")
        if isinstance(engine, DockerEngine) and engines.is_inside(engine, given):
            source = engines.mounted(engine, given)
            if source is not None and not source.exists():
                self.fail(place, f"there is no {source}, which a volume brings as {given}")
            return given, self._files(source, place) if source else ""
        folder = self._folder(given, place)
        if folder is not None:
            return str(folder), self._files(folder, place)
        if given.startswith((".", "/", "~")) or not _HUB_ID.fullmatch(given):
            base, in_volume = self.path.parent.resolve(), ", nor in a volume" if isinstance(engine, DockerEngine) else ""
            self.fail(
                place,
                f"there is no folder {given!r} (from {base}){in_volume}, and it is no hub id (ORG/NAME)",
            )
        return given, ""

    def _files(self, folder: Path, place: Place) -> str:
        """Names, sizes and times of a folder's files: what tells an edited one apart without reading gigabytes."""
        try:
            files = [p for p in folder.iterdir() if p.is_file()] if folder.is_dir() else [folder]
            return repr(sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in files))
        except OSError as e:
            self.fail(place, f"{folder} can't be read: {e.strerror}")

    def _folder(self, given: str, place: Place) -> Path | None:
        """From the file's own folder, or shipped; None where there is none."""
        if given.startswith(shipped.PREFIX):
            if (found := shipped.resolve(given)) is None:
                self.fail(place, f"{given!r} is not shipped; shipped are: {', '.join(shipped.listing())}")
            return found
        try:
            folder = (self.path.parent / Path(given).expanduser()).resolve()
            return folder if folder.is_dir() else None
        except (OSError, RuntimeError):  # a name too long for a path, a ~user who does not exist
            return None

    def _check_equal(self, arms: tuple[Arm, ...]) -> None:
        first: dict[str, Arm] = {}
        for arm in (a for a in arms if a.repeat_of is None):
            twin = first.setdefault(_here(arm).settings, arm)
            if twin is arm:
                continue
            said = f"for an A/A check write `repeat_of: {twin.name}`, else change something"
            if arm.thinking and twin.thinking and arm.thinking.effort != twin.thinking.effort:
                said = "the model's chat template names no reasoning_effort, so that all efforts but off are one; keep one"
            self.fail(("arms", arm.name), f"is the same as {twin.name!r}; {said}")

    def _data_dir(self, given: str | None, place: Place) -> tuple[str | None, str]:
        if given is None:
            return None, ""
        folder = self._folder(given, place)
        if folder is None:
            self.fail(place, f"there is no folder {given!r} (from {self.path.parent.resolve()})")
        files = [self._files(part, place) for part in (folder, *sorted(folder.glob("*/")))]
        return str(folder), " ".join(files)

    def _text(self, given: str, place: Place) -> tuple[str, str]:
        """A file or a folder of texts, from the file's own folder."""
        try:
            path = (self.path.parent / Path(given).expanduser()).resolve(strict=True)
        except (OSError, RuntimeError):  # none, a name too long for a path, a ~user who does not exist
            self.fail(place, f"there is no file or folder {given!r} (from {self.path.parent.resolve()})")
        return str(path), self._files(path, place)


def _twice_if_thinking(tasks: list[TaskYaml], arms: tuple[Arm, ...]) -> list[TaskYaml]:
    """What thinks is sampled, so that every task has two rounds where an arm thinks and the file says nothing else."""
    if all(arm.thinking is None or arm.thinking.effort == "off" for arm in arms):
        return tasks
    once = {name for name, info in TASKS.items() if not info.marked or "sampling" in info.blind_to}
    return [
        t.model_copy(update={"rounds": 2}) if t.task not in once and "rounds" not in t.model_fields_set else t for t in tasks
    ]


def _ours(arms: tuple[Arm, ...]) -> bool:
    """Whether every server is started by us: what may take more memory than one has to spare is not tried on somebody's."""
    return not any(isinstance(arm.engine, UrlEngine) for arm in arms)


def _env_text(value: str | int | float | bool) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _here(arm: Arm) -> Arm:
    """With one name for this machine: under two, one server would be judged against itself."""
    if not isinstance(arm.engine, UrlEngine):
        return arm
    url = re.sub(r"//(localhost|\[::1\]|0\.0\.0\.0)(?=[:/]|$)", "//127.0.0.1", arm.engine.url, flags=re.IGNORECASE)
    return replace(arm, engine=replace(arm.engine, url=url))
