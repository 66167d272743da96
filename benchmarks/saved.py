"""Results of benchmarks as JSON, for the pages that are written from them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def write_found(file: str | Path | None, found: Mapping[str, Any]) -> None:
    """Write what was found, with the date and the machine's cores and load; nothing where no file is named."""
    if file is None:
        return
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**about, **found}, indent=1) + "\n")
