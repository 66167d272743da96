"""Verification of a pack: files against hashes, and every number computed anew from its answers."""

import filecmp
import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.edges.sizes import parse_json
from portrayal.errors import PortrayalError
from portrayal.handover.archive import CHUNK, first_change, first_offset, unpack_archive, write_archive
from portrayal.handover.pack import FORM, LIST, NEEDED, SEAL, seal_of
from portrayal.run.contents import RECORD, evidence_of, kept_warnings, study_of
from portrayal.run.folder import Run, kept_json, kept_table, redaction_of
from portrayal.run.measurement import measure_evidence

ROUNDING = 1e-9  # of a number's size: what another processor's arithmetic may give
NAMING = ("system", "measure", "group", "versus", "stimulus", "repeat")


def compare_tables(name: str, packed: pl.DataFrame, computed: pl.DataFrame) -> tuple[list[str], int]:
    """Return the differences between tables, a line each, and the count of rounded numbers."""
    for column in [*computed.columns, *packed.columns]:
        if (column in packed.columns) != (column in computed.columns):
            side = "not kept" if column in computed.columns else "kept, and not computed"
            return [f"{name}: the column {column!r} is {side}"], 0
    if packed.height != computed.height:
        return [f"{name}: {packed.height:,} rows were kept and {computed.height:,} computed"], 0
    lines: list[str] = []
    rounded = 0
    for column in computed.columns:
        rows, near = _different(packed[column], computed[column])
        rounded += near
        for row in rows:
            about = [str(computed[key][row]) for key in NAMING if key in computed.columns and computed[key][row]]
            where = f" ({', '.join(about)})" if about else ""
            values = f"{_excerpt(packed[column][row])} was kept and {_excerpt(computed[column][row])} computed"
            lines.append(f"{name}: row {row}{where}, column {column}: {values}")
    return lines, rounded


def _different(packed: pl.Series, computed: pl.Series) -> tuple[list[int], int]:
    """Return the rows in which two columns differ, and how many only by rounding."""
    if packed.dtype.is_float() and computed.dtype.is_float():
        one, other = (column.fill_null(float("nan")).to_numpy() for column in (packed, computed))
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        near = np.abs(one - other) <= ROUNDING * np.maximum(np.abs(one), np.abs(other))
        nulls = packed.is_null().to_numpy() == computed.is_null().to_numpy()
        return np.flatnonzero(~((same | near) & nulls)).tolist(), int((near & ~same).sum())
    pairs = zip(packed.to_list(), computed.to_list(), strict=True)
    return [row for row, (one, other) in enumerate(pairs) if not _same(one, other)], 0


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)
    return type(one) is type(other) and bool(one == other)


def _excerpt(value: Any) -> str:
    text = repr(value.to_list() if isinstance(value, pl.Series) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."


SHOWN = 50  # differences that are printed


@dataclass
class Verification:
    """Outcome of checking a pack: what was checked, and everything that differs."""

    file: str
    differences: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """True where nothing differs."""
        return not self.differences

    def lines(self) -> list[str]:
        """Return what was checked and what differs, a line each."""
        more = len(self.differences) - SHOWN
        differing = [f"DIFFERS: {line}" for line in self.differences[:SHOWN]]
        differing += [f"DIFFERS: and {more:,} more"] if more > 0 else []
        verdict = "holds" if self.holds else "does not hold"
        return [*self.checked, *differing, f"{self.file} {verdict}"]


def verify(file: Path | str) -> Verification:
    """Check a pack: files against hashes, results against what its answers give.

    The file may lie anywhere; nothing of its study needs to be there.

    Returns
    -------
    Verification
        `holds`, `differences` (file and byte, or table, row and column), `checked`, and `lines()` of both.

    Raises
    ------
    PortrayalError
        When it is no pack, or holds what could do harm.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, example_study, pack, verify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = audit(example_study(), f"{folder}/run", quiet=True)
    ...     _ = pack(f"{folder}/run", f"{folder}/run.zip")
    ...     verify(f"{folder}/run.zip").holds
    True
    """
    path = Path(file)
    outcome = Verification(path.name)
    with tempfile.TemporaryDirectory() as unpacked:
        folder = Path(unpacked) / "run"
        folder.mkdir()
        names = unpack_archive(path, folder)
        about = _about(path, folder)
        outcome.differences += _changed_files(folder, names, about)
        outcome.checked.append(f"{len(names):,} files held against their hashes")
        if not outcome.differences:
            outcome.differences += _changed_archive(path, folder, names, Path(unpacked))
        for step in (_check_manifest, _recompute):
            try:
                step(Run(folder), outcome)
            # Tables and answers from somebody else may be anything, and what stumbles over them says where.
            except (Exception, pl.exceptions.PanicException) as error:
                reason = f"{type(error).__name__} {error}" if not isinstance(error, PortrayalError) else str(error)
                reason = reason.replace(str(folder), "pack").splitlines()[0][:300]
                outcome.differences.append(f"it cannot be measured again: {reason}")
                break
    return outcome


def _about(path: Path, folder: Path) -> dict[str, Any]:
    """Read the list of files; without one that can be read it is no pack."""
    try:
        about = parse_json((folder / LIST).read_bytes())
        complete = set(NEEDED) | {"ledger.sqlite"} <= set(about["files"])
        if about["form"] != FORM or not complete or not all(map(_is_fingerprint, about["files"].values())):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        reason = f"{path} has no {LIST} that this version can read. Expected what portrayal pack wrote."
        raise PortrayalError(reason) from None
    return dict(about)


def _is_fingerprint(value: Any) -> bool:
    return {name: type(one) for name, one in value.items()} == {"bytes": int, "sha256": str, "blocks": str}


def _changed_files(folder: Path, names: list[str], about: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each file that changed, with the first byte that differs."""
    yield from _changed_list(folder)
    listed = about["files"]
    for name in sorted({*listed, *names} - {LIST, SEAL}):
        if name not in names:
            yield f"{name}: it is listed and not there"
        elif name not in listed:
            yield f"{name}: it is there and not listed"
        elif why := first_change(folder / name, listed[name]):
            yield f"{name}: {why}"


def _changed_list(folder: Path) -> Iterator[str]:
    """Compare the list of files with its seal, either of which may have changed."""
    wanted = seal_of(folder / LIST)
    stored_one = (folder / SEAL).read_bytes() if (folder / SEAL).is_file() else b""
    if stored_one == wanted:
        return
    try:
        sealed = parse_json(stored_one)[LIST]
        of_another = _is_fingerprint(sealed) and sealed["sha256"] != parse_json(wanted)[LIST]["sha256"]
        if of_another and sealed["blocks"] != parse_json(wanted)[LIST]["blocks"]:
            yield f"{LIST}: {first_change(folder / LIST, sealed)}"
            return
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    yield f"{SEAL}: byte {first_offset(stored_one, wanted)} is the first that differs"


def _changed_archive(path: Path, folder: Path, names: list[str], temporary: Path) -> Iterator[str]:
    """Compare the archive with the one its files give: its names, times and checksums."""
    again = temporary / "again.zip"
    write_archive(again, {name: folder / name for name in names})
    if filecmp.cmp(path, again, shallow=False):
        return
    with path.open("rb") as first, again.open("rb") as second:
        start = 0
        while (one := first.read(CHUNK)) == (other := second.read(CHUNK)) and one:
            start += len(one)
    place = start + first_offset(one, other)
    yield f"{path.name}: byte {place} of the archive around the files; the files are whole"


def _check_manifest(run: Run, outcome: Verification) -> None:
    """Hold study and stimuli against the hashes the manifest noted before anything was asked."""
    manifest = kept_json(run.manifest, dict, RECORD)
    if manifest.get("study_sha256") != hashlib.sha256(run.study.read_bytes()).hexdigest():
        outcome.differences.append("study.toml: it is not the study whose hash manifest.json has")
    stimuli = kept_table(run.stimuli, RECORD)
    stored_one = manifest.get("stimuli")
    hashes = dict(stimuli.select("stimulus", "hash").iter_rows())
    for name in sorted({*hashes, *(stored_one if isinstance(stored_one, dict) else ())}):
        if not isinstance(stored_one, dict) or stored_one.get(name) != hashes.get(name):
            outcome.differences.append(f"stimuli.parquet: {name!r} has another hash than in manifest.json")
    for picture in sorted(run.folder.glob("pictures/*")):
        if picture.stem != hashlib.sha256(picture.read_bytes()).hexdigest():
            outcome.differences.append(f"pictures/{picture.name}: it is not the picture of that hash")
    outcome.checked.append(f"{stimuli.height:,} stimuli held against their hashes")


def _recompute(run: Run, outcome: Verification) -> None:
    """Measure the answers again and hold every table against the one that was packed."""
    if reason := redaction_of(run):
        outcome.checked.append(f"not measured again: {reason}")
        return
    study = study_of(run, run.folder)
    evidence = evidence_of(study, run)
    measured = measure_evidence(study, evidence)
    results = measured.results
    if "study" in kept_table(run.results, "").columns:  # a report adds it
        results = results.with_columns(study=pl.lit(study.name))
    computed = {"responses.parquet": evidence.responses, "results.parquet": results}
    computed |= {f"tables/{name}.parquet": table for name, table in measured.tables.items()}
    rounded = 0
    for name, table in computed.items():
        lines, near = compare_tables(name, kept_table(run.folder / name, ""), table)
        outcome.differences += lines
        rounded += near
    for name, picture in measured.pictures.items():
        packed = (run.tables / f"{name}.png").read_bytes()
        if packed != picture:
            byte = first_offset(packed, picture)
            outcome.differences.append(f"tables/{name}.png: byte {byte} is not what was computed")
    if kept_json(run.warnings, list, "") != kept_warnings(measured):
        outcome.differences.append("warnings.json: it holds other warnings than measuring gave")
    rows = f"{evidence.responses.height:,} rows of answers"
    outcome.checked.append(f"{results.height:,} results measured again from {rows}")
    if rounded:
        outcome.checked.append(f"{rounded:,} numbers are the same up to rounding")
