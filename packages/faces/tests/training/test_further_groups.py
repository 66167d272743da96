"""Recognition of a further group: by people of held-out folds, in bold below what is needed."""

import numpy as np
from training.further_groups import FURTHER, PAIR, READER, recognition, table, told_among, told_apart
from training.judges import GROUPS

EACH = 60


def people(apart: float, seed: int = 0) -> dict[str, np.ndarray]:
    """Return made-up embeddings: each group around a corner of its own, but Indian between Black and itself by `apart`."""
    random = np.random.default_rng(seed)
    corners = np.eye(7, 16)
    indian = (*GROUPS, *FURTHER).index("Indian")
    corners[indian] = apart * corners[indian] + (1 - apart) * corners[GROUPS.index("Black")]
    group = np.repeat(np.arange(7), EACH)
    return {"embeddings": corners[group] + random.normal(0, 0.05, (len(group), 16)), "group": group}


def test_groups_that_lie_apart_are_told_and_those_that_do_not_are_not() -> None:
    found = {one.group: one for one in recognition(people(apart=0.0))}
    apart, alike = found["Southeast Asian"], found["Indian"]
    assert apart.own.all() and apart.others.all() and all(pair.all() for pair in apart.pairs)
    assert 0.2 < alike.own.mean() < 0.8  # a coin tells it from Black
    white, black, east_asian = (pair.mean() for pair in alike.pairs)
    assert white == east_asian == 1 and 0.3 < black < 0.7


def test_nobody_is_read_by_a_reader_that_was_fitted_on_them() -> None:
    # Labels by coin: whoever reads what they were fitted on tells more than half of them in 200 dimensions.
    random = np.random.default_rng(1)
    vectors, second = random.normal(size=(200, 200)), random.random(200) < 0.5
    assert 0.35 < told_apart(vectors, second).mean() < 0.65
    group = np.where(second, "one", "two")
    assert 0.35 < (told_among(vectors, group) == group).mean() < 0.65


def test_what_is_less_than_needed_is_bold_and_the_order_of_people_does_not_matter_to_the_names() -> None:
    lines = table(people(apart=0.0)).splitlines()
    assert len(lines) == 2 + len(FURTHER) + 1
    said = {line.split(" | ")[0].removeprefix("| "): line for line in lines[2:-1]}
    assert list(said) == list(FURTHER)
    assert said["Indian"].count("**") == 4 and "**" not in said["Middle Eastern"]  # itself, and from Black
    assert said["Middle Eastern"].startswith(f"| Middle Eastern | {EACH} | 100.0% (")
    assert f"| **needed** |  | {READER:.0%} |  | {PAIR:.0%} | {PAIR:.0%} | {PAIR:.0%} |" == lines[-1]
