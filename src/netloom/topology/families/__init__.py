"""Families of switched networks: fat trees, and others whose hosts hang on routers."""
