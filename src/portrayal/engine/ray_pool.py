"""Workers on a Ray cluster that is there or started for the job (extra [ray])."""

import contextlib
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from portrayal.engine.pool import ONE_THREAD, build
from portrayal.engine.shards import FAULT, MEND, Done, Failed, Lost, Shard, attempt
from portrayal.errors import MissingExtra, PortrayalError

CONNECT = 5.0  # seconds for the cluster's address to answer
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is sent home
    "RAY_worker_niceness": "0",  # Ray's 15 makes a worker wait for everything else on the machine
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a worker that asks for no GPU still sees those of its machine
}
LOOK = 1.0  # seconds between two looks whether the job was stopped


class Session:
    """A connection to a cluster, opened at the first job and closed with the last."""

    def __init__(self, address: str = "", workers: int | None = None) -> None:
        self.address = address
        self.workers = workers
        self._own = False

    def ray(self) -> Any:
        """Return the module `ray`, connected."""
        ray = import_ray()
        if not ray.is_initialized():
            _init(ray, self.address, self.workers)
            self._own = True
        return ray

    def size(self) -> int:
        """Return how many workers the cluster has room for."""
        return max(1, int(self.ray().cluster_resources().get("CPU", 0)))

    def close(self) -> None:
        """Leave the cluster; one that was started for us ends."""
        if self._own:
            import_ray().shutdown()
            self._own = False


class Actor:
    """Code that runs on the cluster: built once, then one shard at a time."""

    def __init__(self, make: bytes, folder: str, path: list[str]) -> None:
        os.environ.update(ONE_THREAD)
        # Files and modules are found where the driver finds them, as far as this machine has them.
        with contextlib.suppress(OSError):
            os.chdir(folder)
        sys.path.extend(folder for folder in path if folder not in sys.path)
        self._built = build(make)

    def ready(self) -> Done | Failed:
        """Tell whether it could be built."""
        return self._built if isinstance(self._built, Failed) else Done(None)

    def do(self, content: Any) -> Done | Failed:
        """Do one shard."""
        return attempt(self._built.result, content) if isinstance(self._built, Done) else self._built


class ActorWorker:
    """An actor as a worker of a pool."""

    def __init__(self, ray: Any, make: bytes, gpus: float) -> None:
        self._ray = ray
        self._stopped = False
        remote = ray.remote(Actor).options(num_cpus=1, num_gpus=gpus, max_restarts=0)
        self._actor = remote.remote(make, str(Path.cwd()), sys.path)

    def ready(self, wait: Callable[[], bool]) -> Done | Failed:
        """Wait for room on the cluster and for `make()`."""
        return self._get(self._actor.ready.remote(), wait)

    def do(self, shard: Shard) -> Done | Failed:
        """Do one shard."""
        return self._get(self._actor.do.remote(shard.content), lambda: True)

    def stop(self) -> None:
        """End the actor."""
        self._stopped = True
        self._ray.kill(self._actor)

    def _get(self, answer: Any, wait: Callable[[], bool]) -> Done | Failed:
        try:
            while not self._ray.wait([answer], timeout=LOOK)[0]:
                if self._stopped:
                    raise Lost("stopped")
                if not wait():
                    have, free = (resources().get("CPU", 0) for resources in
                                  (self._ray.cluster_resources, self._ray.available_resources))  # fmt: skip
                    room = f"the cluster has {have:g} processors, {free:g} of them free, and had no room for one."
                    mend = "Wait for other jobs to end, or use another cluster."
                    return Failed(MEND, f"no worker could be started: {room} {mend}")
            return self._ray.get(answer)
        except self._ray.exceptions.RayTaskError as error:  # a shard that cannot be unpickled there
            return Failed(FAULT, f"RuntimeError: {error}")
        except self._ray.exceptions.RayError as error:
            raise Lost(_short(error)) from None


def import_ray() -> Any:
    """Return the module `ray`, with settings for a cluster that is started here."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise MissingExtra("the engine 'ray'", "ray") from None
    return ray


def pickled(make: Any) -> bytes:
    """Pickle with Ray's own pickler, which takes functions of a notebook too."""
    import_ray()
    from ray import cloudpickle

    return cloudpickle.dumps(make)


def _init(ray: Any, address: str, workers: int | None) -> None:
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    if not address:
        ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
        return
    if address != "auto":  # said where nobody listens: Ray itself would try for a minute
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), CONNECT).close()
        except (OSError, ValueError, OverflowError):
            raise PortrayalError(
                f"no Ray cluster answers at {address!r}. Expected HOST:PORT as `ray start --head` prints it (often port 6379),"
                " or auto."
            ) from None
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise PortrayalError(
            f"no Ray cluster could be joined at {address}: {_short(error)}. Expected the address that `ray start --head`"
            " prints, from a machine of that cluster."
        ) from None


def _short(error: BaseException) -> str:
    """Return the first line of what Ray says, which may go on for pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(" :")
