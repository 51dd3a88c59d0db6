"""What must not be written down: keys and tokens of a command line or an environment, masked before the journal sees them."""

import re

# "tokens" is left out: --max-num-batched-tokens is no secret.
_NAME = re.compile(
    r"((api|access|private)[-_]?keys?|token|secrets?|passw(or)?d|passphrase|credentials?|[-_](pass|psk)|cookies?"
    r"|(^|[-_])(api|auth|access|hf)[-_]?tokens)([-_](prod(uction)?|dev|test|stag(e|ing)|live|read|write|admin|ro|rw|\d+))?$"
    r"|^(tokens|pass|psk)$",
    re.IGNORECASE,
)
MASK = "***"


def masked_env(env: dict[str, str]) -> dict[str, str]:
    return {name: MASK if _NAME.search(name) else value for name, value in env.items()}


def masked_argv(argv: list[str]) -> tuple[str, ...]:
    """The values of flags such as `--api-key X`, one or several."""
    out, hidden = [], False
    for word in argv:
        if not word.startswith("--"):
            out.append(MASK if hidden else word)
            continue
        name, given, _ = word.partition("=")
        hidden = bool(_NAME.search(name))
        out.append(f"{name}={MASK}" if hidden and given else word)
    return tuple(out)
