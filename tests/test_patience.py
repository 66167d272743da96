"""Long work says how far it is, and short work says nothing."""

from __future__ import annotations

from portrayal.edges.patience import told


def test_a_line_every_ten_seconds(capsys) -> None:
    times = iter([0.0, 4.0, 11.0, 11.0, 15.0, 22.0, 22.0])  # the start, then one look an item and one a line
    assert list(told("abcd", "faces", 4, lambda: next(times))) == list("abcd")
    assert capsys.readouterr().err == "faces: 1 of 4 done\nfaces: 3 of 4 done\n"


def test_short_work_says_nothing(capsys) -> None:
    assert list(told("ab", "faces", 2, lambda: 0.0)) == ["a", "b"]
    assert capsys.readouterr() == ("", "")
