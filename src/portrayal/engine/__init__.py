"""Engine of heavy work: shards done by workers, each finished one kept.

`make()` builds what the work needs (a model, a parser, an index) once in every worker and returns the function that does a shard.
A system that is paid for is never asked through here: an engine tries again what was lost, and only the recorder may ask twice.
"""

from portrayal.engine.run import current_engine, engine_map, in_order, run, using
from portrayal.engine.shards import Shard, ShardFailed, ShardFault, Store, cut

__all__ = ["Shard", "ShardFailed", "ShardFault", "Store", "current_engine", "cut", "engine_map", "in_order", "run",
           "using"]  # fmt: skip
