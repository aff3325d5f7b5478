# SPDX-License-Identifier: Apache-2.0
"""The former smqtt's load test: devices and apps behind nginx (stream), one node, then two by weights; besides, three nodes.

A node has at most 19,500 connections, because 20,000 open files for a process allow no more; the report has 25,000 and 50,000. Four fifths of the
clients are pairs of a publisher and its subscriber, the others only subscribe. The rates are the report's: 5, 10 or 21 messages per second in all.
Each client pings in the 20 s that are measured, more often than in the report.
"""
import argparse
import pathlib
import sys

import page
import plot
import runs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
import limit  # noqa: E402
import nodes  # noqa: E402

CASES = [
    {"key": "one-q0", "title": "one node, QoS 0", "weights": "1", "qos": "0", "rate": 5,
     "published": {"connections": "25,000", "cpu": "20", "memory": "–"}},
    {"key": "one-q1", "title": "one node, QoS 1", "weights": "1", "qos": "1", "rate": 5,
     "published": {"connections": "25,000", "cpu": "11 to 18", "memory": "–"}},
    {"key": "even", "title": "two nodes 1:1, QoS 0", "weights": "1:1", "qos": "0", "rate": 10,
     "published": {"connections": "25,000 + 25,000", "cpu": "32 + –", "memory": "about 1,000"}},
    {"key": "weighted", "title": "two nodes 1:2, QoS 1", "weights": "1:2", "qos": "1", "rate": 10,
     "published": {"connections": "17,000 + 33,000", "cpu": "20 + 30 to 45", "memory": "950"}},
    {"key": "busier", "title": "two nodes 1:1, QoS 0, twice the messages", "weights": "1:1", "qos": "0", "rate": 21,
     "published": {"connections": "30,000 + 30,000", "cpu": "50 + 50", "memory": "about 1,000"}},
    {"key": "three", "title": "three nodes 1:1:1, QoS 0", "weights": "1:1:1", "qos": "0", "rate": 10, "published": None},
]


def flags(parser):
    parser.add_argument("--connections", type=int, default=30000, help="of each case, at most what the limit of open files allows (default 30000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose key has this text; the others keep their results")
    parser.add_argument("--keep-alive", type=int, default=20, help="of the clients, in seconds; the report has 120 (default 20)")
    parser.add_argument("--warm-up", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=20)


def run(arguments):
    for case in CASES:
        if arguments.only in case["key"]:
            words = argparse.Namespace(connections=arguments.connections, publishers=0.4, rate=case["rate"], size=44, connect_rate=1500,
                                       keep_alive=arguments.keep_alive, warm_up=arguments.warm_up, seconds=arguments.seconds, memory=8192, java="", jar=str(nodes.JAR))
            with runs.alone():
                found = limit.measured(words, case["weights"], case["qos"])
            limit.show(found)
            page.save("former", case["key"], found)


def report():
    found = page.saved("former")
    cases = [case for case in CASES if case["key"] in found["cases"]]
    rows = []
    for case in cases:
        published, of = case["published"], found["cases"][case["key"]]
        if published:
            rows.append([case["title"], "former smqtt, published", published["connections"], published["cpu"], published["memory"], "–", "–", "–", "–"])
        brokers, nginx = of["processes"][:-1], of["processes"][-1]
        rows.append(["" if published else case["title"], "smqtt", *(" + ".join(f"{process[name]:{form}}" for process in brokers) for name, form in
                                                                    (("connections", ",.0f"), ("cpu", ".1f"), ("memory_mb", ",.0f"))),
                     f"{nginx['cpu']:.1f} %, {nginx['memory_mb']:,.0f} MB", f"{of['p50_ms']:.2f} / {of['p99_ms']:.1f}", f"{of['delivered']:.1f}",
                     f"{of['lost']:.0f} / {of['ended']:.0f}"])
    draw(found["cases"], cases)
    page.write("former", [
        page.facts(found), "", "```", "smqtt-benchmark/bin/published former", "```", "", "![CPU for 1,000 connections](assets/benchmarks/former-cpu.svg)", "",
        *page.table("test | broker | connections | CPU % of a core | memory MB | nginx | p50 / p99 ms | delivered/s | lost / connections ended", rows)])


def draw(found, cases):
    """CPU of the whole cluster, divided by its connections: they are fewer here than in the report."""
    published = {"one-q0": 20 / 25, "one-q1": 14.5 / 25, "weighted": (20 + 37.5) / 50, "busier": 100 / 60}
    rows = []
    for case in cases:
        brokers = found[case["key"]]["processes"][:-1]
        rows.append([published.get(case["key"]), sum(of["cpu"] for of in brokers) / sum(of["connections"] for of in brokers) * 1000])
    groups = [case["title"].replace(", twice the messages", ", 21/s").replace(", QoS", "\nQoS") for case in cases]
    page.picture("former-cpu", plot.bars(
        "Clusters behind nginx, as in the former smqtt's report", "CPU of all nodes in % of a core for 1,000 connections, logarithmic (less is better)", groups,
        ["former smqtt, published (4 vCPUs each)", "smqtt (two cores for all)"], rows, logarithmic=True,
        note="Published: the middle where the report gives a range. Of 1:1 at QoS 0 it has one node only; it has no three nodes."))
