"""Networks as administrators' files describe them: devices, ports and cables."""
