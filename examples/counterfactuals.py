"""Measure how the labels of a tagger follow a manipulated cue, from a table of answers; no picture and no model needed."""

import numpy as np
import polars as pl

from portrayal.audits.counterfactuals.measures.measure import measure_counterfactuals
from portrayal.audits.counterfactuals.measures.occupations import representation, shipped_table
from portrayal.pictures.series.values import steps


def main() -> None:
    # Forty source images, seven steps, three labels: one follows femininity, one masculinity, one neither.
    rng, values = np.random.default_rng(0), steps("gender")
    planted = {"Nurse": -0.3, "Scientist": 0.3, "Teacher": 0.0}
    stimuli, responses = [], []
    for picture in range(40):
        for value in values:
            name = f"{picture} {value:+.2f}"
            stimuli.append(
                {"stimulus": name, "picture": str(picture), "person": str(picture), "attribute": "gender",
                 "condition": "edited", "value": value}
            )  # fmt: skip
            for label, slope in planted.items():
                if rng.random() < 0.5 * (1 + slope * value):
                    responses.append(
                        {"system": "example", "stimulus": name, "repeat": 0, "status": "answered", "tag": label,
                         "confidence": 0.9}
                    )  # fmt: skip
            responses.append(
                {
                    "system": "example",
                    "stimulus": name,
                    "repeat": 0,
                    "status": "answered",
                    "tag": "Face",
                    "confidence": 1.0,
                }
            )
    _, tables, _ = measure_counterfactuals(pl.DataFrame(stimuli), pl.DataFrame(responses))
    print(tables["labels"].select("label", "slope", "low", "high", "p_adjusted", "passes_paper"))

    # The world the labels come from: Kay et al.'s image-search results against the workforce.
    search = shipped_table("image_search_gender")
    print(representation(search["search_p_women"], search["search_n"], search["bls_p_women"]))


if __name__ == "__main__":
    main()
