"""Forwarding tables: for each destination and router the one channel that packets take next."""
