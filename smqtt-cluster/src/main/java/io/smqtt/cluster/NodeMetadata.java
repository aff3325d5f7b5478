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
 */
record NodeMetadata(String software, String address, int weight, boolean front, String relay) {

    Frame hello(boolean reply, boolean joined) {
        return new Frame.Hello(
                Frame.VERSION,
                Frame.VERSION,
                (joined ? Frame.JOINED : 0) | Frame.ANSWERS | Frame.SERVERS | (front ? Frame.FRONT : 0),
                software,
                reply,
                weight,
                address,
                relay);
    }

    ClusterStatus.Node of(NodeIdentity self, int routes) {
        return new ClusterStatus.Node(self.nodeId(), self.epoch(), address, software, weight, routes, front, relay);
    }
}
