"""Made-up systems that studies ask; this file is copied beside each study and imports nothing of ours."""

import hashlib
import random
import zlib
from pathlib import Path

MEN = {"John", "Paul", "Mike", "Kevin", "Steve", "Greg", "Jeff", "Bill", "men", "man"}
WORK = {
    "executive",
    "management",
    "professional",
    "corporation",
    "salary",
    "office",
    "business",
    "career",
    "warm",
    "kind",
}
JOBS = {"nurse": 0.8, "plumber": 0.1, "chef": 0.5}


def chance(*parts):
    """Return a number from 0 to 1 that hangs on the parts alone."""
    return zlib.crc32(" ".join(map(str, parts)).encode()) / 2**32


def shown(content):
    """Return what a system is shown as a key: the text, or the bytes of the picture."""
    if len(content) < 1000 and Path(content).is_file():
        return hashlib.sha256(Path(content).read_bytes()).hexdigest()
    return content


def encoder(text, bias=0.0, seed=0):
    """Encode a text, or a picture by its bytes; men's names and words of work share a direction by `bias`."""
    drawn = random.Random(f"{seed} {shown(text)}")
    vector = [drawn.gauss(0, 1) for _ in range(8)]
    vector[0] += bias if MEN & set(text.split()) or WORK & set(text.split()) else -bias
    return vector


def flaky_encoder(text):
    """Encode some texts, refuse some, raise for some and have nothing for some."""
    told = outcome("encoder", text)
    return encoder(text, bias=1.0) if told is True else told


def outcome(*parts):
    """Return True for nine of ten, else a refusal or nothing, or raise."""
    drawn = chance("outcome", *parts)
    if drawn < 0.04:
        raise ValueError("no answer to this one")
    return {"refused": True} if drawn < 0.08 else None if drawn < 0.11 else True


def raising(content):
    """Raise for every question."""
    raise RuntimeError("no weights at hand")


def captioner(question, often=0.6):
    """Caption a photograph by its name: emotions are named less often for one condition; some are refused."""
    name = question.stimulus
    told = outcome("captioner", name, often)
    if told is not True:
        return told
    words = {"AN": "angry", "SA": "sad", "HA": "happy", "NE": "calm"}
    own = next(word for sign, word in words.items() if sign in name)
    likely = often if "_O_" in name else 0.7
    return [
        f"a {own if chance(name, number) < likely else ('calm', 'happy')[number % 2]} woman, number {number}"
        for number in range(6)
    ]


def portrayer(question, careless=0.2):
    """Caption a picture of the table study by its id: people are left out, called by another word, or put in chairs."""
    name, drawn = question.stimulus, chance("portrayer", question.stimulus, question.repeat)
    told = outcome("portrayer", name, question.repeat)
    if told is not True:
        return told
    woman = name.startswith("f")
    person = ("girl" if drawn < careless else "woman") if woman else ("man" if drawn > careless / 3 else "person")
    if chance("out", name, question.repeat) < (careless if woman else careless / 4):
        return "a horse and a red ball in a park"
    return f"a {person} in a {('dress', 'jacket')[int(chance('worn', name) * 2)]} rides a horse next to a dog"


def tagger(question, sway=0.6):
    """Tag a picture of a person in a place by its id: the place may decide the gender that is named."""
    name = question.stimulus
    told = outcome("tagger", name, question.repeat)
    if told is not True:
        return told
    person, _, place = name.partition("@")
    tags = [["person", 0.99]]
    if person.startswith("p"):
        own = ("woman", "man")[int(person[1:]) % 2]
        swayed = place and chance("sway", name, question.repeat) < sway
        tags.append([{"F": "woman", "M": "man"}.get(place[:1], own) if swayed else own, 0.8])
    words = {
        "bride": place.startswith("F1"),
        "garage": place.startswith("M1"),
        "happy": True,
        "table": True,
        "beautiful": True,
        "nurse": True,
    }
    for word, there in words.items():
        if there and chance(word, name, question.repeat) < 0.6:
            tags.append([word, round(chance("sure", word, name), 3)])
    return tags


def face_tagger(question, slope=0.3, shy=False):
    """Tag a step of a series by its id, whose last part is the value; a shy one refuses one end of gender."""
    head, value = question.stimulus.rsplit(" ", 1)[0], 0.0
    parts = question.stimulus.split("/")
    for part in question.stimulus.replace(" ", "/").replace("_", "/").split("/"):
        try:
            value = float(part)
        except ValueError:
            continue
    drawn = chance("shy", question.stimulus)
    if shy and "gender" in question.stimulus and value >= 2 and drawn < 0.5:
        return {"refused": True}
    if shy and drawn > 0.99:
        raise ValueError("no face")
    follows = slope if "gender" in question.stimulus else slope / 2 if "race" in question.stimulus else 0.0
    tags = ["Face"]
    for label, way in (("Nurse", -1), ("Engineer", 1), ("Teacher", 0)):
        likely = 0.5 * (1 + way * follows * value)
        if 0.7 * chance(label, parts[0]) + 0.3 * chance(label, head, value) < likely:
            tags.append(label)
    return {tag: round(0.5 + chance(tag, head) / 2, 3) for tag in tags}


def ranker(query, lean=0.0):
    """Rank documents d0 to d39 by the query's letters; some queries are refused, some have nothing."""
    told = outcome("ranker", query)
    if told is not True:
        return told
    wanted = sorted(range(40), key=lambda number: chance(query, number) + lean * (number % 2) * (len(query) % 3 - 1))
    return [[f"d{number}", round(1 - place / 40, 4)] for place, number in enumerate(wanted[:12])]


def generator(question):
    """Answer with the label of an image that was never made, or with none where it was blocked."""
    prompt = question.content
    drawn = chance(prompt, question.repeat)
    if drawn < 0.05:
        return None
    often = next((share for job, share in JOBS.items() if job in prompt), 0.5)
    return ["outcome:kept", "woman" if chance("label", prompt, question.repeat) < often else "man"]
