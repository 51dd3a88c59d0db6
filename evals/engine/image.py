"""An image on this machine: there already, else pulled."""

from collections.abc import Callable

from docker.errors import ImageNotFound

from evals.engine import daemon
from evals.errors import BuildError
from evals.experiment import DockerEngine
from sandbox.errors import ImageError
from sandbox.pull import pull


def have(engine: DockerEngine, say: Callable[[str], None]) -> None:
    """See that the engine's image is here, whatever it takes; an image of several gigabytes tells how far it is.

    Raises:
        StartError: no Docker engine answers.
        BuildError: it is not here and can't be pulled.
    """
    with daemon.connected() as client:
        try:
            client.images.get(engine.image)
        except ImageNotFound:
            say(f"pulling {engine.image}")
            try:
                pull(client, engine.image, say)
            except ImageError as e:
                said = f"{engine.image} is not on this machine and can't be pulled: {e}; try `docker pull {engine.image}`"
                raise BuildError(said) from e
        except daemon.TROUBLE as e:
            raise BuildError(f"Docker can't tell whether {engine.image} is here: {daemon.words(e)}") from e
