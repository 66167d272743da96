"""A running program is let go of whatever became of its pipes before."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from portrayal.systems.plugins.command import start_program


def test_a_program_whose_pipes_broke_by_themselves_is_ended(tmp_path: Path) -> None:
    """asyncio closes both pipes on its own once the program is gone; ending it afterwards must still work."""

    async def end_after_its_pipes() -> int | None:
        program = await start_program([sys.executable, "-c", "pass"], tmp_path, 1000)
        while program.process.poll() is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)  # the event loop notices that the pipes are broken and forgets them
        assert program.writer.transport.is_closing()
        await program.kill()
        return program.process.returncode

    assert asyncio.run(end_after_its_pipes()) == 0
