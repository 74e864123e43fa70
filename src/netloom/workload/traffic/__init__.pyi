from .patterns import (
    Traffic as Traffic,
    asymmetric as asymmetric,
    from_process_graph as from_process_graph,
    hot_spot as hot_spot,
    incast as incast,
    pairs as pairs,
    permutation as permutation,
    uniform as uniform,
    with_rates as with_rates,
)
