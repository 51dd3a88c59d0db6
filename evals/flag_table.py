"""What went, what came and what changed in vLLM's flags, by version: the part that has to be told, as rows.

Which version has which name at all stands in flags_known.json, read from the wheels; `last` and `first` are versions that were
read, so that what happened between two of them is left open.
"""

from dataclasses import dataclass

from evals.vocabulary import Span


@dataclass(frozen=True, kw_only=True)
class Gone:
    """A flag or a variable that newer versions lack."""

    name: str
    last: str
    """The newest version read that has it."""
    to: str = ""
    """The flag that takes its value, dotted inside a JSON flag; a `=value` at the end replaces the value; empty: none."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Default:
    """What a version does differently although nobody asked."""

    last: str
    """The newest version read with the old default."""
    first: str
    """The oldest one with the new."""
    says: str
    set_by: tuple[str, ...] = ()
    """Flags or variables that decide it: where both arms set one, the default does not matter."""
    where: tuple[str, ...] = ()
    """Flags of which one must be used for it to matter."""


GONE_FLAGS = (
    Gone(name="speculative-model", last="0.7.3", to="speculative-config.model"),
    Gone(name="num-speculative-tokens", last="0.7.3", to="speculative-config.num_speculative_tokens"),
    Gone(name="enable-reasoning", last="0.8.5", note="--reasoning-parser alone switches it on"),
    Gone(name="device", last="0.8.5", note="vLLM finds the device itself"),
    Gone(name="num-scheduler-steps", last="0.8.5", note="the V1 engine schedules without it"),
    Gone(name="multi-step-stream-outputs", last="0.8.5", note="the V1 engine schedules without it"),
    Gone(name="use-v2-block-manager", last="0.8.5", note="it had no effect any more"),
    Gone(name="guided-decoding-backend", last="0.10.2", to="structured-outputs-config.backend"),
    Gone(name="guided-decoding-disable-fallback", last="0.10.2", to="structured-outputs-config.disable_fallback"),
    Gone(name="guided-decoding-disable-any-whitespace", last="0.10.2", to="structured-outputs-config.disable_any_whitespace"),
    Gone(name="override-pooler-config", last="0.10.2", to="pooler-config"),
    Gone(name="num-redundant-experts", last="0.10.2", to="eplb-config.num_redundant_experts"),
    Gone(name="eplb-window-size", last="0.10.2", to="eplb-config.window_size"),
    Gone(name="eplb-step-interval", last="0.10.2", to="eplb-config.step_interval"),
    Gone(name="rope-scaling", last="0.10.2", note='write hf-overrides: {rope_parameters: {…}}; without it long prompts break'),
    Gone(name="rope-theta", last="0.10.2", note='write hf-overrides: {rope_parameters: {rope_theta: …}}'),
    Gone(name="max-seq-len-to-capture", last="0.10.2", note="--max-cudagraph-capture-size bounds what is captured"),
    Gone(name="preemption-mode", last="0.10.2", note="the V1 engine always recomputes"),
    Gone(name="scheduler-delay-factor", last="0.10.2", note="the V1 engine schedules without it"),
    Gone(name="num-lookahead-slots", last="0.10.2", note="speculation sets it itself"),
    Gone(name="disable-async-output-proc", last="0.10.2", note="the V1 engine has no such step"),
    Gone(name="cuda-graph-sizes", last="0.12.0", to="cudagraph-capture-sizes"),
    Gone(name="disable-mm-preprocessor-cache", last="0.12.0", to="mm-processor-cache-gb=0"),
    Gone(name="enable-multimodal-encoder-data-parallel", last="0.12.0", to="mm-encoder-tp-mode=data"),
    Gone(name="task", last="0.12.0", to="runner"),
    Gone(name="disable-log-requests", last="0.16.0", note="requests are not logged unless --enable-log-requests is given"),
    Gone(name="swap-space", last="0.16.0", note="the V1 engine does not swap to the CPU"),
    Gone(name="disable-frontend-multiprocessing", last="0.16.0", note="it belonged to the old engine"),
    Gone(name="max-num-partial-prefills", last="0.25.0", note="chunked prefill decides it"),
    Gone(name="max-long-partial-prefills", last="0.25.0", note="chunked prefill decides it"),
    Gone(name="calculate-kv-scales", last="0.27.1",
         note="an fp8 KV cache then takes its scales from the checkpoint, or 1.0, so that answers may change"),
    Gone(name="override-attention-dtype", last="0.27.1", note="attention runs in the model's dtype"),
    Gone(name="enable-bf16x3-router-gemm", last="0.29.0"),
)  # fmt: skip
"""Flags, the oldest departure first. One that is missing here and gone all the same is refused without advice."""

GONE_ENV = (
    Gone(name="VLLM_USE_V1", last="0.10.2", note="there is no other engine any more"),
    Gone(name="VLLM_USE_TRITON_FLASH_ATTN", last="0.10.2", note="see --attention-backend"),
    Gone(name="VLLM_ATTENTION_BACKEND", last="0.12.0", to="attention-backend"),
    Gone(name="VLLM_FLASH_ATTN_VERSION", last="0.12.0", to="attention-config.flash_attn_version"),
    Gone(name="VLLM_USE_TRTLLM_ATTENTION", last="0.12.0", to="attention-config.use_trtllm_attention"),
    Gone(name="VLLM_ALL2ALL_BACKEND", last="0.12.0", to="all2all-backend"),
    Gone(name="VLLM_TORCH_PROFILER_DIR", last="0.12.0", note="see --profiler-config"),
    Gone(name="VLLM_USE_FLASHINFER_MOE_FP16", last="0.22.1", note="see --moe-backend"),
    Gone(name="VLLM_USE_FLASHINFER_MOE_FP8", last="0.22.1", note="see --moe-backend"),
    Gone(name="VLLM_USE_FLASHINFER_MOE_FP4", last="0.22.1", note="see --moe-backend"),
    Gone(name="VLLM_MXFP4_USE_MARLIN", last="0.22.1", note="see --moe-backend"),
    Gone(name="VLLM_NVFP4_GEMM_BACKEND", last="0.22.1", note="see --linear-backend"),
    Gone(name="VLLM_PREFIX_CACHE_RETENTION_INTERVAL", last="0.29.0", to="prefix-cache-retention-interval"),
    Gone(name="VLLM_MM_HASHER_ALGORITHM", last="0.29.0", to="mm-hasher-algorithm"),
)
"""Variables. vLLM only warns of one that it does not know, and goes on without it."""

METHODS = {"mtp": Span(first="0.12.0", last=None), "qwen3_next_mtp": Span(first="0.10.2", last=None)}
"""Methods of --speculative-config that came late. From 0.12 on every `…_mtp` is `mtp`."""

DEFAULTS = (
    Default(last="0.16.0", first="0.20.0", where=("reasoning-parser",),
            says="thinking that is cut off comes as `reasoning` with no content, where it came as content before"),
    Default(last="0.16.0", first="0.20.0", set_by=("disable-cascade-attn",), says="cascade attention is off"),
    Default(last="0.20.0", first="0.22.1", set_by=("VLLM_USE_FLASHINFER_SAMPLER",), says="FlashInfer samples if it is there"),
    Default(last="0.25.0", first="0.27.1", set_by=("VLLM_MOE_SKIP_PADDING",), where=("enable-expert-parallel",),
            says="mixture-of-experts layers skip padding (VLLM_MOE_SKIP_PADDING)"),
    Default(last="0.27.1", first="0.29.0", set_by=("VLLM_USE_V2_MODEL_RUNNER",),
            says="model runner V2 serves every model that it can, where V1 served most: if this model is a hybrid (Qwen3-Next, "
                 "Qwen3.5, Qwen3.8 and others with linear attention), the runner changes with the version, and an arm with "
                 "env: {VLLM_USE_V2_MODEL_RUNNER: 0} tells the two causes apart"),
    Default(last="0.27.1", first="0.29.0", set_by=("VLLM_ALLREDUCE_USE_FLASHINFER",), where=("tensor-parallel-size",),
            says="the cards' results are summed by FlashInfer, in another order (VLLM_ALLREDUCE_USE_FLASHINFER: 0 undoes it)"),
)  # fmt: skip
