#!/usr/bin/env python3
"""A DNS server that answers from its arguments: dns.py LOG NAME=ADDRESS[,ADDRESS...]... On 127.0.0.1:53, UDP."""
import ipaddress, socket, struct, sys

names = {n.lower(): [ipaddress.ip_address(a) for a in v.split(",")] for n, v in (w.split("=", 1) for w in sys.argv[2:])}
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
print("ready", flush=True)
while True:
    q, peer = s.recvfrom(4096)
    labels, at = [], 12
    while q[at]:
        labels.append(q[at + 1:at + 1 + q[at]].decode())
        at += 1 + q[at]
    kind = struct.unpack(">H", q[at + 1:at + 3])[0]
    name = ".".join(labels).lower()
    with open(sys.argv[1], "a") as f:
        f.write("%s %d\n" % (name, kind))
    found = [a for a in names.get(name, []) if (a.version == 4) == (kind == 1) and kind in (1, 28)]
    rcode = 0 if name in names else 3
    answer = q[:2] + struct.pack(">HHHHH", 0x8180 | rcode, 1, len(found), 0, 0) + q[12:at + 5]
    for a in found:
        answer += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 60, len(a.packed)) + a.packed
    s.sendto(answer, peer)
