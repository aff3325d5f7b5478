# SPDX-License-Identifier: Apache-2.0
"""Brokers on one core, `smqtt bench` on another, in turns; what a run used and delivered. Linux only."""
import contextlib
import fcntl
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import page

ROOT = pathlib.Path(__file__).resolve().parents[2]
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 60  # seconds for a broker to open its port, and to end

loader = importlib.machinery.SourceFileLoader("compare", str(ROOT / "smqtt-benchmark/bin/compare"))
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
loader.exec_module(compare)

NAMES = {"smqtt": "smqtt", "mosquitto": "mosquitto", "mosquitto21": "mosquitto 2.1", "flashmq": "FlashMQ"}


def flags(parser):
    parser.add_argument("--brokers", default="smqtt,mosquitto21,flashmq", help="smqtt and others that bin/peers has brought, or mosquitto"
                        " from PATH (default smqtt,mosquitto21,flashmq; those that are not there are left out)")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each case with each broker, in turns (default 2)")
    parser.add_argument("--seconds", type=int, default=4, help="measured seconds of a run (default 4)")
    parser.add_argument("--warm", type=int, default=4, help="seconds at full rate before the first run, and at its own rate before each (default 4)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose key has this text; the others keep their results")
    parser.add_argument("--broker-core", default="0")
    parser.add_argument("--load-core", default="1")


def brokers(arguments):
    wanted = [name for name in arguments.brokers.split(",") if present(name)]
    missing = set(arguments.brokers.split(",")) - set(wanted)
    if missing:
        print(f"left out, because bin/peers has not brought them: {', '.join(sorted(missing))}", file=sys.stderr)
    return wanted


def present(name):
    if name == "smqtt":
        return True
    return (compare.PEERS / name / "broker").exists() if name in compare.OTHERS else shutil.which(name) is not None


@contextlib.contextmanager
def alone():
    """Holds the lock that BENCH_LOCK names, where several people measure on one machine."""
    name = os.environ.get("BENCH_LOCK")
    if not name:
        yield
        return
    with open(name, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Broker:
    """A fresh process of a broker, pinned to a core, with all limits lifted as bin/compare lifts them."""

    def __init__(self, name, directory, core, settings=()):
        self.port = compare.free_port()
        state = {"dir": str(directory), "port": self.port, "smqtt": f"{ROOT}/bin/smqtt start", "settings": list(settings), "mosquitto": "mosquitto"}
        log = open(directory / f"{name}.log", "w")
        self.process = subprocess.Popen(["taskset", "-c", core, *compare.command(name, state)], stdin=subprocess.DEVNULL, stdout=log,
                                        stderr=log, preexec_fn=os.setpgrp)
        self.pid = self.await_port(name, log.name)

    def await_port(self, name, log):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                pid = compare.serving(self.process.pid, self.port)
                if pid:
                    return pid
            time.sleep(0.05)
        self.stop()
        sys.exit(f"{name} did not open port {self.port}; see {log}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
                return


def scenario(case):
    """The words of `smqtt bench` for a case."""
    words = ["scenario", case["scenario"], "-V", "4", "-q", str(case["qos"]), "-s", str(case["size"]), "--pubs", str(case["pubs"])]
    if case["scenario"] != "symmetric":
        words += ["--subs", str(case["subs"])]
    clients = case["pubs"] + case["subs"]
    sources = ",".join(f"127.0.0.{number + 2}" for number in range(clients // 4000 + 1))
    return [*words, "--max-clients", str(clients), "--ifaddr", sources]


def load(broker, words, core, report=None):
    command = ["taskset", "-c", core, str(ROOT / "bin/smqtt"), "bench", *words, "-h", "127.0.0.1", "-p", str(broker.port), "--quiet"]
    if report:
        command += ["--pid", str(broker.pid), "--json", str(report)]
    done = subprocess.run(command, capture_output=True, text=True)
    if report and not report.exists():
        sys.exit(f"the load failed: {' '.join(command)}\n{done.stdout}{done.stderr}")


def busy():
    """Ticks that the machine's cores were not idle, without what was stolen from them."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(fields[:3]) + sum(fields[5:7])


def used(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * TICKS


def once(arguments, broker, case, directory):
    """One load of a case, as it was published, on a broker that runs."""
    report = directory / "report.json"
    report.unlink(missing_ok=True)
    began, machine, own, of_load = time.monotonic(), busy(), used(broker.pid), children()
    load(broker, [*scenario(case), "--rate", str(case["rate"]), "--warm-up", f"{arguments.warm}s", "--duration", f"{arguments.seconds}s"],
         arguments.load_core, report)
    others = busy() - machine - (used(broker.pid) - own) - (children() - of_load)
    return figures(json.loads(report.read_text()), others / ((time.monotonic() - began) * TICKS * os.cpu_count()))


def figures(report, others):
    """The part of a report that the tables show."""
    faults, latency = report["faults"], report["latency_us"]
    seconds = report["measured_seconds"]
    return {
        "published": report["published"]["per_second"], "delivered": report["delivered"]["per_second"],
        "cores": report["broker"]["cpu_seconds"] / seconds, "cpu_us": report["broker"]["us_per_delivered"],
        "rss_mib": report["broker"]["resident_bytes"] / 2**20, "mean_ms": millis(latency, "mean"), "p50_ms": millis(latency, "p50"),
        "p99_ms": millis(latency, "p99"), "late_p99_ms": millis(report["schedule_lag_us"], "p99"), "connected": report["clients"],
        "lost": faults["lost"], "duplicated": faults["duplicated"], "out_of_order": faults["out_of_order"], "others": max(0.0, others),
    }


def millis(times, name):
    """None if nothing that was sent while it was measured has arrived."""
    return times[name] / 1000 if times else None


def measure(arguments, test, cases):
    """Saves {broker: [figures, ...]} of each case: fresh brokers, first warmed at full rate, then loaded in turns."""
    raise_limit()
    wanted = brokers(arguments)
    for case in cases:
        if arguments.only in case["key"]:
            page.save(test, case["key"], turns(arguments, case, wanted))


def turns(arguments, case, wanted):
    found = {name: [] for name in wanted}
    with alone(), tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as started:
        running = {name: started.enter_context(Broker(name, pathlib.Path(directory), arguments.broker_core)) for name in wanted}
        for broker in running.values():
            load(broker, [*scenario(case), "--warm-up", "0s", "--duration", f"{arguments.warm}s"], arguments.load_core)
        for turn in range(arguments.rounds):
            for name in wanted if turn % 2 == 0 else wanted[::-1]:
                run = once(arguments, running[name], case, pathlib.Path(directory))
                found[name].append(run)
                print(f"{case['key']} {name} {turn + 1}: {run['delivered']:,.0f}/s, {run['cpu_us']:.2f} us, p99 {number(run['p99_ms'])} ms,"
                      f" others {run['others'] * 100:.0f} %", file=sys.stderr, flush=True)
    return found


# --- tables ----------------------------------------------------------------------------------------


def middle(found, name):
    values = [run[name] for run in found or () if run[name] is not None]
    return statistics.mean(values) if values else None


def number(value, digits=None):
    if value is None:
        return "–"
    if digits is None:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def spread(found, name, digits=None):
    """Lowest to highest of the rounds."""
    values = sorted(run[name] for run in found if run[name] is not None)
    if not values:
        return "–"
    low, high = number(values[0], digits), number(values[-1], digits)
    return low if low == high else f"{low} to {high}"


def faults(found):
    return " / ".join(str(sum(int(run[name]) for run in found)) for name in ("lost", "duplicated", "out_of_order"))


def mark(found):
    return " †" if any(run["others"] > 0.2 for run in found) else ""


def raise_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
