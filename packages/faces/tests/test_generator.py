"""The face generator's networks: read from the package, run by torch and by ONNX Runtime, and steered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from portrayal.edges.parts.table import part_file
from portrayal.errors import PortrayalError
from portrayal.pictures.series.manifest import KINDS, WHOLE
from portrayal_faces.generator.blend import face_only, feathered
from portrayal_faces.generator.directions import Compass, find_compass, read_compass, way_name
from portrayal_faces.generator.generator import SHAPES, converted, draw_noise, map_noise, synthesise, truncated
from portrayal_faces.generator.network import read_network
from portrayal_faces.generator.onnx_network import to_onnx
from portrayal_faces.generator.placebo import _unrest, placebo
from portrayal_faces.generator.readings import BOTH, COLUMNS, HELD, PLACEBO_HELD, READ, WILD_WEIGHS, places, with_pairs
from portrayal_faces.generator.steering import (
    AMPLE,
    REACH,
    THRIFTY,
    Centre,
    Line,
    Span,
    _amount,
    _bent,
    _learnt,
    _reached,
    between,
    find_centre,
    lines,
    pictures_of,
    reach,
    span_of,
    steer,
)
from portrayal_faces.generator.torch_network import TorchNetwork

# y = PReLU(2 x + 1) with slope 0.5 below 0, over two numbers, in OpenVINO's form.
GRAPH = """<net name="tiny" version="10"><layers>
<layer id="0" name="x" type="Parameter"><data shape="1,2" element_type="f32"/><output><port id="0"/></output></layer>
<layer id="1" name="two" type="Const"><data element_type="f32" shape="1,1" offset="0" size="4"/><output><port id="0"/></output></layer>
<layer id="2" name="one" type="Const"><data element_type="f32" shape="1,1" offset="4" size="4"/><output><port id="0"/></output></layer>
<layer id="3" name="half" type="Const"><data element_type="f32" shape="1" offset="8" size="4"/><output><port id="0"/></output></layer>
<layer id="4" name="times" type="Multiply"><output><port id="2"/></output></layer>
<layer id="5" name="plus" type="{kind}"><output><port id="2"/></output></layer>
<layer id="6" name="bent" type="PReLU"><output><port id="2"/></output></layer>
<layer id="7" name="y" type="Result"/></layers><edges>
<edge from-layer="0" from-port="0" to-layer="4" to-port="0"/><edge from-layer="1" from-port="0" to-layer="4" to-port="1"/>
<edge from-layer="4" from-port="2" to-layer="5" to-port="0"/><edge from-layer="2" from-port="0" to-layer="5" to-port="1"/>
<edge from-layer="5" from-port="2" to-layer="6" to-port="0"/><edge from-layer="3" from-port="0" to-layer="6" to-port="1"/>
<edge from-layer="6" from-port="2" to-layer="7" to-port="0"/></edges></net>"""


def tiny(folder: Path, kind: str = "Add", numbers: tuple[float, ...] = (2.0, 1.0, 0.5)) -> Path:
    (folder / "tiny.xml").write_text(GRAPH.format(kind=kind))
    (folder / "tiny.bin").write_bytes(np.array(numbers, "<f4").tobytes())
    return folder / "tiny.xml"


def run_onnx(model: bytes, given: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"given": given})[0]


def test_a_network_by_hand(tmp_path: Path) -> None:
    network = read_network(tiny(tmp_path))
    # 2 * 3 + 1 = 7; 2 * -2 + 1 = -3, halved below 0
    assert TorchNetwork(network)(torch.tensor([[3.0, -2.0]])).tolist() == [[7.0, -1.5]]


def test_an_operation_that_is_not_known_is_named(tmp_path: Path) -> None:
    network = read_network(tiny(tmp_path, kind="Sort"))
    with pytest.raises(PortrayalError, match="no operation 'Sort' is known"):
        TorchNetwork(network)(torch.zeros(1, 2))

    with pytest.raises(PortrayalError, match="no operation 'Sort' is known"):
        to_onnx(network, [2])


def test_values_are_let_go_after_their_last_use_and_not_before() -> None:
    """All kept to the end, 16 faces of 1024 pixels took 28 GB of a GPU."""
    network = read_network(part_file("random-face", "data/SynthesisNetwork.xml", "this test"))
    done, alive = TorchNetwork(network).done, set[tuple[int, int]]()
    most = 0
    for node in network.nodes:
        assert set(node.inputs) <= alive
        alive |= {(node.number, port) for port in node.outputs}
        alive -= done[node.number]
        most = max(most, len(alive))
    made = sum(len(node.outputs) for node in network.nodes)
    assert not alive and most < made / 2


def test_constants_that_broke_off_are_said(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="ends at byte 8"):
        read_network(tiny(tmp_path, numbers=(2.0, 1.0)))


@pytest.mark.parametrize("name", ["MappingNetwork"])
def test_torch_and_onnx_runtime_agree_for_several_rows(name: str) -> None:
    network = read_network(part_file("random-face", f"data/{name}.xml", "this test"))
    noise = draw_noise(3, seed=4)
    first = TorchNetwork(network)(torch.from_numpy(noise)).numpy()
    second = run_onnx(to_onnx(network, SHAPES[name]), noise)
    assert first.shape == (3, 512)
    assert np.abs(first - second).max() < 2e-5


def test_the_same_face_from_torch_and_from_the_kept_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    style = truncated(map_noise(draw_noise(1, seed=1)), np.zeros(512, np.float32), 0.7)
    face = synthesise(style, side=256)
    assert (face.shape, face.dtype) == ((1, 256, 256, 3), np.uint8)
    network = read_network(part_file("random-face", "data/SynthesisNetwork.xml", "this test"))
    whole = TorchNetwork(network)(torch.from_numpy(style)).clamp(-1, 1)
    other = torch.nn.functional.interpolate(whole, size=256, mode="area")[0].permute(1, 2, 0).numpy()
    assert np.abs(face[0] - (other + 1) * 127.5).max() <= 0.51  # half a level of rounding
    kept = converted("SynthesisNetwork")
    assert kept.parent == tmp_path / "portrayal" / "generator"
    before = kept.stat().st_mtime_ns
    assert converted("SynthesisNetwork").stat().st_mtime_ns == before  # written once


def test_people_of_a_seed_do_not_depend_on_how_many_are_drawn() -> None:
    assert (draw_noise(5, seed=3)[:2] == draw_noise(2, seed=3)).all()


def test_pairs_of_groups_by_hand() -> None:
    read = np.zeros((1, len(READ)))
    races = [0.5, 0.25, 0.05, 0.05, 0.05, 0.05, 0.05]
    read[0, 5:12] = np.log(races)
    found = dict(zip(COLUMNS, with_pairs(read)[0], strict=True))
    assert found["White to Black"] == pytest.approx(np.log(0.5))  # .25 / .5
    assert found["White or Black"] == pytest.approx(np.log(3))  # .75 / .25


def test_outside_the_mask_a_blend_is_the_centre_bit_for_bit() -> None:
    random = np.random.default_rng(0)
    centre, edited = random.integers(0, 256, (2, 2, 64, 64, 3), dtype=np.uint8)
    region = np.zeros((2, 64, 64))
    region[:, 16:48, 16:48] = 1
    other = np.ones((2, 64, 64))
    other[:, :, :20] = 0  # there the edited picture shows hair
    mask = feathered(region, other)
    made = face_only(edited, centre, mask)
    outside = ~((region > 0) & (other > 0))
    assert (mask[outside] == 0).all()
    assert (made[outside] == centre[outside]).all()
    assert (mask[:, 24:40, 28:40] == 1).all()  # 64 / 32 = 2 pixels of feather and 2 of shrinking inside
    assert (made[:, 24:40, 28:40] == edited[:, 24:40, 28:40]).all()


class Phantom:
    """A studio whose pictures are the readings themselves, bent a little, as a real generator bends."""

    def __init__(self, bend: float) -> None:
        self.slopes, self.bend = np.random.default_rng(7).normal(size=(512, len(COLUMNS))) / 22, bend

    def render(self, styles: np.ndarray) -> np.ndarray:
        straight = styles @ self.slopes
        return straight + self.bend * np.tanh(straight)

    def regions(self, pictures: np.ndarray) -> np.ndarray:
        return pictures

    def over(self, pictures: np.ndarray, centre: Centre) -> np.ndarray:
        return centre.pictures + 0.8 * (pictures - centre.pictures)  # a mask hides some of every change

    def read(self, pictures: np.ndarray) -> np.ndarray:
        return pictures

    def distance(self, pictures: np.ndarray, others: np.ndarray) -> np.ndarray:
        return np.sqrt(np.mean((pictures - others) ** 2, axis=1))


@pytest.fixture(scope="module")
def phantom() -> tuple[Phantom, Compass, np.ndarray]:
    studio = Phantom(bend=0.4)
    styles = np.random.default_rng(8).normal(size=(4000, 512))
    return studio, find_compass(styles, studio.render(styles), styles.mean(axis=0)), styles[:6]


def test_a_move_changes_its_reading_and_none_of_those_held(phantom: tuple[Phantom, Compass, np.ndarray]) -> None:
    _, compass, _ = phantom
    names = ["gender", "age", "yaw"]
    change = compass.moves(names) @ compass.slopes[:, places(names)]
    assert np.abs(change - np.eye(3)).max() < 0.01


@pytest.mark.parametrize("line", lines(), ids=lambda line: line.varied)
@pytest.mark.parametrize("kind", ["whole", "face only"])
def test_steps_are_even_and_what_is_held_stays(phantom, line, kind: str) -> None:
    studio, compass, people = phantom
    centre = find_centre(studio, compass, people, line, span_of(line, kind).neutral)
    values = (-2, -1, 0, 1, 2)
    found = between(studio, compass, centre, line, values, kind)
    varied = [studio.read(pictures_of(studio, styles, centre, kind)) for styles in found]
    read, wanted = np.stack(varied)[:, :, places([line.varied])], reach(line, kind)
    assert np.abs(read[[0, -1]] - [[[-wanted]], [[wanted]]]).max() < 0.15
    if span_of(line, kind).even_in == "chance":
        read, wanted = 1 / (1 + np.exp(-read)), 1 / (1 + np.exp(-wanted)) - 0.5
    assert np.abs(np.diff(read, axis=0) / wanted - 0.5).max() < 0.055  # a step of 1 of 2
    held = places(list(line.held))
    assert np.abs(varied[0][:, held] - varied[-1][:, held]).max() < 0.15
    # everybody starts from the same neutral point
    middle = span_of(line, kind).neutral
    assert np.abs(centre.readings[:, places([line.varied])] - middle).max() < 0.1


def five_steps(
    phantom: tuple[Phantom, Compass, np.ndarray], kind: str, span: Span
) -> tuple[Centre, list[np.ndarray], np.ndarray]:
    """Return the centre of gender, the styles of five steps over a span, and what of gender is read at each."""
    studio, compass, people = phantom
    centre = find_centre(studio, compass, people, lines()[0], span.neutral)
    found = between(studio, compass, centre, lines()[0], (-2, -1, 0, 1, 2), kind, span=span)
    read = [studio.read(pictures_of(studio, one, centre, kind))[:, places([BOTH])[0]] for one in found]
    return centre, found, np.array(read)


@pytest.mark.parametrize("kind", KINDS)
def test_ends_lie_as_far_either_side_of_a_neutral_point_that_is_not_0(
    phantom: tuple[Phantom, Compass, np.ndarray], kind: str
) -> None:
    read = five_steps(phantom, kind, Span(0.5, neutral=0.4))[2]
    wanted = 0.4 + 0.5 * REACH[BOTH] * np.array([-1, -0.5, 0, 0.5, 1])
    assert np.abs(read - wanted[:, None]).max() < 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_goes_farther_than_the_span_says_and_steps_are_even_all_the_same(
    phantom: tuple[Phantom, Compass, np.ndarray], kind: str
) -> None:
    (_, compass, people), line = phantom, lines()[0]
    centre, found, read = five_steps(phantom, kind, Span(1.0, most=0.3))
    way = but_for_the_background(compass.way(line.varied, line.held) * REACH[BOTH], compass, line)
    moved = [but_for_the_background(one - centre.styles, compass, line) for one in found]
    gone = np.array([one @ way / (way @ way) for one in moved])
    assert gone[[0, -1]] == pytest.approx(np.outer([-0.3, 0.3], np.ones(len(people))))
    sizes = np.diff(read, axis=0)
    assert np.abs(sizes[0] - sizes[1]).max() < 0.05 and np.abs(sizes[2] - sizes[3]).max() < 0.05
    assert sizes.min() > 0.2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("neutral", [0.0, 0.3])
def test_steps_can_be_even_in_the_chance_that_is_read_with_the_same_ends(
    phantom: tuple[Phantom, Compass, np.ndarray], kind: str, neutral: float
) -> None:
    read = five_steps(phantom, kind, Span(0.8, neutral, even_in="chance"))[2]
    sizes = np.diff(1 / (1 + np.exp(-read)), axis=0)
    assert np.abs(sizes[0] - sizes[1]).max() < 0.02 and np.abs(sizes[2] - sizes[3]).max() < 0.02
    even_in_odds = five_steps(phantom, kind, Span(0.8, neutral))[2]
    assert np.abs(read - even_in_odds)[[0, 2, 4]].max() < 1e-9
    assert (np.abs(read - neutral) < np.abs(even_in_odds - neutral) - 0.1)[[1, 3]].all()


def test_places_beyond_the_farthest_are_one_place() -> None:
    assert Span(1.0, most=1.4).within((-1.7, -1.5, -1.1, 0.0, 1.1, 1.7)) == (-1.4, -1.1, 0.0, 1.1, 1.4)
    for effort in (AMPLE, THRIFTY):
        assert Span(1.0).within(effort.shares) == effort.shares


def test_a_placebo_is_as_large_as_asked_and_moves_no_reading(phantom: tuple[Phantom, Compass, np.ndarray]) -> None:
    studio, compass, people = phantom
    centre = find_centre(studio, compass, people, lines()[0], 0.0)
    sizes = [np.full(len(people), size) for size in (0.02, 0.05)]
    random = np.random.default_rng(9)
    for _ in range(2):
        for size, styles in zip(sizes, placebo(studio, compass, centre, sizes, "face only", random), strict=True):
            pictures = pictures_of(studio, styles, centre, "face only")
            assert np.abs(studio.distance(pictures, centre.pictures) / size - 1).max() < 0.1
            moved = (pictures - centre.pictures)[:, places(PLACEBO_HELD)] / compass.scale[places(PLACEBO_HELD)]
            assert np.abs(moved).max() < 0.2


class Haired(Phantom):
    """Its pictures hold hair beside the readings: of the few directions that styles spread most by, as that of a generator is."""

    def __init__(self) -> None:
        super().__init__(bend=0.0)
        self.slopes[:30] = 0

    def render(self, styles: np.ndarray) -> np.ndarray:
        return np.column_stack([styles @ self.slopes, styles[:, :30]])

    def read(self, pictures: np.ndarray) -> np.ndarray:
        return pictures[:, : len(COLUMNS)]


def haired(studio: Haired, random: np.random.Generator) -> tuple[Compass, Centre]:
    """Return a compass of styles that spread most by hair, and the centres of six of them."""
    styles = random.normal(size=(4000, 512)) * np.where(np.arange(512) < 30, 10.0, 1.0)
    compass = find_compass(styles, studio.read(studio.render(styles)), styles.mean(axis=0))
    pictures = studio.render(styles[:6])
    return compass, Centre(styles[:6], pictures, pictures, studio.read(pictures))


def test_a_whole_placebo_is_as_large_as_a_cue_that_changes_hair() -> None:
    """Hair is where styles spread most. Along ways drawn as styles spread, placebos ended at half of what they were to be."""
    studio, random = Haired(), np.random.default_rng(8)
    compass, centre = haired(studio, random)
    # 3.5 standard deviations of hair, as long as some cues go
    size = np.full(6, 10 * 3.5 / np.sqrt(centre.pictures.shape[1]))
    (made,) = placebo(studio, compass, centre, [size], "whole", random, THRIFTY)
    ended = studio.render(made)
    assert np.abs(studio.distance(ended, centre.pictures) / size - 1).max() < 0.1
    held = places(PLACEBO_HELD)
    assert np.abs((studio.read(ended) - centre.readings)[:, held] / compass.scale[held]).max() < 0.2


def test_of_the_ways_tried_one_that_moves_a_cue_loses_first_in_whole_series() -> None:
    # the first moves gender by 0.3 standard deviations, the second yaw by 0.5
    off = np.zeros((2, len(PLACEBO_HELD)))
    off[0, PLACEBO_HELD.index("gender")], off[1, PLACEBO_HELD.index("yaw")] = 0.3, 0.5
    large = np.array([1.0, 1.0])
    assert _unrest(off, large, "whole") == pytest.approx([0.9**2, 0.5**2])
    assert _unrest(off, large, "face only") == pytest.approx([0.3**2, 0.5**2])
    # of two that change nothing, the one nearer to the size wins
    assert _unrest(np.zeros_like(off), np.array([1.1, 2.0]), "whole") == pytest.approx(np.log([1.1, 2.0]) ** 2)


class Backlit(Haired):
    """Much hair lets more of the light behind it through, whichever way it grew: no compass foresees that."""

    def read(self, pictures: np.ndarray) -> np.ndarray:
        readings = super().read(pictures).copy()
        hair = pictures[:, len(COLUMNS) :]
        readings[:, COLUMNS.index("background")] += 0.003 * (hair**2).sum(axis=1)
        return readings


class Gendered(Haired):
    """Much hair is read as a man's, whichever way it grew, by both readers of gender."""

    def read(self, pictures: np.ndarray) -> np.ndarray:
        readings = super().read(pictures).copy()
        both = places(["gender", "wild gender"])
        readings[:, both] += 0.002 * (pictures[:, len(COLUMNS) :] ** 2).sum(axis=1)[:, None]
        readings[:, COLUMNS.index(BOTH)] = readings[:, both] @ [0.5, 0.5 * WILD_WEIGHS]
        return readings


def test_the_background_of_a_whole_placebo_is_held_as_that_of_its_cue_is() -> None:
    """Corrected with everything else, what a placebo does to the background was left: 2.5 levels beside gender, of 2."""
    studio, random = Backlit(), np.random.default_rng(8)
    compass, centre = haired(studio, random)
    size = np.full(6, 10 * 3.5 / np.sqrt(centre.pictures.shape[1]))
    (made,) = placebo(studio, compass, centre, [size], "whole", random, THRIFTY)
    at = COLUMNS.index("background")
    left = (studio.read(studio.render(made)) - centre.readings)[:, at] / compass.scale[at]
    assert np.abs(left).max() < 0.2  # 0.5 before


def test_a_whole_placebo_beside_gender_leaves_gender_where_it_was() -> None:
    """Held with everything else alone, as it is beside race, it was left off by what no compass foresees."""
    left, size, others = {}, np.full(6, 10 * 2.5 / np.sqrt(len(COLUMNS) + 30)), places(HELD["gender"])
    for line in lines()[:2]:
        studio, random = Gendered(), np.random.default_rng(8)
        compass, centre = haired(studio, random)
        (made,) = placebo(studio, compass, centre, [size], "whole", random, THRIFTY, line)
        assert np.abs(studio.distance(studio.render(made), centre.pictures) / size - 1).max() < 0.1
        moved = (studio.read(studio.render(made)) - centre.readings) / compass.scale
        left[line.attribute] = np.abs(moved[:, COLUMNS.index(BOTH)])
        assert np.abs(moved[:, others]).max() < 0.2
    assert left["gender"].max() < 0.05 < 0.08 < left["race"].min()


def test_a_whole_placebo_leaves_who_somebody_is_alone_as_its_cue_does() -> None:
    """Half of the hair is how people are recognised here: a placebo leaves that half alone."""
    studio, random = Haired(), np.random.default_rng(8)
    compass, centre = haired(studio, random)
    recognised = np.eye(512)[:, :15]
    size = np.full(6, 10 * 2 / np.sqrt(centre.pictures.shape[1]))
    (made,) = placebo(studio, compass.keeping(recognised), centre, [size], "whole", random, THRIFTY)
    moved = np.abs(made - centre.styles)
    assert moved[:, :15].max() < 0.1 * moved[:, 15:30].max()
    assert np.abs(studio.distance(studio.render(made), centre.pictures) / size - 1).max() < 0.1


def test_slopes_learnt_from_a_move_explain_it_by_hand() -> None:
    # a move of (2, 0) should have changed readings by (2, 0) and changed them by (1, 1): half as much, and the other by half
    learnt = _learnt(np.eye(2)[None], np.array([[2.0, 0.0]]), np.array([[1.0, 1.0]]))
    assert learnt[0] == pytest.approx(np.array([[0.5, 0.0], [0.5, 1.0]]))
    assert _learnt(np.eye(2)[None], np.zeros((1, 2)), np.ones((1, 2)))[0] == pytest.approx(np.eye(2))


def test_a_face_that_cannot_be_steered_keeps_its_best_place(phantom: tuple[Phantom, Compass, np.ndarray]) -> None:
    studio, compass, people = phantom
    start = studio.render(people)[:, places(["gender"])]
    found = steer(studio, compass, people, ["gender"], start, rounds=2)
    assert (found == people).all()  # it was right from the beginning


def test_a_compass_is_the_same_after_it_was_kept(tmp_path: Path, phantom) -> None:
    _, compass, _ = phantom
    compass.save(tmp_path / "compass.npz")
    again = read_compass(tmp_path / "compass.npz")
    assert np.allclose(again.moves(["gender", "age"]), compass.moves(["gender", "age"]), atol=1e-3)


def test_no_face_is_steered_out_of_what_the_generator_knows(phantom: tuple[Phantom, Compass, np.ndarray]) -> None:
    studio, compass, people = phantom
    wanted = np.full((len(people), 1), 1000.0)  # nobody can be read so
    found = steer(studio, compass, people, ["gender"], wanted, rounds=20)
    assert compass.lengths(found - people).max() <= 5.0 + 1e-6


def test_a_move_that_keeps_identity_costs_less_of_it_and_does_the_same(phantom) -> None:
    _, compass, _ = phantom
    recognised = np.random.default_rng(3).normal(size=(512, 20))
    recognised[:, 0] += compass.moves(["gender", "age"])[0] * 30  # one of its numbers follows gender's own move
    kept = compass.keeping(recognised, 10.0)
    names = ["gender", "age"]
    plain, careful = (one.moves(names)[0] for one in (compass, kept))
    assert np.linalg.norm(careful @ recognised) < 0.8 * np.linalg.norm(plain @ recognised)
    assert careful @ compass.slopes[:, places(names)] == pytest.approx([1, 0], abs=0.01)
    assert (compass.keeping(recognised, 0.0).moves(names)[0] - plain) == pytest.approx(0, abs=1e-3)


def but_for_the_background(moves: np.ndarray, compass: Compass, line: Line) -> np.ndarray:
    """Return moves less what they have of the one that brightens the background: whole series hold that face by face."""
    names = [line.varied, *line.held]
    aside = compass.moves(names)[names.index("background")]
    return moves - (moves @ aside / (aside @ aside))[..., None] * aside


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_goes_the_same_way(phantom, kind: str) -> None:
    studio, compass, people = phantom
    line = lines()[0]
    centre = find_centre(studio, compass, people, line, span_of(line, kind).neutral)
    end = between(studio, compass, centre, line, [2.0], kind)[0] - centre.styles
    if kind == WHOLE:
        end = but_for_the_background(end, compass, line)
    unit = end / np.linalg.norm(end, axis=1, keepdims=True)
    assert np.abs(unit - unit[0]).max() < 1e-9


def test_whole_series_go_a_way_of_their_own_where_there_is_one_and_meet_in_the_same_centre(phantom) -> None:
    studio, compass, people = phantom
    line = lines()[0]
    centre = find_centre(studio, compass, people, line, 0.0)
    own = compass.way(line.varied, line.held) + 0.1 * compass.moves(["age"])[0]
    turned = replace(compass, ways={way_name(line.varied, "whole"): own})
    assert (find_centre(studio, turned, people, line, 0.0).styles == centre.styles).all()
    ends = {kind: between(studio, turned, centre, line, [2.0], kind)[0] - centre.styles for kind in KINDS}
    for kind, way in (("whole", own), ("face only", compass.way(line.varied, line.held))):
        gone, wanted = (but_for_the_background(one, compass, line) for one in (ends[kind], way))
        along = gone @ wanted / np.linalg.norm(gone, axis=1) / np.linalg.norm(wanted)
        assert along == pytest.approx(np.ones(len(people)))
    assert np.abs(ends["whole"] - between(studio, compass, centre, line, [2.0], "whole")[0]).max() > 0.01


def test_a_way_is_bent_to_end_aside_and_who_went_nowhere_keeps_theirs_by_hand() -> None:
    way, aside = np.array([2.0, 0.0]), np.array([[0.0, 0.6]])
    assert _bent(way, np.array([[3.0, 0.0]]), aside) == pytest.approx(np.array([[2.0, 0.4]]))  # at 1.5 of it
    assert _bent(way, np.array([[-3.0, 0.0]]), aside) == pytest.approx(np.array([[2.0, -0.4]]))
    assert _bent(way, np.array([[0.0, 0.0]]), aside) == pytest.approx(np.array([[2.0, 0.0]]))


class OneReading:
    """A studio with one style coordinate, which background and gender answer by a gain for each face."""

    def __init__(self, *gains: float) -> None:
        self.gains = np.array(gains)

    def render(self, styles: np.ndarray) -> np.ndarray:
        read = np.zeros((len(styles), len(COLUMNS)))
        read[:, places(["background", BOTH])] = 0.2 + (self.gains * styles[:, 0])[:, None]
        return read

    def read(self, pictures: np.ndarray) -> np.ndarray:
        return pictures


def test_how_much_a_background_needs_is_learnt_of_each_face_and_nobody_is_made_worse() -> None:
    gains = [1.0, 0.5, 2.0, 0.1, -0.5, 0.0]  # the last two do the opposite of what is expected, or nothing
    amount = _amount(OneReading(*gains), np.zeros(6), np.zeros((6, 1)), np.ones(1), "background")  # type: ignore[arg-type]
    assert amount[:3] == pytest.approx([-0.2, -0.4, -0.1])
    assert amount[3] == pytest.approx(-0.2 - 0.18 / 0.4)  # less is believed of it than would be needed
    assert (amount[4:] == 0).all()


def test_of_gender_a_face_is_believed_to_answer_by_more_than_of_the_background() -> None:
    """A first move of -0.2 takes either from 0.2 to -0.6: four times as far as foreseen, as gender goes where it is neutral."""
    asked = (OneReading(4.0), np.zeros(1), np.zeros((1, 1)), np.ones(1))
    assert _amount(*asked, BOTH) == pytest.approx(-0.05)  # type: ignore[arg-type]
    assert _amount(*asked, "background") == pytest.approx(-0.2 + 0.6 / 2.5)  # type: ignore[arg-type]


def test_a_face_that_cannot_reach_an_end_still_goes_there_in_even_steps() -> None:
    seen = np.array([[-1.0, 0.0, 0.5], [-4.0, 0.0, 4.0]])
    # the first goes to 0.5 and -1 at most, the second reaches 3 either way
    assert _reached(seen, 2.0, 3.0, Span(1.0)) == pytest.approx([0.5, 3.0])
    assert _reached(seen, 1.0, 3.0, Span(1.0)) == pytest.approx([0.25, 1.5])
    assert _reached(seen, -1.0, 3.0, Span(1.0)) == pytest.approx([-0.5, -1.5])


def test_lengths_by_hand() -> None:
    compass = Compass(np.zeros(2), np.diag([4.0, 1.0]), np.zeros((2, 4)), np.ones(4), np.ones(4), np.diag([4.0, 1.0]))
    # two standard deviations along the first axis (4 / 2), three along the second
    assert compass.lengths(np.array([[4.0, 0.0], [0.0, 3.0]])) == pytest.approx([2.0, 3.0], rel=1e-3)
    assert compass.shortened(np.array([[4.0, 0.0]]), 1.0)[0] == pytest.approx([2.0, 0.0], rel=1e-3)
