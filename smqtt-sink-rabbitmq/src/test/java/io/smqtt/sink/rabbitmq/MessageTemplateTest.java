// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Return;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

class MessageTemplateTest {

    private static final Map<String, @Nullable Object> ROW =
            Map.of("t", 21.5, "n", 7L, "on", true, "name", "é\"", "raw", new byte[] {-1, 0}, "list", List.of(1L, 2L));

    private static MessageTemplate template(String... pairs) {
        String[] all =
                Stream.concat(Stream.of("url", "amqp://h"), Stream.of(pairs)).toArray(String[]::new);
        return new MessageTemplate(SinkContract.context(new RabbitmqSinkFactory(), message -> Mono.empty(), null, all));
    }

    private static RowMessage message(Map<String, @Nullable Object> row, String... pairs) {
        return template(pairs)
                .message(new SinkRecord(
                        row, ApplicationMessage.builder("a").payload("x").build()));
    }

    @Test
    void rowIsJsonByDefault() {
        RowMessage message = message(Map.of("t", 21.5), "routing-key", "queue");

        assertThat(message.place()).isEqualTo(new RowMessage.Place("", "queue"));
        assertThat(message.body()).asString(UTF_8).isEqualTo("{\"t\":21.5}");
        assertThat(message.properties().getContentType()).isEqualTo("application/json");
        assertThat(message.properties().getDeliveryMode()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "{\"name\": \"${name}\", \"n\": ${n}} | {\"name\": \"é\\\"\", \"n\": 7} | application/json",
                "${name} of ${none}                | é\" of undefined             | ",
                "${n}                              | 7                            | ",
            })
    void bodyStaysJson(String body, String expected, @Nullable String type) {
        RowMessage message = message(ROW, "routing-key", "k", "body", body);

        assertThat(message.body()).asString(UTF_8).isEqualTo(expected);
        assertThat(message.properties().getContentType()).isEqualTo(type);
    }

    @Test
    void bytesStayBytes() {
        assertThat(message(ROW, "routing-key", "k", "body", "${raw}").body()).containsExactly(-1, 0);
    }

    @Test
    void placeIsFilledIn() {
        MessageTemplate template = template("exchange", "plant-${n}", "routing-key", "a.${name}");

        assertThat(template.fixedExchange()).isNull();
        assertThat(message(ROW, "exchange", "plant-${n}", "routing-key", "a.${name}")
                        .place())
                .isEqualTo(new RowMessage.Place("plant-7", "a.é\""));
        assertThat(template("exchange", "plant").fixedExchange()).isEqualTo("plant");
    }

    @Test
    void headersKeepTheirTypes() {
        BasicProperties properties = message(
                        ROW,
                        "routing-key",
                        "k",
                        "headers.t",
                        "${t}",
                        "headers.n",
                        "${n}",
                        "headers.on",
                        "${on}",
                        "headers.list",
                        "${list}",
                        "headers.text",
                        "n is ${n}",
                        "headers.none",
                        "${none}")
                .properties();

        assertThat(properties.getHeaders())
                .containsOnly(
                        entry("t", 21.5),
                        entry("n", 7L),
                        entry("on", true),
                        entry("list", "[1,2]"),
                        entry("text", "n is 7"));
    }

    @Test
    void propertiesAreFilledIn() {
        BasicProperties properties = message(
                        ROW,
                        "routing-key",
                        "k",
                        "persistent",
                        "false",
                        "properties.correlation-id",
                        "${n}",
                        "properties.reply-to",
                        "${none}",
                        "properties.message-id",
                        "id-${n}",
                        "properties.expiration",
                        "60000",
                        "properties.priority",
                        "${n}",
                        "properties.timestamp",
                        "1000",
                        "properties.content-type",
                        "text/plain")
                .properties();

        assertThat(properties)
                .isEqualTo(new BasicProperties.Builder()
                        .correlationId("7")
                        .messageId("id-7")
                        .expiration("60000")
                        .priority(7)
                        .timestamp(Date.from(Instant.ofEpochSecond(1)))
                        .contentType("text/plain")
                        .deliveryMode(1)
                        .build());
    }

    @ParameterizedTest
    @CsvSource({
        "properties.expiration, ${name}, expiration is no number",
        "properties.priority, 256, priority is more than 255",
        "properties.timestamp, -1, timestamp is no number",
        "properties.type, ${long}, type has more than 255 bytes",
        "exchange, ${long}, exchange has more than 255 bytes",
        "headers.a, ${large}, the headers are larger than 65536 bytes",
        "body, ${large}, the body is larger than 65536 bytes",
    })
    void rowThatAmqpCannotHoldIsRefused(String key, String value, String reason) {
        Map<String, @Nullable Object> row = new HashMap<>(ROW);
        row.put("long", "é".repeat(128));
        row.put("large", "x".repeat(65_537));

        assertThatThrownBy(
                        () -> message(row, "routing-key", "k", "max-message-bytes", "64KiB", "body", "x", key, value))
                .isInstanceOfSatisfying(
                        SinkException.class,
                        error -> assertThat(error.isRecoverable()).isFalse())
                .hasMessage(reason);
    }

    @Test
    void returnedMessageIsRecognized() {
        RowMessage message = message(ROW, "routing-key", "k", "headers.raw", "${raw}", "headers.name", "${name}");
        BasicProperties properties = message.properties();
        Map<String, Object> read = new HashMap<>(properties.getHeaders());
        read.put("name", new StringBuilder("é\"")); // the client has a type of its own for texts
        BasicProperties same = properties.builder().headers(read).build();

        assertThat(message.isLike(new Return(312, "NO_ROUTE", "", "k", same, message.body())))
                .isTrue();
        assertThat(message.isLike(new Return(312, "NO_ROUTE", "", "l", same, message.body())))
                .isFalse();
        assertThat(message.isLike(new Return(312, "NO_ROUTE", "", "k", same, new byte[0])))
                .isFalse();
        assertThat(message.isLike(new Return(
                        312,
                        "NO_ROUTE",
                        "",
                        "k",
                        same.builder().headers(Map.of()).build(),
                        message.body())))
                .isFalse();
    }
}
