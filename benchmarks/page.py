"""Results of the benchmarks, as lines on the screen and as docs/benchmarks.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.probes import WORDS, bound
from benchmarks.registry import BENCHMARKS

MOST = 1.1  # exponent of work that is linear
CAPTIONS_MOST = {"distinct": 90, "half of them repeated": 45}  # seconds on two cores
ALONE = ("captions", "out_of_core", "demo")
FLAT = 1.2  # peak memory at most, largest over smallest
MARK = "<!-- Written by `make bench`; change benchmarks/page.py, not this page. -->"

Found = Mapping[str, Any]


def lines(found: Found, rates: Mapping[str, float]) -> Iterator[str]:
    """Yield what one benchmark found, for the screen."""
    took = f" ({found['took']:.0f} s)" if "took" in found else ""
    if "failed" in found:
        yield f"{found['name']}: FAILED: {found['failed']}{took}"
        return
    ours = found["ours"]
    yield (
        f"{found['name']}: {found['size']:,} {found['unit']}, ours {duration(ours['seconds'])}"
        f" (processor {duration(ours['processor'])}), {limit(found, rates)}; check: {found['check']}{took}"
    )
    for peer in found["peers"]:
        yield f"    {peer['name']}: {verdict(peer)}; {peer.get('equal', 'not compared')}"
    if "growth" in found:
        yield f"    growth over {', '.join(f'{size:,}' for size in found['growth']['sizes'])}: {exponent(found)}"


def document(found: Mapping[str, Found], machine: Found, alone: Mapping[str, Found | None]) -> str:
    """Return docs/benchmarks.md; `alone` has what was measured without a peer, by the names in ALONE."""
    parts = [
        *_head(machine),
        *_ratios(found),
        *_limits(found, machine),
        *_growth(found),
        *_misses(found),
        *_captions(alone.get("captions")),
        *_larger(alone.get("out_of_core")),
        *_demo(alone.get("demo")),
    ]
    return "\n".join(parts) + "\n"


def _head(machine: Found) -> Iterator[str]:
    yield f"# Benchmarks\n\n{MARK}\n"
    yield (
        "`make bench` writes this page: every piece of work is done by us and by a peer on the same data in the same run,"
        " five times or more each, and medians are compared. Answers are held against each other before a ratio is printed."
        " `python -m benchmarks NAME` runs one, `--share 0.01 --runs 1` tries it out; the numbers behind this page are in"
        " `benchmarks/results/`. Peers live in environments of their own (`requirements/bench*.txt`), which the command makes.\n"
    )
    if machine:
        versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
        yield (
            f"Machine: {machine['processor']}, {machine['architecture']}, {machine['cores']} cores, {machine['memory_gb']} GB;"
            f" load when it began {machine['load']:.1f}. Date: {machine['date']}. {versions}.\n"
        )


def _ratios(found: Mapping[str, Found]) -> Iterator[str]:
    yield "## Ratios\n\nA ratio is the peer's median time over ours: 5 means five times as fast.\n"
    yield "| work | peer | ours | peer's | ratio | needed | |\n|---|---|---|---|---|---|---|"
    for one in found.values():
        if "failed" in one:
            yield f"| {one['work']} | | | | | | failed: {cell(one['failed'])} |"
            continue
        for peer in one["peers"]:
            yield _ratio(one, peer)
    yield ""


def _ratio(one: Found, peer: Found) -> str:
    needed = f"{peer['needed']:,}" if peer["needed"] else ""
    if "ratio" not in peer:
        said = peer.get("missing") or peer["failed"]
        return f"| {one['work']} | {peer['name']} | {duration(one['ours']['seconds'])} | | | {needed} | {cell(said)} |"
    kind = "processor" if peer["processor_ratio"] else "seconds"
    theirs = duration(peer["scale"] * peer["times"][kind])
    beside = [kind_of(peer), peer["scaled"], "" if peer["equal"] == "equal" else f"NOT EQUAL: {peer['equal']}"]
    return (
        f"| {one['work']} | {peer['name']} {peer['version']} | {duration(one['ours'][kind])} | {theirs} | {figure(peer['ratio'])} |"
        f" {needed} | {'; '.join(filter(None, [met(peer), *beside]))} |"
    )


def _limits(found: Mapping[str, Found], machine: Found) -> Iterator[str]:
    yield "## How far from the limit of the machine\n"
    if not machine:
        return
    yield (
        "Probes of the same run: "
        + "; ".join(f"{rate:.2g} {WORDS[name]}" for name, rate in machine["rates"].items())
        + ".\n"
    )
    yield (
        "The least the work needs (bytes read and written once, multiplications, commits) over what the probe reached is the time"
        " no program here can go below.\n"
    )
    yield "| work | bound by | least | ours | ours takes |\n|---|---|---|---|---|"
    for one in found.values():
        if "failed" in one:
            continue
        by, least = bound(one["limit"], machine["rates"])
        ours = one["ours"]["seconds"]
        yield f"| {one['work']} | {by} | {duration(least)} | {duration(ours)} | {figure(ours / least)} times as long |"
    yield ""


def _growth(found: Mapping[str, Found]) -> Iterator[str]:
    yield "## How the cost grows\n"
    yield "Ours at 1, 4 and 16 times a size; the exponent is the slope of the logarithms, 1 where cost is proportional.\n"
    yield "| work | sizes | seconds | exponent |\n|---|---|---|---|"
    for one in found.values():
        if "growth" in one:
            sizes = ", ".join(f"{size:,}" for size in one["growth"]["sizes"])
            seconds = ", ".join(map(duration, one["growth"]["seconds"]))
            yield f"| {one['work']} | {sizes} {one['unit']} | {seconds} | {exponent(one)} |"
    yield ""


def _misses(found: Mapping[str, Found]) -> Iterator[str]:
    """Say by how much a ratio is missed, and why."""
    missed = [(one, peer) for one in found.values() for peer in one.get("peers", ()) if met(peer).startswith("missed")]
    if not missed:
        return
    yield "## What is missed, and why\n"
    for one, peer in missed:
        why = BENCHMARKS[one["name"]].why if one["name"] in BENCHMARKS else ""
        yield f"- {one['name']}, {peer['name']}: {figure(peer['ratio'])} of {peer['needed']:,}. {why}".rstrip()
    yield ""


def _captions(captions: Found | None) -> Iterator[str]:
    if not captions:
        return
    yield "## Captions, parsed and measured\n"
    yield (
        f"`python benchmarks/captions.py`: {captions['captions']:,} captions, people's and a system's, by {captions['processes']} processes"
        f" on {captions['cores']} cores, load when it ended {captions['load']:.1f} ({captions['date']}). Memory is the peak so far of the"
        " parent and the largest child together.\n"
    )
    yield "| captions | parsed | parsed and measured | processor time | memory | at most | |\n|---|---|---|---|---|---|---|"
    yield from (_caption_row(name, one) for name, one in captions["sources"].items())
    yield ""


def _caption_row(name: str, one: Found) -> str:
    most = CAPTIONS_MOST.get(name)
    verdict = "" if most is None else ("met" if one["seconds"] < most else "missed")
    return (
        f"| {name} | {one['parsing_seconds']:.1f} s | {one['seconds']:.1f} s | {one['processor']:.0f} s | {one['memory_gb']:.2f} GB"
        f" | {'' if most is None else f'{most} s'} | {verdict} |"
    )


def _larger(jobs: Found | None) -> Iterator[str]:
    if not jobs:
        return
    yield "## Data larger than memory\n"
    yield (
        "`python benchmarks/out_of_core.py`: each job reads a folder of Parquet files in a process of its own"
        f" ({jobs['date']}, {jobs['cores']} cores). Growth is the largest peak of memory over the smallest; {FLAT:g} is the most it"
        " may be. In `lists` lists grow longer; in `queries` there are more of them, and more queries and judgments in the"
        " collection.\n"
    )
    yield "| job | rows | seconds | processor time | peak memory | growth | |\n|---|---|---|---|---|---|---|"
    for name, sizes in jobs["jobs"].items():
        peaks = [one["peak"] for one in sizes]
        growth = max(peaks) / min(peaks)
        for one in sizes:
            end = f"{growth:.2f} | {'met' if growth <= FLAT else 'missed'} |" if one is sizes[-1] else "| |"
            yield (
                f"| {name} | {one['rows']:,} | {one['seconds']:.0f} s | {one['processor']:.0f} s | {one['peak']:.2f} GB | {end}"
            )
    yield ""


def _demo(demo: Found | None) -> Iterator[str]:
    if not demo:
        return
    yield "## The demonstration\n"
    yield (
        f"`portrayal demo` took {demo['seconds']:.0f} s on {demo['cores']} cores after set-up, {demo['processor']:.0f} s of processor time"
        f" ({demo['date']}); 120 s is the most it may take: {'met' if demo['seconds'] < 120 else 'missed'}. Where the time went:\n"
    )
    yield "| part | seconds |\n|---|---|"
    yield from (f"| {name} | {seconds:.1f} |" for name, seconds in demo["parts"].items())
    yield ""


def verdict(peer: Found) -> str:
    """Say what a peer took and whether the ratio is reached."""
    if "ratio" not in peer:
        return peer.get("missing") or peer["failed"]
    needed = f" of {peer['needed']:,} needed, {met(peer)}" if peer["needed"] else ""
    beside = "".join(f"; {said}" for said in (kind_of(peer), peer["scaled"]) if said)
    return f"ratio {figure(peer['ratio'])}{needed}{beside}"


def met(peer: Found) -> str:
    """Say whether a ratio is reached, or how far off it is."""
    if not peer.get("needed") or "ratio" not in peer:
        return ""
    share = peer["ratio"] / peer["needed"]
    return "met" if share >= 1 else f"missed: {share:.0%} of what is needed"


def kind_of(peer: Found) -> str:
    return "processor time" if peer["processor_ratio"] else ""


def limit(found: Found, rates: Mapping[str, float]) -> str:
    """Say how far ours is from what the machine can do."""
    by, least = bound(found["limit"], rates)
    return f"{figure(found['ours']['seconds'] / least)} times the least that {by} allows"


def exponent(found: Found) -> str:
    """Say how cost grows, and whether that is more than it should."""
    grown = found["growth"]
    if math.isnan(grown["exponent"]):
        return "not measured: one size only"
    said = f"{grown['exponent']:.2f}"
    if not grown["linear"]:
        return f"{said} ({grown['grows']})"
    return said if grown["exponent"] <= MOST else f"{said}, over {MOST}"


def duration(seconds: float) -> str:
    """Write a time in the unit that fits."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1 or unit == "µs":
            return f"{figure(seconds * factor)} {unit}"
    return ""


def figure(number: float) -> str:
    """Write a number to three digits."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def cell(text: str) -> str:
    """Write a sentence so that it stays in its cell."""
    return text.replace("|", "/").replace("\n", " ")
