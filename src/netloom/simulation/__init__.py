"""What a program does on a network, run flit by flit or as flows that share channels."""
