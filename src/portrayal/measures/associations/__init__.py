"""Embedding association tests: whether an encoder ties an attribute to some people and not to others."""

from portrayal.measures.associations.comparison import compare
from portrayal.measures.associations.eat import eat, scweat
from portrayal.measures.associations.effect import association, effect_size
from portrayal.measures.associations.interval import effect_interval

__all__ = ["association", "compare", "eat", "effect_interval", "effect_size", "scweat"]
