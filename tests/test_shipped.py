"""What travels with the package: the demo for any CPU, and checkpoints that are what their names say."""

import re
from pathlib import Path

import ml_dtypes  # noqa: F401  # teaches NumPy bfloat16
import numpy as np
import pytest
from safetensors.numpy import load_file
from test_cli import main

from evals import config, shipped
from evals.experiment import Experiment

DEMO = Path(__file__).parent.parent / "evals" / "demo"


def experiment(name: str) -> Experiment:
    path = shipped.experiment(name)
    assert path is not None
    return config.load(path)


@pytest.mark.parametrize(
    ("cpuinfo", "name"),
    [
        ("flags\t\t: fpu avx2 avx512f avx512_bf16\n", "demo"),
        ("flags\t\t: fpu avx avx2\n", "demo-avx2"),
        ("Features\t: fp asimd sve\n", "demo"),  # ARM has 4-bit kernels of its own
    ],
)
def test_the_demo_is_one_that_this_cpu_can_serve(monkeypatch: pytest.MonkeyPatch, cpuinfo: str, name: str) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: cpuinfo)
    assert shipped.demo() == name


def test_both_demos_ask_the_same_and_differ_in_one_checkpoint() -> None:
    one, other = experiment("demo"), experiment("demo-avx2")
    assert (one.name, one.tasks, one.gates, one.launches) == (other.name, other.tasks, other.gates, other.launches)
    differ = [a.name for a, b in zip(one.arms, other.arms, strict=True) if a != b]
    assert differ == ["awq"]
    assert (one.arm("awq").model, other.arm("awq").model) == (str(DEMO / "awq"), str(DEMO / "awq-unpacked"))


def test_the_unpacked_weights_are_those_that_the_awq_checkpoint_stands_for() -> None:
    packed, plain = load_file(DEMO / "awq" / "model.safetensors"), load_file(DEMO / "awq-unpacked" / "model.safetensors")
    names = [name.removesuffix("qweight") for name in packed if name.endswith("qweight")]
    assert names
    for name in names:
        steps, zeros, scales = (packed[f"{name}{part}"] for part in ("qweight", "qzeros", "scales"))
        group = len(steps) // len(scales)
        value = (nibbles(steps) - np.repeat(nibbles(zeros), group, 0)) * np.repeat(scales.astype(np.float32), group, 0)
        assert np.allclose(value.T, plain[f"{name}weight"].astype(np.float32), rtol=2**-8)  # bf16 keeps 8 bits


def nibbles(packed: np.ndarray) -> np.ndarray:
    """AutoAWQ's order: the eight columns of a word lie in its nibbles as 0, 4, 1, 5, 2, 6, 3, 7, counted from the lowest."""
    where = [0, 4, 1, 5, 2, 6, 3, 7]
    columns = [(packed.view(np.uint32) >> (4 * nibble)) & 15 for nibble in where]
    return np.stack(columns, axis=-1).reshape(len(packed), -1).astype(np.float32)


@pytest.mark.parametrize("name", shipped.names())
def test_a_shipped_experiment_opens_with_what_plan_says_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """What it answers, costs and where to change it; its size, and each warning and no other, as `plan` tells them."""
    path = shipped.experiments() / f"{name}.yaml"
    assert main(monkeypatch, "plan", str(path)) == 0
    said = capsys.readouterr().out.splitlines()
    header = re.match(r"(#.*\n)+", path.read_text(encoding="utf-8"))
    assert header is not None
    labels = re.findall(r"^# (What [^:]+): ", header[0], re.MULTILINE)
    assert labels == ["What it answers", "What it costs", "What to change for yours"]
    assert f"`bumpgate plan {name}`" in re.sub(r"\n#  ", "", header[0])
    assert f"#     {said[0]}\n" in header[0]
    named = re.findall(r"^#     warning: (?:… )?(.+)", header[0], re.MULTILINE)
    without_docker = "warning: programs can't be run as things are"
    warnings = [line for line in said if line.startswith("warning: ") and not line.startswith(without_docker)]
    assert sorted([part for part in named if part in line] for line in warnings) == sorted([part] for part in named)
