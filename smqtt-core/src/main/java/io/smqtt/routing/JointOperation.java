// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.spi.StoreWriter;

/**
 * One subscriber's part of the commit of a QoS 2 message. The publisher's event loop submits all parts, so that all are stored in
 * one commit.
 */
public interface JointOperation {

    /**
     * Submits the operation. On the publisher's event loop.
     *
     * @param writer the writer of that event loop
     */
    void submit(StoreWriter writer);

    /**
     * Reports the outcome. On the publisher's event loop; also called for an operation that was never submitted.
     *
     * @param kept whether the operation is stored
     */
    void settled(boolean kept);
}
