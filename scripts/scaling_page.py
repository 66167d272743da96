"""Write the tables of docs/scaling.md from what the benchmarks measured: `python scripts/scaling_page.py`.

    python scripts/scaling_page.py [--results benchmarks/results] [--page docs/scaling.md] [--set dollars_core_hour=0.05 ...]

The block between the two comments of the page is replaced, so that no figure there is typed by hand. Prices and sizes of machines are
assumptions: they are named in the page and changed with `--set`. A figure whose file is missing is "not measured yet".
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- scaling:begin -->", "<!-- scaling:end -->"
NOT_YET = "not measured yet"

# Not measured: what a machine is and costs, in how many hours the work is to be done, and how large the data are.
ASSUMPTIONS: dict[str, tuple[float, str]] = {
    "dollars_core_hour": (0.04, "dollars for an hour of one core"),
    "dollars_gpu_hour": (4.0, "dollars for an hour of one GPU with its cores"),
    "dollars_gigabyte_month": (0.02, "dollars for a gigabyte stored for a month"),
    "cores_machine": (64, "cores of a machine"),
    "gigabytes_machine": (256, "gigabytes of memory of a machine"),
    "hours": (24, "hours in which the work is to be done"),
    "captions_pair": (2, "captions of a pair: a person's and a system's"),
    "mentions_caption": (8, "mentions parsed out of a caption"),
    "tags_picture": (20, "tags of a picture"),
    "queries": (250, "queries of a search audit"),
}

MEASURED = ("engine", "captions", "out_of_core", "index_size", "gpu_images")  # files of single benchmarks
ROWS = ("indexing", "search", "genderedness", "recorded_calls")  # files of `make bench`
BENCH_QUERIES = 250  # queries that are searched, of its rows

Results = Mapping[str, Mapping[str, Any]]
Given = Mapping[str, float]


@dataclass(frozen=True)
class Step:
    """A step of a job: what one item costs, in seconds of a core, of a GPU, or of the one process that cannot be divided."""

    name: str
    on: str  # core, GPU or one
    items: float
    seconds: float | None  # an item; None: not measured
    source: str
    remedy: str

    @property
    def hours(self) -> float | None:
        """Hours of one core, GPU or process."""
        return None if self.seconds is None else self.seconds * self.items / 3600


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what every benchmark saved, by the name of its file."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def figure_of(results: Results, name: str, *steps: str | int) -> float | None:
    """Return a figure inside a benchmark's results, or None where it, or the benchmark, is not there."""
    found: Any = results.get(name)
    for step in steps:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return None
    return found if isinstance(found, int | float) else None


def each(total: float | None, count: float | None, share: float = 1.0) -> float | None:
    """Return what one costs of so many."""
    return None if total is None or not count else share * total / count


def row_cost(results: Results, name: str) -> float | None:
    """Return processor seconds of one unit of a row of `make bench`."""
    return each(figure_of(results, name, "ours", "processor"), figure_of(results, name, "size"))


def caption_steps(results: Results, given: Given, pairs: float = 5e9) -> list[Step]:
    """Return the steps of an audit of so many pairs of captions."""
    captions = pairs * given["captions_pair"]
    parsing = figure_of(results, "captions", "sources", "distinct", "parsing_processor")
    handing = figure_of(results, "engine", "engines", "local", "shard_microseconds", "2")
    rows = figure_of(results, "out_of_core", "jobs", "mentions", -1, "rows")
    measuring = figure_of(results, "out_of_core", "jobs", "mentions", -1, "processor")
    return [
        Step("parse captions into scene graphs", "core", captions,
             each(parsing, figure_of(results, "captions", "captions")), "captions",
             "Parse each distinct caption once, and drop captions without a person by the tokenizer alone before they are parsed."),
        Step("hand shards to workers", "one", captions, each(handing, figure_of(results, "engine", "shard"), 1e-6), "engine",
             "Larger shards, or one driver for each part of the files: parts are summed afterwards."),
        Step("count mentions, files on disk", "core", captions,
             each(measuring, rows, given["mentions_caption"]), "out_of_core",
             "Counts of parts add up: each machine counts its own files, and the sums are added."),
    ]  # fmt: skip


def search_steps(results: Results, given: Given, documents: float = 1e9) -> list[Step]:
    """Return the steps of an audit of an index of so many documents."""
    searched = each(row_cost(results, "search"), BENCH_QUERIES, given["queries"])
    return [
        Step("index documents", "core", documents, row_cost(results, "indexing"), "indexing",
             "Index parts of the collection side by side, each small enough for one machine's memory."),
        Step(f"search {given['queries']:,.0f} queries", "core", documents, searched, "search",
             "Search the parts side by side with the word weights of the whole, and merge the lists."),
        Step("genderedness of the lists", "core", given["queries"], row_cost(results, "genderedness"), "genderedness",
             "Nothing: the lists are as long as before, however large the collection."),
    ]  # fmt: skip


def picture_steps(results: Results, given: Given, pictures: float = 1e8) -> list[Step]:
    """Return the steps of an audit of so many pictures."""
    rate = figure_of(results, "gpu_images", "images_per_second", "exact")
    rows = figure_of(results, "out_of_core", "jobs", "tags", -1, "rows")
    counting = figure_of(results, "out_of_core", "jobs", "tags", -1, "processor")
    calls = each(figure_of(results, "recorded_calls", "ours", "seconds"), figure_of(results, "recorded_calls", "size"))
    return [
        Step("decode and encode", "GPU", pictures, None if rate is None else 1 / rate, "gpu_images",
             "More cores beside each GPU: pictures do not depend on one another."),
        Step("record answers, one run", "one", pictures, calls, "recorded_calls",
             "One run for each part of the pictures, each with a ledger of its own; or embeddings in files, read as recorded ones."),
        Step("count tags, files on disk", "core", pictures,
             each(counting, rows, given["tags_picture"]), "out_of_core",
             "Counts of parts add up: each machine counts its own files."),
    ]  # fmt: skip


Steps = Callable[[Results, Given], list[Step]]
JOBS: dict[str, Steps] = {
    "5 billion pairs of captions": caption_steps,
    "An index of 1 billion documents": search_steps,
    "100 million pictures": picture_steps,
}


def efficiency(results: Results) -> float | None:
    """Return how much of a second worker the local engine turns into speed: time with one over twice the time with two."""
    one, two = (figure_of(results, "engine", "engines", "local", "seconds", workers) for workers in "12")
    return None if one is None or not two else min(1.0, one / (2 * two))


def dollars(step: Step, given: Given, efficient: float | None) -> float | None:
    """Return what a step costs; workers that wait for one another are paid too."""
    if step.hours is None or efficient is None:
        return None
    price = given["dollars_gpu_hour"] if step.on == "GPU" else given["dollars_core_hour"]
    return step.hours * price / (1.0 if step.on != "core" else efficient)


def machines(step: Step, given: Given, efficient: float | None) -> int | None:
    """Return how many machines (GPUs, or runs side by side) finish a step in time."""
    if step.hours is None or efficient is None:
        return None
    each_does = given["cores_machine"] * efficient if step.on == "core" else 1
    return max(1, math.ceil(step.hours / each_does / given["hours"] - 1e-9))


WORDS = {"core": ("core", "machine"), "GPU": ("GPU", "GPU"), "one": ("process", "run")}


def job_lines(title: str, steps: Sequence[Step], given: Given, efficient: float | None) -> Iterator[str]:
    """Yield a job: its steps, its sum, its bottleneck."""
    yield f"### {title}\n"
    hours = f"{given['hours']:g}"
    yield f"| step | measured by | an item | items | hours of one | in {hours} h | dollars |\n|---|---|---|---|---|---|---|"
    for step in steps:
        count, cost = machines(step, given, efficient), dollars(step, given, efficient)
        unit, many = WORDS[step.on]
        yield (
            f"| {step.name} | `{step.source}` | {seconds(step.seconds)} | {step.items:,.0f} |"
            f" {shown(step.hours, f'{unit}-hours')} | {shown(count, many + ('' if count == 1 else 's'))} | {shown(cost)} |"
        )
    yield ""
    yield bottleneck(steps, given, efficient)
    yield ""


def bottleneck(steps: Sequence[Step], given: Given, efficient: float | None) -> str:
    """Name the step that costs most, the one that cannot be divided in time, and what one would do."""
    costs = [dollars(step, given, efficient) for step in steps]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(steps):
        missing = ", ".join(step.name for step, cost in zip(steps, costs, strict=True) if cost is None)
        return f"In all: {NOT_YET} ({missing})."
    total = sum(known)
    most, step = max(zip(known, steps, strict=True), key=lambda pair: pair[0])
    said = f"In all {shown(total)} dollars. Bottleneck: {step.name}, {most / total:.0%} of them. {step.remedy}"
    late = [one for one in steps if one.on == "one" and (one.hours or 0) > given["hours"]]
    for one in late:
        said += (
            f" In time it also needs {machines(one, given, efficient)} runs side by side to {one.name}. {one.remedy}"
        )
    return said


def engine_lines(results: Results) -> Iterator[str]:
    """Yield what an engine costs and how it grows from one worker to two."""
    yield "### The engine\n"
    yield (
        "| engine | first result | a shard, 1 worker | 2 workers | captions a second, 1 worker | 2 workers | two over one |"
        " workers one driver can feed |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for engine in ("local", "ray"):
        at = ("engine", "engines", engine)
        start = figure_of(results, *at, "start_seconds")
        costs = [figure_of(results, *at, "shard_microseconds", workers) for workers in "12"]
        times = [figure_of(results, *at, "seconds", workers) for workers in "12"]
        count, shard = figure_of(results, *at, "captions"), figure_of(results, "engine", "shard")
        rates = [None if not time or count is None else count / time for time in times]
        faster = None if not times[0] or not times[1] else times[0] / times[1]
        fed = None
        if costs[1] and times[0] and count and shard:  # seconds of work in a shard over seconds of handing it over
            fed = math.floor(times[0] / count * shard / (costs[1] * 1e-6))
        cells = [
            shown(start, "s"), *(seconds(None if cost is None else cost * 1e-6) for cost in costs),
            *(shown(rate) for rate in rates), shown(faster), shown(fed),
        ]  # fmt: skip
        yield f"| {engine} | " + " | ".join(cells) + " |"
    yield ""


def memory_lines(results: Results, given: Given, documents: float = 1e9) -> Iterator[str]:
    """Yield what an index takes in memory, and how many machines hold it."""
    one = figure_of(results, "index_size", "bytes_each")
    whole = None if one is None else one * documents / 1e9
    held = None if whole is None else math.ceil(whole / given["gigabytes_machine"])
    yield (
        f"Memory of the index while it is made: {shown(one, 'bytes')} a document (`index_size`),"
        f" {shown(whole, 'GB')} in all, {shown(held, 'machines')} to hold it.\n"
    )


def disk_lines(results: Results, given: Given, pairs: float = 5e9) -> Iterator[str]:
    """Yield what the parsed mentions take on disk."""
    at = ("out_of_core", "jobs", "mentions", -1)
    each_row = each(figure_of(results, *at, "disk"), figure_of(results, *at, "rows"))
    rows = pairs * given["captions_pair"] * given["mentions_caption"]
    whole = None if each_row is None else each_row * rows
    price = None if whole is None else whole * given["dollars_gigabyte_month"]
    yield f"Parsed mentions on disk: {shown(whole, 'GB')}, {shown(price, 'dollars')} a month.\n"


def document(results: Results, given: Given) -> str:
    """Return the block of the page."""
    efficient = efficiency(results)
    lines = ["### What is assumed, not measured\n", "| assumption | |\n|---|---|"]
    lines += [f"| {ASSUMPTIONS[name][1]} (`{name}`) | {value:g} |" for name, value in given.items()]
    lines += ["", *engine_lines(results)]
    said = "of a second worker's time is turned into speed (1: all of it); cores beyond two are counted so too."
    lines.append(
        f"{shown(efficient)} {said}\n" if efficient is not None else f"What a second worker brings: {NOT_YET}.\n"
    )
    after = {caption_steps: disk_lines, search_steps: memory_lines}
    for title, steps in JOBS.items():
        lines += job_lines(title, steps(results, given), given, efficient)
        lines += after[steps](results, given) if steps in after else []
    lines.append("Measured: " + (_dates(results) or NOT_YET) + ".")
    return "\n".join(lines)


def _dates(results: Results) -> str:
    names = (*MEASURED, *ROWS)
    return ", ".join(f"`{name}` {results[name]['date']}" for name in names if "date" in results.get(name, {}))


def shown(number: float | None, unit: str = "") -> str:
    """Write a number to three digits, with its unit."""
    if number is None:
        return NOT_YET
    text = f"{number:,.0f}" if abs(number) >= 100 or number == int(number) else f"{number:.3g}"
    return f"{text} {unit}".rstrip()


def seconds(number: float | None) -> str:
    """Write a short time in the unit that fits."""
    if number is None:
        return NOT_YET
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if number * factor >= 1:
            return shown(number * factor, unit)
    return shown(number * 1e9, "ns")


def written(page: str, block: str) -> str:
    """Return the page with the block between its marks."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{block}\n\n{END}{tail}"


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "scaling.md")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help=f"of: {', '.join(ASSUMPTIONS)}")
    asked = parser.parse_args(words)
    given = {name: value for name, (value, _) in ASSUMPTIONS.items()}
    for name, _, value in (pair.partition("=") for pair in asked.set):
        if name not in given:
            parser.error(f"no assumption {name!r}. Expected one of: {', '.join(ASSUMPTIONS)}")
        given[name] = float(value)
    asked.page.write_text(written(asked.page.read_text(), document(read_results(asked.results), given)))


if __name__ == "__main__":
    main()
