// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The fields of messages in JSON. */
final class MessageFields {

    /** How a payload is written. */
    enum Encoding {

        /** Left out. */
        NONE,

        /** Base64. */
        BASE64,

        /** As text; what is not UTF-8 is replaced. */
        PLAIN
    }

    private MessageFields() {}

    /** The fields without the payload. */
    static Map<String, @Nullable Object> of(ApplicationMessage message, int qos, long acceptedAtMillis) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("msgid", HexFormat.of().toHexDigits(message.id()));
        all.put("topic", message.topic().value());
        all.put("qos", qos);
        if (message.acceptedAtNanos() != 0) { // messages that cannot expire have no time
            all.put("publish_at", Instant.ofEpochMilli(acceptedAtMillis).toString());
        }
        all.put("from_clientid", message.publisherId());
        all.put("payload_size", message.payload().size());
        return all;
    }

    static String text(Payload payload, Encoding encoding) {
        return encoding == Encoding.PLAIN
                ? payload.asString()
                : Base64.getEncoder().encodeToString(payload.toByteArray());
    }
}
