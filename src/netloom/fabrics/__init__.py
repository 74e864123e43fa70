"""Real subnets: how good their routing tables are, and better ones."""
