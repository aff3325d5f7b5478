# SPDX-License-Identifier: Apache-2.0
"""The time from a PUBLISH at QoS 1 to its PUBACK, when the message is stored for a session that is away; MQTT 3.1.1 in a few bytes."""
import os
import selectors
import socket
import struct
import threading
import time

PATIENCE = 60  # seconds for an answer
PACE_SECONDS = 0.0005
SYNC_PAUSE_SECONDS = 0.02


def text(value):
    return struct.pack(">H", len(value)) + value.encode()


def packet(kind, body):
    assert len(body) < 16384
    length = bytes([len(body)]) if len(body) < 128 else bytes([len(body) & 0x7F | 0x80, len(body) >> 7])
    return bytes([kind]) + length + body


def exactly(connection, count):
    answer = b""
    while len(answer) < count:
        more = connection.recv(count - len(answer))
        if not more:
            raise OSError("the broker has closed the connection")
        answer += more
    return answer


def connect(host, port, name, clean):
    connection = socket.create_connection((host, port), PATIENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(packet(0x10, text("MQTT") + bytes([4, 2 if clean else 0, 0, 0]) + text(name)))
    if exactly(connection, 4)[3] != 0:
        raise OSError("refused")
    return connection


def absent(host, port, clients=10):
    """Leaves sessions whose clients are away: what is acknowledged for them is stored."""
    for number in range(clients):
        client = connect(host, port, f"absent-{number}", False)
        client.sendall(packet(0x82, struct.pack(">H", 1) + text(f"acks/{number}") + b"\1"))
        exactly(client, 5)
        client.sendall(packet(0xE0, b""))
        client.close()


def times(host, port, rate, seconds, clients=10, size=128):
    """Sorted seconds from PUBLISH to PUBACK, of so many messages a second in all."""
    publishers = [connect(host, port, f"publisher-{number}", True) for number in range(clients)]
    selector = selectors.DefaultSelector()
    for number, publisher in enumerate(publishers):
        publisher.setblocking(False)
        selector.register(publisher, selectors.EVENT_READ, (number, bytearray()))
    begun, sent, pending, result = time.monotonic(), 0, {}, []
    total = int(rate * seconds)
    while sent < total or pending:
        now = time.monotonic()
        if now - begun > seconds + PATIENCE:
            raise OSError(f"{len(pending)} messages were not acknowledged")
        while sent < total and begun + sent / rate <= now:
            number, identifier = sent % clients, sent // clients % 65535 + 1
            publishers[number].sendall(packet(0x32, text(f"acks/{number}") + struct.pack(">H", identifier) + bytes(size)))
            pending[number, identifier] = now
            sent += 1
        for key, _ in selector.select(PACE_SECONDS):
            number, buffer = key.data
            buffer += key.fileobj.recv(65536)
            now = time.monotonic()
            while len(buffer) >= 4:
                (identifier,) = struct.unpack(">H", buffer[2:4])
                del buffer[:4]
                result.append(now - pending.pop((number, identifier)))
    for publisher in publishers:
        publisher.close()
    return sorted(result)


class Syncs:
    """Appends to a file on the disk of the nodes and syncs it, some times a second, while they do the same; the disk of an idle machine is faster."""

    def __init__(self, directory, size=4096):
        self.path, self.size, self.times, self.ended = directory / "syncs", size, [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        with open(self.path, "wb", buffering=0) as file:
            while not self.ended.wait(SYNC_PAUSE_SECONDS):
                since = time.monotonic()
                file.write(bytes(self.size))
                os.fdatasync(file.fileno())
                self.times.append(time.monotonic() - since)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def sorted(self):
        return sorted(self.times)


def percentile(values, share):
    """In milliseconds."""
    return values[int(len(values) * share)] * 1000
