"""What needles of one length take, told from what others took. Pure."""

from collections.abc import Mapping, Sequence

from scipy.optimize import nnls

from evals.budget import Rate

REACH = 4
"""Times the longest length that was measured: beyond, a guess may be off by more than a factor of two."""


def over(lengths: Sequence[int], measured: Mapping[int, Rate]) -> Rate | None:
    """The mean of one prompt of each length; None where some length is beyond what was measured, or nothing was."""
    if not lengths or not measured:
        return None
    each = [measured.get(length) or _guessed(length, measured) for length in lengths]
    known = [rate for rate in each if rate is not None]
    if len(known) < len(each):
        return None
    tokens = [rate.tokens_per_sample for rate in known if rate.tokens_per_sample is not None]
    return Rate(
        seconds_per_sample=sum(rate.seconds_per_sample for rate in known) / len(known),
        tokens_per_sample=sum(tokens) / len(tokens) if len(tokens) == len(known) else None,
    )


def _guessed(length: int, measured: Mapping[int, Rate]) -> Rate | None:
    """Seconds = a + b·tokens + c·tokens², none of them negative: answering, the layers' work, and attention's.

    Least squares of relative errors. From a single length nothing tells b from c: up to twice that length the two are within
    a factor of two, and the line is taken.
    """
    longest = max(measured)
    reach = REACH if len(measured) > 1 else 2
    if length > reach * longest:
        return None
    powers = (0, 1, 2) if len(measured) > 2 else (1, 2) if len(measured) == 2 else (1,)
    seconds = [max(rate.seconds_per_sample, 1e-6) for rate in measured.values()]
    rows = [[(n / longest) ** power / s for power in powers] for n, s in zip(measured, seconds, strict=True)]
    weights, _ = nnls(rows, [1.0] * len(rows))
    guess = sum(float(w) * (length / longest) ** power for w, power in zip(weights, powers, strict=True))
    return Rate(seconds_per_sample=guess, tokens_per_sample=measured[longest].tokens_per_sample)
