"""Programs judged in containers of a real Docker engine: right ones, wrong ones, and those that attack the judge."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import docker
import psutil
import pytest
from docker_engine import script
from hostile_programs import ENDS, PROGRAMS

from sandbox import image, owner
from sandbox.container import OWNER_LABEL
from sandbox.errors import ImageError, SandboxDown
from sandbox.image import Image
from sandbox.judge import judge, never
from sandbox.limits import Limits
from sandbox.pool import RUN_LABEL, Pool
from sandbox.steps import call, do, new
from sandbox.transcript import Transcript
from tasks.problem import Problem, first_mismatch

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]

ROOT = Path(__file__).parent.parent
LABEL = "test-sandbox"
GOOD = "def uniq(numbers):\n    return sorted(set(numbers))\n"
STEPS = (call([3, 1, 3, 2]), call([5, 5, -1]), call([]))
UNIQ = Problem(
    id="uniq", category="algorithms", level="easy", entry="uniq", signature="def uniq(numbers):", en="", zh="",
    checks=lambda: tuple((step,) for step in STEPS), reference=GOOD, wrong={},
)  # fmt: skip
WANTED = [[{"returned": ["list", right]}] for right in ([1, 2, 3], [-1, 5], [])]


@pytest.fixture(scope="session")
def made(request: pytest.FixtureRequest) -> Image:
    request.getfixturevalue("docker_engine")
    return image.have(lambda _: None)


@pytest.fixture(scope="session")
def pool(made: Image) -> Iterator[Pool]:
    with Pool(made.id, LABEL, workers=2, limits=Limits(wall_s=4.0)) as pool:
        yield pool


def right(seen: Transcript) -> bool:
    return first_mismatch(UNIQ, UNIQ.checks(), WANTED, seen) is None


def sandboxes(label: str = LABEL) -> list[str]:
    with closing(docker.from_env()) as client:
        return [one["Id"] for one in client.api.containers(all=True, filters={"label": f"{RUN_LABEL}={label}"})]


def soon(condition: object, timeout_s: float = 30.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():  # type: ignore[operator]
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_a_right_program_is_right(pool: Pool) -> None:
    seen = judge(pool, GOOD, "uniq", STEPS)
    assert right(seen)
    assert (seen.end, seen.detail) == ("finished", "")


def test_a_wrong_program_is_told_what_it_did(pool: Pool) -> None:
    seen = judge(pool, "def uniq(numbers): return sorted(numbers)", "uniq", STEPS)
    assert "got [1, 2, 3, 3], wanted [1, 2, 3]" in str(first_mismatch(UNIQ, UNIQ.checks(), WANTED, seen))


def test_an_exception_is_an_observation(pool: Pool) -> None:
    (seen,) = judge(pool, "class Own(KeyError): pass\ndef f(): raise Own('no such key')", "f", [call()]).observations
    assert seen.raised == ("KeyError", "LookupError", "Exception", "BaseException")
    assert seen.said == "Own: no such key"
    assert seen.raised[0] == "KeyError"


def test_a_class_is_judged_by_a_script(pool: Pool) -> None:
    program = "class Stack(list):\n    push = list.append\n    def top(self): return self[-1]"
    seen = judge(pool, program, "Stack", [new(), do("push", 7), do("top"), do("__len__")])
    assert [o.returned for o in seen.observations] == [None, None, 7, 1]


def test_arguments_are_observed_after_the_call(pool: Pool) -> None:
    (seen,) = judge(pool, "def f(numbers): numbers.sort()", "f", [call([2, 1])], keeps=True).observations
    assert seen.args == ["list", [["list", [1, 2]]]]


def test_the_same_program_does_the_same(pool: Pool) -> None:
    """Hashes of text and the random numbers are the same in every sandbox."""
    program = "import random\ndef f(): return [hash('text'), random.random(), list({'a', 'b', 'c', 'd'})]"
    first, second = (judge(pool, program, "f", [call()]).observations for _ in range(2))
    assert first == second


def test_a_sandbox_is_confined(pool: Pool) -> None:
    program = """
import os, socket
def f():
    status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
    tmp = next(line.split()[3] for line in open("/proc/mounts") if line.split()[1] == "/tmp")
    root = next(line.split()[3] for line in open("/proc/mounts") if line.split()[1] == "/")
    return [os.getuid(), os.getgid(), status["CapEff"], status["CapBnd"], status["NoNewPrivs"], status["Seccomp"], tmp, root,
            [name for _, name in socket.if_nameindex()], os.path.exists("/dev/shm"), os.listdir("/sandbox")]
"""
    (seen,) = judge(pool, program, "f", [call()]).observations
    uid, gid, effective, bounding, privileges, seccomp, tmp, root, (_, interfaces), shm, files = seen.returned[1]
    assert (uid, gid) == (65534, 65534)
    assert int(effective, 16) == int(bounding, 16) == 0
    assert (privileges, seccomp) == ("1", "2")
    assert {"noexec", "nosuid", "nodev"} <= set(tmp.split(","))
    assert "ro" in root.split(",")
    assert interfaces == ["lo"]
    assert not shm
    assert files == ["list", ["inside.py"]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_is_never_right_and_harms_nobody(pool: Pool, name: str) -> None:
    seen = judge(pool, PROGRAMS[name], "uniq", STEPS, again=never)
    assert not right(seen)
    assert seen.end in ENDS.get(name, {seen.end})
    assert "\n" not in seen.detail
    json.dumps([o.said for o in seen.observations] + [seen.detail], ensure_ascii=False).encode()
    assert right(judge(pool, GOOD, "uniq", STEPS)), "the next program"
    assert soon(lambda: len(sandboxes()) <= pool.workers + 1)


def test_there_are_many_hostile_programs() -> None:
    assert len(PROGRAMS) >= 40
    assert set(ENDS) <= set(PROGRAMS)


def test_children_of_a_program_end_with_it(pool: Pool) -> None:
    name = f"bumpgate-hostile-{os.getpid()}-{time.monotonic_ns()}"
    program = f"""
import os, sys
def f():
    if os.fork() == 0:
        os.setsid()
        os.execv(sys.executable, [{name!r}, "-c", "import time; time.sleep(1000)"])
    import time; time.sleep(0.3)
"""

    def running() -> bool:
        found = False
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                found |= name in process.cmdline()
        return found

    assert judge(pool, program, "f", [call()]).end == "finished"
    assert soon(lambda: not running())


def test_what_took_too_long_in_company_is_tried_again_alone(made: Image) -> None:
    """Two programs at once: the second try of the one waits for the end of the other, and no third one starts meanwhile."""
    slow = "import time\ndef uniq(numbers): time.sleep(100)"
    busy = "import time\ndef uniq(numbers): time.sleep(2.5); return sorted(set(numbers))"
    with Pool(made.id, LABEL, limits=Limits(wall_s=1.5)) as short, ThreadPoolExecutor(4) as workers:
        asked: list[Transcript] = []

        def again(seen: Transcript) -> bool:
            asked.append(seen)
            return True

        began = time.monotonic()
        both = [workers.submit(judge, short, slow, "uniq", STEPS, again=again) for _ in range(2)]
        others = [workers.submit(judge, short, GOOD, "uniq", STEPS) for _ in range(6)]
        assert [b.result().end for b in both] == ["timeout", "timeout"]
        assert all(right(o.result()) for o in others)
        assert time.monotonic() - began >= 4.5, "each of the second tries had the pool to itself"
        assert [a.end for a in asked] == ["timeout", "timeout"]
        assert judge(short, busy, "uniq", STEPS, again=never).end == "timeout"


def test_a_second_try_counts(made: Image) -> None:
    """What is crashed is tried again; `again` is asked of the first try only."""
    with Pool(made.id, LABEL) as one:
        asked: list[Transcript] = []
        seen = judge(one, "import os\ndef uniq(n): os._exit(3)", "uniq", STEPS, again=lambda t: not asked.append(t))
        assert (seen.end, seen.detail, len(asked)) == ("crashed", "exit code 3", 1)
        judge(one, "def uniq(n): 1 / 0", "uniq", STEPS, again=lambda t: not asked.append(t))
        assert len(asked) == 1, "it finished"


def test_threads_share_a_pool(pool: Pool) -> None:
    wrong = "def uniq(numbers): return numbers"
    with ThreadPoolExecutor(4) as workers:
        seen = list(workers.map(lambda p: right(judge(pool, p, "uniq", STEPS)), [GOOD, wrong] * 10))
    assert seen == [True, False] * 10


def test_a_large_job_and_a_large_answer_fit(pool: Pool) -> None:
    numbers = list(range(300_000))
    seen = judge(pool, "def f(numbers): return numbers[::-1]", "f", [call(numbers)])
    assert seen.observations[0].returned == ["list", numbers[::-1]]


def test_a_sandbox_that_somebody_removes_is_replaced(pool: Pool) -> None:
    def remove() -> None:
        time.sleep(0.5)
        with closing(docker.from_env()) as client:
            for one in sandboxes():
                with suppress(docker.errors.APIError):
                    client.api.remove_container(one, force=True)

    slow = "import time\ndef uniq(numbers): time.sleep(0.4); return sorted(set(numbers))"
    removing = threading.Thread(target=remove)
    removing.start()
    assert right(judge(pool, slow, "uniq", STEPS))
    removing.join()
    assert right(judge(pool, GOOD, "uniq", STEPS))


def test_nothing_is_left_of_a_pool(made: Image) -> None:
    with Pool(made.id, "test-left") as some:
        judge(some, GOOD, "uniq", STEPS)
        assert sandboxes("test-left")
    assert not sandboxes("test-left")


def test_nothing_is_left_of_a_pool_whose_image_runs_nothing(made: Image) -> None:
    with closing(docker.from_env()) as client:
        dockerfile = f'FROM {made.id}\nENTRYPOINT ["python3", "-c", "raise SystemExit(2)"]\n'
        bad = client.images.build(fileobj=io.BytesIO(dockerfile.encode()), rm=True)[0].id
        try:
            with pytest.raises(ImageError, match="exit code 2"), Pool(bad, "test-bad"):
                raise AssertionError("the block must not be entered")
        finally:
            client.images.remove(bad, force=True)
    assert not sandboxes("test-bad")


def test_an_image_that_is_not_here_is_one_line() -> None:
    with pytest.raises(SandboxDown, match="No such image"), Pool("bumpgate-test:nothing", LABEL):
        raise AssertionError("the block must not be entered")


def test_a_base_that_is_not_to_be_had_is_one_line() -> None:
    with pytest.raises(ImageError, match=r"no\.example/python:3 is not on this machine"):
        image.have(lambda _: None, "no.example/python:3")


def test_an_image_is_built_once_and_says_what_it_is(made: Image) -> None:
    said: list[str] = []
    assert image.have(said.append) == made
    assert not said
    assert made.id.startswith("sha256:")
    assert made.python.count(".") == 2
    assert made.source


def test_no_docker_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(SandboxDown, match=r"no Docker engine answers at unix:///nowhere/docker\.sock"), Pool("any", LABEL):
        raise AssertionError("the block must not be entered")


OWNING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, as these tests may be, ignores it
from sandbox.judge import judge
from sandbox.pool import Pool
from sandbox.steps import call
with Pool(sys.argv[1], sys.argv[2]) as pool:
    print("ready", flush=True)
    judge(pool, "import time\\ndef f(): time.sleep(1000)", "f", [call()])
"""


def owning(made: Image, label: str) -> subprocess.Popen[str]:
    """A process that judges an endless program."""
    argv = [sys.executable, "-c", OWNING, made.id, label]
    process = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_sandboxes_of_a_killed_process_go_and_those_of_a_living_one_stay(made: Image) -> None:
    living, killed = owning(made, "test-living"), owning(made, "test-killed")
    try:
        killed.kill()
        killed.communicate()
        assert sandboxes("test-killed")
        assert soon(lambda: len(sandboxes("test-living")) >= 3)
        before = set(sandboxes("test-living"))
        with Pool(made.id, "test-next"):
            assert not sandboxes("test-killed")
            assert before <= set(sandboxes("test-living"))
    finally:
        living.send_signal(signal.SIGINT)
        living.communicate()
    assert not sandboxes("test-living")


def test_ctrl_c_leaves_no_sandbox(made: Image) -> None:
    process = owning(made, "test-interrupted")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert said.strip().endswith("KeyboardInterrupt")
    assert not sandboxes("test-interrupted")


def test_a_sandbox_of_nobody_goes_once_it_has_ended_long_ago(made: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(docker.from_env()) as client:
        other = {OWNER_LABEL: "another-boot:pid:[1]:1:1", RUN_LABEL: "test-other"}
        client.api.create_container(made.id, stdin_open=True, labels=other)
        started = client.api.create_container(made.id, labels=other)["Id"]
        client.api.start(started)
        client.api.wait(started)
        with Pool(made.id, LABEL):
            assert len(sandboxes("test-other")) == 2, "it may be another machine's, which shares this Docker"
        monkeypatch.setattr("sandbox.pool.FORGOTTEN_S", -1.0)
        with Pool(made.id, LABEL):
            (kept,) = sandboxes("test-other")
        assert kept != started
        client.api.remove_container(kept, force=True)


def test_this_process_lives() -> None:
    assert not owner.dead(owner.me())
    boot, _, _ = owner.me().rpartition(":")
    assert owner.dead(f"{boot}:1")
    assert not owner.dead("another-boot:pid:[1]:1:1")


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_docker_that_ends_in_the_middle_is_no_programs_fault(own_engine: Path, how: str) -> None:
    def end() -> None:
        time.sleep(1.0)
        if how == "killed":
            os.kill(int((own_engine / "docker.pid").read_text()), signal.SIGKILL)
        else:
            script("stop", own_engine)

    slow = "import time\ndef uniq(numbers): time.sleep(15); return sorted(set(numbers))"
    made = image.have(lambda _: None)
    with Pool(made.id, LABEL) as pool, ThreadPoolExecutor(2) as workers:
        ending = threading.Thread(target=end)
        ending.start()
        both = [workers.submit(judge, pool, slow, "uniq", STEPS, again=never) for _ in range(2)]
        for one in both:
            with pytest.raises(SandboxDown) as down:
                one.result()
            assert "\n" not in str(down.value)
        ending.join()
        with pytest.raises(SandboxDown):
            judge(pool, GOOD, "uniq", STEPS)
        assert script("start", own_engine).returncode == 0
        assert right(judge(pool, GOOD, "uniq", STEPS)), "the same pool, once Docker is back"
    with Pool(made.id, LABEL) as after:
        assert right(judge(after, GOOD, "uniq", STEPS))
    assert not sandboxes()
