"""Engine of heavy work: shards done by workers, each finished one kept.

`run(make, shards)` yields `(shard, result)` in any order. `make()` builds what the work needs (a model, a parser, an
index) once in every worker and returns the function that does a shard. Which engine does it is chosen once, by whoever
starts the job (`using("ray", workers=8)`), and changes nothing about the results. A system that is paid for is never
asked through here: an engine tries again what was lost, and only the recorder may decide to ask twice.
"""

from portrayal.engine.run import current_engine, engine_map, in_order, run, using
from portrayal.engine.shards import Shard, ShardFailed, ShardFault, Store, cut

__all__ = [
    "Shard",
    "ShardFailed",
    "ShardFault",
    "Store",
    "current_engine",
    "cut",
    "engine_map",
    "in_order",
    "run",
    "using",
]
