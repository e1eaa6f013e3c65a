"""What is checked without an admission request: files, streams, snapshots and live clusters."""
