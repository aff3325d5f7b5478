// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicBoolean;

/** A message that a consumer in this process acknowledges, see {@link Broker#receive}. */
@AnyThread
public final class ReceivedMessage {

    private final Consumer consumer;
    private final ApplicationMessage message;
    private final QoS qos;
    private final boolean retained;
    private final boolean redelivered;
    private final int packetId;
    private final AtomicBoolean acknowledged = new AtomicBoolean();

    ReceivedMessage(
            Consumer consumer,
            ApplicationMessage message,
            QoS qos,
            boolean retained,
            boolean redelivered,
            int packetId) {
        this.consumer = consumer;
        this.message = message;
        this.qos = qos;
        this.retained = retained;
        this.redelivered = redelivered;
        this.packetId = packetId;
    }

    /**
     * The message as it was published.
     *
     * @return the message
     */
    public ApplicationMessage message() {
        return message;
    }

    /**
     * The quality of service of this delivery: the publisher's, at most the consumer's.
     *
     * @return QoS 0 needs no acknowledgement
     */
    public QoS qos() {
        return qos;
    }

    /**
     * Whether this is a retained message that was there before the consumer.
     *
     * @return false for a message that was just published
     */
    public boolean isRetained() {
        return retained;
    }

    /**
     * Whether the consumer of this name may have had the message before, and has not acknowledged it.
     *
     * @return false for a message that comes for the first time
     */
    public boolean isRedelivered() {
        return redelivered;
    }

    /**
     * Says that the message was dealt with: it makes room in the window, and does not come again. Until a store has
     * written that down, a crash brings the message again. Does nothing at QoS 0, for the second time, and after the
     * consumer has ended.
     */
    public void acknowledge() {
        if (packetId > 0 && acknowledged.compareAndSet(false, true)) {
            consumer.acknowledge(this);
        }
    }

    int packetId() {
        return packetId;
    }

    @Override
    public String toString() {
        return "ReceivedMessage[" + message + ", " + qos + (redelivered ? ", again" : "") + ']';
    }
}
