"""Ten questions of every command, as people type them, of answers that take no time."""

TEN = {
    "analyze": """
        ring:16 --on mesh:4x4
        all-to-all:16 --on torus:4x4
        binary-tree:15 --on mesh:4x4 --offered 0.1
        transpose:4 --on mesh:4x4 --offered 0.6
        hypercube:4 --on torus:4x4 --offered 30
        ring:8 --on fat-tree:k=4 --offered 0.4
        shift:1,3 --on leaf-spine:4x2x4
        all-to-all:16 --on dragonfly:2x4x2
        examples/lammps-64.mtx --on torus:8x8 --mapping random
        examples/plate-64.mtx --on leaf-spine:8x4x8 --offered 0.3
    """,
    "analyze.permutations": """
        --on mesh:4x4 --samples 5
        --on torus:4x4 --samples 5
        --on hypercube:3 --samples 5
        --on ring:6 --samples 3
        --on line:2 --samples 3
        --on fat-tree:k=4 --samples 5
        --on leaf-spine:4x2x4 --samples 5
        --on leaf-spine:4x4x4 --samples 5
        --on dragonfly:2x4x2 --samples 5
        --on mesh:4x4 --samples 0 --shifts 5
    """,
    "simulate.load": """
        --on mesh:4x4 --load 0.1 --cycles 2000
        --on mesh:4x4 --load 0.3 --cycles 2000
        --on mesh:4x4 --load 0.95 --cycles 2000
        --on torus:4x4 --load 0.2 --cycles 2000 --traffic transpose
        --on line:2 --load 1 --cycles 2000
        --on line:1 --load 0.2 --traffic uniform-self --cycles 2000
        --on fat-tree:k=4 --load 0.2 --cycles 2000
        --on mesh:4x4 --load 0.2,0.9 --cycles 2000
        --on mesh:4x4 --load 0.1,0.2 --cycles 2000
        --on torus:4x4 --app ring:16 --load 0.4 --cycles 2000
    """,
    "simulate.saturation": """
        --on ring:4
        --on line:2 --traffic pairs:0-1 --packet-flits 1
        --on mesh:3x3 --most-cycles 3000
        --on mesh:4x4 --most-cycles 3000
        --on torus:3x3 --most-cycles 3000
        --on hypercube:3 --most-cycles 3000
        --on torus:4x4 --traffic tornado --most-cycles 3000
        --on leaf-spine:2x2x2 --most-cycles 3000
        --on mesh:3x3 --app ring:9 --most-cycles 3000
        --on mesh:3x3 --switching wormhole,circuit --most-cycles 2000
    """,
    "simulate.loop": """
        --on mesh:3x3 --app transpose:3 --applied 0.1 --loops 5 --engine worm
        --on mesh:3x3 --app transpose:3 --applied 0.5 --loops 5 --engine worm
        --on mesh:3x3 --app transpose:3 --applied 0.95 --loops 5 --engine worm
        --on mesh:3x3 --app transpose:3 --applied 0.02 --loops 5 --engine worm --think fixed
        --on mesh:4x4 --app ring:16 --applied 0.4 --loops 5 --engine worm
        --on torus:3x3 --app torus:3x3 --applied 0.4 --loops 5 --engine worm
        --on mesh:3x3 --app uniform --applied 0.5 --loops 5 --engine worm
        --on mesh:3x3 --app transpose:3 --applied 0.1,0.6 --loops 5 --engine worm
        --on mesh:3x3 --app transpose:3 --applied 0.6 --loops 5 --engine flow
        --on mesh:3x3 --app transpose:3 --applied 0.4 --loops 5
    """,
    "simulate.transactions": """
        --on torus:3x3 --app torus:3x3 --batch-cycles 300
        --on torus:3x3 --app torus:3x3 --batch-cycles 300 --contexts 4
        --on torus:3x3 --app torus:3x3 --batch-cycles 300 --contexts 32
        --on torus:3x3 --app torus:3x3 --batch-cycles 30000 --run-cycles 2000
        --on torus:3x3 --app torus:3x3 --batch-cycles 300 --run-cycles 0
        --on torus:3x3 --app torus:3x3 --batch-cycles 300 --memory-cycles 50
        --on torus:3x3 --app torus:3x3 --batch-cycles 300 --protocol request-reply
        --on torus:4x4 --app torus:4x4 --batch-cycles 500 --contexts 8 --mapping random
        --on mesh:3x3 --app ring:9 --batch-cycles 300
        --on hypercube:3 --app hypercube:3 --batch-cycles 300
    """,
    "simulate.flows": """
        --on mesh:3x3 --app transpose:3 --flow-bytes 1000 --bandwidth 1GB/s
        --on mesh:3x3 --app ring:9 --flow-bytes 1000 --bandwidth 1GB/s
        --on torus:4x4 --app all-to-all:16 --flow-bytes 1MB --bandwidth 200Gb/s
        --on torus:4x4 --app hypercube:4 --flow-bytes 1MB --bandwidth 200Gb/s --injection shared
        --on line:2 --app all-to-all:2 --flow-bytes 1MB --bandwidth 25GB/s
        --on leaf-spine:4x2x4 --app all-to-all:16 --flow-bytes 1MB --bandwidth 200Gb/s
        --on leaf-spine:4x2x4 --app ring:16 --flow-bytes 1MB --bandwidth 200Gb/s
        --on fat-tree:k=4 --app shift:1,5/16 --flow-bytes 1kB --bandwidth 1GB/s --latency 1us
        --on torus:8x8 --app examples/lammps-64.mtx --bandwidth 25GB/s
        --on leaf-spine:8x4x8 --app examples/plate-64.mtx --bandwidth 25GB/s
    """,
    "simulate.trace": """
        examples/halo.csv --on torus:4x4x4 --engine worm
        examples/halo.csv --on mesh:4x4x4 --engine worm
        examples/halo.csv --on mesh:8x8 --engine worm
        examples/halo.csv --on torus:8x8 --engine worm --routing up-down
        examples/halo.csv --on hypercube:6 --engine worm
        examples/halo.csv --on mesh:4x4x4 --engine worm --mapping random
        examples/halo.csv --on torus:4x4x4 --engine worm --most-cycles 200
        examples/halo.csv --on torus:4x4x4 --engine flow
        examples/halo.csv --on torus:4x4x4 --engine flow --bandwidth 2GB/s --flit-bytes 16
        examples/halo.csv --on leaf-spine:8x8x8 --engine flow
    """,
    "simulate.broadcast": """
        --on torus:3x3 --rate 0.002 --cycles 3000 --packet-flits 4
        --on torus:3x3 --rate 0.01 --cycles 3000 --packet-flits 4
        --on torus:3x3 --rate 0.2 --cycles 3000 --packet-flits 4
        --on torus:3x3 --rate 0.002,0.004 --cycles 3000 --packet-flits 4
        --on torus:3x3 --rate 0.004,0.2 --cycles 9000 --packet-flits 4
        --on torus:4x4 --rate 0.003 --broadcast 1 --cycles 9000 --packet-flits 4
        --on torus:4x4 --rate 0.01 --broadcast 0 --cycles 9000 --packet-flits 4
        --on torus:4x4 --rate 0.004 --cycles 300 --packet-flits 4
        --on torus:4x4 --rate 0.0001 --cycles 1 --packet-flits 4
        --on mesh:4x4 --rate 0.004 --multicast-targets 3 --cycles 9000 --packet-flits 4
    """,
    "simulate.pattern": """
        transpose --on symult2010:3x3 --loops 3
        transpose --on symult2010:4x4 --loops 3
        transpose --on symult2010:4x4 --loops 3 --think-us 0
        transpose --on symult2010:4x4 --loops 3 --think-us 0 --message-bytes 16384
        transpose --on symult2010:4x4 --loops 3 --message-bytes 100,4096
        transpose --on symult2010:4x4 --loops 3 --engine flow
        ab-1nn --on symult2010:4x4 --loops 3
        aa-1nn --on symult2010:4x4 --loops 3
        aa-4nn --on symult2010:4x4 --loops 3
        diagonal --on symult2010:4x4 --loops 3
    """,
    "predict.latency": """
        --on mesh:4x4
        --on mesh:4x4 --offered 0.1
        --on mesh:4x4 --offered 0.9
        --on torus:4x4 --offered 0.3
        --on hypercube:4 --offered 0.1
        --on hypercube:4
        --on fat-tree:k=4 --offered 0.2
        --on leaf-spine:4x2x4
        --on mesh:4x4 --app ring:16
        --on mesh:8x8 --app examples/lammps-64.mtx --offered 0.2
    """,
    "predict.locality": """
        --nodes 64
        --nodes 1000
        --nodes 1000 --contexts 2
        --nodes 1000000 --contexts 4
        --nodes 10:1000:x10 --distance 3
        --nodes 64 --distance 1
        --on torus:8x8
        --on torus:8x8 --app examples/lammps-64.mtx
        --on torus:8x8 --app examples/lammps-64.mtx --mapping random
        --on torus:8x8 --app torus:8x8
    """,
    "predict.torus-broadcast": """
        --rate 0.001
        --rate 0.5
        --rate 0:auto:3
        --rate 0.0005 --k 4
        --rate 0.002 --k 4
        --rate 0.001 --broadcast 0.1
        --rate 0.001 --broadcast 0
        --rate 0.002 --message-flits 16
        --rate 0.001 --on torus:6x6
        --rate 0.01 --on torus:4x4 --broadcast 0.2
    """,
    "predict.wiring": """
        --nodes 64
        --nodes 256
        --nodes 1024
        --nodes 64,256
        --nodes 64:4096:x4
        --nodes 4096 --message-headers 1
        --nodes 4096 --message-headers 1,100
        --nodes 256 --distance neighbours
        --nodes 256 --distance worst
        --nodes 256 --form chittor-1991
    """,
    "hotspot": """
        --pes 16 --steps 200
        --pes 16 --steps 200 --rate 0.05
        --pes 16 --steps 200 --rate 0
        --pes 16 --steps 200 --rate 0.5 --combining none
        --pes 16 --steps 200 --rate 0.9
        --pes 64 --steps 200 --hot-spots 1
        --pes 64 --steps 200 --hot-spots 1 --combining none
        --pes 16 --steps 200 --rate 0.1,0.6
        --pes 16 --steps 200 --queue 2
        --pes 16 --steps 1
    """,
    "hotspot.critical-queue": """
        --pes 16 --steps 200 --rate 0.05
        --pes 16 --steps 200 --rate 0.1
        --pes 16 --steps 200 --rate 0.15
        --pes 16 --steps 200 --rate 0.05,0.1
        --pes 16 --steps 200 --rate 0.1 --rise 2
        --pes 16 --steps 200 --rate 0.1 --combining none
        --pes 16 --steps 200 --rate 0.5 --combining none
        --pes 16 --steps 200 --rate 0.02,0.5 --combining none
        --pes 16 --steps 200 --rate 0.01 --hot-spots 1
        --pes 64 --steps 200 --rate 0.1 --switch-size 4 --replications 2
    """,
    "collective": """
        all-reduce --on torus:4x4 --size 1MB
        all-reduce --on torus:4x4 --size 1KB:64MB
        all-gather --on leaf-spine:2x1x4 --size 1MB
        reduce-scatter --on ring:8 --size 1MB
        all-to-all --on leaf-spine:2x1x4 --size 1MB --bandwidth 25GB/s --latency 0
        broadcast --on mesh:3x3 --size 1MB
        reduce --on mesh:3x3 --size 1KB
        gather --on fat-tree:k=4 --size 1KB
        scatter --on hypercube:3 --size 1MB
        barrier --on mesh:2x3
    """,
    "map": """
        ring:16 --on mesh:4x4 --rounds 1
        all-to-all:16 --on torus:4x4 --rounds 1
        binary-tree:15 --on mesh:4x4 --rounds 1
        hypercube:4 --on mesh:4x4 --rounds 1 --objective hop-bytes
        transpose:4 --on mesh:4x4 --rounds 1 --objective path-contention
        examples/lammps-64.mtx --on torus:8x8 --rounds 1 --objective saturation
        examples/lammps-64.mtx --on torus:4x4x4 --rounds 1
        examples/plate-64.mtx --on leaf-spine:8x4x8 --rounds 1
        mesh:4x4 --on mesh:4x4 --layout hilbert
        ring:4 --on mesh:2x2 --tasks-per-node 4 --rounds 1
    """,
    "compile": """
        all-to-all:16 --on torus:4x4 --words 16
        all-to-all:16 --on torus:4x4 --words 4096
        ring:16 --on torus:4x4 --words 16
        ring:4 --on torus:2 --tasks-per-node 4
        hypercube:4 --on torus:4x4 --words 64
        transpose:4 --on mesh:4x4 --words 64
        ring:8 --on leaf-spine:2x2x4 --words 64
        all-to-all:9 --on torus:3x3 --words 1
        shift:1/16 --on mesh:4x4 --words 1000
        random-permutation:16 --on hypercube:4 --words 100
    """,
    "compile.collective": """
        all-gather --on leaf-spine:2x1x2
        all-gather --on ring:4
        all-reduce --on ring:4
        all-reduce --on mesh:2x2 --size 1KB
        reduce-scatter --on ring:4 --size 1MB
        broadcast --on line:5 --size 40KB --latency 1us
        broadcast --on mesh:2x3 --size 1MB
        reduce --on mesh:2x2 --size 1MB
        all-gather --on line:3 --size 1MB
        all-to-all --on mesh:2x2 --bandwidth 100Gb/s --latency 1us --size 1MB
    """,
    "fabric": """
        leaf-spine:4x2x4 --samples 5
        leaf-spine:4x2x4 --samples 5 --failed-channels leaf0-spine1
        leaf-spine:2x1x4 --samples 0
        leaf-spine:2x1x4 --samples 0 --job a=h[0-3]
        fat-tree:k=4 --samples 5
        fat-tree:k=2 --samples 5
        torus:4x4 --samples 1 --routing updn
        dragonfly:2x4x2 --samples 1
        mesh:3x3 --samples 1
        line:2 --samples 1
    """,
    "route": """
        leaf-spine:4x2x4 --samples 5
        leaf-spine:4x2x4 --samples 5 --failed-channels leaf0-spine1
        leaf-spine:4x2x4 --samples 5 --for shifts
        leaf-spine:4x2x4 --samples 5 --for ring:16
        leaf-spine:4x2x4 --samples 5 --engine updn
        fat-tree:k=4 --samples 5
        fat-tree:k=2 --samples 5
        torus:3x3 --samples 2
        mesh:3x3 --samples 2
        line:2 --samples 2
    """,
}
"""Options, by the words of a command."""
