"""What the names of accelerators mean, and what the devices behind them can be divided into."""
