# SPDX-License-Identifier: Apache-2.0
# A link between two network namespaces whose packets take their time and of which a share is lost:
# slow-link.py DELAY_SECONDS LOSS SPACE ADDRESS SPACE ADDRESS. Ends with its standard input, and then prints what has passed.
import collections
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
LARGEST = 65536
MOST_WAITING = 50000  # packets in one direction


def interface(name, space, address, peer):
    opened = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(opened, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN_NO_PI))
    for command in (
        f"ip link set {name} netns {space}",
        f"ip -n {space} addr add {address} peer {peer} dev {name}",
        f"ip -n {space} link set {name} up txqueuelen 10000",
    ):
        subprocess.run(command.split(), check=True)
    return opened


delay, loss = float(sys.argv[1]), float(sys.argv[2])
ends = [
    interface(f"sq{os.getpid()}a", sys.argv[3], sys.argv[4], sys.argv[6]),
    interface(f"sq{os.getpid()}b", sys.argv[5], sys.argv[6], sys.argv[4]),
]
waiting = [collections.deque(), collections.deque()]  # of those that came in at each end, with the time when they are due
passed, lost = 0, 0
print("ready", flush=True)
while True:
    now = time.monotonic()
    for i in (0, 1):
        queue = waiting[i]
        while queue and queue[0][0] <= now:
            os.write(ends[1 - i], queue.popleft()[1])
    due = min((queue[0][0] for queue in waiting if queue), default=now + 1)
    ready, _, _ = select.select(ends + [sys.stdin], [], [], max(0, due - now))
    if sys.stdin in ready:
        break
    for i in (0, 1):
        if ends[i] not in ready:
            continue
        for _ in range(64):
            try:
                packet = os.read(ends[i], LARGEST)
            except BlockingIOError:
                break
            passed += 1
            if random.random() < loss or len(waiting[i]) >= MOST_WAITING:
                lost += 1
            else:
                waiting[i].append((time.monotonic() + delay, packet))
print(f"{passed} packets, {lost} of them lost", flush=True)
