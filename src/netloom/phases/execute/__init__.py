"""Plans at work: on simulated hardware, on processes or MPI ranks, and beside message passing."""
