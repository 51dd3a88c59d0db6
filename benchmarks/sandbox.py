#!/usr/bin/env python3
"""How many programs a second the sandbox judges, against `docker run` of the same programs one after another.

    python benchmarks/sandbox.py [--programs 50] [--samples 3] [--rounds 3] [--workers 1 2 4]

Both take the same job in the same image under the same limits. A pool's start and end are counted, once, as in a run. What is
compared takes turns, so that what else this machine does falls on all alike. Prints a table in Markdown. Needs Docker and its
command line.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sandbox import daemon, image  # noqa: E402
from sandbox.judge import judge  # noqa: E402
from sandbox.limits import Limits  # noqa: E402
from sandbox.pool import Pool  # noqa: E402
from sandbox.steps import call, job  # noqa: E402
from sandbox.transcript import read  # noqa: E402

PROGRAM = "def uniq(numbers):\n    return sorted(set(numbers))\n"
STEPS = [call([n % 7 for n in range(size)]) for size in range(20)]
LINE = json.dumps(job(PROGRAM, "uniq", STEPS)).encode() + b"\n"
LIMITS = Limits()


def docker_run(made: image.Image) -> None:
    limits = [
        "--network=none", "--ipc=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
        f"--tmpfs=/tmp:rw,noexec,nosuid,nodev,size={LIMITS.tmp_mib}m", f"--pids-limit={LIMITS.pids}", f"--cpus={LIMITS.cpus}",
        f"--memory={LIMITS.memory_mib}m", f"--memory-swap={LIMITS.memory_mib}m", "--ulimit=nofile=256", "--ulimit=core=0",
    ]  # fmt: skip
    done = subprocess.run(["docker", "run", "--rm", "-i", *limits, made.id], input=LINE, capture_output=True, check=True)
    assert read(done.stdout, len(STEPS)).end == "finished", done


def one_after_another(made: image.Image, count: int) -> None:
    for _ in range(count):
        docker_run(made)


def pooled(pool: Pool, count: int) -> None:
    with ThreadPoolExecutor(pool.workers) as threads:
        asked = [threads.submit(judge, pool, PROGRAM, "uniq", STEPS) for _ in range(count)]
        assert all(a.result().end == "finished" for a in asked)


def timed(way: Callable[[], object]) -> float:
    began = time.perf_counter()
    way()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--samples", type=int, default=3, help="of each program")
    parser.add_argument("--rounds", type=int, default=3, help="turns that they are spread over")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    chosen = parser.parse_args()
    made = image.have(lambda line: print(line, file=sys.stderr))
    with daemon.connected() as client:
        version = client.version()["Version"]
    each = -(-chosen.programs * chosen.samples // chosen.rounds)
    pools = {f"pool, workers: {n}": Pool(made.id, "benchmark", n, LIMITS) for n in chosen.workers}
    took = {"`docker run`, one after another": 0.0} | {name: timed(pool.__enter__) for name, pool in pools.items()}
    for _ in range(chosen.rounds):
        took["`docker run`, one after another"] += timed(lambda: one_after_another(made, each))
        for name, pool in pools.items():
            took[name] += timed(lambda pool=pool: pooled(pool, each))
    for name, pool in pools.items():
        took[name] += timed(lambda pool=pool: pool.__exit__(None, None, None))
    count, first = each * chosen.rounds, next(iter(took.values()))
    load = "/".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"Docker {version}, Python {made.python} ({made.source.partition(' /')[0]}), {os.cpu_count()} cores, load {load}\n")
    print("| | programs | s | programs/s | times as fast |\n|---|---:|---:|---:|---:|")
    for name, took_s in took.items():
        print(f"| {name} | {count} | {took_s:.1f} | {count / took_s:.1f} | {first / took_s:.2f} |")


if __name__ == "__main__":
    main()
