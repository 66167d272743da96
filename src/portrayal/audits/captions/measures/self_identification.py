"""Identity terms imposed where the reference has none of that axis; the technique is ours.

Definition: Wang et al. 2022, section 3.2. The reference fails where its writers knew more than the picture shows.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from portrayal.audits.captions.measures.technique import UPPER, Count, Outcome, Shares, Step, Steps, technique
from portrayal.audits.captions.reading.people import identity_terms, people_mentioned
from portrayal.audits.captions.reading.stages import CAPTIONED, HUMAN_LABELS, LABELS, SYSTEM_CAPTIONS, Options, Stages

ANY = "identity term imposed on any axis"
TEST = "identity_term_imposed"
UNNAMED = "the labels name no identity of anybody, so nothing tells which terms were imposed"


def steps(stages: Stages, options: Options) -> Steps:
    """Yield by axis the share of captions of people that impose a term, and cases."""
    reference = stages.chosen or next(filter(stages.has, (CAPTIONED[0], HUMAN_LABELS)), None)
    if reference is None or not stages.has(SYSTEM_CAPTIONS):
        return
    there = identity_terms(stages, reference, options).select("image", "axis").unique()
    # Labels may not name ages, say: of them only the axes that they do name are judged.
    judged = sorted((there if reference in LABELS else options.word_list("identity"))["axis"].unique())
    terms = identity_terms(stages, SYSTEM_CAPTIONS, options)
    imposed = terms.join(there, on=["image", "axis"], how="anti").filter(pl.col("axis").is_in(judged))
    both = stages.covered(reference) & set(people_mentioned(stages, SYSTEM_CAPTIONS)["image"])
    about = {"share_of": "captions that mention a person", "bound": UPPER, "note": "technique of this project"}
    for axis in (ANY, *judged) if judged else ():
        hits = imposed if axis == ANY else imposed.filter(pl.col("axis") == axis)
        about |= {"truth": reference, "compares": UPPER if axis == ANY else ""}
        quantity = ANY if axis == ANY else f"{axis} term imposed"
        of_axis = Shares.of(quantity, stages, SYSTEM_CAPTIONS, hits, both, **about)
        several: list[Step] = [of_axis]
        several += [Count(TEST, {SYSTEM_CAPTIONS: of_axis}, sorted(both))] if axis == ANY else []
        # Which axes labels could have named hangs on all labels together.
        yield from (partial(lambda step: step, one) for one in several) if reference in LABELS else several
    reason = pl.format("'{}' names {}; no reference caption does", "term", "axis")
    case = {"tuple": pl.col("term"), "reason": reason, "within": pl.format("{} term imposed", "axis")}
    yield partial(TECHNIQUE.cases, ANY, SYSTEM_CAPTIONS, imposed, **case)
    if not judged:
        yield Outcome(missing=UNNAMED)


TECHNIQUE = technique("denying self-identification: identity terms imposed", steps)
