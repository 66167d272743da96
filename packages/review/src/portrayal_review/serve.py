"""Serving the viewer: address, links, nothing asked of other hosts."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from portrayal.errors import MissingPackage, PortrayalError
from portrayal_review.links import kept_people, kept_port
from portrayal_review.people import ORGANISER, People

LOOPBACK = "127.0.0.1"


def view(
    folders: Sequence[Path | str],
    reviewers: Sequence[str] = (),
    host: str = LOOPBACK,
    port: int = 0,
    known_as: str = "",
    say: Callable[[Sequence[str]], None] = lambda messages: None,
) -> None:
    """Serve the viewer of one or several measured runs until it is stopped.

    Parameters
    ----------
    folders
        The runs.
    reviewers
        Names of people who judge; each gets a link that works once.
    host
        The address to listen on; only this machine can reach the usual one.
    port
        The port; 0 takes a free one.
    known_as
        The name or address by which browsers reach the server, where that is not `host`; with its port, if it has another.
    say
        Told the links, and what to know about them.

    Examples
    --------
    >>> from portrayal import PortrayalError, view
    >>> try:
    ...     view(["no_run_here"])
    ... except PortrayalError as error:
    ...     print(str(error).partition(". ")[0])
    no run in no_run_here (no ledger.sqlite there)
    """
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise MissingPackage("the viewer", "portrayal-review") from None
    from portrayal_review.app import make_app
    from portrayal_review.desk import Desks
    from portrayal_review.opened import Shelf

    shelf, names = Shelf(folders), People.called(reviewers).names
    desks, places = Desks(shelf), [Path(folder) for folder in folders]
    people = kept_people(places)
    with closing(_listen_again(host, port, kept_port(places))) as listening, closing(desks):
        people.port = listening.getsockname()[1]
        hosts = known_hosts(host, people.port, known_as)
        if names:
            desks.open_all()
        app = make_app(desks, shelf, people, hosts, cookie=f"portrayal_{people.port}")
        say(_greeting(hosts[0], people, names, host))
        config = uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, lifespan="off", ws="none"
        )
        uvicorn.Server(config).run(sockets=[listening])


def known_hosts(host: str, port: int, known_as: str = "") -> list[str]:
    """Return the host names under which the server answers."""
    if known_as:
        return [f"{known_as.lower()}:{port}", known_as.lower()] if ":" not in known_as else [known_as.lower()]
    if _is_every(host):
        raise PortrayalError(
            f"the viewer is to listen on {host}, which has no name. Say how browsers reach it: --known-as NAME."
        )
    names = [host, "localhost", LOOPBACK] if _is_loopback(host) else [host]
    return list(dict.fromkeys(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names))


def _greeting(address: str, people: People, names: Sequence[str], host: str) -> list[str]:
    """Return the links; earlier ones stay good."""
    earlier = list(people.names)
    lines = [f"yours: http://{address}/enter/{people.invite(ORGANISER)}"]
    for name in map(people.called_so, names):
        lines.append(f"{name}: http://{address}/enter/{people.invite(name, further=True)}")
    lines.append("Each link works once. Stop with Ctrl-C; judgments are on disk as soon as the next item shows.")
    if earlier:
        lines.append(f"Links and browsers of earlier times lead back to their place: {', '.join(earlier)}.")
    if not _is_loopback(host):
        lines.append("Others on the network can reach this and read along: it speaks no TLS. See docs/view.md.")
    return lines


def _listen_again(host: str, port: int, earlier: int) -> socket.socket:
    """Listen on the earlier port, unless another is asked for or it is taken."""
    if not port and earlier:
        with suppress(PortrayalError):
            return _listen(host, earlier)
    return _listen(host, port)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise PortrayalError(
            f"cannot listen on {host}, port {port}: {why}. Name another with --host or --port."
        ) from None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_every(host: str) -> bool:
    try:
        return not host or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
