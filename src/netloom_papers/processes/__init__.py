"""Programs of compiled plans on real processes or MPI ranks: does every word arrive?"""
