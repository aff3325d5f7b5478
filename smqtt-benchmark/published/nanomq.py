# SPDX-License-Identifier: Apache-2.0
"""The tests of NanoMQ's report: broadcasts to 500 subscribers of one topic at QoS 0 to 2, and pairs of clients one to one, a message per second each.

The report has 14,000 pairs. Here their number rises up to 9,500, because 20,000 open files for a process allow no more than 19,000 connections.
"""
import page
import plot
import runs


def broadcast(key, title, qos, pubs, rate, published):
    return {"key": key, "title": title, "scenario": "single-topic", "qos": qos, "size": 16, "pubs": pubs, "subs": 500, "rate": rate, "published": published}


def ramp(pairs):
    return {"key": f"pairs-{pairs}", "title": f"{pairs:,} pairs", "scenario": "symmetric", "qos": 0, "size": 16, "pubs": pairs, "subs": pairs, "rate": pairs,
            "published": None}


CASES = [
    # 25,000,000 messages: at QoS 0 from 10.0 to 52.0 s, at QoS 1 from before 16.1 to 80.0 s of the receiver's log.
    broadcast("series-0", "10 × 200/s to 500, QoS 0", 0, 10, 2000, {"delivered": round(25e6 / (52.0 - 10.0), -3), "cores": "6, nearly full"}),
    broadcast("series-1", "10 × 200/s to 500, QoS 1", 1, 10, 2000, {"delivered": round((25e6 - 234571) / (80.0 - 16.068), -3), "cores": "6, nearly full"}),
    broadcast("series-2", "10 × 200/s to 500, QoS 2", 2, 10, 2000, None),
    broadcast("large", "20 × 50/s to 500, QoS 0", 0, 20, 1000, {"delivered": 500_000, "cores": "80 % of 16 threads"}),
    broadcast("small", "10 × 40/s to 500, QoS 0", 0, 10, 400, {"delivered": 200_000, "cores": "1"}),
    ramp(2000), ramp(5000), ramp(9500),
]


def flags(parser):
    runs.flags(parser)


def run(arguments):
    runs.measure(arguments, "nanomq", CASES)


def report():
    found = page.saved("nanomq")
    cases = [case for case in CASES if case["key"] in found["cases"]]
    names = [name for name in runs.NAMES if any(found["cases"][case["key"]].get(name) for case in cases)]
    broadcasts, pairs = [[case for case in cases if (case["scenario"] == "single-topic") == of] for of in (True, False)]
    head = "load | broker | delivered/s | cores in use | CPU µs/delivered | p50 ms | p99 ms | RSS MiB | l/d/o"
    rows = []
    for case in broadcasts:
        published = case["published"]
        rows.append([case["title"], "NanoMQ 0.2.5, published", *([runs.number(published["delivered"]), published["cores"]] if published else ["–", "–"]),
                     "–", "–", "–", "–", "–"])
        rows += ours(found["cases"][case["key"]], names)
    one_to_one = [["14,000 pairs", "NanoMQ 0.2.5, published", "14,000", "30 % of 16 threads", "–", "–", "–", "about 200", "–"]]
    for case in pairs:
        of = ours(found["cases"][case["key"]], names)
        of[0][0] = case["title"]
        one_to_one += of
    draw(found["cases"], broadcasts, pairs, names)
    page.write("nanomq", [
        page.facts(found), "", "```", "smqtt-benchmark/bin/published nanomq", "```", "", "![Deliveries per second](assets/benchmarks/nanomq-broadcast.svg)", "",
        *page.table(head, rows), "![CPU of one to one](assets/benchmarks/nanomq-ramp.svg)", "", *page.table(head, one_to_one)])


def ours(of, names):
    return [["", runs.NAMES[name] + runs.mark(of[name]), runs.spread(of[name], "delivered", 0), runs.spread(of[name], "cores"),
             runs.spread(of[name], "cpu_us"), runs.spread(of[name], "p50_ms"), runs.spread(of[name], "p99_ms"), runs.spread(of[name], "rss_mib", 0),
             runs.faults(of[name])] for name in names if of.get(name)]


def draw(found, broadcasts, pairs, names):
    legend = ["NanoMQ 0.2.5, published", *(runs.NAMES[name] for name in names)]
    groups = [case["title"].replace(", QoS", "\nQoS") for case in broadcasts]
    rows = [[case["published"]["delivered"] if case["published"] else None, *(runs.middle(found[case["key"]].get(name), "delivered") for name in names)]
            for case in broadcasts]
    page.picture("nanomq-broadcast", plot.bars(
        "One topic to 500 subscribers, 16 bytes, as in NanoMQ's report", "deliveries per second; the load asks for 1M, 1M, 1M, 500k and 200k", groups, legend, rows,
        note="Published: series of 10 × 200/s on 6 cores, 20 × 50/s on 16 threads, 10 × 40/s on one core. Here: one core for the broker, one for the load."))
    columns = [[(case["pubs"], runs.middle(found[case["key"]][name], "cores") * 100) for case in pairs if found[case["key"]].get(name)] for name in names]
    page.picture("nanomq-ramp", plot.lines(
        "One to one, each publisher one message per second", "CPU of the broker in % of a core (less is better)", "pairs of clients = messages per second",
        [runs.NAMES[name] for name in names], columns, note="NanoMQ's report has 14,000 pairs at 30 % of 16 threads. Here: one core for the broker."))
