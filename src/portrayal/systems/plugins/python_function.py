"""A Python function as a system: `use = "python:module:function"`.

A call past its time limit cannot be ended, only left behind; its thread keeps its place among the `concurrency` threads there
may be, so that they never pile up.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, BaseSystem, Question, Unreachable
from portrayal.systems.core.named_code import check_function, load_function
from portrayal.systems.core.plain import pack_reply
from portrayal.systems.core.settings import SystemSettings

HANDED_OVER = "function"  # the scheme of functions handed over in Python, which live as long as the process
_FUNCTIONS: dict[str, Callable[..., Any]] = {}
_NAMED = re.compile(r"python:[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass
class PythonFunction(BaseSystem):
    """Calls a function named by module and name."""

    folder: Path = field(default_factory=Path)
    _function: Callable[..., Any] | None = None
    _calls: list[Future[Any]] = field(default_factory=list, repr=False, compare=False)

    def check_ready(self) -> None:
        """Look for the module and the function's name in it, without importing it."""
        if self._function is None:
            check_function(self.identity, self.folder)

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Call the function once per question."""
        return [pack_reply(await self._call(question), self.limits.price) for question in questions]

    async def _call(self, question: Question) -> Any:
        if self._function is None:
            self._function = load_function(self.identity, self.folder)
            _check_parameters(self._function, self.parameters, self.name)
        function = self._function
        question.refuse_other_file()
        content = question if "question" in _parameters(function) else question.content
        if inspect.iscoroutinefunction(function):
            return await function(content, **self.parameters)
        return await self._in_thread(partial(function, content, **self.parameters))

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        """Call in a thread, unless earlier calls still occupy every place."""
        self._calls = [earlier for earlier in self._calls if not earlier.done()]
        if len(self._calls) >= self.limits.concurrency:
            raise Unreachable(
                f"{len(self._calls)} earlier calls of the function are past their time limit and still running; at most"
                f" {self.limits.concurrency} may run at once"
            )
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()  # whoever stops waiting cannot cancel it: it has begun
        # A daemon ends with the process: one past its time limit must not keep it alive.
        threading.Thread(target=_answer_with, args=(answer, call), daemon=True).start()
        self._calls.append(answer)
        return await asyncio.wrap_future(answer)


def open_system(settings: SystemSettings, folder: Path) -> PythonFunction:
    """Open the function a study names; it is looked up when first asked."""
    system = PythonFunction(**settings.fields(settings.use), folder=folder)
    if "concurrency" not in settings.limits.model_fields_set:
        system.limits = replace(system.limits, concurrency=1)
    scheme, _, name = settings.use.partition(":")
    if scheme == HANDED_OVER:
        if name not in _FUNCTIONS:
            raise PortrayalError(
                f"system {settings.name!r} is a function that was handed over in Python, and this process has none of that name."
                f' Call portrayal.audit(study, out, systems={{"{name}": function}}) again.'
            )
        system._function = _FUNCTIONS[name]
        return system
    if not _NAMED.fullmatch(settings.use) or ".py:" in settings.use:
        hint = " Write the module without .py." if ".py:" in settings.use else ""
        raise PortrayalError(f"{settings.use!r} names no function. Expected python:module:function.{hint}")
    return system


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return a function's parameters; none where they are unknown, as of functions written in C."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _check_parameters(function: Callable[..., Any], parameters: Mapping[str, Any], name: str) -> None:
    """Refuse a function that cannot take one question and the study's parameters."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind("", **parameters)
    except TypeError as error:
        raise PortrayalError(
            f"system {name!r}: the function takes {signature}, and is called with the question and the study's parameters"
            f" ({', '.join(parameters) or 'none'}): {error}."
        ) from None


def _answer_with(answer: Future[Any], call: Callable[[], Any]) -> None:
    try:
        answer.set_result(call())
    except BaseException as error:  # also SystemExit: a function that ends its thread has not answered
        answer.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))


def give(name: str, function: Any) -> str:
    """Register a function for this process and return its `use`."""
    if not callable(function):
        raise PortrayalError(
            f"system {name!r} is a {type(function).__name__}. Expected a function that takes a text or the path of a picture,"
            " or a dict as in a study file."
        )
    _FUNCTIONS[name] = function
    return f"{HANDED_OVER}:{name}"


def source_hash(use: str) -> str | None:
    """Return a hash over a function's source, or over its compiled code."""
    name = use.partition(":")[2]
    if name not in _FUNCTIONS:
        return None
    function: Any = inspect.unwrap(_FUNCTIONS[name])
    for one in (function, type(function)):  # a callable object has the source of its class
        try:
            return hashlib.sha256(inspect.getsource(one).encode()).hexdigest()
        except (OSError, TypeError):
            continue
    code = getattr(function, "__code__", None)
    return hashlib.sha256(code.co_code + repr(code.co_consts).encode()).hexdigest() if code else None
