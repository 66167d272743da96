"""Small wrong changes to functions: where one can be made, what it is, and putting it into a running process.

A place is one expression in the body of a function: an operator, a comparison, `and`, `or`, `not`, a sign, a number, a truth
value, a condition, what is returned. One change is drawn for each place. Texts, error messages, assertions, annotations and
default values are left alone.
"""

from __future__ import annotations

import ast
import gc
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
LEFT_ALONE = (ast.JoinedStr, ast.Raise, ast.Assert)
LEFT_FIELDS = {"annotation", "returns", "decorator_list", "args", "type_comment"}


@dataclass(frozen=True)
class Slot:
    """Place of an expression in the tree, so that another can be put there."""

    parent: ast.AST
    field: str
    position: int | None
    function: str  # the qualified name of the function around it

    @property
    def node(self) -> ast.AST:
        """Return what hangs here."""
        held = getattr(self.parent, self.field)
        return held if self.position is None else held[self.position]

    def put(self, node: ast.AST) -> None:
        """Hang another expression here."""
        ast.copy_location(node, self.node)
        if self.position is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.position] = node
        ast.fix_missing_locations(self.parent)


@dataclass(frozen=True)
class Mutant:
    """One change of one place. `before` and `after` are the lines around it, in one line each."""

    path: str  # from the root of the repository
    line: int
    last_line: int
    statement: int  # the line its statement begins on
    function: str
    place: int  # the how-manieth of the file
    change: int  # the how-manieth of the place
    kind: str
    before: str
    after: str
    rank: str  # which are drawn: those of the lowest rank


def find_mutants(path: Path, root: Path, seed: int) -> list[Mutant]:
    """Return one change for every place of a file.

    The rank, and with it the draw, hangs on the seed, the file's name, the function and the expression, and not on line
    numbers: code that moves keeps its mutants.
    """
    source, seen, found = _source(path), Counter[str](), []
    tree = ast.parse(source)
    statements = _statements(tree)
    for place, slot in enumerate(_slots(tree)):
        told = f"{path.name}|{slot.function}|{ast.unparse(slot.node)}"
        seen[told] += 1
        rank = hashlib.sha256(f"{seed}|{told}|{seen[told]}".encode()).hexdigest()
        options = _changes(slot)
        chosen = int(rank[-8:], 16) % len(options)
        kind, make = options[chosen]
        node = slot.node
        before, after = _lines(source, node, ast.unparse(make()))
        lines = node.lineno, node.end_lineno or node.lineno, statements[node.lineno]
        about = str(path.relative_to(root)), *lines, slot.function
        found.append(Mutant(*about, place, chosen, kind, before, after, rank))
    return found


def put_in(mutant: Mutant, root: Path, live: Sequence[FunctionType]) -> int:
    """Change the running functions of this process; return how many were changed."""
    path = root / mutant.path
    tree = ast.parse(_source(path))
    slot = next(slot for place, slot in enumerate(_slots(tree)) if place == mutant.place)
    slot.put(_changes(slot)[mutant.change][1]())
    codes = {_name_of(code): code for code in _codes(compile(tree, str(path), "exec", dont_inherit=True))}
    changed = 0
    for function in live:
        code = codes.get(_name_of(function.__code__))
        if function.__code__.co_filename == str(path) and code and code != function.__code__:
            function.__code__ = code
            changed += 1
    return changed


@cache
def _source(path: Path) -> str:
    """Read a file once: an edit while mutants run must not move their places."""
    return path.read_text(encoding="utf-8")


def live_functions(folder: Path) -> list[FunctionType]:
    """Return every function of this process whose code lies in the folder."""
    return [
        thing
        for thing in gc.get_objects()
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(f"{folder}/")
    ]


def _slots(tree: ast.AST) -> Iterator[Slot]:
    """Walk over the places, in the order of the file; outside functions there are none."""
    yield from _within(tree, (), inside=False)


def _within(node: ast.AST, names: tuple[str, ...], inside: bool) -> Iterator[Slot]:
    for parent, field, position, child in _children(node):
        if _left_alone(parent, field, child):
            continue
        slot = Slot(parent, field, position, ".".join(names))
        if inside and _changes(slot):
            yield slot
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        deeper = (*names, child.name) if named else names
        yield from _within(child, deeper, inside or isinstance(child, Function))


def _left_alone(parent: ast.AST, field: str, child: ast.AST) -> bool:
    """Return whether this is read by people or by a type checker, or checks what the programmer wrote."""
    guard = isinstance(child, ast.keyword) and child.arg == "strict"  # of zip
    return guard or isinstance(child, LEFT_ALONE) or (field in LEFT_FIELDS and not isinstance(parent, ast.Call))


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield node, field, None, value
        elif isinstance(value, list):
            yield from ((node, field, at, item) for at, item in enumerate(value) if isinstance(item, ast.AST))


def _changes(slot: Slot) -> list[tuple[str, Callable[[], ast.AST]]]:
    """Return the changes a place allows: what kind each is, and a function that makes the new expression."""
    node = slot.node
    if isinstance(node, ast.BinOp) and type(node.op) in OTHER_OPERATOR:
        own = [("operator", lambda: ast.BinOp(node.left, OTHER_OPERATOR[type(node.op)](), node.right))]
    elif isinstance(node, ast.AugAssign) and type(node.op) in OTHER_OPERATOR:
        own = [("operator", lambda: ast.AugAssign(node.target, OTHER_OPERATOR[type(node.op)](), node.value))]
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        own = [("and, or", lambda: ast.BoolOp(other(), node.values))]
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        own = [("not, sign", lambda: node.operand)]
    elif isinstance(node, ast.Compare):
        own = _other_comparisons(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        own = [("constant", lambda: ast.Constant(value))]
    else:
        own = []
    return [*own, *_changes_of_position(slot)]


def _other_comparisons(node: ast.Compare) -> list[tuple[str, Callable[[], ast.AST]]]:
    def with_operator(at: int, other: type[ast.cmpop]) -> ast.Compare:
        return ast.Compare(node.left, [*node.ops[:at], other(), *node.ops[at + 1 :]], node.comparators)

    return [
        (kind, lambda at=at, other=table[type(op)]: with_operator(at, other))
        for at, op in enumerate(node.ops)
        for kind, table in (("boundary", BOUNDARY), ("comparison", OPPOSITE))
        if type(op) in table
    ]


def _changes_of_position(slot: Slot) -> list[tuple[str, Callable[[], ast.AST]]]:
    """Return the changes a place allows for where it stands: a condition is negated, None is returned."""
    node = slot.node
    tested = slot.field == "test" and isinstance(slot.parent, ast.If | ast.IfExp | ast.While)
    filtered = slot.field == "ifs" and isinstance(slot.parent, ast.comprehension)
    plain = not isinstance(node, ast.Compare | ast.UnaryOp)  # those have the opposite among their own changes
    if (tested or filtered) and plain:
        return [("not, sign", lambda: ast.UnaryOp(ast.Not(), node))]
    returned = isinstance(slot.parent, ast.Return)
    if returned and not (isinstance(node, ast.Constant) and node.value is None):
        return [("return", lambda: ast.Constant(None))]
    return []


def _statements(tree: ast.AST) -> dict[int, int]:
    """Return for every line the line its innermost statement begins on."""
    begins: dict[int, int] = {}
    for node in ast.walk(tree):  # outer ones first, so that inner ones write over them
        if isinstance(node, ast.stmt):
            begins.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node.lineno))
    return begins


def _lines(source: str, node: ast.AST, text: str) -> tuple[str, str]:
    """Return the lines of a node, and the same with another text in its place, each on one line."""
    lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
    start = lines[0].encode()[: node.col_offset].decode()
    end = lines[-1].encode()[node.end_col_offset :].decode()
    return " ".join(" ".join(lines).split()), " ".join(f"{start}{text}{end}".split())


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _name_of(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno
