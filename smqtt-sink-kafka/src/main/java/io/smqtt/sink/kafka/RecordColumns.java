// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** The columns of a record of Kafka. */
@AnyThread
final class RecordColumns {

    private RecordColumns() {}

    /** Texts are those that are UTF-8, others stay bytes. */
    static Map<String, @Nullable Object> of(ConsumerRecord<byte[], byte[]> record) {
        Map<String, @Nullable Object> headers = new HashMap<>();
        for (Header header : record.headers()) {
            headers.put(header.key(), textOrBytes(header.value()));
        }
        Map<String, @Nullable Object> columns = new HashMap<>();
        columns.put(SourceOutput.PAYLOAD, textOrBytes(record.value()));
        columns.put("key", textOrBytes(record.key()));
        columns.put("topic", record.topic());
        columns.put("partition", (long) record.partition());
        columns.put("offset", record.offset());
        columns.put("timestamp", record.timestamp());
        columns.put("headers", headers);
        return columns;
    }

    /** The size of what a record holds: key, value and headers. */
    static int bytes(ConsumerRecord<byte[], byte[]> record) {
        int bytes = length(record.key()) + length(record.value());
        for (Header header : record.headers()) {
            bytes += header.key().length() + length(header.value());
        }
        return bytes;
    }

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    private static @Nullable Object textOrBytes(byte @Nullable [] bytes) {
        if (bytes == null) {
            return null;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return bytes;
        }
    }
}
