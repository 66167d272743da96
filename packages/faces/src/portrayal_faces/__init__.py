"""Making, judging and applying counterfactual series of faces."""
