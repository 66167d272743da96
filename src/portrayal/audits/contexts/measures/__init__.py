"""The contexts audit's measures: one module per question; `questions` puts them together.

References
----------
.. [1] Barlas, Kyriakou, Guest, Kleanthous, Otterbacher (2020), To "See" is to Stereotype, Proceedings of the ACM on
   Human-Computer Interaction 4 (CSCW3).
"""
