"""The Sexual OBjectification and EMotion database (SOBEM), which users obtain from its creators themselves.

280 photographs of ten women, named such as `10_AN1_NO_2.jpg`: person, emotion with intensity, condition, take. The emotion is
the instruction that the model was given. Photographs are read in place, never copied.

References
----------
.. [1] Ruzzante, Monachesi, Orabona, Vaes (2021), The Sexual OBjectification and EMotion database, Behavior
   Research Methods.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import polars as pl

from portrayal.audits.associations.stimulus_sets import picture_hash
from portrayal.errors import PortrayalError
from portrayal.tables import check_stimuli, read_table
from portrayal.text.lexicons import read_lexicon

CODES = {
    "emotion": {"AN": "anger", "SA": "sadness", "HA": "happiness", "NE": "neutral"},
    "intensity": {"1": "low", "2": "high", "": ""},
    "condition": {"NO": "nonobjectified", "O": "objectified"},
    "take": {"1": "hair tied", "2": "hair loose"},
}
NAME = re.compile(r"(\d+)_(AN|SA|HA|NE)([12]?)_(NO|O)_([12])")
PICTURES = {".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff"}
SOURCE = "SOBEM, Ruzzante et al. 2021"


def photographs(folder: Path | str, consent: str = "", seen: bool = True) -> pl.DataFrame:
    """Return the Stimuli of a user's copy of SOBEM with their factors."""
    table = list_photographs(folder)
    hashes = [picture_hash(Path(path), seen) for path in table["content"]]
    return check_stimuli(table.with_columns(hash=pl.Series(hashes), consent=pl.lit(consent)))


def list_photographs(folder: Path | str) -> pl.DataFrame:
    """Return photographs with their factors, from a folder or a text file of names."""
    folder = Path(folder)
    if not folder.is_dir() and not folder.is_file():
        raise PortrayalError(
            f"no folder at {folder}. SOBEM must be asked for from its creators; name your copy's folder."
        )
    if folder.is_file():
        paths = sorted(folder.parent / name for name in folder.read_text(encoding="utf-8").split())
    else:
        paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in PICTURES]
    about = {"kind": "image", "source": SOURCE, "license": "as agreed with the database's creators"}
    rows = [{**factors(path.stem), "content": str(path), **about} for path in paths if NAME.fullmatch(path.stem)]
    if not rows:
        raise PortrayalError(f"{folder} holds no photograph named such as 10_AN1_NO_2.jpg. Is it SOBEM?")
    return pl.DataFrame(rows)


def recorded_captions(path: Path | str) -> pl.DataFrame:
    """Return the recorded captions (JSON lines) with stimulus, factors, status and caption."""
    path = Path(path)
    if not path.is_file():
        raise PortrayalError(f"no recorded captions at {path}. Expected a .jsonl or .jsonl.gz file.")
    table = read_table(path)
    lacking = {"subject", *CODES, "caption"} - set(table.columns)
    if lacking:
        raise PortrayalError(f"{path.name} lacks column {sorted(lacking)[0]!r}. Expected SOBEM captions.")
    silent = pl.col("caption").fill_null("") == ""
    table = table.with_columns(pl.col("subject", *CODES).cast(pl.String).fill_null(""))
    for name, words in CODES.items():
        strange = table.with_row_index("line", offset=1).filter(~pl.col(name).is_in(list(words)))
        if not strange.is_empty():
            line, code = strange.select("line", name).row(0)
            known = ", ".join(repr(word) for word in words)
            raise PortrayalError(f"{path.name}, caption {line}: {name} is {code!r}. Expected one of {known}.")
    return table.select(
        pl.format("{}_{}{}_{}_{}", "subject", *CODES).alias("stimulus"),
        pl.col("subject").alias("person"),
        *(pl.col(name).replace_strict(words) for name, words in CODES.items()),
        pl.when(silent).then(pl.lit("empty")).otherwise(pl.lit("answered")).alias("status"),
        "caption",
    )


def caption_stimuli(captions: pl.DataFrame) -> pl.DataFrame:
    """Return the Stimuli behind recorded captions: photographs that are not here, known by name only."""
    photos = captions.select("stimulus", "person", *CODES).unique(maintain_order=True).with_columns(content="stimulus")
    hashes = pl.Series([hashlib.sha256(name.encode()).hexdigest() for name in photos["stimulus"]], dtype=pl.String)
    about = {"kind": "image", "source": SOURCE, "license": "", "consent": "unknown"}
    return check_stimuli(photos.with_columns(hash=hashes, **{name: pl.lit(text) for name, text in about.items()}))


def factors(stem: str) -> dict[str, str]:
    """Read the factors off a file's name."""
    match = NAME.fullmatch(stem)
    if match is None:
        raise PortrayalError(f"{stem!r} is not a SOBEM name. Expected one such as 10_AN1_NO_2.")
    person, *codes = match.groups()
    known = {name: words[code] for (name, words), code in zip(CODES.items(), codes, strict=True)}
    return {"stimulus": stem, "person": person, **known}


def emotion_lexicon() -> dict[str, list[str]]:
    """Return the paper's words of each emotion (text/lexicons/emotion_words.csv)."""
    words = read_lexicon("emotion_words").group_by("emotion", maintain_order=True).agg("word")
    return dict(words.iter_rows())
