"""Routing that is computed when a packet comes to a router, in networks of hosts on routers."""
