// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterStatus;

/**
 * Metadata of a node, for display.
 *
 * @param software the version of the program
 * @param address its address
 * @param weight share of clients for it, in proportion to others
 */
record NodeMetadata(String software, String address, int weight) {

    Frame hello(boolean reply, boolean joined) {
        return new Frame.Hello(
                Frame.VERSION,
                Frame.VERSION,
                (joined ? Frame.JOINED : 0) | Frame.ANSWERS,
                software,
                reply,
                weight,
                address);
    }

    ClusterStatus.Node of(NodeIdentity self, int routes) {
        return new ClusterStatus.Node(self.nodeId(), self.epoch(), address, software, weight, routes);
    }
}
