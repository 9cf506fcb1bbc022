#!/usr/bin/env python3
"""gate.py: measures Cordon's gateway beside other proxies, in turns; run by gate.sh in a network namespace with nothing but loopback.

Prints tab-separated lines:
    value CASE WHO METRIC MEDIAN LEAST MOST
    ratio CASE WHO OTHER METRIC MEDIAN      of the ratios of each round, so that a slow moment of the machine meets both
    skipped WHO WHY

All TLS is 1.3 with AES-128-GCM on both sides of a proxy, with ECDSA P-256 certificates, and is verified on both sides. Each proxy has one worker. The upstream answers
only where the credential is in the request, so that nobody is quick by leaving it out. One load generator per proxy stays for the whole run: Cordon's in the sandbox,
the others' beside their proxy, which spares those the sandbox's network namespace.
"""
import os
import signal
import socket
import statistics
import subprocess
import sys
import time

BIN, TMP = os.environ["BENCH_BIN"], os.environ["BENCH_TMP"]
ROUNDS = int(os.environ.get("BENCH_GATE_ROUNDS", "5"))
SECONDS = float(os.environ.get("BENCH_GATE_SECONDS", "2"))
CASES = os.environ.get("BENCH_GATE_CASES", "tunnel requests latency events memory").split()
IDLE = 10
CONNECTIONS = 32
SECRET = "bench-0123456789abcdef0123456789abcdef"
TICKS = os.sysconf("SC_CLK_TCK")
UP = os.path.join(TMP, "up")
children = []


class Failed(Exception):
    pass


def write(name, text, mode=0o644):
    path = os.path.join(UP, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def start(argv, **more):
    child = subprocess.Popen(argv, stderr=open(os.path.join(TMP, "stderr"), "ab"), **more)
    children.append(child)
    return child


def wait_for_port(ip, port, who):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with socket.socket() as s:
            if s.connect_ex((ip, port)) == 0:
                return
        time.sleep(0.05)
    raise Failed(f"{who} does not listen")


# --- processes ---


def descendants(root):
    """Of a process, itself included: {pid: name}."""
    parents, names = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        pid, rest = int(entry), text[text.rindex(")") + 2 :].split()
        names[pid] = text[text.index("(") + 1 : text.rindex(")")]
        parents[pid] = int(rest[1])
    found, grew = {root}, True
    while grew:
        more = {p for p, parent in parents.items() if parent in found} - found
        found |= more
        grew = bool(more)
    return {p: names[p] for p in found if p in names}


def cpu_seconds(pids):
    """What these have used so far, and those that they have waited for."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        total += sum(map(int, text[text.rindex(")") + 2 :].split()[11:15]))
    return total / TICKS


def private_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as f:
        return sum(int(line.split()[1]) for line in f if line.startswith(("Private_Clean:", "Private_Dirty:")))


def pin(pids, cpus):
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                os.sched_setaffinity(int(task), cpus)
            except OSError:
                pass


# --- the servers ---


def certificates():
    def openssl(*argv):
        subprocess.run(["openssl", *argv], cwd=UP, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=bench CA", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", *key, "-subj", "/CN=upstream", "-keyout", "server.key", "-out", "server.csr")
    write("ext", "subjectAltName=DNS:api.bench.test,DNS:tunnel.bench.test,DNS:events.bench.test\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "ext", "-out", "server.pem")


NGINX = """
daemon off; worker_processes 1; pid %(up)s/%(name)s.pid; error_log %(up)s/%(name)s.err; %(user)s
events { worker_connections 4096; }
http {
	client_body_temp_path %(up)s/%(name)s.t1; proxy_temp_path %(up)s/%(name)s.t2; fastcgi_temp_path %(up)s/%(name)s.t3;
	uwsgi_temp_path %(up)s/%(name)s.t4; scgi_temp_path %(up)s/%(name)s.t5;
	keepalive_requests 100000000; keepalive_timeout 1h; sendfile on; tcp_nopush on;
	ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
	ssl_certificate %(up)s/server.pem; ssl_certificate_key %(up)s/server.key;
	%(http)s
}
"""

UPSTREAM = """
	access_log off; output_buffers 4 128k; root %(up)s/www;
	server { listen 127.0.0.1:443 ssl backlog=4096; server_name tunnel.bench.test; }
	server { listen 127.0.0.1:9000 backlog=4096; server_name raw.bench.test; }
	server {
		listen 127.0.0.1:443 ssl; server_name api.bench.test;
		location / { if ($http_x_api_key != "%(secret)s") { return 401; } }
	}
"""

# No log: Cordon writes down each kind of request once, and then counts.
REVERSE = """
	access_log off;
	proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header x-api-key "%(secret)s"; proxy_set_header Host $host;
	proxy_ssl_verify on; proxy_ssl_trusted_certificate %(up)s/ca.pem; proxy_ssl_server_name on; proxy_ssl_protocols TLSv1.3;
	upstream api { server 127.0.0.1:443; keepalive 128; keepalive_requests 100000000; keepalive_timeout 1h; }
	upstream events { server 127.0.0.2:443; keepalive 128; keepalive_requests 100000000; keepalive_timeout 1h; }
	server {
		listen 127.0.0.1:8443 ssl backlog=4096; server_name api.bench.test;
		location / { proxy_pass https://api; proxy_ssl_name api.bench.test; }
	}
	server {
		listen 127.0.0.1:8443 ssl; server_name events.bench.test;
		location / { proxy_pass https://events; proxy_ssl_name events.bench.test; proxy_buffering off; }
	}
"""

# The same in two processes: one speaks with the client, the other has the credential and speaks with the upstream. It is what keeping a credential apart costs nginx.
APART_FRONT = """
	access_log off;
	proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
	upstream back { server unix:%(up)s/apart.sock; keepalive 128; keepalive_requests 100000000; keepalive_timeout 1h; }
	server { listen 127.0.0.1:8444 ssl backlog=4096; server_name api.bench.test; location / { proxy_pass http://back; } }
"""

APART_BACK = """
	access_log off;
	proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header x-api-key "%(secret)s"; proxy_set_header Host $host;
	proxy_ssl_verify on; proxy_ssl_trusted_certificate %(up)s/ca.pem; proxy_ssl_server_name on; proxy_ssl_protocols TLSv1.3;
	upstream api { server 127.0.0.1:443; keepalive 128; keepalive_requests 100000000; keepalive_timeout 1h; }
	server { listen unix:%(up)s/apart.sock; server_name api.bench.test; location / { proxy_pass https://api; proxy_ssl_name api.bench.test; } }
"""

HAPROXY = """
global
	nbthread 1
	maxconn 4096
defaults
	mode tcp
	timeout connect 10s
	timeout client 1h
	timeout server 1h
	%(splice)s
listen tls
	bind %(ip)s:7443
	server up 127.0.0.1:443
listen raw
	bind %(ip)s:7900
	server up 127.0.0.1:9000
"""


def nginx(name, http):
    words = {"up": UP, "name": name, "secret": SECRET, "user": "user root;" if os.getuid() == 0 else ""}
    words["http"] = http % words
    return start(["nginx", "-p", UP, "-c", write(name + ".conf", NGINX % words)])


def start_servers():
    os.makedirs(UP + "/www", exist_ok=True)
    certificates()
    write("www/small", '{"ok":true,"text":"' + "x" * 480 + '"}\n')
    with open(UP + "/www/large", "wb") as f:
        f.truncate(0)
        f.write(os.urandom(1 << 20) * 64)
    nginx("upstream", UPSTREAM)
    start([BIN + "/bench-events", "127.0.0.2", "443", UP + "/server.pem", UP + "/server.key"])
    wait_for_port("127.0.0.1", 443, "nginx")
    wait_for_port("127.0.0.2", 443, "bench-events")


# --- who is measured ---


class Load:
    """A load generator, and the processes of the proxy that it goes through."""

    def __init__(self, argv, env=None):
        self.child = start(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env={**os.environ, **(env or {})})

    def do(self, *words):
        try:
            self.child.stdin.write(" ".join(map(str, words)) + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.child.stdout.readline().split()
        if not answer or answer[0] == "failed":
            raise Failed(" ".join(answer[1:]) or "ended without a word")
        return answer[1:]


class Way:
    """One way to the upstream: routes are {kind: (address, tunnel, name, tls or plain)}."""

    def __init__(self, name, routes, proxy, load):
        self.name, self.routes, self.proxy, self.load = name, routes, proxy, load

    def pids(self):
        if not self.proxy:
            return []
        loads = {p for p, name in descendants(self.load.child.pid).items() if name == "bench-load"}
        roots = self.proxy if isinstance(self.proxy, list) else [self.proxy]
        return [p for root in roots for p in descendants(root.pid) if p not in loads]

    def load_pids(self):
        return [p for p, name in descendants(self.load.child.pid).items() if name == "bench-load"]

    def open(self, count, kind):
        return self.load.do("open", count, *self.routes[kind])


def outside(header):
    argv = [BIN + "/bench-load"] + (["-H", f"x-api-key: {SECRET}"] if header else [])
    return Load(argv, {"SSL_CERT_FILE": UP + "/ca.pem"})


def direct():
    up = "127.0.0.1:443"
    routes = {
        "tunnel": (up, "-", "tunnel.bench.test", "tls"),
        "raw": ("127.0.0.1:9000", "-", "raw.bench.test", "plain"),
        "api": (up, "-", "api.bench.test", "tls"),
        "events": ("127.0.0.2:443", "-", "events.bench.test", "tls"),
    }
    return Way("direct", routes, None, outside(True))


def haproxy(name, ip, splice):
    proxy = start(["haproxy", "-f", write(name + ".cfg", HAPROXY % {"ip": ip, "splice": splice})], stdout=subprocess.DEVNULL)
    wait_for_port(ip, 7443, name)
    routes = {"tunnel": (ip + ":7443", "-", "tunnel.bench.test", "tls"), "raw": (ip + ":7900", "-", "raw.bench.test", "plain")}
    return Way(name, routes, proxy, outside(False))


def haproxy_default():
    return haproxy("haproxy", "127.0.0.1", "")


def haproxy_splice():
    return haproxy("haproxy-splice", "127.0.0.2", "option splice-request\n\toption splice-response")


def reverse():
    proxy = nginx("reverse", REVERSE)
    wait_for_port("127.0.0.1", 8443, "nginx")
    routes = {"api": ("127.0.0.1:8443", "-", "api.bench.test", "tls"), "events": ("127.0.0.1:8443", "-", "events.bench.test", "tls")}
    return Way("nginx", routes, proxy, outside(False))


def apart():
    back = nginx("apart-back", APART_BACK)
    front = nginx("apart-front", APART_FRONT)
    wait_for_port("127.0.0.1", 8444, "nginx")
    return Way("nginx-apart", {"api": ("127.0.0.1:8444", "-", "api.bench.test", "tls")}, [front, back], outside(False))


def mitmproxy():
    conf = os.path.join(UP, "mitm")
    argv = ["mitmdump", "-q", "--listen-host", "127.0.0.1", "--listen-port", "8081", "--set", f"confdir={conf}", "--set", f"modify_headers=/~q/x-api-key/{SECRET}"]
    proxy = start(argv + ["--set", f"ssl_verify_upstream_trusted_ca={UP}/ca.pem", "--set", "http2=false"], stdout=subprocess.DEVNULL)
    wait_for_port("127.0.0.1", 8081, "mitmdump")
    load = Load([BIN + "/bench-load"], {"SSL_CERT_FILE": conf + "/mitmproxy-ca-cert.pem"})
    return Way("mitmproxy", {"api": ("127.0.0.1:8081", "127.0.0.1:443", "api.bench.test", "tls")}, proxy, load)


POLICY = """version: 1
filesystem:
  workdir: read-write
network:
  mode: allowlist
  allow:
    - {host: tunnel.bench.test, ports: [443]}
    - {host: raw.bench.test, ports: [9000]}
    - {host: api.bench.test, ports: [443], credential: bench}
    - {host: events.bench.test, ports: [443], credential: bench}
"""

GATEWAY = """version: 1
ca_file: %s/ca.pem
resolve:
  tunnel.bench.test: ["127.0.0.1"]
  raw.bench.test: ["127.0.0.1"]
  api.bench.test: ["127.0.0.1"]
  events.bench.test: ["127.0.0.2"]
"""

CREDENTIALS = """version: 1
credentials:
  bench:
    from: {env: BENCH_KEY}
    hosts: [api.bench.test, events.bench.test]
    inject: {header: x-api-key, format: "{}"}
"""


def cordon_config():
    write("policy.yaml", POLICY)
    config = os.path.join(os.environ["XDG_CONFIG_HOME"], "cordon")
    os.makedirs(config, mode=0o700, exist_ok=True)
    for name, text in (("gateway.yaml", GATEWAY % UP), ("credentials.yaml", CREDENTIALS)):
        with open(os.path.join(config, name), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(os.path.join(config, name), 0o600)


def cordon_load():
    work = os.path.join(TMP, "gate-work")
    os.makedirs(work, exist_ok=True)
    os.chmod(work, 0o777)
    copy = os.path.join(work, "bench-load")
    if not os.path.exists(copy):
        subprocess.run(["cp", BIN + "/bench-load", copy], check=True)
    return Load([BIN + "/cordon", "run", "-p", UP + "/policy.yaml", "--workdir", work, "--", "./bench-load"], {"BENCH_KEY": SECRET})


def cordon():
    cordon_config()
    load = cordon_load()
    routes = {
        "tunnel": ("proxy", "tunnel.bench.test:443", "tunnel.bench.test", "tls"),
        "raw": ("proxy", "raw.bench.test:9000", "raw.bench.test", "plain"),
        "api": ("proxy", "api.bench.test:443", "api.bench.test", "tls"),
        "events": ("proxy", "events.bench.test:443", "events.bench.test", "tls"),
    }
    way = Way("cordon", routes, load.child, load)
    way.load.do("close")  # answers when the sandbox runs
    return way


# --- the cases ---

results = {}  # (case, who, metric): one value per round, None where it failed


def note(case, who, metric, value):
    results.setdefault((case, who, metric), []).append(value)


def skipped(who, why):
    print("skipped", who, " ".join(str(why).split()), sep="\t", flush=True)


def in_turns(case, ways, kind, measure):
    """Each round starts with another way, so that none always runs behind the same one."""
    ways = [w for w in ways if kind in w.routes]
    for i in range(ROUNDS):
        for k in range(len(ways)):
            way = ways[(i + k) % len(ways)]
            if getattr(way, "broken", None):
                continue
            try:
                for metric, value in measure(way, kind).items():
                    note(case, way.name, metric, value)
                way.load.do("close")
            except Failed as why:
                way.broken = True
                skipped(way.name, f"{case}: {why}")


def bulk(way, kind):
    way.open(1, kind)
    way.load.do("load", 0.3, "/large")
    before = cpu_seconds(way.pids())
    _, seconds, _, _, size, _ = map(float, way.load.do("load", SECONDS, "/large"))
    cpu = cpu_seconds(way.pids()) - before
    mib = size / seconds / (1 << 20)
    return {"mib_s": mib, **({"mib_core": size / (1 << 20) / cpu, "cpu": cpu / seconds} if cpu else {})}


def requests(way, kind):
    if os.cpu_count() > 1:
        last = os.cpu_count() - 1
        pin(way.pids(), {last})
        pin(way.load_pids(), set(range(last)))
    way.open(CONNECTIONS, kind)
    way.load.do("load", 0.5, "/small")
    before = cpu_seconds(way.pids())
    n, seconds, p50, p99, _, renewed = map(float, way.load.do("load", SECONDS, "/small"))
    cpu = cpu_seconds(way.pids()) - before
    return {"rps": n / seconds, "rps_core": n / cpu if cpu else 0, "p50": p50, "p99": p99, "cpu": cpu / seconds, "renewed": renewed}


def latency(way, kind):
    way.open(1, kind)
    way.load.do("pace", 0.3, 2000, "/small")
    _, _, p50, p99, _, _ = map(float, way.load.do("pace", SECONDS, 2000, "/small"))
    return {"p50": p50, "p99": p99}


def events(way, kind):
    way.open(1, kind)
    way.load.do("events", 3, "/events")
    _, p50, p99, most = map(float, way.load.do("events", max(10, int(SECONDS * 40)), "/events"))
    return {"p50": p50, "p99": p99, "most": most}


def gateway_kib(load):
    sizes = dict.fromkeys(("cordon-relay", "cordon-egress", "cordon-vault"), 0)
    for pid, name in descendants(load.child.pid).items():
        if name in sizes:
            sizes[name] += private_kib(pid)
    if not all(sizes.values()):
        raise Failed("relay, egress and vault are not all there")
    return {**sizes, "all": sum(sizes.values())}


def memory(way):
    """Several at once: a page of a program that two of them have is nobody's alone."""
    loads = [cordon_load() for _ in range(IDLE)]
    for load in loads:
        load.do("close")
    time.sleep(1)
    for load in loads:
        for name, kib in gateway_kib(load).items():
            note("memory", "idle", name, kib)
    for load in loads:
        load.do("open", CONNECTIONS, *way.routes["api"])
        load.do("load", 0.2, "/small")
        load.do("close")
    time.sleep(2)
    for load in loads:
        for name, kib in gateway_kib(load).items():
            note("memory", "used", name, kib)
    for load in loads:
        load.child.stdin.close()


def print_results(ways):
    for (case, who, metric), values in results.items():
        print("value", case, who, metric, *(f"{v:.2f}" for v in (statistics.median(values), min(values), max(values))), sep="\t")
    mine = {(case, metric) for case, who, metric in results if who == "cordon"}
    for case, metric in sorted(mine):
        for other in [w.name for w in ways if w.name != "cordon"]:
            pairs = [(a, b) for a, b in zip(results[case, "cordon", metric], results.get((case, other, metric), [])) if b]
            if pairs:
                print("ratio", case, "cordon", other, metric, f"{statistics.median(a / b for a, b in pairs):.3f}", sep="\t")


def unpin(ways):
    for way in ways:
        pin(way.pids() + way.load_pids(), set(range(os.cpu_count())))


def main():
    start_servers()
    ways = []
    for make in (direct, cordon, haproxy_default, haproxy_splice, reverse, apart, mitmproxy):
        try:
            ways.append(make())
        except (Failed, OSError) as why:
            skipped(make.__name__, why)
    if "tunnel" in CASES:
        in_turns("tunnel", ways, "tunnel", bulk)
        in_turns("raw", ways, "raw", bulk)
    if "latency" in CASES:
        in_turns("latency", [w for w in ways if w.name != "mitmproxy"], "api", latency)
    if "events" in CASES:
        in_turns("events", ways, "events", events)
    if "requests" in CASES:
        in_turns("requests", [w for w in ways if w.name != "direct"], "api", requests)
        unpin(ways)
    for way in ways:
        if way.name == "cordon" and "memory" in CASES:
            try:
                memory(way)
            except (Failed, OSError) as why:
                skipped("cordon", f"memory: {why}")
    print_results(ways)


def stop_all():
    for child in reversed(children):
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
    for child in children:
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()


if __name__ == "__main__":
    try:
        main()
    finally:
        stop_all()
