// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.LongString;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The columns of a message of RabbitMQ. */
@AnyThread
final class DeliveryColumns {

    /** Tables within tables of the headers; deeper ones are left out. */
    private static final int MOST_DEPTH = 32;

    private DeliveryColumns() {}

    /** Makes the columns. Bodies that are UTF-8 are texts, others stay bytes. */
    static Map<String, @Nullable Object> of(Delivery delivery) {
        BasicProperties properties = delivery.getProperties();
        Map<String, @Nullable Object> columns = new HashMap<>();
        columns.put(SourceOutput.PAYLOAD, textOrBytes(delivery.getBody()));
        columns.put("exchange", delivery.getEnvelope().getExchange());
        columns.put("routing_key", delivery.getEnvelope().getRoutingKey());
        columns.put("redelivered", delivery.getEnvelope().isRedeliver());
        columns.put("message_id", properties.getMessageId());
        columns.put("correlation_id", properties.getCorrelationId());
        columns.put("reply_to", properties.getReplyTo());
        columns.put("content_type", properties.getContentType());
        columns.put("type", properties.getType());
        columns.put("app_id", properties.getAppId());
        columns.put("user_id", properties.getUserId());
        columns.put("timestamp", value(properties.getTimestamp(), 0));
        columns.put("headers", headers(properties.getHeaders()));
        return columns;
    }

    private static Map<String, @Nullable Object> headers(@Nullable Map<String, ?> given) {
        Map<String, @Nullable Object> headers = new HashMap<>();
        if (given != null) {
            given.forEach((name, value) -> headers.put(name, value(value, 0)));
        }
        return headers;
    }

    private static @Nullable Object value(@Nullable Object given, int depth) {
        if (given instanceof LongString text) {
            return textOrBytes(text.getBytes());
        }
        if (given instanceof Date time) {
            return time.toInstant().toEpochMilli();
        }
        if (depth == MOST_DEPTH && (given instanceof List || given instanceof Map)) {
            return null;
        }
        if (given instanceof List<?> list) {
            List<@Nullable Object> copy = new ArrayList<>();
            list.forEach(each -> copy.add(value(each, depth + 1)));
            return copy;
        }
        if (given instanceof Map<?, ?> map) {
            Map<String, @Nullable Object> copy = new HashMap<>();
            map.forEach((name, value) -> copy.put(String.valueOf(name), value(value, depth + 1)));
            return copy;
        }
        if (given instanceof Integer || given instanceof Short || given instanceof Byte) {
            return ((Number) given).longValue();
        }
        return given;
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
