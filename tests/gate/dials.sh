#!/bin/bash
# What is dialled by its address, by programs that know no proxy: what a rule is for arrives, the rest is refused before it connects, and the log has each of them.
. "$(dirname "$0")/../gate_lib.sh"

cat >"$work/dial.py" <<'P'
# dial.py [--fast] [--from ADDRESS] ADDRESS PORT...: for each what connect() says, or what the server says first
import errno, socket, sys
args = sys.argv[1:]
fast = args[0] == "--fast" and args.pop(0)
source = (args.pop(0), args.pop(0))[1] if args[0] == "--from" else None
words = []
while args:
    host, port = args.pop(0), int(args.pop(0))
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    s.settimeout(None if fast else 5)
    try:
        if source:
            s.setsockopt(socket.IPPROTO_IP, 15, 1)  # IP_FREEBIND
            s.bind((source, 0))
        if fast:
            s.sendto(b"hello", socket.MSG_FASTOPEN, (host, port))
        else:
            s.connect((host, port))
    except OSError as e:
        words.append(errno.errorcode.get(e.errno, "timeout"))
        continue
    try:
        words.append(s.recv(64).decode().strip() or "closed")
    except OSError as e:
        words.append("connected,%s" % errno.errorcode.get(e.errno, "timeout"))
print(*words)
P
cat >"$tmp/speaks.py" <<'P'
import socket, sys, threading
def serve(family, address, port):
    s = socket.socket(family)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen(100)
    while True:
        c, _ = s.accept()
        c.sendall(b"served\n")
        c.close()
for a in sys.argv[2:]:
    host, port = a.rsplit(":", 1)
    threading.Thread(target=serve, args=(socket.AF_INET6 if ":" in host else socket.AF_INET, host, int(port)), daemon=True).start()
open(sys.argv[1], "w").close()
threading.Event().wait()
P
for a in 10.77.0.1/32 10.77.1.1/32 fd77::1/128; do ip addr add "$a" dev lo nodad 2>/dev/null || ip addr add "$a" dev lo; done
helper "$tmp/speaking" python3 "$tmp/speaks.py" "$tmp/speaking" 10.77.0.1:7001 10.77.0.1:7002 10.77.1.1:7001 fd77::1:7001 || finish
start_upstream names.test || finish

# policy TEXT: of the network domain
policy() { printf 'version: 1\nextends: [default]\nnetwork:\n%s\n' "$1" >"$tmp/p.yaml"; }
dial() { run "$tmp/p.yaml" python3 dial.py "$@" 2>"$tmp/err"; }
logged() { grep -c "\"event\":\"denial\".*\"target\":\"$1\"" "$(audit)"; }

is "outside, the servers are there" "$(cd "$work" && python3 dial.py 10.77.0.1 7001 10.77.0.1 7002 10.77.1.1 7001 fd77::1 7001)" "served served served served"

policy '  mode: allowlist
  allow: [{cidr: 10.77.0.0/24, ports: [7001]}, {cidr: "fd77::/64", ports: [7001]}, {host: names.test}]'
if [ "$direct" = none ]; then
	like "what is dialled without a proxy fails at once, whatever rules there are" "$(dial 10.77.0.1 7001 10.77.1.1 7001 fd77::1 7001)" '^E(CONNREFUSED|NETUNREACH|HOSTUNREACH) E(CONNREFUSED|NETUNREACH|HOSTUNREACH) E(CONNREFUSED|NETUNREACH|HOSTUNREACH|ADDRNOTAVAIL)$'
	finish
fi
is "a range's port is reached, of both families" "$(dial 10.77.0.1 7001 fd77::1 7001 ::ffff:10.77.0.1 7001)" "served served served"
is "by a client that bound itself to another address as well" "$(dial --from 203.0.113.9 10.77.0.1 7001)" "served"
is "and with a first packet that has data" "$(dial --fast 10.77.0.1 7001)" "served"
is "a name is reached by the address that stands for it" "$(run "$tmp/p.yaml" curl -sS -o /dev/null -w '%{http_code}' --noproxy '*' http://names.test/)" 200
is "another port of it is refused before it connects" "$(dial 10.77.0.1 7002)" ECONNREFUSED
is "... and in the log, once, though the command ended at once" "$(logged 10.77.0.1:7002)" 1
ok "... with the rule that it is not" grep -q '"rule":"network.allow 10.77.0.0/24 (.*p.yaml:5)".*"target":"10.77.0.1:7002"' "$(audit)"
is "what no rule is for is refused before it connects" "$(dial 10.77.1.1 7001 192.0.2.1 443 169.254.169.254 80 2001:db8::1 443 ::ffff:10.77.1.1 7001 fd77:0:0:1::1 7001)" "ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED"
is "... each is in the log" "$(logged 10.77.1.1:7001) $(logged 192.0.2.1:443) $(logged 169.254.169.254:80) $(logged '\[2001:db8::1\]:443') $(logged '\[fd77:0:0:1::1\]:7001')" "2 1 1 1 1"
is "a port that no name has is refused, at addresses that stand for names" "$(dial 198.18.1.0 22 100::100 22)" "ECONNREFUSED ECONNREFUSED"
is "a client that bound itself to another address is refused" "$(dial --from 203.0.113.9 10.77.1.1 7001)" ECONNREFUSED
is "data in the first packet does not get past it" "$(dial --fast 10.77.1.1 7001)" ECONNREFUSED
is "who looks for open ports finds none" "$(run "$tmp/p.yaml" bash -c 'for p in 22 80 443 7001; do if (exec 3<>/dev/tcp/10.77.1.1/$p); then echo open; fi; done' 2>/dev/null)" ""
is "the sandbox's own servers are left alone" "$(run "$tmp/p.yaml" python3 -c '
import socket
for f, bound, to in ((socket.AF_INET, "0.0.0.0", "127.0.0.1"), (socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::", "::1")):
    s = socket.socket(f); s.bind((bound, 0)); s.listen()
    c = socket.create_connection((to, s.getsockname()[1])); print("own", end=" ")
' 2>&1)" "own own own "
like "datagrams to many addresses take no memory of the kernel's that no limit counts" "$(run "$tmp/p.yaml" python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(5000):
    try: s.sendto(b"x", ("10.%d.%d.1" % (100 + i // 256, i % 256), 9999))
    except ConnectionRefusedError: pass
print(open("/proc/sys/net/netfilter/nf_conntrack_count").read())' 2>&1)" '^[0-9]{1,2}$'
is "ten thousand dials are all refused" "$(run "$tmp/p.yaml" python3 -c '
import socket
n = 0
for i in range(10000):
    try: socket.create_connection(("10.%d.%d.1" % (100 + i // 256, i % 256), 443), 5)
    except ConnectionRefusedError: n += 1
print(n)')" 10000
ok "... and the log counts those that it does not name" test "$(python3 -c '
import json, sys
print(sum(e.get("count", 1) for e in map(json.loads, open(sys.argv[1])) if e["event"] == "denial"))' "$(audit)")" -ge 9000

policy '  mode: public
  deny: [{cidr: 192.0.2.0/24}]'
is "where the internet is open, what is none of it is refused before it connects" "$(dial 10.77.0.1 7001 169.254.169.254 80 192.0.2.1 443 fd77::1 7001 168.63.129.16 80)" "ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED"
policy '  mode: allowlist
  allow: [{host: names.test}]
  deny: [{cidr: 10.0.0.0/8}, {cidr: 192.0.0.0/2}]'
is "a range that is denied leaves names alone that lead elsewhere" "$(run "$tmp/p.yaml" curl -sS -o /dev/null -w '%{http_code}' --noproxy '*' http://names.test/)" 200

# What refuses is set up from inside, and is nobody's there.
cat >"$work/undo.py" <<'P'
# undo.py [make]: takes the table away that refuses, as who has power over the network could (make: makes it before); and says what came of it
import errno, os, socket, struct, sys
def message(kind, flags, family, resource, body=b"", seq=[0]):
    seq[0] += 1
    return struct.pack("=IHHIIBBH", 20 + len(body), kind, flags, seq[0], 0, family, 0, socket.htons(resource)) + body
name = struct.pack("=HH", 11, 1) + b"cordon\0\0"
try:
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
    s.settimeout(5)
    made = message(10 << 8 | 0, 0x401, socket.AF_INET, 0, name) if sys.argv[1:] else b""
    s.send(message(16, 1, 0, 10) + made + message(10 << 8 | 2, 5, socket.AF_INET, 0, name) + message(17, 1, 0, 10))
    code = -struct.unpack_from("=i", s.recv(4096), 16)[0]
except OSError as e:
    code = e.errno
status = dict(line.split(":\t") for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
print(errno.errorcode.get(code, "undone"), *sorted(os.listdir("/proc/self/fd"))[:-1], *("%s=%x" % (k, int(status[k], 16)) for k in ("CapEff", "CapPrm", "CapBnd")))
P
is "outside, who has power over a network can take such a table away" "$(cd "$work" && { python3 undo.py make; python3 undo.py; } 2>&1 | cut -d' ' -f1 | xargs)" "undone ENOENT"
policy '  mode: allowlist
  allow: [{host: names.test}]'
like "inside nobody can, and no descriptor or capability came of it" "$(run "$tmp/p.yaml" python3 undo.py 2>&1)" '^E(PERM|PROTONOSUPPORT|AFNOSUPPORT|ACCES) 0 1 2( 3)? CapEff=0 CapPrm=0 CapBnd=0$'
if [ "$(id -u)" = 0 ]; then
	"$CORDON" run -p "$tmp/p.yaml" --workdir "$work" -- sleep 31.$$ 2>"$tmp/err" &
	until_true pgrep -x -f "sleep 31.$$"
	inside=$(pgrep -x -f "sleep 31.$$") first=
	while [ -n "$inside" ] && [ "$(awk '/^NSpid/ { print $NF }' "/proc/$inside/status")" != 1 ]; do inside=$(awk '/^PPid/ { print $2 }' "/proc/$inside/status"); done
	[ -z "$inside" ] || first=$(find "/proc/$inside/fd" -type l -printf '%l\n' | sed -n 's/^socket:\[\(.*\)\]/\1/p')
	is "nor does the sandbox's first process keep a socket for it" "$(awk 'NR > 1 { print $10 }' "/proc/$inside/net/netlink" | grep -Fx "$first")" ""
	ok "... though the network has such sockets" test "$(awk '$2 == 12' "/proc/$inside/net/netlink" | wc -l)" -ge 2
	kill %%
	wait %%
fi

# A policy that changes.
policy '  mode: allowlist
  allow: [{host: names.test}]'
mkfifo "$tmp/orders"
"$CORDON" run -p "$tmp/p.yaml" --workdir "$work" -- sh -c 'while read -r line; do python3 dial.py $line; done' <"$tmp/orders" >"$tmp/told" 2>"$tmp/err" &
run=$!
exec 5>"$tmp/orders"
told=0
ask()
{
	echo "$1" >&5
	told=$((told + 1))
	until_true answered
	sed -n "${told}p" "$tmp/told"
}
answered() { [ "$(wc -l <"$tmp/told")" -ge "$told" ]; }
in_force() { [ "$(grep -c 'a new policy is in force' "$(audit)")" -ge "$1" ]; }
is "before a rule is there a range is refused" "$(ask '10.77.0.1 7001')" ECONNREFUSED
told=1
policy '  mode: allowlist
  allow: [{host: names.test}, {cidr: 10.77.0.0/24, ports: [7001]}]'
until_true in_force 1
is "a rule that is added opens it amid the run" "$(ask '10.77.0.1 7001 10.77.1.1 7001')" "served ECONNREFUSED"
told=2
policy '  mode: allowlist
  allow: [{host: names.test}]'
until_true in_force 2
is "and one that is taken away shuts it" "$(ask '10.77.0.1 7001')" ECONNREFUSED
exec 5>&-
wait "$run"

finish
