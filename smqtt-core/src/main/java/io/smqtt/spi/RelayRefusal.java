// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** The reason for which a connection is not relayed, or not taken from a front node. */
public enum RelayRefusal {
    /** On a front node: no node that takes clients is reachable, or none of them answers. The client gets CONNACK 0x88. */
    NO_NODE,
    /** On a front node: its limit, or that of all nodes; the client gets CONNACK 0x89. On another node: its limit; the front node tries the next. */
    BUSY,
    /** On a front node: no node has taken the client in time. The client gets CONNACK 0x88. */
    TIMEOUT,
    /** On a node that takes clients: the other end is not a front node of this cluster, or has not proved it in time. */
    HANDSHAKE
}
