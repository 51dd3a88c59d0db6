"""`bumpgate plan --json`: what a run will start and ask, for a machine. Pure."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from evals import plan
from evals.budget import Cost
from evals.experiment import Experiment


def document(experiment: Experiment, cost: Cost | None, warnings: Sequence[str]) -> str:
    """One object; null is what is not known yet."""
    told = {
        "experiment": experiment.name,
        "baseline": experiment.baseline,
        "arms": [arm.name for arm in experiment.arms],
        "requests": plan.requests(experiment),
        "launches": [
            {
                "engine": str(launch.arms[0].engine),
                "model": launch.arms[0].model,
                "flags": plan.own_flags(experiment, launch.arms[0]),
                "stages": [
                    {"arm": s.arm.name, "task": s.task.name, "round": s.round, "n": s.task.planned_n, "title": s.title}
                    for s in launch.stages
                ],
            }
            for launch in plan.launches(experiment)
        ],
        "gates": [asdict(gate) for gate in plan.gates(experiment)],
        "cost": asdict(cost) if cost else None,
        "notes": list(plan.notes(experiment)),
        "warnings": list(warnings),
    }
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"
