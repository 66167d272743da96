"""Measure captions you already have: four people, three captions each from people and from a captioner."""

import polars as pl

from portrayal.audits.captions.measures.audit import measure_system
from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, PEOPLE, SYSTEM_CAPTIONS, Options, Stages

HUMAN = {
    "1": ["A woman rides a horse.", "A woman on a brown horse."],
    "2": ["A man reads a book in a park.", "A man sits on a bench."],
    "3": ["A woman in a wheelchair throws a ball.", "A woman plays basketball."],
    "4": ["A man and his dog.", "A man walks a dog."],
}
SYSTEM = {
    "1": "A girl rides a horse.",
    "2": "A man reads a book on a bench.",
    "3": "A person sitting in a chair with a ball.",
    "4": "A dog on a street.",
}
GENDER = {"1": "female", "2": "male", "3": "female", "4": "male"}


def main() -> None:
    images = list(HUMAN)
    people = [(image, "gender", group, "the author of this example") for image, group in GENDER.items()]
    stages = Stages(images, people=pl.DataFrame(people, schema=PEOPLE, orient="row"))
    human = pl.DataFrame([{"image": i, "text": text} for i, texts in HUMAN.items() for text in texts])
    system = pl.DataFrame([{"image": i, "text": text} for i, text in SYSTEM.items()])
    for captions, stage in ((human, HUMAN_CAPTIONS), (system, SYSTEM_CAPTIONS)):
        stages = stages.with_system(*read_captions(captions, stage, images))
    found = measure_system(stages, "example", Options(permutations=99, bootstraps=20))
    described = pl.col("versus").is_null() & (pl.col("measure") == pl.col("quantity"))
    rows = found.rows.filter((pl.col("system") == "example") & (pl.col("value") > 0))
    for row in rows.filter(described).iter_rows(named=True):
        print(f"{row['harm']}: {row['quantity']}, {row['group']}: {row['value']:.2f} of {row['n']} ({row['bound']})")
    print("\nCases to read:")
    for case in found.reviews.filter(pl.col("stage") == SYSTEM_CAPTIONS).iter_rows(named=True):
        print(f"- {case['technique']}: {case['caption']} [{case['reason']}]")


if __name__ == "__main__":
    main()
