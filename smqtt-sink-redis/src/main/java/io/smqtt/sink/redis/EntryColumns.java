// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.StreamMessage;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The columns of an entry of a stream. */
@AnyThread
final class EntryColumns {

    private EntryColumns() {}

    /** Texts are those that are UTF-8, others stay bytes. The payload is the field of that name, or all fields as JSON. */
    static Map<String, @Nullable Object> of(String stream, StreamMessage<byte[], byte[]> entry) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        entry.getBody()
                .forEach((name, value) -> fields.put(new String(name, StandardCharsets.UTF_8), textOrBytes(value)));
        Map<String, @Nullable Object> columns = new HashMap<>();
        Object payload = fields.get(SourceOutput.PAYLOAD);
        columns.put(SourceOutput.PAYLOAD, payload == null ? RowText.json(fields) : payload);
        columns.put("fields", fields);
        columns.put("id", entry.getId());
        columns.put("stream", stream);
        return columns;
    }

    private static Object textOrBytes(byte[] bytes) {
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
