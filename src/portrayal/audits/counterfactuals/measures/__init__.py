"""The counterfactuals measure: does a label become more likely as only the face's gender or race cue changes.

`presence` lays the answers out as source image x step x label; `slopes`, `logistic` and `flips` are the
measures; `world` compares with the shares of people the labels come from; `measure` makes Results of them all.
"""
