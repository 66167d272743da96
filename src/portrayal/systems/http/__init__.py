"""HTTP calls and systems behind them."""
