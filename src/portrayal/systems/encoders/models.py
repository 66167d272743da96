"""Models on disk: where one lies and what tells it from another."""

from __future__ import annotations

import hashlib
from pathlib import Path

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.settings import Settings

SAMPLE = 2**20  # bytes at each end of a file that tell one model from another; whole files may be gigabytes
FILES = ["*.json", "*.txt", "*.safetensors"]


class ModelSettings(Settings):
    """Path of a model, its device, and whether it may be fetched."""

    path: str
    device: str = "auto"
    download: bool = False


def find_model(named: str, folder: Path, download: bool) -> Path:
    """Return the path of a model from the study's folder or the hub's local copy."""
    path = folder / named
    if path.exists():
        return path
    if named.count("/") != 1 or named.startswith((".", "/", "~")):
        raise PortrayalError(f"no model at {path}. Give a folder, a file, or a hub name such as 'openai/clip-vit-b'.")
    try:
        from huggingface_hub import snapshot_download

        path = Path(snapshot_download(named, allow_patterns=FILES, local_files_only=not download))
        if any(path.glob("*.safetensors")):
            return path
        # Older models have their weights as a pickle only.
        return Path(
            snapshot_download(named, allow_patterns=["*.json", "*.txt", "*.bin"], local_files_only=not download)
        )
    except ImportError:
        raise MissingExtra(f"the hub model {named!r}", "torch") from None
    # The hub's client raises many kinds: no network, no such name, not in the cache.
    except Exception as error:
        missing = "is not in the local cache; add download = true to fetch it"
        how = "could not be fetched" if download else missing
        raise PortrayalError(f"model {named!r} {how} ({type(error).__name__}).") from None


def fingerprint(path: Path) -> str:
    """Return a short hash of a model from samples of its files."""
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
    digest = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        with file.open("rb") as handle:
            digest.update(f"{size}".encode() + handle.read(SAMPLE))
            handle.seek(max(0, size - SAMPLE))
            digest.update(handle.read(SAMPLE))
    return digest.hexdigest()[:16]
