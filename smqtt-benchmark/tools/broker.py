# SPDX-License-Identifier: Apache-2.0
"""This broker for the load tools of others, and its own counts of what it was given: the tools do not all count."""
import contextlib
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import page
import runs

CORES = {"broker": "0", "tool": "1"}
METRIC = re.compile(r"^smqtt_(clients_accepted|clients_rejected|messages_received|messages_delivered|messages_dropped)_total\{.*} (\S+)$", re.M)


def pinned(part, *words):
    return ["taskset", "-c", CORES[part], *map(str, words)]


class Broker:
    """A fresh broker with listeners for TCP, WebSocket and TLS; its commands run behind the words of prefix, as in a network namespace."""

    def __init__(self, host="127.0.0.1", prefix=()):
        self.host, self.prefix, self.folder = host, list(prefix), tempfile.TemporaryDirectory()
        self.tcp, self.ws, self.tls, self.management = (runs.compare.free_port() for _ in range(4))
        key, certificate = self.certificate()
        settings = [f"listeners.tcp.host={host}", f"listeners.tcp.port={self.tcp}", f"listeners.ws.host={host}", f"listeners.ws.port={self.ws}",
                    "listeners.tls.type=tcp", f"listeners.tls.host={host}", f"listeners.tls.port={self.tls}", f"listeners.tls.tls.certificate={certificate}",
                    f"listeners.tls.tls.key={key}", f"management.port={self.management}", "storage.kind=memory", *runs.compare.SMQTT_SETTINGS]
        settings.append("access.allow-anonymous=true")
        log = pathlib.Path(self.folder.name, "log")  # not a pipe: it would fill
        command = [*self.prefix, *pinned("broker", runs.ROOT / "bin/smqtt", "start"), *(word for s in settings for word in ("--set", s))]
        with open(log, "w") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        until = time.monotonic() + runs.PATIENCE
        while "smqtt started" not in log.read_text():
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                sys.exit("the broker did not start:\n" + log.read_text()[-1000:])
            time.sleep(0.05)

    def certificate(self):
        key, certificate = (pathlib.Path(self.folder.name, name) for name in ("server.key", "server.crt"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        return key, certificate

    def counts(self):
        text = subprocess.run([*self.prefix, "curl", "-s", f"http://127.0.0.1:{self.management}/metrics"], check=True, capture_output=True, text=True).stdout
        sums = {}
        for name, value in METRIC.findall(text):
            sums[name] = sums.get(name, 0) + int(float(value))
        return sums

    def counted(self, load):
        """What the tool said of a load, what the broker counted during it, and the CPU seconds that it used."""
        cpu, before = runs.used(self.process.pid), self.counts()
        said = load()
        after = self.counts()
        return {"said": said, **{name: after[name] - before.get(name, 0) for name in after}, "cpu_s": (runs.used(self.process.pid) - cpu) / runs.TICKS}

    def settled(self, patience=20):
        """Waits until nothing more is delivered for a second."""
        until, last = time.monotonic() + patience, None
        while time.monotonic() < until:
            now = self.counts()["messages_delivered"]
            if now == last:
                return
            last = now
            time.sleep(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ended(self.process)
        self.folder.cleanup()


def ended(process):
    process.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)
        return
    process.kill()
    process.wait()


def run(test, cases, measured):
    with runs.alone():
        for case in cases:
            found = measured(case)
            page.save(test, case["key"], found)
            print(case["key"], found, flush=True)


def row(title, tool, of):
    """A line of the table: what the tool said, and what the broker counted."""
    delivered = of["messages_delivered"]
    return [title, tool, f"{of['clients_accepted']:,}", f"{of['messages_received']:,}", f"{delivered:,}", f"{of['messages_dropped']:,}",
            runs.number(of["cpu_s"] * 1e6 / delivered) if delivered else "–"]


HEAD = "run | the tool's result | accepted clients | received | delivered | dropped | CPU µs/delivered"
