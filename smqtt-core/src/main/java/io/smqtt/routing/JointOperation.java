// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.spi.StoreWriter;

/**
 * A part of a QoS 2 message's commit: one subscriber's write, handed to the publisher's event loop so that all are stored
 * at once.
 */
public interface JointOperation {

    /**
     * Submits the operation. On the publisher's event loop.
     *
     * @param writer that loop's writer
     */
    void submit(StoreWriter writer);

    /**
     * Tells what became of it. On the publisher's event loop; also called for an operation that was never submitted.
     *
     * @param kept whether it is safe
     */
    void settled(boolean kept);
}
