"""What the selftest plants: each fault and each harmless change, and what the gate should say of it."""

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from evals.records import JsonDict
from evals.selftest import faults
from evals.selftest.faults import Edit

BASELINE = "base"
_LAYER = "model.layers.1.mlp.down_proj.weight"
_WHOLE_PROMPTS = {"max-num-batched-tokens": 8192}
"""Room for all prompts at once. On the CPU, vLLM 0.29 dies where a prompt that is sampled with a seed is computed in pieces
("CPU Generator does not use offset")."""

Expected = Literal["REGRESSION", "INVALID", "small", "PASS"]
"""`small`: a fault that costs fewer answers than the margin. No verdict on it is wrong, as long as it was measured."""


@dataclass(frozen=True, kw_only=True)
class Planted:
    name: str
    """Of its arm."""
    says: str
    fault: bool
    expects: Expected
    words: str = ""
    """What the reason of an INVALID must name: that the arm can't be asked, or is not what was to be measured, and why."""
    edit: Edit | None = None
    """How its checkpoint differs from the baseline's; None where it is the same."""
    arm: JsonDict = field(default_factory=dict)
    """How its arm differs, as an experiment file says it."""


def _fault(name: str, says: str, expects: Expected, edit: Edit | None = None, words: str = "", **arm: object) -> Planted:
    return Planted(name=name, says=says, fault=True, expects=expects, edit=edit, words=words, arm=arm)


def _harmless(name: str, says: str, **arm: object) -> Planted:
    return Planted(name=name, says=says, fault=False, expects="PASS", arm=arm)


FAULTS = (
    _fault("bits-2", "weights rounded to 2 bits", "REGRESSION", partial(faults.rounded, bits=2)),
    _fault("bits-3", "weights rounded to 3 bits", "REGRESSION", partial(faults.rounded, bits=3)),
    _fault("scale-20", "one layer's scale off by 20 %", "small", partial(faults.scaled, name=_LAYER, factor=1.2)),
    _fault("scale-5", "one layer's scale off by 5 %", "small", partial(faults.scaled, name=_LAYER, factor=1.05)),
    _fault("rope", "rope theta 1,000,000 in place of 10,000", "REGRESSION", partial(faults.rope_theta, theta=1e6)),
    _fault("head", "one attention head zeroed", "REGRESSION", partial(faults.head_zeroed, layer=1, head=0)),
    _fault("norms", "a layer's two norm weights swapped", "REGRESSION", partial(faults.norms_swapped, layer=1)),
    _fault("merges", "every fifth merge of the tokenizer lost", "INVALID", partial(faults.merges_lost, every=5),
           "prompt_ids_differ"),
    _fault("template", "chat template without the system turn", "INVALID", faults.without_system_turn, "prompt_ids_differ"),
    _fault("eos", "wrong end-of-text token, so that no answer stops", "REGRESSION", faults.never_ending),
    _fault("context", "max-model-len cut to 144", "INVALID", words="maximum context length", args={"max-model-len": 144}),
    _fault("temperature", "sampled at 0.7, as a generation_config.json says, in place of greedy", "small",
           partial(faults.recommending, temperature=0.7), sampling="model", args=_WHOLE_PROMPTS),
    _fault("stop", "a stop word that answers hold", "REGRESSION", request={"extra_body": {"stop": [". "]}}),
    _fault("parser", "a reasoning parser that takes the answer for a thought", "INVALID", words="answer_in_reasoning_field",
           args={"reasoning-parser": "deepseek_r1"}),
)  # fmt: skip
HARMLESS = (
    _harmless("restart", "the same again: another start, on another port", repeat_of=BASELINE),
    _harmless("concurrency", "at most 7 sequences at once", args={"max-num-seqs": 7}),
    _harmless("chunks", "prompts computed in pieces of at most 64 tokens",
              args={"max-num-batched-tokens": 64, "max-num-seqs": 32}),
    _harmless("version", "another version of vLLM"),
    _harmless("threads", "two threads, which add in another order",
              env={"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": 2}),
    _harmless("renamed", "another served model name", args={"served-model-name": "renamed"}),
    _harmless("prefix-cache", "prefix cache on", args={"enable-prefix-caching": True, "block-size": 32}),
)  # fmt: skip
PLANTED = FAULTS + HARMLESS


def line(planted: Planted) -> str:
    """`bits-2 …  fault     weights rounded to 2 bits; should be REGRESSION`."""
    should = {"INVALID": f"INVALID ({planted.words})", "small": "too small to see"}.get(planted.expects, planted.expects)
    return f"{planted.name:14}{'fault' if planted.fault else 'harmless':10}{planted.says}; should be {should}"
