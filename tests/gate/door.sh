#!/bin/bash
# cordon-init carries what is inside through the door: a real relay and egress outside, real clients inside a network namespace of their own that has nothing but loopback.
. "$(dirname "$0")/../gate_lib.sh"
init=$CORDON_BUILD/cordon-init
door=$tmp/door
ports=(--listen proxy:3128 --listen transparent:3127 --listen dns:53)

cat >"$tmp/policy.yaml" <<'END'
network:
  mode: allowlist
  allow:
    - {host: plain.test, ports: [80, 443, 8080]}
END

# probe.py dns udp|tcp NAME: the address, or the code. probe.py hold N: keeps N connections to the proxy. probe.py raw|half ADDRESS PORT TEXT: what a connection says, or how it ends; half: it has ended its own half.
cat >"$tmp/probe.py" <<'END'
import resource, socket, struct, sys, time
def ask(kind, name):
    q = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0\0\1\0\1"
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    s.settimeout(5)
    s.connect(("127.0.0.1", 53))
    s.send(q if kind == "udp" else struct.pack(">H", len(q)) + q)
    a = s.recv(4096)
    a = a if kind == "udp" else a[2:]
    return socket.inet_ntoa(a[-4:]) if a[7] else "code %d" % (a[3] & 15)
def raw(half, address, port, text):
    s = socket.create_connection((address, port), 5)
    try:
        s.sendall(text)
        if half:
            s.shutdown(socket.SHUT_WR)
        got = b""
        while (piece := s.recv(65536)):
            got += piece
        return got.decode() or "closed"
    except ConnectionResetError:
        return "reset"
def hold(n):
    resource.setrlimit(resource.RLIMIT_NOFILE, (n + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    held = []
    for _ in range(n):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", 3128))
        held.append(s)
    time.sleep(0.5)
    return "held"
what = sys.argv[1]
if what == "dns":
    print(ask(*sys.argv[2:4]))
elif what in ("raw", "half"):
    print(raw(what == "half", sys.argv[2], int(sys.argv[3]), sys.argv[4].encode().decode("unicode_escape").encode()))
else:
    print(hold(int(sys.argv[2])))
END

# As PID 1 of an empty network namespace: inside SCRIPT
inside()
{
	timeout 60 unshare -n --pid --fork --kill-child -- "$init" --door "$door" "${ports[@]}" -- bash -c "cd $tmp; probe() { python3 $tmp/probe.py \"\$@\"; }; fetch() { curl -sS -m 10 --cacert $up/ca.pem \"\$@\" 2>&1; }; proxied() { fetch -x http://127.0.0.1:3128 \"\$@\"; }; $1"
}

# A server that answers only when the client has ended its half.
cat >"$tmp/patient.py" <<'END'
import socket
l = socket.create_server(("127.0.0.1", 8080), backlog=64)
while True:
    c, _ = l.accept()
    n = 0
    while (piece := c.recv(65536)):
        n += len(piece)
    c.sendall(b"heard %d" % n)
    c.close()
END

start_upstream plain.test other.test || finish
python3 "$tmp/patient.py" &
patient_pid=$!
mkfifo "$tmp/life"
"$CORDON_BUILD/tests/door-drive" "$CORDON_BUILD/cordon-relay" "$CORDON_BUILD/cordon-egress" "$tmp/policy.yaml" "$up/ca.pem" "$door" plain.test=127.0.0.1 other.test=127.0.0.1 \
	<"$tmp/life" >"$tmp/events" 2>"$tmp/drive.err" &
drive_pid=$!
exec 7>"$tmp/life"
door_done()
{
	exec 7>&-
	kill "$patient_pid" 2>/dev/null
	wait "$drive_pid" 2>/dev/null
	gate_done
}
trap door_done EXIT
for _ in $(seq 100); do grep -q ready "$tmp/events" && break; sleep 0.05; done
ok "relay and egress are up" grep -q ready "$tmp/events"

is "HTTP goes through the proxy port" "$(inside 'proxied -o /dev/null -w "%{http_code}" http://plain.test/echo')" 200
is "so does HTTPS" "$(inside 'proxied -o /dev/null -w "%{http_code}" https://plain.test/echo')" 200
is "and SOCKS5" "$(inside 'fetch -o /dev/null -w "%{http_code}" -x socks5h://127.0.0.1:3128 https://plain.test/echo')" 200
is "all of them arrived" "$(arrived)" 3
forget
like "a host that is not allowed is refused with a reason" "$(inside 'proxied -w " %{http_code}" http://other.test/')" 'policy_denied.* 403$'
like "also where it is a CONNECT" "$(inside 'proxied https://other.test/')" '403'
like "and an address of the host's own" "$(inside 'proxied -w " %{http_code}" http://127.0.0.1/')" ' 403$'
is "nothing of it arrived" "$(arrived)" 0
like "the log has it" "$(cat "$tmp/events")" '! deny .*other.test'

like "names are answered over UDP" "$(inside 'probe dns udp plain.test')" '^198\.1[89]\.'
like "and over TCP" "$(inside 'probe dns tcp plain.test')" '^198\.1[89]\.'
is "a name that is not allowed does not exist" "$(inside 'probe dns udp other.test; probe dns tcp other.test')" "code 3
code 3"
is "a query that is none keeps nobody from an answer" "$(inside 'echo nonsense >/dev/udp/127.0.0.1/53; probe dns udp other.test')" "code 3"

head -c 20000000 /dev/urandom >"$tmp/large"
is "a large body arrives whole" "$(inside "proxied -T $tmp/large -X POST -H 'Expect:' -o back -w '%{http_code}' http://plain.test/echo")" 200
forget
like "the end of one half is passed on" "$(inside 'probe half 127.0.0.1 3128 "CONNECT plain.test:8080 HTTP/1.1\r\nHost: plain.test:8080\r\n\r\nabc"')" 'heard 3$'

if inside 'timeout 3 bash -c "exec 3<>/dev/tcp/203.0.113.9/9" 2>/dev/null'; then
	is "what knows no proxy arrives as well" "$(inside 'a=$(probe dns udp plain.test); fetch -o /dev/null -w "%{http_code}" --resolve plain.test:80:$a http://plain.test/echo; fetch -o /dev/null -w " %{http_code}" --resolve plain.test:443:$a https://plain.test/echo')" "200 200"
	is "it arrived" "$(arrived)" 2
	forget
	is "with half an end, too" "$(inside 'a=$(probe dns udp plain.test); probe half $a 8080 abc')" "heard 3"
	is "an address that stands for no name is reset" "$(inside 'probe raw 203.0.113.9 443 "\x16\x03\x01"')" reset
	like "or told, where it speaks HTTP" "$(inside 'fetch -w " %{http_code}" http://203.0.113.9/')" 'policy_denied.* 403$'
	like "a name in the SNI that is another's is not let through" "$(inside 'a=$(probe dns udp plain.test); fetch -k --connect-to other.test:443:$a:443 https://other.test/')" 'curl: \((35|56)\)'
	is "nothing of it arrived" "$(arrived)" 0
else
	skip "what knows no proxy arrives as well" "no redirect can be made here"
fi

is "hundreds at once are all served" "$(inside 'for i in $(seq 200); do proxied -o /dev/null -w "%{http_code}\n" http://plain.test/echo & done | sort | uniq -c | tr -s " "')" " 200 200"
is "more idle connections than it has room for leave room again when they end" "$(inside 'probe hold 3000; proxied -o /dev/null -w "%{http_code}" http://plain.test/echo')" "held
200"
is "the command's status is its own" "$(inside 'exit 37'; echo $?)" 37
is "and signals reach it" "$(inside 'trap "echo got; exit 5" TERM; kill -TERM 1; for i in $(seq 50); do sleep 0.1; done'; echo $?)" "got
5"
is "it cannot be killed or stopped from inside" "$(inside 'kill -KILL 1; kill -STOP 1; probe dns udp other.test')" "code 3"
is "the command has none of its descriptors" "$("$init" --door "$door" --listen proxy:3999 -- sh -c 'ls /proc/self/fd | wc -l')" "$(sh -c 'ls /proc/self/fd | wc -l')"
is "nor its limits" "$(ulimit -Sn 512; "$init" --door "$door" --listen proxy:3999 -- sh -c 'ulimit -n')" 512

refuses()
{
	local said
	said=$("$init" "$@" 2>&1)
	[ $? = 125 ] && [[ $said == *usage:* ]]
}
for bad in --door "--door $door" "--listen proxy:1 true" "--door $door --listen proxy true" "--door $door --listen proxy:0 true" "--door $door --listen proxy:65536 true" \
	"--door $door --listen proxy:1:1 true" "--door $door --listen inference:1: true" "--door $door --listen inference:1:4294967296 true" "--door $door --listen door:1 true" \
	"--door $door --listen prox:1 true" "--door $door --door $door true"; do
	# shellcheck disable=SC2086
	ok "it does not start with ${bad//$door/DOOR}" refuses $bad
done
like "a port that is taken is told" "$("$init" --door "$door" --listen proxy:80 -- true 2>&1)" '^cordon-init: cannot listen on port 80: Address (already )?in use$'

# A kernel of gVisor's own, which has neither our sockets nor our redirect: only the door.
in_gvisor()
{
	# not /dev/null as its standard input: runsc would change the owner of that
	: | timeout 60 runsc --platform=ptrace --network=none --host-uds=open --ignore-cgroups "do" -force-overlay=false -- "$init" --door "$door" "${ports[@]}" -- \
		curl -sS -m 10 --cacert "$up/ca.pem" -o /dev/null -w '%{http_code}' -x http://127.0.0.1:3128 "$1" 2>&1
}
if ! command -v runsc >/dev/null; then
	skip "it works in gVisor" "runsc is missing"
elif ! : | timeout 20 runsc --platform=ptrace --network=none --ignore-cgroups "do" -- true >"$tmp/runsc" 2>&1; then
	skip "it works in gVisor" "runsc does not start here"
else
	forget
	is "it works in gVisor" "$(in_gvisor https://plain.test/echo)" 200
	is "from where it arrived" "$(arrived)" 1
	like "and what is denied is denied" "$(in_gvisor https://other.test/)" 403
	is "and does not arrive" "$(arrived)" 1
fi

exec 7>&-
wait "$drive_pid" 2>/dev/null
like "without a relay nothing opens, and nothing hangs" "$(inside 'proxied http://plain.test/')" '^curl: \((7|56)\)'
is "nothing arrived" "$(grep -c other.test "$up/log")" 0
finish
