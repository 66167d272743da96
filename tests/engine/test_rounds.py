"""The garbage collector's rounds are left out inside a block, and come back as they were."""

import gc

import pytest

from portrayal.engine.rounds import no_rounds


def test_rounds_are_left_out_and_come_back():
    with pytest.raises(KeyError), no_rounds():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()


def test_whoever_left_them_out_before_finds_them_left_out():
    gc.disable()
    try:
        with no_rounds():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
