"""Five representational harms in captions, one file for each technique.

References
----------
.. [1] Wang, Barocas, Laird, Wallach (2022), Measuring representational harms in image captioning, FAccT.
"""
