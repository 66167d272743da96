"""The benchmarks, one module each with its `BENCHMARK`."""
