"""Long work says how far it is, and short work says nothing."""

from __future__ import annotations

from portrayal.edges.console import track


def test_a_line_every_ten_seconds(capsys) -> None:
    times = iter([0.0, 4.0, 11.0, 11.0, 15.0, 22.0, 22.0])  # the start, then one look an item and one a line
    assert list(track("abcd", "faces", clock=lambda: next(times))) == list("abcd")
    assert capsys.readouterr().err == "faces: 1 of 4 done\nfaces: 3 of 4 done\n"


def test_short_work_says_nothing(capsys) -> None:
    assert list(track("ab", "faces", clock=lambda: 0.0)) == ["a", "b"]
    assert capsys.readouterr() == ("", "")


def test_what_has_no_length_is_counted_and_a_quiet_command_says_nothing(capsys) -> None:
    times = iter([0.0, 11.0, 11.0])
    assert list(track(iter("a"), "documents", clock=lambda: next(times))) == ["a"]
    assert capsys.readouterr().err == "documents: 0 done\n"
    assert list(track("a", "documents", quiet=True, clock=lambda: 1 / 0)) == ["a"]
