# SPDX-License-Identifier: Apache-2.0
"""Plays the packet sequences of mosquitto's broker tests (test/broker/data) to a broker that runs.

usage: sequences.py CHECKOUT PORT

The sequences expect mosquitto's packets byte for byte. Here an answer is the same if its kind, packet identifiers, reason codes, flags and content are;
properties of acknowledgements do not matter. A refusal in another form than mosquitto's (another reason code, or a CONNACK or DISCONNECT before the
connection ends where mosquitto only closes) is printed as "refused otherwise" and is no failure; all else that differs is one.
"""

import collections
import json
import pathlib
import socket
import sys

CONNACK, PUBLISH, DISCONNECT = 2, 3, 14
ACKNOWLEDGEMENTS = (4, 5, 6, 7)
PATIENCE = 3.0  # seconds to wait for a packet, or for the end of a connection


class Differs(Exception):
    pass


class Otherwise(Exception):
    pass


def split(data):
    """The first packet of some bytes as (first byte, body), and what follows; None if it is not complete."""
    length = shift = 0
    for end in range(1, min(5, len(data))):
        length |= (data[end] & 127) << shift
        shift += 7
        if data[end] < 128:
            body = data[end + 1 : end + 1 + length]
            return ((data[0], body), data[end + 1 + length :]) if len(body) == length else None
    return None


def packets(data):
    while data:
        packet, data = split(data)
        yield packet


def meaning(packet):
    first, body = packet
    kind = first >> 4
    if kind == CONNACK:
        return first, body[:2]
    if kind == DISCONNECT:
        return first, body[:1] or b"\0"
    if kind in ACKNOWLEDGEMENTS:
        return first, body[:2] if body[2:3] == b"\0" else body[:3]
    return packet


def refuses(packet):
    first, body = packet
    return first >> 4 == DISCONNECT or (first >> 4 == CONNACK and body[1:2] != b"\0")


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.data = b""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        """The next packet, or None at the end of the connection."""
        while (found := split(self.data)) is None:
            try:
                more = self.socket.recv(65536)
            except ConnectionError:
                return None
            if not more:
                return None
            self.data += more
        packet, self.data = found
        return packet

    def expect(self, data):
        for expected in packets(data):
            try:
                packet = self.receive()
            except TimeoutError:
                raise Differs(f"{data.hex()} expected, nothing came") from None
            if packet is None:
                raise Differs(f"{data.hex()} expected, the connection ended")
            if meaning(packet) != meaning(expected):
                text = f"{packet[0]:02x}:{packet[1].hex()} came, expected {expected[0]:02x}:{expected[1].hex()}"
                raise (Otherwise if refuses(packet) and refuses(expected) else Differs)(text)

    def expect_end(self):
        last = None
        try:
            while (packet := self.receive()) is not None:
                last = packet
        except TimeoutError:
            raise Differs("the connection goes on") from None
        except OSError:
            pass
        if last is not None:
            text = f"the connection ended after {last[0]:02x}:{last[1].hex()}"
            raise (Otherwise if refuses(last) else Differs)(text)

    def expect_life(self):
        self.send(b"\xc0\0")
        self.expect(b"\xd0\0")


def main(checkout, port):
    tests = pathlib.Path(checkout, "test")
    sys.path[:0] = [str(tests), str(tests / "broker")]
    import mqtt_packets
    from msg_sequence_test import parse_message

    def publish_by_another(step):
        qos, retain = step["qos"], step.get("retain", False)
        with Client(port) as helper:
            helper.send(mqtt_packets.gen_connect("helper"))
            helper.expect(mqtt_packets.gen_connack(rc=0))
            helper.send(mqtt_packets.gen_publish(step["topic"], mid=1, qos=qos, payload=step["payload"], retain=retain))
            if qos == 1:
                helper.expect(mqtt_packets.gen_puback(1))
            elif qos == 2:
                helper.expect(mqtt_packets.gen_pubrec(1))
                helper.send(mqtt_packets.gen_pubrel(1))
                helper.expect(mqtt_packets.gen_pubcomp(1))
            helper.expect_life()

    def play(name, version, connects, ends, steps):
        with Client(port) as client:
            if connects:
                client.send(mqtt_packets.gen_connect(name, proto_ver=version))
                client.expect(mqtt_packets.gen_connack(rc=0, proto_ver=version))
            for step in steps:
                kind = step["type"]
                if kind == "send":
                    client.send(parse_message(step["payload"]))
                elif kind == "recv":
                    client.expect(parse_message(step["payload"]))
                elif kind == "external_publish":
                    publish_by_another(step)
                elif kind == "subscribe":
                    client.send(mqtt_packets.gen_subscribe(topic=step["topic"], qos=step["qos"], mid=1, proto_ver=version))
                    client.expect(mqtt_packets.gen_suback(qos=step["qos"], mid=1, proto_ver=version))
                elif kind == "unsubscribe":
                    client.send(mqtt_packets.gen_unsubscribe(topic=step["topic"], mid=1, proto_ver=version))
                    client.expect(mqtt_packets.gen_unsuback(mid=1, proto_ver=version))
                else:
                    raise ValueError(f"{name}: unknown step {kind}")
            if ends:
                client.expect_end()
            else:
                client.expect_life()

    counts = collections.Counter()
    for file in sorted((tests / "broker/data").glob("*.json")):
        for group in json.loads(file.read_text()):
            if group.get("disable"):
                continue
            for test in group["tests"]:
                name = f"{group['group']} {test['name']}"

                def option(key, default):
                    return test.get(key, group.get(key, default))

                try:
                    play(name, option("ver", 4), option("connect", True), option("expect_disconnect", True), test["msgs"])
                    result = "passed"
                except Otherwise as difference:
                    result = "refused otherwise"
                    print(f"{result}: {name}: {difference}")
                except (Differs, OSError) as difference:
                    result = "failed"
                    print(f"{result}: {name}: {difference}")
                counts[result] += 1
    print(", ".join(f"{counts[result]} {result}" for result in ("passed", "refused otherwise", "failed")))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
