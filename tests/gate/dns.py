#!/usr/bin/env python3
"""A DNS server that answers from its arguments: dns.py LOG NAME=ADDRESS[,ADDRESS...]... On 127.0.0.1:53. Names that begin with "tcp." have answers too long for UDP, those with "silent." have none."""
import ipaddress, socket, struct, sys, threading

names = {n.lower(): [ipaddress.ip_address(a) for a in v.split(",")] for n, v in (w.split("=", 1) for w in sys.argv[2:])}


def answer(q, tcp):
    labels, at = [], 12
    while q[at]:
        labels.append(q[at + 1:at + 1 + q[at]].decode())
        at += 1 + q[at]
    kind = struct.unpack(">H", q[at + 1:at + 3])[0]
    name = ".".join(labels).lower()
    with open(sys.argv[1], "a") as f:
        f.write("%s %d%s\n" % (name, kind, " tcp" if tcp else ""))
    if name.startswith("silent."):
        return None
    cut = name.startswith("tcp.") and not tcp
    found = [] if cut else [a for a in names.get(name, []) if (a.version == 4) == (kind == 1) and kind in (1, 28)]
    flags = 0x8180 | (0x0200 if cut else 0) | (0 if name in names else 3)
    out = q[:2] + struct.pack(">HHHHH", flags, 1, len(found), 0, 0) + q[12:at + 5]
    for a in found:
        out += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 60, len(a.packed)) + a.packed
    return out


def serve_tcp(listener):
    while True:
        c, _ = listener.accept()
        f = c.makefile("rwb")
        while head := f.read(2):
            out = answer(f.read(struct.unpack(">H", head)[0]), True)
            f.write(struct.pack(">H", len(out)) + out)
            f.flush()


udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 53))
tcp = socket.create_server(("127.0.0.1", 53))
threading.Thread(target=serve_tcp, args=(tcp,), daemon=True).start()
print("ready", flush=True)
while True:
    q, peer = udp.recvfrom(4096)
    if out := answer(q, False):
        udp.sendto(out, peer)
