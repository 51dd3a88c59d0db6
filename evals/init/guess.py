"""A `ServeCommand` → the experiment that its operator most likely wants: today's server against the next version."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals import flags, plan, stats, task_settings
from evals.errors import ConfigError
from evals.flags import Translation
from evals.init import installed, models
from evals.init.draft import ArmDraft, Draft, Line, TaskDraft
from evals.init.serve_command import ServeCommand
from evals.init.versions import name_of, next_image, of_command, target_of
from evals.vocabulary import parsed
from tasks import TASKS

MARGIN = 2
_GSM8K = 1319
_MOST_AT_ONCE = 64
_LONG_AT_ONCE = 4
_DEPTHS = (10, 50, 90)
_READS_PER_S = 5000
"""Prompt tokens that a server on a few cards takes a second."""
_SPECULATION = ("speculative-config", "spec-method", "spec-model", "spec-tokens", "speculative-model", "num-speculative-tokens")
_SEVERAL_HOSTS = {"nnodes", "node-rank", "master-addr", "headless", "data-parallel-address", "data-parallel-start-rank"}
_POOLING = ("embed", "embedding", "reward", "score", "classify")
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def draft(command: ServeCommand, to: str | None, name: str | None, folder: Path) -> Draft:
    """Raises:
    ConfigError: `to` or `name` can't be used.
    """
    return _Guess(command, to, name, folder).draft()


class _Guess:
    def __init__(self, command: ServeCommand, to: str | None, name: str | None, folder: Path) -> None:
        target = target_of(to, command)
        self.command, self.folder = command, folder
        if name is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise ConfigError(f"--name {name!r}: letters, digits and . _ - only, and a letter or a digit first")
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(command.model).name.lower()).strip("-._")[:60]
        self.name = name or f"{slug or 'model'}-upgrade"
        self.today = of_command(command, target, installed.version(command.program) if command.docker is None else None)
        at, wanted = parsed(self.today.text), parsed(target)
        self.target = str(at) if to is None and at and wanted and at > wanted else target
        # A variable that today's version does not read either must not become a flag of the candidate's: a second change.
        unread = flags.translated(self.today.text or "", {}, command.env).notes
        read = {name: value for name, value in command.env.items() if name not in unread}
        moved = flags.translated(self.target, command.args, read)
        self.translation = replace(moved, env=moved.env | {name: command.env[name] for name in unread})
        own = flags.translated(self.today.text or "", command.args, {})
        self.args = own.args
        lacking = "has no --{}, which was left out or renamed here; correct the version if another one runs"
        self.notes = (
            [f"today's version, {self.today.text}: {self.today.why}; --from VERSION tells it"] if self.today.why else []
        )
        self.notes += [*command.notes, *(f"vLLM {self.today.text} {lacking.format(name)}" for name in own.notes)]
        self.notes += [f"vLLM {self.today.text} does not read {name}, so that nothing changes with it" for name in unread]

    def draft(self) -> Draft:
        command = self.command
        if _SEVERAL_HOSTS & command.args.keys():
            self.notes.append("the command is one of several hosts'; bumpgate starts a server on this machine alone")
        if command.args.get("runner") == "pooling" or command.args.get("task") in _POOLING:
            self.notes.append("a pooling model generates no text, so gsm8k and greedy can't ask it anything")
        if (thinking := models.thinking(command)) and thinking.off:
            self.notes.append(
                "the model thinks, and is judged without thinking: a PASS says nothing of its thinking; see `thinking`"
            )
        arms, missing = self._arms(), models.missing(command, self.folder)
        about, names = self._about(arms), _references(arms)
        self.notes += [missing] if missing else []
        kept = {name: why for name, why in self.translation.notes.items() if name in self.args or name in command.env}
        self.notes += [
            f"for vLLM {self.target}, {'' if name in command.env else '--'}{name}: {why}" for name, why in kept.items()
        ]
        self.notes += [f"export before `bumpgate run`: {', '.join(names)}"] if names else []
        return Draft(
            name=self.name, about=about, model=command.model, model_why=missing or "", baseline=arms[0].name,
            arms=arms, tasks=self._tasks(), margin=MARGIN,
            margin_why="points that may be lost at most; a larger drop must be ruled out for a PASS", notes=tuple(self.notes),
        )  # fmt: skip

    def _arms(self) -> tuple[ArmDraft, ...]:
        base, out = self._baseline(), []
        old, new = parsed(self.today.text), parsed(self.target)
        same = old is not None and old == new
        speculates = any(flag in self.command.args for flag in _SPECULATION)
        upgraded = base.name
        if not same:
            candidate = self._candidate(base.name)
            out, upgraded = [candidate], candidate.name
        if speculates:
            out.append(self._without_speculation(upgraded, same))
        if same and not speculates:
            why = f"The baseline is vLLM {self.target} already: name another version with `bumpgate init --to VERSION`, or "
            why += "change something here (a checkpoint, a flag). As it stands it measures itself, and must PASS."
            out.append(ArmDraft(name=f"{base.name}-again", why=(why,), top={"repeat_of": Line(value=base.name)}))
        if same:
            self.notes.append(f"the baseline runs vLLM {self.target}, the version to go to; --to VERSION names another one")
        out += self._old_runner(upgraded)
        return (base, *out)

    def _baseline(self) -> ArmDraft:
        command, thinks = self.command, models.thinking(self.command)
        whys = {i.name: i.message for i in flags.check(self.today.text, self.args, command.env)}
        if flags.canonical(command.args) != command.args:
            whys.setdefault("speculative-config", "qwen3_next_mtp and mtp are one method")
        top = {"engine": Line(value=self._engine(), why=self.today.why)}
        if command.devices:
            top["devices"] = Line(value=list(command.devices), why="the cards, by number, as the command chose them")
        if thinks and thinks.off:
            top["thinking"] = Line(value="off", why=thinks.why)
        why = f"As the command runs it{'' if command.tool == 'vllm' else f' ({command.tool})'}."
        return ArmDraft(
            name=name_of(self.today.text) or "today", why=(why,), top=top,
            args={k: Line(value=v, why=whys.get(k, "")) for k, v in self.args.items()},
            env={k: Line(value=v, why=whys.get(k, "")) for k, v in command.env.items()},
            request={k: Line(value=v, why=thinks.why if not i else "") for i, (k, v) in enumerate(thinks.request.items())}
            if thinks else {},
        )  # fmt: skip

    def _engine(self) -> dict[str, Any]:
        docker = self.command.docker
        if docker is None:
            return {"venv": f"{self.command.package}=={self.today.text}"}
        rest = {"gpus": int(docker.gpus) if docker.gpus and docker.gpus.isdigit() else docker.gpus, "ipc": docker.ipc,
                "shm_size": docker.shm_size, "volumes": list(docker.volumes) or None,
                "entrypoint": list(docker.entrypoint) if docker.entrypoint else None}  # fmt: skip
        return {"docker": docker.image} | {key: value for key, value in rest.items() if value is not None}

    def _candidate(self, base: str) -> ArmDraft:
        docker = self.command.docker
        image = next_image(docker.image, self.target) if docker else None
        engine = {"docker": image.text} if image else {"venv": f"{self.command.package}=={self.target}"}
        name = name_of(self.target) or "next"
        changed = flags.changed_defaults(self.today.text, self.target, self.command.args, self.command.env)
        why = [f"The same with vLLM {self.target}."]
        why += [f"Changes with the version: {said}." for said in changed]
        return ArmDraft(
            name=name if name != base else f"{name}-new", why=tuple(why),
            top={"extends": Line(value=base), "engine": Line(value=engine, why=image.why if image else "")},
            args=_moved(self.args, self.translation.args, self.translation, self.target),
            env=_moved(self.command.env, self.translation.env, self.translation, self.target),
        )  # fmt: skip

    def _without_speculation(self, of: str, same: bool) -> ArmDraft:
        there = self.args if same else self.translation.args
        args = {flag: Line(value=None) for flag in _SPECULATION if flag in there}
        why = f"Without speculation: where {of} is worse and this is not, the speculation is the cause and not the version."
        if same:
            why = "Without speculation: whether it changes the answers."
        return ArmDraft(name=f"{of}-nospec", why=(why,), top={"extends": Line(value=of)}, args=args, tells=not same)

    def _old_runner(self, of: str) -> list[ArmDraft]:
        """The arm that tells a new model runner from the rest of a new version."""
        changed = flags.changed_defaults(self.today.text, self.target, {}, self.command.env)
        if not any("VLLM_USE_V2_MODEL_RUNNER" in said for said in changed):
            return []
        kind = "by its name it is" if models.hybrid(self.command.model) else "if it is"
        why = (
            f"Suggested where {of} is worse and the model is a hybrid ({kind}): the old model runner in the new version tells "
        )
        why += "the two causes apart. Take the # away to have it measured, at the cost of one more server."
        env = {"VLLM_USE_V2_MODEL_RUNNER": Line(value=0)}
        return [
            ArmDraft(name=f"{of}-v1runner", why=(why,), top={"extends": Line(value=of)}, env=env, suggested=True, tells=True)
        ]

    def _tasks(self) -> tuple[TaskDraft, ...]:
        seqs, length = self.command.args.get("max-num-seqs"), self.command.args.get("max-model-len")
        at_once, why = 32, "32 at a time, a guess"
        if isinstance(seqs, int) and seqs > 0:
            at_once = min(seqs, _MOST_AT_ONCE)
            why = f"{at_once} at a time, as --max-num-seqs {seqs} lets the server batch them"
        needed = stats.samples_for_margin(MARGIN, plan.ASSUMED_DISCORDANCE)
        settings: dict[str, Any] = {"task": "gsm8k", "n": "all", "concurrency": at_once}
        why = f"All {_GSM8K:,} questions: about {needed:,} make a PASS likely (80 %) at a margin of {MARGIN} points. {why}."
        if isinstance(length, int) and 0 < length <= 2048:
            settings |= {"max_tokens": max(length // 4, 64)}
            why += f" Answers are kept to a quarter of --max-model-len {length}."
        compared = "fixed prompts, compared token by token with the baseline's own restart"
        programs = {"task": "coding", "optional": True} | {
            k: v for k, v in settings.items() if k in ("concurrency", "max_tokens")
        }
        run = (
            "50 programs, each run in a Docker container; left out where no Docker answers. It gates nothing: 50 samples can "
            "exclude a collapse and no less, so take `optional` away and add a gate with a margin of 12 or more."
        )
        return (
            TaskDraft(settings=settings, why=why),
            TaskDraft(settings=programs, why=run),
            *self._needles(length),
            TaskDraft(settings={"task": "greedy"}, why=compared),
        )

    def _needles(self, length: Any) -> tuple[TaskDraft, ...]:
        """Where the context has room for the shortest of the usual lengths, or is not told."""
        grid, answer = replace(task_settings.USUAL_GRID, depths=_DEPTHS), TASKS["needle"].default_max_tokens
        if isinstance(length, int) and length > 0:
            grid = grid.within(length - answer)
        if not grid.is_open and len(grid.lengths) < 2:
            return ()
        told = ", ".join(f"{n:,}" for n in grid.lengths) + (" and as many as the server takes" if grid.is_open else "")
        tokens = sum(grid.lengths) * len(_DEPTHS) * len(grid.languages)
        missed = 100 * (1 - stats.clopper_pearson(grid.size, grid.size).low)
        why = (
            f"Identifiers hidden in texts of {told} tokens: {grid.size} prompts, "
            f"{'more than ' if grid.is_open else ''}{tokens / 1e6:.1f} million tokens for every arm to read, so about "
            f"{max(tokens / _READS_PER_S / 60, 1):.0f} minutes each at {_READS_PER_S:,} tokens a second, a guess. It gates "
            f"nothing: all {grid.size} found exclude no miss rate below {missed:.0f} %; with `repeats` there are more."
        )
        return (TaskDraft(settings={"task": "needle", "depths": list(_DEPTHS), "concurrency": _LONG_AT_ONCE}, why=why),)

    def _about(self, arms: tuple[ArmDraft, ...]) -> tuple[str, ...]:
        command = self.command
        out = [
            f"What it answers: is {Path(command.model).name} as good as today with vLLM {self.target}?",
            "Written by `bumpgate init` from a pasted serve command; what is a guess says so. Next: `bumpgate plan` this file.",
        ]
        if command.dropped:
            out.append(f"bumpgate decides itself, so left out: {', '.join(command.dropped)}.")
        if names := _references(arms):
            out.append(f"Read from the environment when a server starts, so export before `bumpgate run`: {', '.join(names)}.")
        return (*out, *(f"Note: {note}." for note in self.notes))


def _references(arms: tuple[ArmDraft, ...]) -> list[str]:
    values = [line.value for arm in arms for line in (*arm.args.values(), *arm.env.values())]
    return list(dict.fromkeys(name for value in values for name in _REFERENCE.findall(repr(value))))


def _moved(before: dict[str, Any], after: dict[str, Any], by: Translation, target: str) -> dict[str, Line]:
    """What a child must say so that it has `after` where its parent has `before`."""
    out = {
        name: Line(
            value=after.get(name), why=f"vLLM {target.removeprefix('v')}: {by.notes.get(name, '')}" if name in by.notes else ""
        )
        for name, value in before.items()
        if after.get(name) != value
    }
    return out | {name: Line(value=value) for name, value in after.items() if name not in before}
