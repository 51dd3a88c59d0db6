# ruff: noqa: E501
"""What vLLM writes when it can't start or dies, shortened, and what of it is the cause."""

ENGINE_TRACEBACK = """\
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1376] EngineCore encountered a fatal error.
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1376] Traceback (most recent call last):
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1376]   File "vllm/v1/engine/core.py", line 1367, in run_engine_core
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1376] RuntimeError: could not create a primitive for float32
(APIServer pid=6) vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.
"""
START_TRACEBACK = """\
(APIServer pid=6) WARNING 11-30 03:00:00 [system_utils.py:299] This can cause errors like `OSError: [Errno 24] Too many open files`
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1374] EngineCore failed to start.
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1374] Traceback (most recent call last):
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1374] ValueError: No available memory for the cache blocks.
(APIServer pid=6) Traceback (most recent call last):
(APIServer pid=6) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""

CAUSES: dict[str, tuple[str, str | None]] = {
    "no room for the KV cache": (START_TRACEBACK, "ValueError: No available memory for the cache blocks."),
    "a primitive that the CPU lacks": (ENGINE_TRACEBACK, "RuntimeError: could not create a primitive for float32"),
    "a flag that this version lacks": (
        """\
(APIServer pid=6) WARNING 11-30 03:00:00 [envs.py:9] Unknown vLLM environment variable detected: VLLM_USE_V1
usage: vllm serve [model_tag] [options]
vllm: error: unrecognized arguments: --swap-space 4
""",
        "error: unrecognized arguments: --swap-space 4",
    ),
    "a value that the configuration refuses": (
        """\
(APIServer pid=6) Traceback (most recent call last):
(APIServer pid=6)   File "/v/bin/vllm", line 10, in <module>
(APIServer pid=6)     sys.exit(main())
(APIServer pid=6) pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig
(APIServer pid=6)   Value error, Repo id must be in the form 'repo_name': 'x:y'. [type=value_error, input_value=ArgsKwargs((), {'model': 'x'}), input_type=ArgsKwargs]
(APIServer pid=6)     For further information visit https://errors.pydantic.dev/2.12/v/value_error
""",
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig: "
        "Value error, Repo id must be in the form 'repo_name': 'x:y'.",
    ),
    "a field of the configuration": (
        """\
pydantic_core._pydantic_core.ValidationError: 1 validation error for CacheConfig
block_size
  Input should be 8, 16 or 32 [type=literal_error, input_value=7, input_type=int]
""",
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for CacheConfig: block_size: Input should be 8, 16 or 32",
    ),
    "too little GPU memory, seen by a worker": (
        """\
(EngineCore pid=7) (Worker_TP1 pid=9) ERROR 11-30 03:00:00 [multiproc_executor.py:944] WorkerProc failed to start.
(EngineCore pid=7) (Worker_TP1 pid=9) ERROR 11-30 03:00:00 [multiproc_executor.py:944] Traceback (most recent call last):
(EngineCore pid=7) (Worker_TP1 pid=9) ERROR 11-30 03:00:00 [multiproc_executor.py:944] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB.
(EngineCore pid=7) ERROR 11-30 03:00:01 [core.py:1374] EngineCore failed to start.
(EngineCore pid=7) ERROR 11-30 03:00:01 [core.py:1374] Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause.
(APIServer pid=6) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}
""",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB.",
    ),
    "a worker's error told again by the engine": (
        """\
(Worker_TP0 pid=9) ERROR 11-30 03:00:00 [multiproc_executor.py:1055] WorkerProc hit an exception.
(Worker_TP0 pid=9) ERROR 11-30 03:00:00 [multiproc_executor.py:1055] Traceback (most recent call last):
(Worker_TP0 pid=9) ERROR 11-30 03:00:00 [multiproc_executor.py:1055] AssertionError: Encoder-decoder models expects prefix caching off
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1376] EngineCore encountered a fatal error.
(EngineCore pid=7) ERROR 11-30 03:00:00 [core.py:1376] RuntimeError: Worker failed with error 'Encoder', please check the stack trace above for the root cause
(APIServer pid=6) vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.
""",
        "AssertionError: Encoder-decoder models expects prefix caching off",
    ),
    "an engine that dies long after it turned a request away": (
        """\
(APIServer pid=6) ERROR 11-30 02:00:00 [serving.py:300] Error in preprocessing prompt inputs
(APIServer pid=6) ERROR 11-30 02:00:00 [serving.py:300] ValueError: This model's maximum context length is 4096 tokens.
(APIServer pid=6) INFO:     127.0.0.1:44754 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request
"""
        + ENGINE_TRACEBACK,
        "RuntimeError: could not create a primitive for float32",
    ),
    "an engine killed from outside": (
        """\
(APIServer pid=6) ERROR 11-30 03:00:00 [core_client.py:605] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.
(APIServer pid=6) vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.
""",
        "Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.",
    ),
    "a port that is taken": (
        "(APIServer pid=6) OSError: [Errno 98] Address already in use\n",
        "OSError: [Errno 98] Address already in use",
    ),
    "a package without its metadata": (
        "importlib.metadata.PackageNotFoundError: No package metadata was found for vllm\n",
        "importlib.metadata.PackageNotFoundError: No package metadata was found for vllm",
    ),
    "nothing but its consequence": (
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n",
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
    ),
    "a healthy log with a warning that names an error": (
        """\
(APIServer pid=6) WARNING 11-30 02:57:45 [system_utils.py:299] This can cause fd limit errors like `OSError: [Errno 24] Too many open files`
(APIServer pid=6) INFO 11-30 02:57:46 [x.py:1] falling back after ImportError: libcuda.so.1
""",
        None,
    ),
    "an empty log": ("", None),
}
"""By what happened: (log, cause)."""

ENGINE_CONFIG = (
    "(APIServer pid=6) INFO 11-30 03:00:00 [api_utils.py:286] non-default args: {'model_tag': '/m'}\n"
    "(EngineCore pid=7) INFO 11-30 03:00:02 [core.py:123] Initializing a V1 LLM engine (v0.29.0) with config: model='/m', "
    "speculative_config=SpeculativeConfig(method='mtp', model='/m', num_spec_tokens=1), tokenizer='/m', dtype=torch.bfloat16, "
    "structured_outputs_config=StructuredOutputsConfig(backend='auto', reasoning_parser='', enable_in_reasoning=False), "
    "enable_prefix_caching=True, compilation_config={'mode': <CompilationMode.NONE: 0>, 'custom_ops': ['all', 'none'], "
    "'inductor_passes': {}, 'pass_config': {'fuse_norm_quant': True, 'enable_sp': False}, 'local_cache_dir': None}\n"
    "(EngineCore pid=7) INFO 11-30 03:00:09 [kv_cache_utils.py:2032] GPU KV cache size: 1,048,576 tokens, Maximum concurrency\n"
)
