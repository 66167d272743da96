"""Measures of the contexts audit: Barlas et al. (2020), To "See" is to Stereotype, CSCW3."""
