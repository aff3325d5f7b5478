// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterStatus;

/**
 * The metadata of a node, as the others receive it.
 *
 * @param software the version of the program
 * @param address its address
 * @param weight share of clients for it, in proportion to others
 * @param front whether it is a front node
 * @param relay where it takes clients of front nodes; empty if it takes none
 * @param name its name, if it holds the place of a node with another one; otherwise empty
 */
record NodeMetadata(String software, String address, int weight, boolean front, String relay, String name) {

    /** That of a node that has the name of its place. */
    NodeMetadata(String software, String address, int weight, boolean front, String relay) {
        this(software, address, weight, front, relay, "");
    }

    Frame hello(boolean reply, boolean joined) {
        return new Frame.Hello(
                Frame.VERSION,
                Frame.VERSION,
                (joined ? Frame.JOINED : 0)
                        | Frame.ANSWERS
                        | Frame.SERVERS
                        | Frame.RETAINED
                        | (front ? Frame.FRONT : 0),
                software,
                reply,
                weight,
                address,
                relay,
                name);
    }

    ClusterStatus.Node of(NodeIdentity self, int routes) {
        String shown = name.isEmpty() ? self.nodeId() : name;
        return new ClusterStatus.Node(shown, self.epoch(), address, software, weight, routes, front, relay);
    }
}
