"""One dump of forwarding tables in the other spellings."""

import re


def as_dump_fts(text):
    """Return what dump_fts prints of the tables that OpenSM dumps so."""
    text = re.sub(r"\[0-(\d+)\] of switch Lid \d+ guid (0x\w+) \('(.*)'\):",
                  lambda said: f"[0x0-{int(said[1]):#x}] of switch DR path slid 0; dlid 0; 0,1,1 "
                  f"guid {said[2]} ({said[3]}):\n  Lid  Out   Destination\n       Port     Info ",
                  text)  # fmt: skip
    text = re.sub(r"(?m)^(0x\w+ \d+) # (.*)$", r"\1 : (\2)", text)
    counted, entries = [], 0
    for line in text.splitlines():
        entries = 0 if line.startswith("Unicast") else entries + line.startswith("0x")
        counted.append(re.sub(r"^\d+ (lids dumped)", rf"{entries} \1 ", line))
    return "\n".join(counted) + "\n"


def as_fdbs(text):
    """Return what OpenSM's opensm.fdbs says of them; what has no entry is unreachable."""
    lines = []
    for block in text.split("Unicast lids ")[1:]:
        top, guid = re.match(r"\[0-(\d+)\].* guid (0x\w+)", block).groups()
        port = dict(re.findall(r"(?m)^0x(\w+) (\d+) #", block))
        lines += [f"dump_ucast_routes: Switch {guid}", "LID    : Port : Hops : Optimal"]
        for lid in range(1, int(top) + 1):
            said = port.get(f"{lid:04x}")
            lines.append(f"0x{lid:04X} : " + (f"{said}  : 02   : yes" if said else "UNREACHABLE"))
    return "\n".join(lines) + "\n"


def entries(path):
    """Return the entries of a dump: port of (switch GUID, LID)."""
    found, guid = {}, ""
    for line in path.read_text().splitlines():
        switch = re.match(r"Unicast lids .* guid (0x[0-9a-f]{16}) ", line)
        if switch:
            guid = switch[1]
        elif line.startswith("0x"):
            lid, port = line.split()[:2]
            assert (guid, lid) not in found
            found[guid, lid] = int(port)
    return found


def as_sl2vl(network, lane):
    """Return OpenSM's dump of lanes: ``lane(switch, port in, port out, level)``."""
    lines = []
    for switch, guid in enumerate(network.cabling.router_guid.tolist()):
        ports = int(network.cabling.router_ports[switch])
        lines += [
            f'Switch 0x{guid:016x}, base LID {network.cabling.router_lid[switch]}, "s"',
            "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15",
            "#" + "-" * 56,
        ]
        for out in range(1, ports + 1):
            for into in range(ports + 1):
                said = " ".join(f"{lane(switch, into, out, level):<2}" for level in range(16))
                lines.append(f"{into:<3} {out:<3} : {said}")
        lines += ["#" + "-" * 56, "", 'Channel Adapter 0x0000000001000001, base LID 2, "Hca0"',
                  "0   0   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 ", ""]  # fmt: skip
    return "\n".join(lines) + "\n"
