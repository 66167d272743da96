"""pingouin's Tukey test."""

import numpy as np
import pandas as pd
import pingouin
from told import FOLDER, told

arrays = np.load(FOLDER / "groups.npz")
frame = pd.DataFrame({"value": arrays["values"], "group": arrays["groups"]})


def tukey() -> dict[str, np.ndarray]:
    found = pingouin.pairwise_tukey(data=frame, dv="value", between="group")
    p = "p_tukey" if "p_tukey" in found.columns else "p-tukey"
    return {"difference": found["diff"].to_numpy(), "p": found[p].to_numpy()}


told(tukey, pingouin.__version__)
