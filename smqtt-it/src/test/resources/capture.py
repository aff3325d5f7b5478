# SPDX-License-Identifier: Apache-2.0
# Writes all frames of network interfaces to a file, each behind its length: capture.py FILE INTERFACE... Ends with its standard input.
import select
import socket
import struct
import sys

ETH_P_ALL = 3
BUFFER = 16 * 1024 * 1024

sockets = []
for name in sys.argv[2:]:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    opened.bind((name, 0))
    sockets.append(opened)
print("capturing", flush=True)
with open(sys.argv[1], "wb") as out:
    ended = False
    while not ended:
        ready, _, _ = select.select(sockets + [sys.stdin], [], [])
        ended = sys.stdin in ready
        for each in sockets:
            while select.select([each], [], [], 0)[0]:
                frame = each.recv(1 << 17)
                out.write(struct.pack(">I", len(frame)) + frame)
