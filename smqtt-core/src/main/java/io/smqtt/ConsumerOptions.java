// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.QoS;
import io.smqtt.session.InProcess;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Options of a consumer in this process, see {@link Broker#subscribe(String, ConsumerOptions)}. Immutable: each method
 * returns a changed copy.
 */
public final class ConsumerOptions {

    /**
     * QoS 1, all retained messages first, a window of 256 messages, a queue of 100,000 messages or 64 MiB beyond which publishers are
     * slowed, not shared, not durable.
     */
    public static final ConsumerOptions DEFAULTS = new ConsumerOptions(new Values());

    /** Maximum of {@link #window(int)}: the number of packet identifiers of one session. */
    public static final int MAXIMUM_WINDOW = 65_535;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,128}");
    private static final Pattern SHARE = Pattern.compile("[^/+#\\p{Cntrl}]{1,128}");

    private final Values values;

    /** All values; not changed once they belong to an object. */
    private static final class Values implements Cloneable {

        private QoS qos = QoS.AT_LEAST_ONCE;
        private RetainHandling retainHandling = RetainHandling.SEND;
        private @Nullable String shareName;
        private int window = 256;
        private int queueMessages = InProcess.QUEUED_MESSAGES;
        private long queueBytes = InProcess.QUEUED_BYTES;
        private boolean queueGiven;
        private Overflow overflow = Overflow.SLOW_PUBLISHERS;
        private @Nullable String label;
        private @Nullable String durableName;
        private @Nullable Duration expiry;
        private boolean localOnly;
        private Runnable whenSubscribed = () -> {};

        @Override
        protected Values clone() {
            try {
                return (Values) super.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private ConsumerOptions(Values values) {
        this.values = values;
    }

    private ConsumerOptions with(java.util.function.Consumer<Values> change) {
        Values changed = values.clone();
        change.accept(changed);
        return new ConsumerOptions(changed);
    }

    /** The policy for a message above QoS 0 when the queue of the consumer is full. */
    public enum Overflow {
        /**
         * The message is accepted, and its publisher waits until there is room. A client gets its acknowledgement only then, so at most
         * its receive maximum ({@code limits.receive-maximum}) of messages wait. The {@code Mono} of {@link Broker#publish} completes
         * only then. If the consumer takes nothing for a second, publishes of this process no longer wait for it, so a consumer that
         * waits for its own publish does not deadlock. Messages are dropped only when all queues of the broker together are full
         * ({@code limits.max-total-queued-bytes}), or when the consumer is durable and away.
         */
        SLOW_PUBLISHERS,
        /** The message is dropped, as for a client. */
        DROP
    }

    /** Selects the retained messages that a consumer gets first (MQTT 5.0, section 3.8.3.1). */
    public enum RetainHandling {
        /** All matching messages, each time. */
        SEND,
        /** All matching messages, unless a durable consumer already had the subscription. */
        SEND_IF_NEW,
        /** None. */
        DO_NOT_SEND
    }

    /**
     * Sets the maximum quality of service of a delivery; default QoS 1.
     *
     * @param maximum messages with a higher one are delivered with this one
     * @return options with that
     */
    public ConsumerOptions qos(QoS maximum) {
        return with(changed -> changed.qos = Objects.requireNonNull(maximum, "maximum"));
    }

    /**
     * Selects the retained messages that come first; default {@link RetainHandling#SEND}. A shared consumer gets none.
     *
     * @param handling the retained messages
     * @return options with that
     */
    public ConsumerOptions retainHandling(RetainHandling handling) {
        return with(changed -> changed.retainHandling = Objects.requireNonNull(handling, "handling"));
    }

    /**
     * Makes the consumer a member of a shared group, to which network clients can belong, too.
     *
     * @param group the name of the group: 1 to 128 characters, none of {@code /+#}
     * @return options with that
     * @throws IllegalArgumentException if this is not a valid group name
     */
    public ConsumerOptions shared(String group) {
        return with(changed -> changed.shareName = matching(group, SHARE));
    }

    /**
     * Sets the maximum number of messages that the consumer has at a time: without demand, or not acknowledged; default 256.
     * Further messages wait in the {@link #queue} at QoS 1 and 2, and are dropped at QoS 0.
     *
     * @param messages 1 to 65,535
     * @return options with that
     * @throws IllegalArgumentException if the number is not in the range
     */
    public ConsumerOptions window(int messages) {
        if (messages < 1 || messages > MAXIMUM_WINDOW) {
            throw new IllegalArgumentException("a window of " + messages + " messages");
        }
        return with(changed -> changed.window = messages);
    }

    /**
     * Limits the queue of QoS 1 and 2 messages beyond the window. Default: 100,000 messages and 64 MiB; for a consumer that is
     * not durable at most a quarter of {@code limits.max-total-queued-bytes}. The same limits hold while a durable consumer is
     * away; messages beyond them are dropped then. The limits of network clients ({@code limits.max-queued-messages},
     * {@code limits.max-queued-bytes}) do not apply.
     *
     * @param messages 1 to 100,000,000
     * @param bytes 1 byte to 1 TiB, payloads, topics and properties with a fixed overhead for each message
     * @return options with that
     * @throws IllegalArgumentException if a number is not in its range
     */
    public ConsumerOptions queue(int messages, long bytes) {
        if (messages < 1 || messages > 100_000_000 || bytes < 1 || bytes > 1L << 40) {
            throw new IllegalArgumentException("a queue of " + messages + " messages and " + bytes + " bytes");
        }
        return with(changed -> {
            changed.queueMessages = messages;
            changed.queueBytes = bytes;
            changed.queueGiven = true;
        });
    }

    /**
     * Selects what happens to messages above QoS 0 when the queue is full; default {@link Overflow#SLOW_PUBLISHERS}.
     *
     * @param full the policy
     * @return options with that
     */
    public ConsumerOptions overflow(Overflow full) {
        return with(changed -> changed.overflow = Objects.requireNonNull(full, "full"));
    }

    /**
     * Sets the name of the consumer in the log, for instance when messages are dropped; default its durable name, or its filter.
     *
     * @param name any text
     * @return options with that
     */
    public ConsumerOptions label(String name) {
        return with(changed -> changed.label = Objects.requireNonNull(name, "name"));
    }

    /**
     * Gives the consumer a name under which its subscription and its QoS 1 and 2 messages are stored while it is away: after its
     * cancellation, a restart or a crash of the process. Only one consumer of a name can be active at a time.
     *
     * @param name 1 to 128 of the characters {@code A-Z a-z 0-9 . _ : -}
     * @return options with that
     * @throws IllegalArgumentException if the name is not valid
     */
    public ConsumerOptions durable(String name) {
        return with(changed -> changed.durableName = matching(name, NAME));
    }

    /**
     * Sets how long messages of a durable consumer are kept while it is away; default forever, until
     * {@link Broker#removeConsumer}.
     *
     * @param away the time, at least one second
     * @return options with that
     * @throws IllegalArgumentException if it is less than a second
     */
    public ConsumerOptions expiry(Duration away) {
        if (away.toSeconds() < 1) {
            throw new IllegalArgumentException("an expiry of " + away);
        }
        return with(changed -> changed.expiry = away);
    }

    /**
     * Restricts the consumer to messages that were published to this node of a cluster, by clients or the application. Its subscription
     * is not announced to other nodes, so that they send nothing for its sake, and each node can have a durable consumer of the same
     * name. Retained messages come from all nodes. Not for a {@link #shared} consumer.
     *
     * @return options with that
     */
    public ConsumerOptions localOnly() {
        return with(changed -> changed.localOnly = true);
    }

    /**
     * Sets a callback for the moment when the subscription is active: messages published from then on are received.
     *
     * @param action called once for each subscriber, on an event loop, before its first message; for a durable consumer when the
     *     subscription is stored. It must not block. It is not called if the consumer is refused. Default: no callback
     * @return options with that
     */
    public ConsumerOptions whenSubscribed(Runnable action) {
        return with(changed -> changed.whenSubscribed = Objects.requireNonNull(action, "action"));
    }

    private static String matching(String name, Pattern pattern) {
        if (!pattern.matcher(name).matches()) {
            throw new IllegalArgumentException("invalid name: must match " + pattern);
        }
        return name;
    }

    QoS qos() {
        return values.qos;
    }

    RetainHandling retainHandling() {
        return values.retainHandling;
    }

    @Nullable
    String shareName() {
        return values.shareName;
    }

    int window() {
        return values.window;
    }

    int queueMessages() {
        return values.queueMessages;
    }

    long queueBytes() {
        return values.queueBytes;
    }

    boolean isQueueGiven() {
        return values.queueGiven;
    }

    Overflow overflow() {
        return values.overflow;
    }

    boolean isLocalOnly() {
        return values.localOnly;
    }

    @Nullable
    String label() {
        return values.label;
    }

    @Nullable
    String durableName() {
        return values.durableName;
    }

    Runnable whenSubscribed() {
        return values.whenSubscribed;
    }

    /** The session expiry interval of the consumer, in seconds; 0 if it is not durable. */
    long expirySeconds() {
        long never = 0xFFFF_FFFFL;
        Duration away = values.expiry;
        if (values.durableName == null) {
            return 0;
        }
        return away == null ? never : Math.min(never, away.toSeconds());
    }

    @Override
    public String toString() {
        return "ConsumerOptions[" + values.qos + ", retained " + values.retainHandling + ", window " + values.window
                + ", queue " + values.queueMessages + " messages " + values.queueBytes + " bytes " + values.overflow
                + (values.shareName == null ? "" : ", shared by " + values.shareName)
                + (values.durableName == null ? "" : ", durable as " + values.durableName) + ']';
    }
}
