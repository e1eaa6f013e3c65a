"""The meaning of accelerator names, and how the devices behind them can be divided."""
