"""Measures of the contexts audit, after Barlas et al. (2020), To "See" is to Stereotype, PACM HCI 4 (CSCW3)."""
