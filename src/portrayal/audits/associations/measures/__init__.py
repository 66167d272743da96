"""Embedding association tests."""

from portrayal.audits.associations.measures.comparison import compare
from portrayal.audits.associations.measures.eat import eat, scweat
from portrayal.audits.associations.measures.effect import association, effect_size
from portrayal.audits.associations.measures.interval import effect_interval

__all__ = ["association", "compare", "eat", "effect_interval", "effect_size", "scweat"]
