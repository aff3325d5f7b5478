// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
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

    private static final int REMOVAL = 3; // a message begins with another number

    private final MessageRow messages;
    private String lastNodeId = ""; // most versions are of few nodes

    RetainedRow(MessageRow messages) {
        this.messages = messages;
    }

    byte[] encode(ApplicationMessage message, @Nullable RetainedVersion version, ByteWriter row) {
        messages.write(message, row.clear());
        if (version != null) {
            write(version, row);
        }
        return row.toByteArray();
    }

    static byte[] encodeRemoval(RetainedVersion version, ByteWriter row) {
        row.clear().u8(REMOVAL);
        write(version, row);
        return row.toByteArray();
    }

    private static void write(RetainedVersion version, ByteWriter row) {
        row.number(version.clock()).text(version.nodeId());
    }

    /** Shows a row to a visitor; false if the message has expired, and was not shown. */
    boolean visit(byte[] key, byte[] value, long nowNanos, RecoveryVisitor visitor) {
        ByteReader row = new ByteReader(value);
        if (row.startsWith(REMOVAL)) {
            row.format(REMOVAL);
            visitor.retainedRemoval(topic(key), version(row));
            return true;
        }
        ApplicationMessage message = messages.read(row);
        if (message.isExpired(nowNanos)) {
            return false;
        }
        if (row.remaining() > 0) {
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
            throw new MalformedBytesException("a removed message has no valid topic");
        }
    }

    private RetainedVersion version(ByteReader row) {
        long clock = row.number();
        String nodeId = row.text();
        row.requireEnd();
        if (nodeId.equals(lastNodeId)) {
            nodeId = lastNodeId;
        }
        lastNodeId = nodeId;
        return new RetainedVersion(clock, nodeId);
    }
}
