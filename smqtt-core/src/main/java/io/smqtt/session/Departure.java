// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.JointOperation;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * A stored message of a shared subscription on its way to another member: forgotten here when it is safe there, and waiting
 * here again when it was refused or could not be kept.
 */
@OnEventLoop
final class Departure extends HeldTicket {

    private final Session session;
    private final QueueHandOver handOver;
    private final ApplicationMessage message;
    private final long number;
    private final long sequence;
    private final boolean delivered;
    private volatile boolean refused;
    private volatile boolean left;
    private volatile @Nullable JointOperation operation;

    /**
     * Lets a message go.
     *
     * @param sequence its place in the window, or -1 if it waits
     * @param delivered whether the client was sent it
     */
    Departure(
            Session session,
            QueueHandOver handOver,
            ApplicationMessage message,
            long number,
            long sequence,
            boolean delivered) {
        super(0);
        this.session = session;
        this.handOver = handOver;
        this.message = message;
        this.number = number;
        this.sequence = sequence;
        this.delivered = delivered;
    }

    @Override
    protected void released(boolean success) {
        session.execute(() -> arrived(!success));
    }

    /** The other member has no room; it asks again. While the ticket is held. */
    void refused() {
        refused = true;
    }

    /** The other member is gone, and nobody else is there. While the ticket is held. */
    void left() {
        refused = true;
        left = true;
    }

    /** What the other member stores of a QoS 2 message becomes safe when it is forgotten here, and not before. */
    @Override
    public boolean join(JointOperation part) {
        boolean joins = handOver.waits() && operation == null;
        if (joins) {
            operation = part;
        }
        return joins;
    }

    private void arrived(boolean failed) {
        JointOperation part = operation;
        if (failed || refused) {
            if (part != null) {
                part.settled(false);
            }
            handOver.cameBack(message, number, sequence, delivered, failed, left);
        } else if (part != null) {
            handOver.move(part, message, number, sequence, delivered);
        } else {
            handOver.departed(number, sequence, delivered);
        }
    }
}
