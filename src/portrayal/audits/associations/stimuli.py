"""Declared tests and their stimuli, from the settings of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.associations.measures.declaration import CHECK, SETS, AssociationTest
from portrayal.audits.associations.picture_sets import PictureSet, read_picture_set
from portrayal.audits.associations.prompts import fill, templates
from portrayal.audits.associations.settings import AssociationsSettings, OwnTest
from portrayal.audits.associations.stimulus_sets import Item, content_hash, first_of, read_set, sees_pictures
from portrayal.errors import PortrayalError
from portrayal.study.study import Study
from portrayal.tables import STIMULI
from portrayal.text.lexicons import association_test

SHOWN = 2  # stimuli that stand for a set without a name


def declared_tests(study: Study) -> list[AssociationTest]:
    """Return the study's tests, named by what they compare, with sets put into templates."""
    settings: AssociationsSettings = study.settings
    own = [OwnTest(name=name, base=name) for name in settings.tests] + list(settings.test)
    if not own:
        raise PortrayalError('[associations] names no test. Add tests = ["weat6"] or [[associations.test]].')
    for name, times in Counter(test.name for test in own).items():
        if times > 1:
            raise PortrayalError(f"test {name!r} is listed twice. Give each test its own name.")
    tests = [_declared(test, settings, study.folder) for test in own]
    compared = [
        f"{f'{test.x_name} and {test.y_name}' if test.y else test.x_name} with {test.a_name} and {test.b_name}"
        for test in tests
    ]
    return [
        replace(test, name=f"{words} ({test.name})" if compared.count(words) > 1 else words)
        for test, words in zip(tests, compared, strict=True)
    ]


def make_stimuli(study: Study) -> pl.DataFrame:
    """Return one row per unique text or image, by text or path."""
    members: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], Item] = {}
    for test in declared_tests(study):
        for name in SETS:
            for item in test.items(name):
                key = (item.kind, item.content)
                first.setdefault(key, item)
                members.setdefault(key, []).append(test.called(name))
    seen = sees_pictures(study.systems)
    rows = [_stimulus(item, members[key], study.folder, seen) for key, item in first.items()]
    return pl.DataFrame(rows, schema={**STIMULI, "sets": pl.String, "cluster": pl.String}, orient="row")


def _stimulus(item: Item, sets: Sequence[str], folder: Path, seen: bool) -> dict[str, Any]:
    image = item.kind == "image"
    return {
        "stimulus": item.content,
        "kind": item.kind,
        "content": str(folder / item.content) if image else item.content,
        "hash": content_hash(item, folder, seen),
        "source": item.source,
        "license": item.license,
        "consent": item.consent if image else "none shown",
        "sets": "; ".join(dict.fromkeys(sets)),
        "cluster": item.cluster,
    }


def _declared(own: OwnTest, settings: AssociationsSettings, folder: Path) -> AssociationTest:
    base: dict[str, Any] = association_test(own.base) if own.base else {}
    sets = {name: _read(own, base, name, folder) for name in SETS}
    for name in ("x", "a", "b"):
        if not sets[name]:
            raise PortrayalError(
                f"test {own.name!r} has no {name}. List its stimuli: {name} = [...]; see docs/associations_settings.md."
            )
    for one, other in ("xy", "ab"):
        both = {item.content for item in sets[one]} & {item.content for item in sets[other]}
        if both:
            raise PortrayalError(
                f"test {own.name!r} has {sorted(both)[0]!r} in {one} and in {other}. A stimulus stands on one side."
            )
    forms = templates(settings.templates or own.templates or base.get("templates", "none"))
    _refuse_half_known(own.name, sets)
    if len(forms) > 1 and {"x", "y"} & set(settings.template_sets):
        # One target in several prompts is still one target.
        for name in ("x", "y"):
            sets[name] = [replace(item, cluster=item.cluster or item.stem) for item in sets[name]]
    put = {
        name: _put(items, forms, settings.article == "authors") if name in settings.template_sets else items
        for name, items in sets.items()
    }
    called = {f"{name}_name": _called(own, base, name, items) for name, items in sets.items()}
    harm = own.harm if own.harm is not None else base.get("harm", "")
    harm = "" if harm == CHECK and (own.x or own.y) else harm  # other targets are no check
    harm = harm.replace("{x}", called["x_name"]).replace("{y}", called["y_name"])
    return AssociationTest(own.name, put["x"], put["y"], put["a"], put["b"], **called, harm=harm, in_study=own.name)


def _called(own: OwnTest, base: dict[str, Any], name: str, items: Sequence[Item]) -> str:
    """Return a set's name, by study, test that ships, or its first stimuli."""
    named = getattr(own, f"{name}_name") or base.get(f"{name}_name")
    if named or not items:
        return str(named or "")
    words = [item.content if item.kind == "text" else Path(item.content).name for item in items]
    return first_of(words, SHOWN)


def _refuse_half_known(test: str, sets: dict[str, list[Item]]) -> None:
    """Refuse a test that names people on one side only."""
    known = {name: any(item.cluster for item in sets[name]) for name in ("x", "y") if sets[name]}
    if len(set(known.values())) > 1:
        lacking = next(name for name, has in known.items() if not has)
        raise PortrayalError(
            f"test {test!r} does not say who {lacking} shows. Give {lacking}_cluster, or cluster for both sides."
        )


def _read(own: OwnTest, base: dict[str, Any], name: str, folder: Path) -> list[Item]:
    named = base.get(name) if getattr(own, name) is None else getattr(own, name)
    if named is None:
        return []
    target = name in ("x", "y")
    ids = (getattr(own, f"{name}_cluster") or own.cluster) if target else None
    where = f"{name} of test {own.name!r}"
    if isinstance(named, PictureSet):
        items = read_picture_set(named, where, folder, own.cluster if target else None)
    else:
        items = read_set(named, where, folder, own.kind if target else own.attribute_kind, ids)
    # Marked as having one spelling; templates part it into the right and the printed article.
    return [replace(item, article="same", stem=item.content) for item in items]


def _put(items: Sequence[Item], forms: Sequence[str], authors: bool) -> list[Item]:
    """Put text items into every template, in every spelling of the article that differs."""
    if not items or items[0].kind != "text":
        return list(items)
    return [
        replace(item, content=text, prompt=form, article=spelling)
        for item in items
        for form in forms
        for text, spelling in _spellings(form, item.content, items[0].content if authors else None)
    ]


def _spellings(form: str, stimulus: str, first: str | None) -> list[tuple[str, str]]:
    """Return each text with its spellings; the authors' article agrees with `first`."""
    texts = {"right": fill(form, stimulus), "literal": fill(form, stimulus, right_article=False)}
    if first is not None:
        texts["authors"] = fill(form, stimulus, first=first)
    if len(set(texts.values())) == 1:
        return [(texts["right"], "same")]
    return [
        (text, "+".join(name for name, own in texts.items() if own == text)) for text in dict.fromkeys(texts.values())
    ]
