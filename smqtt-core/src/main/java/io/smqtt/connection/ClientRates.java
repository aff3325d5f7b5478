// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.spi.TrafficCounts;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/** The rates that one connection is held to: its own, its user's and its listener's. Only exists if one of them is configured. */
@OnEventLoop
final class ClientRates {

    /**
     * The two buckets of a limit.
     *
     * @param messages PUBLISH packets; null without a limit
     * @param bytes all bytes; null without a limit
     */
    record Buckets(@Nullable TokenBucket messages, @Nullable TokenBucket bytes) {

        static final Buckets NONE = new Buckets(null, null);

        boolean isEmpty() {
            return messages == null && bytes == null;
        }

        private long spend(int messageCount, long byteCount, long now) {
            long owed = messages == null || messageCount == 0 ? 0 : messages.spend(messageCount, now);
            return bytes == null || byteCount == 0 ? owed : Math.max(owed, bytes.spend(byteCount, now));
        }

        private boolean spendMessageOfStock(long now) {
            return messages == null || messages.spendOneOfStock(now);
        }

        private void returnMessage() {
            if (messages != null) {
                messages.returnOne();
            }
        }

        private void forgive(int messageCount, long byteCount, long now) {
            if (messages != null) {
                messages.forgive(messageCount, now);
            }
            if (bytes != null) {
                bytes.forgive(byteCount, now);
            }
        }

        boolean isFull(long now) {
            return (messages == null || messages.isFull(now)) && (bytes == null || bytes.isFull(now));
        }
    }

    private final Buckets client;
    private final Buckets user;
    private final Buckets listener;
    private final boolean drops;
    private final Runnable release;

    /** What was spent last, and when the listener has it: before that nothing more is read, so all before it is paid. */
    private int lastMessages;

    private long lastBytes;
    private long paidNanos;

    /** The runnable is called once, when the connection is closed. */
    ClientRates(Buckets client, Buckets user, Buckets listener, boolean drops, Runnable release) {
        this.drops = drops;
        this.client = client;
        this.user = user;
        this.listener = listener;
        this.release = release;
    }

    /** Whether QoS 0 messages over the rate are dropped. */
    boolean drops() {
        return drops;
    }

    /** Spends one message, if all three have it. */
    boolean spendMessageOfStock(long now) {
        if (!client.spendMessageOfStock(now)) {
            return false;
        }
        if (!user.spendMessageOfStock(now)) {
            client.returnMessage();
            return false;
        }
        if (!listener.spendMessageOfStock(now)) {
            client.returnMessage();
            user.returnMessage();
            return false;
        }
        return true;
    }

    /** Spends what was read, and returns the nanoseconds until the next read. */
    long spend(int messages, long bytes, long now, TrafficCounts counts) {
        long ofClient = client.spend(messages, bytes, now);
        long ofUser = user.spend(messages, bytes, now);
        long ofListener = listener.spend(messages, bytes, now);
        lastMessages = messages;
        lastBytes = bytes;
        paidNanos = now + ofListener;
        long longest = Math.max(ofClient, Math.max(ofUser, ofListener));
        if (longest > 0) {
            counts.readPostponed(
                    ofClient == longest
                            ? TrafficCounts.Limit.CLIENT
                            : ofUser == longest ? TrafficCounts.Limit.USER : TrafficCounts.Limit.LISTENER);
        }
        return longest;
    }

    /** Takes back what the listener has not got yet, if other clients would wait too long for it. */
    void close(long now) {
        if (paidNanos - now > 0) {
            listener.forgive(lastMessages, lastBytes, now);
        }
        release.run();
    }
}
