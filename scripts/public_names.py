"""Writes src/portrayal/__init__.pyi, which tells type checkers and editors where the public names live.

Run it after a public name has moved: python scripts/public_names.py
"""

from __future__ import annotations

from pathlib import Path

import portrayal

STUB = Path(__file__).parents[1] / "src" / "portrayal" / "__init__.pyi"
HEAD = '"""Public names of the package for type checkers and editors; written by scripts/public_names.py."""\n\n'


def stub() -> str:
    """Return the text of the stub file."""
    places = sorted((module, name) for name, module in portrayal._PUBLIC.items())
    imports = "".join(f"from {module} import {name} as {name}\n" for module, name in places)
    names = "".join(f'    "{name}",\n' for name in sorted(portrayal.__all__))
    return f"{HEAD}{imports}\n__version__: str\n__all__ = [\n{names}]\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
