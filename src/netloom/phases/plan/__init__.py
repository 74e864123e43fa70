"""Plans: connections in phases, with a route for each."""
