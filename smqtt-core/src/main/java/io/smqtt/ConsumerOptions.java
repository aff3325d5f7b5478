// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.QoS;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How a consumer in this process takes messages, see {@link Broker#subscribe(String, ConsumerOptions)}. Immutable: each
 * method returns another object.
 */
public final class ConsumerOptions {

    /** QoS 1, retained messages first, a window of 256 messages, neither shared nor durable. */
    public static final ConsumerOptions DEFAULTS =
            new ConsumerOptions(QoS.AT_LEAST_ONCE, RetainHandling.SEND, null, 256, null, null, () -> {});

    /** What {@link #window(int)} may be at most: the packet identifiers of one session. */
    public static final int MAXIMUM_WINDOW = 65_535;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,128}");
    private static final Pattern SHARE = Pattern.compile("[^/+#\\p{Cntrl}]{1,128}");

    private final QoS qos;
    private final RetainHandling retainHandling;
    private final @Nullable String shareName;
    private final int window;
    private final @Nullable String durableName;
    private final @Nullable Duration expiry;
    private final Runnable whenSubscribed;

    private ConsumerOptions(
            QoS qos,
            RetainHandling retainHandling,
            @Nullable String shareName,
            int window,
            @Nullable String durableName,
            @Nullable Duration expiry,
            Runnable whenSubscribed) {
        this.qos = qos;
        this.retainHandling = retainHandling;
        this.shareName = shareName;
        this.window = window;
        this.durableName = durableName;
        this.expiry = expiry;
        this.whenSubscribed = whenSubscribed;
    }

    /** Which retained messages a consumer gets first (MQTT 5.0, section 3.8.3.1). */
    public enum RetainHandling {
        /** All that match, each time. */
        SEND,
        /** All that match, unless a durable consumer had the subscription before. */
        SEND_IF_NEW,
        /** None. */
        DO_NOT_SEND
    }

    /**
     * The highest quality of service of a delivery; default QoS 1.
     *
     * @param maximum messages of a higher one come with this one
     * @return options with that
     */
    public ConsumerOptions qos(QoS maximum) {
        return new ConsumerOptions(maximum, retainHandling, shareName, window, durableName, expiry, whenSubscribed);
    }

    /**
     * Which retained messages come first; default {@link RetainHandling#SEND}. A shared consumer gets none.
     *
     * @param handling which
     * @return options with that
     */
    public ConsumerOptions retainHandling(RetainHandling handling) {
        return new ConsumerOptions(
                qos,
                Objects.requireNonNull(handling, "handling"),
                shareName,
                window,
                durableName,
                expiry,
                whenSubscribed);
    }

    /**
     * Lets the consumer share the messages of the filter with other members of a group, clients included.
     *
     * @param group the name of the group: 1 to 128 characters, none of {@code /+#}
     * @return options with that
     * @throws IllegalArgumentException if this is no name of a group
     */
    public ConsumerOptions shared(String group) {
        return new ConsumerOptions(
                qos, retainHandling, matching(group, SHARE), window, durableName, expiry, whenSubscribed);
    }

    /**
     * How many messages the consumer has at once: without demand for them, or not acknowledged; default 256. What comes
     * above that waits in the queue of the consumer's session at QoS 1 and 2, as it would for a client, and is dropped at
     * QoS 0.
     *
     * @param messages 1 to 65,535
     * @return options with that
     * @throws IllegalArgumentException if the number is not in the range
     */
    public ConsumerOptions window(int messages) {
        if (messages < 1 || messages > MAXIMUM_WINDOW) {
            throw new IllegalArgumentException("a window of " + messages + " messages");
        }
        return new ConsumerOptions(qos, retainHandling, shareName, messages, durableName, expiry, whenSubscribed);
    }

    /**
     * Gives the consumer a name under which its subscription and its QoS 1 and 2 messages are stored while it is away:
     * past its cancellation, a restart and a crash of the process. There is one consumer of a name at a time.
     *
     * @param name 1 to 128 of the characters {@code A-Z a-z 0-9 . _ : -}
     * @return options with that
     * @throws IllegalArgumentException if this is no such name
     */
    public ConsumerOptions durable(String name) {
        return new ConsumerOptions(
                qos, retainHandling, shareName, window, matching(name, NAME), expiry, whenSubscribed);
    }

    /**
     * How long messages wait for a durable consumer that is away; default for ever, until
     * {@link Broker#removeConsumer}.
     *
     * @param away at least one second
     * @return options with that
     * @throws IllegalArgumentException if it is less than a second
     */
    public ConsumerOptions expiry(Duration away) {
        if (away.toSeconds() < 1) {
            throw new IllegalArgumentException("an expiry of " + away);
        }
        return new ConsumerOptions(qos, retainHandling, shareName, window, durableName, away, whenSubscribed);
    }

    /**
     * Tells when the consumer has its subscription, so that it misses nothing that is published from then on.
     *
     * @param told called once for each subscriber, on an event loop, before its first message; if the consumer is durable once the
     *     subscription is stored. It must not block, and is not called if the consumer is refused. Default: nobody is told
     * @return options with that
     */
    public ConsumerOptions whenSubscribed(Runnable told) {
        return new ConsumerOptions(
                qos, retainHandling, shareName, window, durableName, expiry, Objects.requireNonNull(told, "told"));
    }

    private static String matching(String name, Pattern pattern) {
        if (!pattern.matcher(name).matches()) {
            throw new IllegalArgumentException("not a name of this kind: it has to match " + pattern);
        }
        return name;
    }

    QoS qos() {
        return qos;
    }

    RetainHandling retainHandling() {
        return retainHandling;
    }

    @Nullable
    String shareName() {
        return shareName;
    }

    int window() {
        return window;
    }

    @Nullable
    String durableName() {
        return durableName;
    }

    Runnable whenSubscribed() {
        return whenSubscribed;
    }

    /** The session expiry interval of the consumer, in seconds; 0 if it is not durable. */
    long expirySeconds() {
        long never = 0xFFFF_FFFFL;
        if (durableName == null) {
            return 0;
        }
        return expiry == null ? never : Math.min(never, expiry.toSeconds());
    }

    @Override
    public String toString() {
        return "ConsumerOptions[" + qos + ", retained " + retainHandling + ", window " + window
                + (shareName == null ? "" : ", shared by " + shareName)
                + (durableName == null ? "" : ", durable as " + durableName) + ']';
    }
}
