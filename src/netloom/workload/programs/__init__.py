"""Programs: messages that wait for each other, from loops, traces, transactions and broadcasts."""
