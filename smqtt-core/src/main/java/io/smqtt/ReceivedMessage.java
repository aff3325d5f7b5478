// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/** A message that a consumer in this process must acknowledge, see {@link Broker#receive}. */
@AnyThread
public final class ReceivedMessage {

    private static final AtomicIntegerFieldUpdater<ReceivedMessage> ACKNOWLEDGED =
            AtomicIntegerFieldUpdater.newUpdater(ReceivedMessage.class, "acknowledged");

    private final Consumer consumer;
    private final ApplicationMessage message;
    private final QoS qos;
    private final boolean retained;
    private final boolean redelivered;
    private final int packetId;
    private volatile int acknowledged; // 0 or 1, by its updater: an object less for each message

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
     * The quality of service of this delivery: the lower one of the publisher's and the consumer's.
     *
     * @return QoS 0 needs no acknowledgement
     */
    public QoS qos() {
        return qos;
    }

    /**
     * Whether this is a retained message that was stored before the consumer subscribed.
     *
     * @return false for a message that was published afterwards
     */
    public boolean isRetained() {
        return retained;
    }

    /**
     * Whether the consumer of this name may have received the message before without acknowledging it.
     *
     * @return false for a message that is delivered for the first time
     */
    public boolean isRedelivered() {
        return redelivered;
    }

    /**
     * Acknowledges the message: it leaves the window and is not delivered again. If the process crashes before the store has
     * written the acknowledgement, the message is delivered again. Has no effect at QoS 0, the second time, and after the consumer
     * has ended.
     */
    public void acknowledge() {
        if (packetId > 0 && acknowledged == 0 && ACKNOWLEDGED.compareAndSet(this, 0, 1)) {
            consumer.acknowledge(this);
        }
    }

    int packetId() {
        return packetId;
    }

    @Override
    public String toString() {
        return "ReceivedMessage[" + message + ", " + qos + (redelivered ? ", redelivered" : "") + ']';
    }
}
