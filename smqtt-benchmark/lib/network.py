"""The rows of bin/compare about the network: TLS, WebSocket, MQTT 5, large payloads to many, slow receivers among fast ones.

`smqtt bench` is the load for all brokers. Each run has a fresh broker, pinned to one core; the load is pinned to the other.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import re
import signal
import socket
import subprocess
import sys
import time

PROPERTIES = ["--property", "site=hall-4", "--property", "unit=kelvin", "--property", "trace=0af7651916cd43dd8448eb211c80319c"]
LONG = "plant/north/building/12/hall/4/line/7/cell/3/machine/milling/spindle/temperature/sensor/bench"  # a prefix of topics
PAIRS = ["scenario", "symmetric", "--pubs", "200", "-q", "1"]
ONE_TOPIC = ["scenario", "single-topic", "--pubs", "10", "--subs", "200", "-s", "1024", "-q", "0", "--rate", "50"]

# name: the listener, and the words of `smqtt bench`
ROWS = {
    "30-tcp": ("tcp", [*PAIRS, "-V", "4"]),
    "31-tls": ("tls", [*PAIRS, "-V", "4", "--insecure"]),
    "32-ws": ("ws", [*PAIRS, "-V", "4", "--ws"]),
    "33-tcp-8k": ("tcp", [*PAIRS, "-V", "4", "-s", "8192", "--window", "8"]),
    "34-tls-8k": ("tls", [*PAIRS, "-V", "4", "-s", "8192", "--window", "8", "--insecure"]),
    "35-v5": ("tcp", [*PAIRS, "-V", "5"]),
    "36-v5-properties": ("tcp", [*PAIRS, "-V", "5", *PROPERTIES]),
    "37-v5-long-topics": ("tcp", [*PAIRS, "-V", "5", "--prefix", LONG]),
    "38-v5-aliases": ("tcp", [*PAIRS, "-V", "5", "--prefix", LONG, "--topic-aliases", "16"]),
    "39-fast": ("tcp", [*ONE_TOPIC]),
    "40-fast-and-slow": ("tcp", [*ONE_TOPIC, "--slow", "50"]),
    "41-1MiB-to-10000": ("tcp", ["scenario", "single-topic", "--pubs", "1", "--subs", "10000", "--max-clients", "10001", "-s", "1048576",
                                 "-q", "1", "--rate", "0.1", "-L", "2", "--warm-up", "0s", "--duration", "20s", "--drain", "60s"]),
}

SMQTT = [
    "access.allow-anonymous=loopback", "limits.max-pending-connections-per-address=20000", "limits.max-in-flight=65535",
    "limits.max-packet-bytes=2MiB", "management.port=0", "storage.kind=memory",
]
FLASHMQ = """\
allow_anonymous true
thread_count 1
log_level warning
max_qos_msg_pending_per_client 65000
max_qos_bytes_pending_per_client 16777216
listen {{
  protocol {protocol}
  port {port}
  inet_protocol ip4
  inet4_bind_address 127.0.0.1
{tls}}}
"""
MOSQUITTO = """\
listener {port} 127.0.0.1
protocol {protocol}
allow_anonymous true
persistence false
log_dest none
max_inflight_messages 0
{tls}"""


def certificate(folder):
    """A self-signed P-256 certificate and its key."""
    chain, key = pathlib.Path(folder, "server.pem").absolute(), pathlib.Path(folder, "server.key").absolute()
    if not chain.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", str(chain), "-keyout", str(key)],
                       check=True, capture_output=True)
        key.chmod(0o644)  # mosquitto gives up root's rights before it reads the key
    return chain, key


def command(broker, kind, port, home, programs):
    """The words that start a broker with one listener."""
    chain, key = certificate(home.parent) if kind == "tls" else (None, None)
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    if broker.startswith("smqtt"):
        listener = "ws" if kind == "ws" else "tcp"
        other = "tcp" if kind == "ws" else "ws"
        settings = [*SMQTT, f"listeners.{listener}.host=127.0.0.1", f"listeners.{listener}.port={port}", f"listeners.{listener}.connect-timeout=1m",
                    f"listeners.{other}.enabled=false", f"storage.dir={home}"]
        if kind == "tls":
            settings += [f"listeners.tcp.tls.certificate={chain}", f"listeners.tcp.tls.key={key}"]
        return [*programs[broker], *(word for setting in settings for word in ("--set", setting))]
    conf = home / "broker.conf"
    if broker == "flashmq":
        tls = f"  fullchain {chain}\n  privkey {key}\n" if kind == "tls" else ""
        conf.write_text(FLASHMQ.format(port=port, protocol="websockets" if kind == "ws" else "mqtt", tls=tls))
    else:
        tls = f"certfile {chain}\nkeyfile {key}\n" if kind == "tls" else ""
        conf.write_text(MOSQUITTO.format(port=port, protocol="websockets" if kind == "ws" else "mqtt", tls=tls))
    return [*programs[broker], "-c", str(conf)]


def start(words, core, port, log):
    """Starts a broker in a process group of its own, and returns it when its port is open; None if it cannot do that."""
    process = subprocess.Popen(["taskset", "-c", core, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=os.setpgrp)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.05)
    stop(process)
    return None


def stop(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def load(words, port, pid, args, report):
    """Runs the load; None if it could not be run."""
    timing = [] if "--duration" in words else ["--warm-up", f"{args.warm or 1}s", "--duration", f"{args.seconds}s"]
    done = subprocess.run(["taskset", "-c", args.load_core, *args.bench.split(), "bench", *words, *timing, "-p", str(port),
                           "--pid", str(pid), "--json", str(report), "--quiet"], capture_output=True, text=True,
                          env={**os.environ, "SMQTT_JAVA_OPTS": "-Xmx4g"})
    if not report.exists():
        print(done.stderr[-300:].strip(), file=sys.stderr)
        return
    result = json.loads(report.read_text())
    status = pathlib.Path(f"/proc/{pid}/status")
    result["peak_mib"] = int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024 if status.exists() else None
    report.write_text(json.dumps(result))


def measure(args, brokers, programs):
    out = pathlib.Path(args.out).absolute()
    out.mkdir(parents=True, exist_ok=True)
    for name in ROWS:
        if not re.search(args.only, name):
            continue
        for number in range(1, args.rounds + 1):
            with locked():
                for broker in brokers if number % 2 else brokers[::-1]:
                    measure_one(args, broker, name, number, programs, out)


def measure_one(args, broker, name, number, programs, out):
    kind, words = ROWS[name]
    report = out / f"{name}.{broker}.{number}.json"
    report.unlink(missing_ok=True)
    port = free_port()
    with open(out / f"{name}.{broker}.log", "w") as log:
        process = start(command(broker, kind, port, out / "home", programs), args.broker_core, port, log)
    if process is None:
        print(f"{name} {broker}: the port was not opened; see {log.name}", flush=True)
        return
    print(f"{name} {broker} {number}", flush=True)
    try:
        load(words, port, process.pid, args, report)
    finally:
        stop(process)


@contextlib.contextmanager
def locked():
    """Holds the lock that keeps others from measuring on this machine at the same time."""
    with open(os.environ.get("MQLOAD_LOCK", os.devnull), "w") as lock:
        if "MQLOAD_LOCK" in os.environ:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def results(out):
    """{row: {broker: [result, ...]}} of the reports in the folder."""
    found = {}
    for file in sorted(pathlib.Path(out).glob("*.*.*.json")):
        name, broker, _ = file.name.split(".", 2)
        found.setdefault(name, {}).setdefault(broker, []).append(json.loads(file.read_text()))
    return found


def cell(values, digits=2):
    values = [v for v in values if v is not None]
    if not values:
        return "–"
    low, high = (f"{v:,.{digits}f}" for v in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def faults(reports):
    return " / ".join(str(sum(r["faults"][key] for r in reports)) for key in ("lost", "duplicated", "out_of_order"))


def table(found):
    """One line for each row and broker."""
    lines = ["| row | broker | delivered/s | CPU µs per message | p50 ms | p99 ms | RSS MiB at most | l/d/o |", "|---|---|--:|--:|--:|--:|--:|--:|"]
    for name, of in found.items():
        for broker, reports in sorted(of.items(), key=lambda entry: (not entry[0].startswith("smqtt"), entry[0])):
            latency = [r["latency_us"] or {} for r in reports]
            lines.append("| " + " | ".join((
                name, broker, cell([r["delivered"]["per_second"] for r in reports], 0), cell([r["broker"]["us_per_delivered"] for r in reports]),
                cell([at.get("p50", 0) / 1000 for at in latency], 1), cell([at.get("p99", 0) / 1000 for at in latency], 1),
                cell([r["peak_mib"] for r in reports], 0), faults(reports))) + " |")
    return lines
