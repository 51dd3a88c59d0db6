"""What lm-eval and the libraries under it write to the terminal, kept off it."""

import contextlib
import io
import logging
import threading
from collections.abc import Iterator
from typing import Self
from unittest.mock import patch

import datasets


def be_quiet() -> None:
    datasets.disable_progress_bars()
    for name in ("lm_eval", "lm-eval", "datasets", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.ERROR)


_ONE_AT_A_TIME = threading.Lock()
"""lm-eval seeds and redirects what belongs to the whole process, so that arms side by side take turns in it."""


class Quiet:
    """lm-eval and tqdm write to the terminal whatever they are told; our own display owns it."""

    def __enter__(self) -> Self:
        _ONE_AT_A_TIME.acquire()
        self._undo = contextlib.ExitStack()
        self._undo.enter_context(contextlib.redirect_stdout(io.StringIO()))
        self._undo.enter_context(contextlib.redirect_stderr(io.StringIO()))
        # It runs git in whatever folder we are in.
        self._undo.enter_context(patch("lm_eval.evaluator.get_git_commit_hash", lambda: None))
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()
        _ONE_AT_A_TIME.release()

    @contextlib.contextmanager
    def left(self) -> Iterator[None]:
        """For as long as the server is asked: another arm may have its turn."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()
