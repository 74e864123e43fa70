"""Which algorithm of a collective is fastest on this network, at which sizes, and what holds it?"""

VERB = "compare_collectives"
