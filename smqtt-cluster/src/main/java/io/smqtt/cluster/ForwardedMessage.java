// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MessageBytes;
import io.smqtt.bytes.NameCache;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.List;

/**
 * A message for the subscribers of one other node. On the wire its expiry interval is the remaining one. Later versions add fields at the
 * end, which are skipped.
 *
 * @param message the message
 * @param toAll whether it goes to all subscribers that are not in a shared group
 * @param groups the shared groups on that node that get it, one member each
 */
@AnyThread
record ForwardedMessage(ApplicationMessage message, boolean toAll, List<SharedFilter> groups) {

    private static final int TO_ALL = MessageBytes.CALLER;

    /** Writes a message. {@code nowNanos} is the broker's monotonic clock. */
    void write(ByteWriter target, long nowNanos) {
        MessageBytes.write(target, message, message.remainingExpirySeconds(nowNanos), groups, toAll ? TO_ALL : 0);
    }

    /** Writes the length of a message, then the message. */
    static void writeBlock(
            ByteWriter target, ApplicationMessage message, boolean toAll, List<SharedFilter> groups, long nowNanos) {
        MessageBytes.writeBlock(target, message, message.remainingExpirySeconds(nowNanos), groups, toAll ? TO_ALL : 0);
    }

    /** Reads a message up to the end of the source. {@code nowNanos} is the base of its expiry. */
    static ForwardedMessage read(ByteReader source, long nowNanos, NameCache names) {
        int flags = source.u8();
        List<SharedFilter> groups = new ArrayList<>(0);
        ApplicationMessage message = MessageBytes.read(source, flags, nowNanos, names, groups);
        message = MessageBytes.readRepeated(source, message);
        return new ForwardedMessage(message, (flags & TO_ALL) != 0, List.copyOf(groups));
    }
}
