"""What is judged and what comes of it: specification, evidence, verdict. Frozen, keyword-only, each defined once."""

from dataclasses import dataclass, field
from typing import Literal

from evals.records import Forced, HarnessResult, LaunchFailure, Preflight, Sample, SampleRecord, SandboxInfo, ServerInfo, Window

VerdictName = Literal["PASS", "INCONCLUSIVE", "INVALID", "REGRESSION"]
GRAVEST_FIRST: tuple[VerdictName, ...] = ("REGRESSION", "INVALID", "INCONCLUSIVE", "PASS")
ArmStatus = Literal["measured", "partial", "failed"]
Severity = Literal["note", "warning", "alarm"]
PartingKind = Literal["tie", "change", "sampled"]
"""Where two answers part: two tokens that were as good as equally likely, a changed opinion, or a token that was drawn."""


@dataclass(frozen=True, kw_only=True)
class GateSpec:
    """One gate of the experiment: on this task a candidate may lose at most `margin` points."""

    task: str
    margin: float
    """Percentage points."""
    arms: tuple[str, ...] = ()
    """The candidates that it judges; empty: all."""
    looks: tuple[int, ...] = ()
    """Samples at each planned look; empty: one look, at the task's n."""

    def judges(self, arm: str) -> bool:
        return not self.arms or arm in self.arms


@dataclass(frozen=True, kw_only=True)
class Ask:
    """How far an arm is to be asked a task."""

    arm: str
    task: str
    n: int
    """Samples; more than there are means all of them."""
    looks: tuple[int, ...] = ()
    """As its gate has them, cut to what there is and what a budget allows."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a gate was found to be with so many samples, and what was planned when it was first looked at."""

    arm: str
    task: str
    n: int
    sizes: tuple[int, ...]
    """Samples at each look that was planned then."""
    margin: float
    passing: float
    regression: float
    """One-sided nominal levels at which it was judged."""
    verdict: VerdictName
    at: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, kw_only=True)
class ArmSpec:
    """What the judge must know of an arm."""

    name: str
    same_prompts: bool
    """Whether its rendered prompts must equal the baseline's (request settings that shape the prompt were declared equal)."""
    version: str | None = None
    """The vLLM that its engine was declared to run, where that is a version."""
    asked: str = ""
    """Under which effort and sampling, in words: `thinking off, greedy`."""
    thinking: str | None = None
    """The effort: off, on, or a level; None where the model's template decides."""
    server: str = ""
    """Equal for arms that share a server."""


@dataclass(frozen=True, kw_only=True)
class StoredArm:
    """An arm of an earlier run, whose answers stand in the place of a baseline that is served again."""

    run_id: str
    arm: str
    started_at: str
    """Of that run."""


@dataclass(frozen=True, kw_only=True)
class Flip:
    """A sample whose score differs between the two arms (averaged over rounds)."""

    sample_id: str
    baseline: float
    candidate: float


@dataclass(frozen=True, kw_only=True)
class Delta:
    """Candidate − baseline on one task, in percentage points, paired by sample."""

    n: int
    """Samples measured on both arms."""
    errors: int
    """Samples that one of the arms could not measure."""
    baseline: float
    candidate: float
    """Share correct, percent."""
    diff: float
    ci_low: float
    ci_high: float
    """The paired interval, two-sided 90 %, so that each end is a one-sided 95 % bound; with several looks planned, at this
    look's level: a repeated confidence interval (Jennison, Turnbull, JRSS B 51 (1989) 305–361)."""
    excluded_drop: float
    """The smallest drop that is excluded at that level: −ci_low, with no error counted."""
    excluded_drop_worst: float
    """The same with every error counted against the candidate."""
    excluded: bool
    """Whether a drop as large as the margin is excluded, with no error counted."""
    excluded_at_worst: bool
    """The same with every error counted against the candidate."""
    lost: float
    won: float
    """Samples, fractional where rounds are averaged."""
    newly_wrong: int
    newly_right: int
    p_value: float | None
    """One-sided mid-p McNemar for a drop; None with more than one round."""
    drop_is_real_at_best: bool
    """The same with every error counted for the candidate, so that what could not be measured never makes a regression."""
    drop_is_real: bool
    """At α = 5 % divided by the number of gates that are judged, or what this look may spend of it."""


@dataclass(frozen=True, kw_only=True)
class Knowable:
    """What a gate's samples can show at all, at one discordance."""

    n: int
    """Samples, all looks together."""
    sizes: tuple[int, ...]
    margin: float
    discordance: float
    """Share of samples that flip one way or the other, over all rounds: as seen, or as assumed in its place."""
    excluded_drop: float
    """Points: the smallest drop that n can exclude if the arms are equal."""
    n_needed: int
    """Samples with which a PASS is 80 % likely if nothing changed."""
    excluded_then: float
    """Points: the smallest drop that these can exclude if the arms are equal."""
    passes: float
    """How likely a PASS is if nothing changed, 0–1."""
    mean_n: float
    """Samples that will be asked on average, if nothing changed."""
    seen: float | None = None
    """The share that was seen, where another is assumed: few samples without a flip don't show that there are none."""
    available: int | None = None
    """Samples that there are; None where that is not known, or more can be made."""

    @property
    def exhausted(self) -> bool:
        """Whether all samples that there are would be too few."""
        return self.available is not None and self.n_needed > self.available


@dataclass(frozen=True, kw_only=True)
class GateResult:
    arm: str
    task: str
    margin: float
    verdict: VerdictName
    reason: str
    delta: Delta | None
    """None where nothing could be compared."""
    knowable: Knowable | None
    """What so many samples could show, at the discordance seen; None where nothing could be compared."""
    exploratory: bool = False
    """Whether it was made longer, or its margin changed, after a look that had not planned for it."""


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """One candidate's greedy outputs against the baseline's, and the baseline's against its own second launch."""

    arm: str
    n: int
    """Prompts with token ids (or texts) in all three passes."""
    differs: int
    noise_differs: int
    p_value: float
    """Exact one-sided McNemar: does the candidate differ where the baseline agrees with itself more often than the reverse?"""
    excess: bool
    by_text: bool
    """True where some pass had no token ids, so that texts were compared."""
    prompts: tuple["PromptDivergence", ...]


@dataclass(frozen=True, kw_only=True)
class PromptDivergence:
    sample_id: str
    first: int | None
    """Index of the first token that differs; None where all are equal."""
    common_prefix_share: float
    """Common prefix over the longer of the two outputs, 0–1."""
    margin: float | None
    """The baseline's top-2 log-probability gap at that token, in nats: near 0 is a tie."""
    kind: PartingKind | None
    """None where nothing differs, or no gap is known."""
    noise_differs: bool


@dataclass(frozen=True, kw_only=True)
class Finding:
    severity: Severity
    kind: str
    arm: str | None
    task: str | None
    text: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    overall: VerdictName
    by_arm: dict[str, VerdictName]
    """Of the candidates that a gate judges."""
    passes_if_equal: float | None
    """How likely an overall PASS was if nothing had changed, at least; None where a gate could not be compared."""
    gates: tuple[GateResult, ...]
    divergences: tuple[Divergence, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """What the judge and the report must know of a task."""

    name: str
    rounds: int
    chance: float
    """Share that guessing gets right, percent."""
    marked: bool
    """Whether answers are right or wrong (gsm8k), or only compared (greedy)."""
    warm: bool = False
    """Whether every second round was asked from a prefix cache that holds its prompts."""
    size: int | None = None
    """Samples that there are; None where that is not known, or more can be made (needles)."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that judging and rendering read: one run, as its journal tells it."""

    run_id: str
    name: str
    bumpgate_version: str
    started_at: str
    """ISO 8601, UTC."""
    finished: bool
    """False while arms, tasks or rounds of the plan are still to be asked."""
    baseline: str
    arms: tuple[ArmSpec, ...]
    """In the order of the file, the baseline among them."""
    tasks: tuple[TaskSpec, ...]
    gates: tuple[GateSpec, ...]
    samples: dict[str, tuple[Sample, ...]]
    """By task: what was to be asked, in the seeded order. A sample with no record was not measured."""
    records: tuple[SampleRecord, ...]
    """The last record of each arm × task × round × sample."""
    servers: dict[str, tuple[ServerInfo, ...]]
    """By arm, by launch; of a launch that was started several times, the last."""
    starts: dict[str, tuple[ServerInfo, ...]]
    """By arm: every start that its answers come from, also of launches that were gone on with or restarted."""
    failures: dict[str, tuple[LaunchFailure, ...]]
    preflights: dict[str, tuple[Preflight, ...]] = field(default_factory=dict)
    """By arm, by launch: what was looked at before it was asked."""
    restarts: dict[str, tuple[LaunchFailure, ...]]
    """By arm: why a server that died while it was asked was started again."""
    given_up: tuple[str, ...]
    """What a budget left out, a line a task."""
    windows: tuple[Window, ...]
    harness: tuple[HarnessResult, ...]
    sandbox: SandboxInfo | None = None
    """None where no program was run."""
    sensors: bool = False
    """Whether servers were to be asked for log-probabilities."""
    forced: tuple[Forced, ...] = ()
    """How likely each arm's launches find the answers that the baseline gave in the first round."""
    asks: dict[tuple[str, str], Ask] = field(default_factory=dict)
    """By arm and task; where there is none, all samples were to be asked."""
    looks: tuple[Look, ...] = ()
    """In the order of the run, of what is configured now."""
    stored: StoredArm | None = None
    """What stands for the baseline, where it was not served in this run."""
    left_out: tuple[str, ...] = ()
    """Arms that were not selected when the run was last gone on with, and have something left to be asked."""

    def asked(self, arm: str, task: str) -> tuple[Sample, ...]:
        """What an arm was to be asked of a task, in its order."""
        samples, ask = self.samples.get(task, ()), self.asks.get((arm, task))
        return samples[: ask.n] if ask else samples
