"""Finite element meshes, whole and in parts."""
