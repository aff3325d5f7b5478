// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.thread.AnyThread;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Makes messages of rows. Immutable. */
@AnyThread
final class MessageTemplate {

    private static final int MOST_NAME_BYTES = 255;
    private static final int MOST_HEADER_BYTES = 65_536;
    private static final int MOST_PRIORITY = 255;
    private static final int PERSISTENT = 2;
    private static final int TRANSIENT = 1;
    private static final String JSON = "application/json";

    private static final Map<String, BiConsumer<BasicProperties.Builder, String>> PROPERTIES = Map.of(
            "content-type", BasicProperties.Builder::contentType,
            "content-encoding", BasicProperties.Builder::contentEncoding,
            "correlation-id", BasicProperties.Builder::correlationId,
            "reply-to", BasicProperties.Builder::replyTo,
            "message-id", BasicProperties.Builder::messageId,
            "type", BasicProperties.Builder::type,
            "app-id", BasicProperties.Builder::appId,
            "expiration", (builder, text) -> builder.expiration(String.valueOf(number("expiration", text))),
            "priority", (builder, text) -> builder.priority(priority(text)),
            "timestamp",
                    (builder, text) -> builder.timestamp(Date.from(Instant.ofEpochMilli(number("timestamp", text)))));

    private final RowTemplate exchange;
    private final RowTemplate routingKey;
    private final @Nullable RowTemplate body;
    private final boolean json;
    private final Map<String, RowTemplate> headers;
    private final Map<String, RowTemplate> properties;
    private final int mode;
    private final long mostBytes;

    /**
     * Reads the settings of an action.
     *
     * @throws io.smqtt.config.ConfigurationException if there is no such property, or a placeholder is no column of the rule
     */
    MessageTemplate(SinkContext context) {
        SinkSettings settings = context.settings();
        exchange = template(context, RabbitmqSinkFactory.EXCHANGE);
        routingKey = template(context, RabbitmqSinkFactory.ROUTING_KEY);
        if ("".equals(fixedExchange()) && !settings.has(RabbitmqSinkFactory.ROUTING_KEY)) {
            throw settings.problem(RabbitmqSinkFactory.ROUTING_KEY, "must be set without an exchange");
        }
        String text = settings.textOrNull(RabbitmqSinkFactory.BODY);
        body = text == null || text.isEmpty() ? null : template(context, RabbitmqSinkFactory.BODY);
        json = body == null
                || String.valueOf(text).startsWith("{")
                || String.valueOf(text).startsWith("[");
        headers = settings.templates(RabbitmqSinkFactory.HEADERS);
        properties = settings.templates(RabbitmqSinkFactory.PROPERTIES);
        for (String name : properties.keySet()) {
            if (!PROPERTIES.containsKey(name)) {
                throw settings.problem(
                        RabbitmqSinkFactory.PROPERTIES + '.' + name,
                        "is no property of a message; there are "
                                + String.join(", ", new TreeSet<>(PROPERTIES.keySet())));
            }
        }
        mode = settings.flag(RabbitmqSinkFactory.PERSISTENT) ? PERSISTENT : TRANSIENT;
        mostBytes = settings.bytes(RabbitmqSinkFactory.MESSAGE_BYTES);
    }

    private static RowTemplate template(SinkContext context, String key) {
        String text = context.settings().textOrNull(key);
        return context.template(key, text == null ? "" : text);
    }

    /** The exchange of all rows, empty for the default one; null if each row chooses its own. */
    @Nullable
    String fixedExchange() {
        return exchange.isFixed() ? exchange.text(Map.of()) : null;
    }

    /**
     * Makes the message of a row. Without a property for it, its identifier is that of the MQTT message, in hexadecimal digits.
     *
     * @throws SinkException if the row has a value that AMQP cannot hold, or the message is too large
     */
    RowMessage message(SinkRecord record) {
        Map<String, @Nullable Object> row = record.row();
        RowMessage.Place place = new RowMessage.Place(
                name(RabbitmqSinkFactory.EXCHANGE, exchange.text(row)),
                name(RabbitmqSinkFactory.ROUTING_KEY, routingKey.text(row)));
        byte[] bytes = body(row);
        if (bytes.length > mostBytes) {
            throw new SinkException("the body is larger than " + mostBytes + " bytes", false);
        }
        return new RowMessage(place, properties(record), bytes);
    }

    private BasicProperties properties(SinkRecord record) {
        BasicProperties.Builder builder = new BasicProperties.Builder()
                .messageId(Long.toHexString(record.origin().id()))
                .deliveryMode(mode);
        if (json) {
            builder.contentType(JSON);
        }
        properties.forEach((name, template) -> {
            Object value = template.value(record.row());
            BiConsumer<BasicProperties.Builder, String> property = PROPERTIES.get(name);
            if (value != null && property != null) {
                property.accept(builder, name(name, RowText.plain(value)));
            }
        });
        return headers.isEmpty()
                ? builder.build()
                : builder.headers(headers(record.row())).build();
    }

    private Map<String, Object> headers(Map<String, @Nullable Object> row) {
        Map<String, Object> filled = new HashMap<>();
        int size = 0;
        for (Map.Entry<String, RowTemplate> header : headers.entrySet()) {
            Object value = header.getValue().value(row);
            if (value != null) {
                Object held = held(value);
                filled.put(header.getKey(), held);
                size += header.getKey().length()
                        + (held instanceof byte[] bytes
                                ? bytes.length
                                : held.toString().getBytes(UTF_8).length);
            }
        }
        if (size > MOST_HEADER_BYTES) {
            throw new SinkException("the headers are larger than " + MOST_HEADER_BYTES + " bytes", false);
        }
        return filled;
    }

    /** The value as a header has it: numbers, flags, texts and bytes as they are, others as JSON. */
    private static Object held(Object value) {
        boolean known = value instanceof Long
                || value instanceof Integer
                || value instanceof Double
                || value instanceof Boolean
                || value instanceof byte[];
        return known ? value : RowText.plain(value);
    }

    private byte[] body(Map<String, @Nullable Object> row) {
        if (body == null) {
            return RowText.json(row).getBytes(UTF_8);
        }
        if (json) {
            return body.json(row).getBytes(UTF_8);
        }
        Object value = body.value(row);
        return value instanceof byte[] bytes ? bytes : RowText.plain(value).getBytes(UTF_8);
    }

    private static String name(String key, String text) {
        if (text.length() > MOST_NAME_BYTES || text.getBytes(UTF_8).length > MOST_NAME_BYTES) {
            throw new SinkException(key + " has more than " + MOST_NAME_BYTES + " bytes", false);
        }
        return text;
    }

    private static int priority(String text) {
        long priority = number("priority", text);
        if (priority > MOST_PRIORITY) {
            throw new SinkException("priority is more than " + MOST_PRIORITY, false);
        }
        return (int) priority;
    }

    private static long number(String key, String text) {
        try {
            long number = Long.parseLong(text);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // as for a negative one
        }
        throw new SinkException(key + " is no number", false);
    }
}
