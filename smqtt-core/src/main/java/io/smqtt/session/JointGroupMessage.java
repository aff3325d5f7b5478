// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.StoreWriter;
import io.smqtt.thread.OnEventLoop;

/**
 * A QoS 2 message for the queue of a shared group, stored by the publisher's event loop, or any message that moves to the queue from an adopted store. It can be
 * pulled when it is committed.
 */
@OnEventLoop
final class JointGroupMessage implements JointOperation {

    private final GroupQueue queue;
    private final GroupMessage entry;
    private final boolean inMemory;

    JointGroupMessage(GroupQueue queue, GroupMessage entry, boolean inMemory) {
        this.queue = queue;
        this.entry = entry;
        this.inMemory = inMemory;
    }

    @Override
    public void submit(StoreWriter writer) {
        queue.record().put(writer, entry);
    }

    /** Removes the message, which is stored and was given to no member. On the event loop of the queue. */
    void discard() {
        entry.settle(queue.loop());
    }

    @Override
    public void settled(boolean kept) {
        RoutingLoop owner = queue.owner();
        if (owner.executor().inEventLoop()) {
            queue.appendCompleted(entry, inMemory, kept);
        } else {
            owner.executor().execute(() -> queue.appendCompleted(entry, inMemory, kept));
        }
    }
}
