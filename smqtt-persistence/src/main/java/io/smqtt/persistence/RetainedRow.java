// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.BrokerStore.RecoveryVisitor;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * The row of a topic with a retained message: the message, and its version in a cluster behind it; rows of brokers without a cluster end
 * after the message. The row of a removed message has another format number, and the version alone.
 */
final class RetainedRow {

    private static final int REMOVAL = 3; // a message begins with 1 or 2

    private final MessageRow messages;
    private String lastNodeId = ""; // most versions are of few nodes

    RetainedRow(MessageRow messages) {
        this.messages = messages;
    }

    byte[] encode(ApplicationMessage message, @Nullable RetainedVersion version, RowWriter row) {
        messages.write(message, row.clear());
        if (version != null) {
            write(version, row);
        }
        return row.toByteArray();
    }

    static byte[] encodeRemoval(RetainedVersion version, RowWriter row) {
        row.clear().putByte(REMOVAL);
        write(version, row);
        return row.toByteArray();
    }

    private static void write(RetainedVersion version, RowWriter row) {
        row.putNumber(version.clock()).putText(version.nodeId());
    }

    /** Shows a row to a visitor; false if the message has expired, and was not shown. */
    boolean visit(byte[] key, byte[] value, long nowNanos, RecoveryVisitor visitor) {
        RowReader row = new RowReader(value);
        if (row.startsWith(REMOVAL)) {
            row.requireVersion(REMOVAL);
            visitor.retainedRemoval(topic(key), version(row));
            return true;
        }
        ApplicationMessage message = messages.read(row);
        if (message.isExpired(nowNanos)) {
            return false;
        }
        if (row.hasMore()) {
            visitor.retained(message, version(row));
        } else {
            visitor.retained(message);
        }
        return true;
    }

    private static TopicName topic(byte[] key) {
        try {
            return TopicName.ofUtf8(key);
        } catch (InvalidTopicException e) {
            throw new DamagedRowException("a removed message has no valid topic");
        }
    }

    private RetainedVersion version(RowReader row) {
        long clock = row.readNumber();
        String nodeId = row.readText();
        row.requireEnd();
        if (nodeId.equals(lastNodeId)) {
            nodeId = lastNodeId;
        }
        lastNodeId = nodeId;
        return new RetainedVersion(clock, nodeId);
    }
}
