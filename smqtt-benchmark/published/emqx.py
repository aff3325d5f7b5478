# SPDX-License-Identifier: Apache-2.0
"""The scenarios of EMQX's performance guide, at its rates: QoS 0 to 2 one to one, payloads of 1 and 8 KiB, shared subscriptions (fan-in), fan-out.

Each load has the rate that the guide recommends for its machine. Its fourth scenario bridges two brokers, and is not reproduced.
"""
import page
import plot
import runs

CORES = 4  # of the guide's broker
# The published row of each case: messages in and out per second, CPU of the machine in per cent, latency in ms.
CASES = [
    {"key": "qos-0", "title": "one to one, QoS 0, 128 B", "scenario": "symmetric", "qos": 0, "size": 128, "pubs": 1000, "subs": 1000, "rate": 30000,
     "published": {"in_and_out": 60000, "cpu": 78.13, "mean_ms": 2.079, "p99_ms": 8.327}},
    {"key": "qos-1", "title": "one to one, QoS 1, 128 B", "scenario": "symmetric", "qos": 1, "size": 128, "pubs": 1000, "subs": 1000, "rate": 20000,
     "published": {"in_and_out": 40000, "cpu": 75.56, "mean_ms": 2.356, "p99_ms": 9.485}},
    {"key": "qos-2", "title": "one to one, QoS 2, 128 B", "scenario": "symmetric", "qos": 2, "size": 128, "pubs": 1000, "subs": 1000, "rate": 10000,
     "published": {"in_and_out": 20000, "cpu": 69.06, "mean_ms": 2.025, "p99_ms": 8.702}},
    {"key": "1-kib", "title": "one to one, QoS 1, 1 KiB", "scenario": "symmetric", "qos": 1, "size": 1024, "pubs": 1000, "subs": 1000, "rate": 20000,
     "published": {"in_and_out": 40000, "cpu": 75.9, "mean_ms": 3.282, "p99_ms": 12.519}},
    {"key": "8-kib", "title": "one to one, QoS 1, 8 KiB", "scenario": "symmetric", "qos": 1, "size": 8192, "pubs": 1000, "subs": 1000, "rate": 20000,
     "published": {"in_and_out": 40000, "cpu": 90.82, "mean_ms": 5.884, "p99_ms": 17.435}},
    {"key": "fan-in", "title": "fan-in 2000 to 100, QoS 1, 128 B", "scenario": "fanin", "qos": 1, "size": 128, "pubs": 2000, "subs": 100, "rate": 15000,
     "published": {"in_and_out": 30000, "cpu": 74.96, "mean_ms": 1.75, "p99_ms": 7.651}},
    {"key": "fan-out", "title": "fan-out 10 to 2000, QoS 1, 128 B", "scenario": "fanout", "qos": 1, "size": 128, "pubs": 10, "subs": 2000, "rate": 250,
     "published": {"in_and_out": 50000, "cpu": 71.25, "mean_ms": 3.493, "p99_ms": 8.614}},
]
SHORT = {"qos-0": "QoS 0\n30k/s", "qos-1": "QoS 1\n20k/s", "qos-2": "QoS 2\n10k/s", "1-kib": "QoS 1, 1 KiB\n20k/s", "8-kib": "QoS 1, 8 KiB\n20k/s",
         "fan-in": "fan-in\n15k/s", "fan-out": "fan-out\n50k/s out"}


def flags(parser):
    runs.flags(parser)


def run(arguments):
    runs.measure(arguments, "emqx", CASES)


def report():
    found = page.saved("emqx")
    cases = [case for case in CASES if case["key"] in found["cases"]]
    names = [name for name in runs.NAMES if any(found["cases"][case["key"]].get(name) for case in cases)]
    rows = []
    for case in cases:
        published = case["published"]
        rows.append([case["title"], "EMQX 5.1.6, published", runs.number(published["in_and_out"]), runs.number(published["cpu"] * CORES / 100),
                     "–", runs.number(published["mean_ms"]), "–", runs.number(published["p99_ms"]), "–", "–"])
        for name in names:
            of = found["cases"][case["key"]].get(name)
            if of:
                in_and_out = runs.middle(of, "published") + runs.middle(of, "delivered")
                rows.append(["", runs.NAMES[name] + runs.mark(of), runs.number(in_and_out), runs.spread(of, "cores"), runs.spread(of, "cpu_us"),
                             runs.spread(of, "mean_ms"), runs.spread(of, "p50_ms"), runs.spread(of, "p99_ms"), runs.spread(of, "late_p99_ms"), runs.faults(of)])
    draw(found, cases, names)
    page.write("emqx", [
        page.facts(found), "", "```", "smqtt-benchmark/bin/published emqx", "```", "",
        "![Cores in use](assets/benchmarks/emqx-cores.svg)", "", "![99th percentile of latency](assets/benchmarks/emqx-p99.svg)", "",
        *page.table("load | broker | messages/s in + out | cores in use | CPU µs/delivered | mean ms | p50 ms | p99 ms | load late, p99 ms | l/d/o", rows)])


def draw(found, cases, names):
    legend = ["EMQX 5.1.6, published (4 vCPUs)", *(runs.NAMES[name] for name in names)]
    groups = [SHORT[case["key"]] for case in cases]

    def rows(name, published):
        return [[published(case["published"]), *(runs.middle(found["cases"][case["key"]].get(broker), name) for broker in names)] for case in cases]

    note = "Published: CPU of the whole machine, load on others. Here: the broker's process on one core, load on the other; see the text."
    page.picture("emqx-cores", plot.bars("Cores in use at the rates of EMQX's performance guide", "cores in use (fewer is better)", groups, legend,
                                         rows("cores", lambda of: of["cpu"] * CORES / 100), note=note))
    page.picture("emqx-p99", plot.bars("Latency at the rates of EMQX's performance guide", "99th percentile in ms, logarithmic (less is better)", groups, legend,
                                       rows("p99_ms", lambda of: of["p99_ms"]), logarithmic=True,
                                       note="Published: between machines of a data centre. Here: loopback, on two cores. The load's own delay is included."))
