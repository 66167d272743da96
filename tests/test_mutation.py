"""The small wrong changes that `make mutants` makes: where they are, and that a running function takes them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from scripts.mutation import find_mutants, live_functions, put_in

SOURCE = '''
LIMIT = 3 + 4


def share(hits: int, n: int = 7) -> float | None:
    """Return 1 of 2."""
    if n == 0:
        raise ValueError(f"{n + 1} is too few")
    return hits / n


class Shop:
    def open(self, hour):
        return [later for later in (lambda: hour + 1,) if not hour < 8]
'''


def written(folder: Path, source: str = SOURCE) -> Path:
    path = folder / "shop.py"
    path.write_text(source)
    return path


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("shop", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_places_are_what_functions_compute_and_no_texts_defaults_or_errors(tmp_path: Path) -> None:
    found = find_mutants(written(tmp_path), tmp_path, 0)
    assert [(mutant.function, mutant.line) for mutant in found] == [
        ("share", 7),  # n == 0
        ("share", 7),  # 0
        ("share", 9),  # hits / n, or what is returned
        ("Shop.open", 14),  # what is returned
        ("Shop.open", 14),  # hour + 1
        ("Shop.open", 14),  # 1
        ("Shop.open", 14),  # not hour < 8
        ("Shop.open", 14),  # hour < 8
        ("Shop.open", 14),  # 8
    ]
    assert (found[0].before, found[0].after) == ("if n == 0:", "if n != 0:")


def test_code_that_moves_keeps_its_mutants_and_another_seed_draws_others(tmp_path: Path) -> None:
    def ranks(source: str, seed: int = 0) -> list[str]:
        return [mutant.rank for mutant in find_mutants(written(tmp_path, source), tmp_path, seed)]

    first = ranks(SOURCE)
    (tmp_path / "moved").mkdir()
    moved = find_mutants(written(tmp_path / "moved", f"\n\nMORE = 1\n{SOURCE}"), tmp_path, 0)
    assert [mutant.rank for mutant in moved] == first
    assert not set(first) & set(ranks(SOURCE, 1))


def test_a_running_function_takes_the_change_wherever_it_was_imported(tmp_path: Path) -> None:
    path = written(tmp_path)
    condition, _, result, *_ = find_mutants(path, tmp_path, 0)
    share = loaded(path).share  # as `from shop import share` does
    assert share(1, 4) == 0.25
    assert put_in(result, tmp_path, live_functions(tmp_path)) == 1
    assert share(1, 4) == {"operator": 4, "return": None}[result.kind]
    assert put_in(condition, tmp_path, live_functions(tmp_path)) == 1  # each change is of the code as written
    with pytest.raises(ValueError, match="5 is too few"):
        share(1, 4)


def test_a_function_within_a_method_is_changed_with_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    mutants = [mutant for mutant in find_mutants(path, tmp_path, 0) if "hour - 1" in mutant.after]
    shop = loaded(path).Shop()
    assert shop.open(9)[0]() == 10
    for mutant in mutants:
        put_in(mutant, tmp_path, live_functions(tmp_path))
        assert shop.open(9)[0]() == 8
    assert len(mutants) == 1
