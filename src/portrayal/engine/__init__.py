"""The engine: heavy work cut into shards, done by workers here or on a cluster, each finished shard kept.

`run(make, shards)` yields `(shard, result)` in any order. `make()` builds what the work needs (a model, a parser, an
index) once in every worker and returns the function that does a shard. Which engine does it is chosen once, by whoever
starts the job (`using("ray", workers=8)`), and changes nothing about the results. A system that is paid for is never
asked through here: an engine tries again what was lost, and only the recorder may decide to ask twice.
"""

from portrayal.engine.choice import chosen, using
from portrayal.engine.kept import Kept
from portrayal.engine.outcome import ShardFailed, ShardFault
from portrayal.engine.run import in_order, run, shared_out
from portrayal.engine.shards import Shard, cut

__all__ = ["Kept", "Shard", "ShardFailed", "ShardFault", "chosen", "cut", "in_order", "run", "shared_out", "using"]
