"""Paragraphs: negation, hedges, people and layout, as sentences are read."""

from __future__ import annotations

import pytest

from portrayal.text.captions import parsing
from portrayal.text.captions.scene_graph import SceneGraph


def graph(caption: str) -> SceneGraph:
    return parsing.scene_graphs([caption])[0]


DENIED = {
    "No weapons or animals are visible.": ((), {"weapon", "animal"}),
    "A woman is not wearing a helmet.": (("woman",), {"helmet"}),
    "A man without a hat or gloves stands on the street.": (("man", "street"), {"hat", "glove"}),
    "There are no people in the park.": (("park",), {"people"}),
    "A child wears not only a coat but also a scarf.": (("child", "coat", "scarf"), set()),
    "A woman has neither a bag nor a phone.": (("woman",), {"bag", "phone"}),
    "A man is not tall.": (("man",), {"tall"}),
    "A room free of clutter.": (("room",), {"clutter"}),
    "A woman holds a cup instead of a bottle.": (("woman", "cup"), {"bottle"}),
    "There is no sign of a dog.": ((), {"sign", "dog"}),
    "A man is wearing nothing but a towel.": (("man", "towel"), set()),
    "Nobody is riding a bike.": ((), {"bike"}),
    "I can't see any fish.": ((), {"fish"}),
    "Not everyone is dancing: a lady sits.": (("everyone", "lady"), {"dance"}),
    "There are no cars or other vehicles.": ((), {"car", "vehicle"}),
    "I don't see any presents, though.": ((), {"present"}),
    "A man sits instead of helping.": (("man",), {"help"}),
    "**Not visible:**\n- Bicycles": ((), {"bicycle"}),
    "**What I don't see:** adults, cars": ((), {"adult", "car"}),
    "- 1 bench\n- 0 vehicles": (("bench",), {"vehicle"}),
    "A woman with neither notes nor a microphone.": (("woman",), {"note", "microphone"}),
    "None of the parents are in the picture.": ((), {"parent"}),
    "Two athletes rest. The other does not seem to be sweating.": (("athlete",), {"sweat"}),
}


@pytest.mark.parametrize("caption", DENIED)
def test_what_is_denied_is_no_object(caption: str) -> None:
    read = graph(caption)
    assert (read.objects, set(read.negated)) == DENIED[caption]


SUPPOSED = {
    "The man might be a nurse.": {"nurse"},
    "A woman holding what looks like a trumpet.": {"trumpet"},
    "He appears to be of Asian descent.": {"asian"},
    "A woman who looks Latina.": {"latina"},
    "A man, possibly a doctor, waits.": {"doctor"},
    "A dog appears behind the gate.": set(),
    "A man could be seen on a roof.": set(),
    "It looks like the woman is pregnant.": {"pregnant"},
    "The athlete is likely nonbinary.": {"nonbinary"},
    "The mood seems tense.": {"tense"},
    "A possibly broken chair with a cushion stands here.": {"broken"},
    "The tower behind them looks abandoned.": {"abandoned"},
    "A girl and what looks like a toddler are building a castle.": {"toddler"},
    "She seems to be a doctor, as she is wearing a coat.": {"doctor"},
    "The image suggests a family gathering.": {"family gathering"},
    "A masked individual, likely male, points at a car.": {"male"},
    "Image may contain: 3 people, table": {"people", "table"},
}


@pytest.mark.parametrize("caption", SUPPOSED)
def test_what_is_supposed_is_hedged(caption: str) -> None:
    assert set(graph(caption).hedged) == SUPPOSED[caption]


def test_what_is_supposed_can_be_left_out() -> None:
    read = graph("A man holds what looks like a trumpet.")
    assert "trumpet" in read.objects
    assert "trumpet" not in read.certain().objects
    assert read.certain().objects == ("man",)


PEOPLE = {
    "He is riding a bike.": [(1, {"gender": "male"})],
    "A man or a woman is riding a bike.": [(1, {})],
    "He/she holds his or her phone.": [(1, {})],
    "A woman sits on a bench. She is reading. Her dog sleeps.": [(1, {"gender": "female"})],
    "Two women and a man are dancing. The women laugh.": [(2, {"gender": "female"}), (1, {"gender": "male"})],
    "A person smiles. They are holding a cup.": [(1, {})],
    "A doctor waves. She smiles.": [(1, {"gender": "female"})],
    "A woman rides. He smiles.": [(1, {})],
    "There are no people in the park.": [],
    "A statue of a woman.": [],
    "A Middle Eastern man waits.": [(1, {"gender": "male", "race": "middle eastern"})],
    "Five cooks work. Three are women. The two men laugh.": [(2, {"gender": "male"}), (3, {"gender": "female"})],
    "Someone hugs a child, whose mother waves.": [(1, {}), (1, {"age": "child"}), (1, {"gender": "female"})],
    "Mr. Lee stays at the piano. Mrs. Lee sings.": [(1, {"gender": "male"}), (1, {"gender": "female"})],
    "Three wheelchair users race on a track.": [(3, {"disability": "disabled"})],
    "A couple walks; he carries a bag and she a hat.": [(1, {"gender": "female"}), (1, {"gender": "male"})],
    "The judges, two women and a man, are seated.": [(2, {"gender": "female"}), (1, {"gender": "male"})],
    "A female mechanic waits. A male colleague hands her a rag.": [(1, {"gender": "female"}), (1, {"gender": "male"})],
    "A vendor rests while a guest counts her coins. The vendor is a man.": [
        (1, {"gender": "male"}),
        (1, {"gender": "female"}),
    ],
    "Her friend, who is perhaps her husband, waves.": [(1, {"gender": "female"}), (1, {"gender": "male"})],
    "A person waits. It may be a woman.": [(1, {"gender": "female"})],
    "Perhaps a tourist, the man waves.": [(1, {"gender": "male"})],
    "Two women, perhaps nurses, are not smiling.": [(2, {"gender": "female"})],
    "A person is wearing a firefighter's uniform.": [(1, {})],
    "1. Man: a beard, no hat\n2. Bench": [(1, {"gender": "male"})],
    "The singer sits alone. No guitarist accompanies her.": [(1, {"gender": "female"})],
    "Four students argue. Two of them, a woman and a man, stand.": [
        (2, {}),
        (1, {"gender": "female"}),
        (1, {"gender": "male"}),
    ],
    "Two people wait. It is unclear whether they are men or women.": [(2, {})],
    "A bride dances with her father. Guests stand by. Her mother films the couple.": [
        (1, {"gender": "female"}),
        (1, {"gender": "male"}),
        (None, {}),
        (1, {"gender": "female"}),
    ],
}


@pytest.mark.parametrize("caption", PEOPLE)
def test_everybody_is_read_once_with_their_groups(caption: str) -> None:
    assert [(person.number, dict(person.groups)) for person in graph(caption).people] == PEOPLE[caption]


def test_some_of_several_have_groups_of_their_own() -> None:
    read = graph("Two men are waiting, one Black and one white.")
    groups = [(person.number, dict(person.groups)) for person in read.people]
    assert groups == [(1, {"gender": "male", "race": race}) for race in ("black", "white")]
    assert read.objects == ("man",)


LAYOUT = {
    "The image shows a man riding a horse.": {"man", "horse"},
    "Sure! Here is a description:\n\n**A woman** rides a bike. 🚲\n\nLet me know if you want more!": {"woman", "bike"},
    "## Scene\n- **Setting:** a park\n- A dog in the background": {"park", "dog"},
    "A photo hangs on the wall.": {"photo", "wall"},
    "A man holding a picture.": {"man", "picture"},
    "A sign that reads 'No guns' hangs on a wall.": {"sign", "wall"},
    'A shirt with the text "Queen" on it.': {"shirt", "text"},
    "<p>A baker <b>waves</b>.</p><ul><li>Bread on a shelf</li></ul>": {"baker", "bread", "shelf"},
    '{"caption": "A cook waves.", "clothing": ["hard hat", "vest"]}': {"cook", "hard hat", "vest"},
    "I love this one! A dog runs. I like the colors.": {"dog"},
    "A castle gate • a net on the wall": {"castle gate", "net", "wall"},
    "Haha, this is a funny one. A dog runs, haha.": {"dog"},
    'Here you go: "A dog runs." If you\'d rather have something longer, just ask!': {"dog"},
    "> **Mood**\n> A dog runs.": {"dog"},
    "Empty classroom: rows of desks.": {"classroom", "row", "desk"},
    "Objects: a chair. People: none.": {"chair"},
    "A poster that says 'Stop' hangs beside a door.": {"poster", "door"},
}


@pytest.mark.parametrize("caption", LAYOUT)
def test_layout_and_written_words_are_no_things(caption: str) -> None:
    read = graph(caption)
    assert set(read.objects) == LAYOUT[caption]
    assert not read.negated


def test_a_graph_that_was_stored_is_read_back_the_same() -> None:
    graphs = [graph("Two women, perhaps nurses, are not smiling. He waves.")]
    assert parsing.GRAPHS[1](parsing.GRAPHS[0](graphs)) == graphs


ABOUT_THE_PICTURE = (
    "The main subject of the image is {}", "At first glance, the image shows {}", "The picture captures a moment where {} can be seen.",
    "Overall, the image conveys a sense of calm. It shows {}", "The lighting is soft. There is {}", "{}. The image is in black and white.",
    "{}. The image quality is low.", "{}. The rest of the image is dark.", "{}. (Photo by AP)",
    "{}. Disclaimer: As an AI, I may make mistakes.",
)  # fmt: skip


@pytest.mark.parametrize("words", ABOUT_THE_PICTURE)
def test_talk_about_the_picture_adds_nobody_and_nothing(words: str) -> None:
    read = graph(words.format("A woman with a dog"))
    assert (read.objects, read.negated, read.hedged, len(read.people)) == (("woman", "dog"), (), (), 1)
