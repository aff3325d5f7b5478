// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.it.RabbitmqTest.channel;
import static io.smqtt.it.RabbitmqTest.server;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.GetResponse;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.SourceConfig;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.sink.rabbitmq.RabbitmqSourceFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The source {@code rabbitmq} with the server of {@link RabbitmqTest}: which messages are acknowledged, which come again, and which are given up. */
abstract class RabbitmqSourceSuite {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int INFLIGHT = 4;

    private static int queues;

    private final String queue = "orders-" + queues++;
    private final Output output = new Output();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private Source source;
    private Disposable run;

    /** Keeps what arrives, and answers as a test says. */
    private static final class Output implements SourceOutput {

        final List<Map<String, Object>> arrived = new CopyOnWriteArrayList<>();
        final List<String> rejected = new CopyOnWriteArrayList<>();
        volatile boolean paused;
        volatile boolean works;
        volatile Function<String, Mono<Boolean>> answer = payload -> Mono.just(true);

        @Override
        public Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
            return Mono.defer(() -> {
                arrived.add(columns);
                return answer.apply(String.valueOf(columns.get(PAYLOAD)));
            });
        }

        List<Object> payloads() {
            return arrived.stream().map(columns -> columns.get(PAYLOAD)).toList();
        }

        @Override
        public boolean isPaused() {
            return paused;
        }

        @Override
        public void rejected(String reason) {
            rejected.add(reason);
        }

        @Override
        public void failing(String reason) {}

        @Override
        public void working() {
            works = true;
        }
    }

    @BeforeEach
    void open() throws Exception {
        channel().queueDeclare(queue + "-dead", true, false, false, Map.of());
        channel()
                .queueDeclare(
                        queue,
                        true,
                        false,
                        false,
                        Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", queue + "-dead"));
        source = source(queue);
    }

    @AfterEach
    void close() {
        source.close();
    }

    private static Source source(String queue) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        Map.of("url", "amqp://127.0.0.1:" + server().port(), "queue", queue, "max-message-bytes", "1KiB")
                .forEach((key, value) -> values.put(key, new ConfigValue(value, "test", Path.of(""))));
        RabbitmqSourceFactory factory = new RabbitmqSourceFactory();
        SourceConfig config =
                SourceConfig.builder("rabbitmq", "t").inflight(INFLIGHT).build();
        return factory.open(new SourceContext("s", config, SinkSettings.of("sources.s.", factory.settings(), values)));
    }

    private void run() {
        run = source.run(output).subscribe(nothing -> {}, failure::set);
    }

    private void end() {
        run.dispose();
        source.ended().block(PATIENCE);
    }

    private void publish(String... bodies) throws Exception {
        for (String body : bodies) {
            channel().basicPublish("", queue, new BasicProperties(), body.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static String[] numbers(int from, int to) {
        return IntStream.range(from, to).mapToObj(String::valueOf).toArray(String[]::new);
    }

    /** Takes what is in a queue. */
    private static List<String> rest(String of) throws Exception {
        List<String> bodies = new CopyOnWriteArrayList<>();
        for (GetResponse got = channel().basicGet(of, true);
                got != null;
                got = channel().basicGet(of, true)) {
            bodies.add(new String(got.getBody(), StandardCharsets.UTF_8));
        }
        return bodies;
    }

    @Test
    void onlyStoredMessagesAreAcknowledgedAndOthersComeAgain() throws Exception {
        Map<String, Sinks.One<Boolean>> open = new java.util.concurrent.ConcurrentHashMap<>();
        output.answer =
                payload -> open.computeIfAbsent(payload, first -> Sinks.one()).asMono();
        publish(numbers(0, 10));
        run();
        await().atMost(PATIENCE).until(() -> output.arrived.size() == INFLIGHT);
        assertThat(output.works).isFalse();

        open.get("1").tryEmitValue(true);
        open.get("0").tryEmitValue(true);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == INFLIGHT + 2);
        assertThat(output.works).isTrue();
        open.get("4").tryEmitValue(true);
        end();

        assertThat(output.payloads()).containsExactly((Object[]) numbers(0, 6));
        assertThat(failure).hasValue(null);
        assertThat(rest(queue)).containsExactly("2", "3", "5", "6", "7", "8", "9");
    }

    @Test
    void messagesArePublishedInTheirOrderUntilTheQueueIsEmpty() throws Exception {
        output.paused = true;
        publish(numbers(0, 200));
        run();
        await().atMost(PATIENCE).until(() -> channel().messageCount(queue) == 200 - INFLIGHT);
        assertThat(output.arrived).isEmpty();
        output.paused = false;
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 200);
        end();
        assertThat(output.payloads()).containsExactly((Object[]) numbers(0, 200));
        assertThat(rest(queue)).isEmpty();
    }

    @Test
    void messagesThatCanNeverBePublishedAreDeadLetters() throws Exception {
        output.answer = payload -> Mono.just(!payload.startsWith("bad"));
        String large = "x".repeat(1_025);
        publish("1", "bad 1", large, "2", "bad 2", "3");
        run();
        await().atMost(PATIENCE).until(() -> channel().messageCount(queue + "-dead") == 3);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 5);
        end();
        assertThat(rest(queue)).isEmpty();
        assertThat(rest(queue + "-dead")).containsExactlyInAnyOrder("bad 1", large, "bad 2");
        assertThat(output.rejected).containsExactly("a message larger than max-message-bytes");
    }

    @Test
    void failureOfTheBrokerEndsTheRunAndTheMessageComesAgain() throws Exception {
        output.answer =
                payload -> payload.equals("1") ? Mono.error(new IllegalStateException("disk full")) : Mono.just(true);
        publish("0", "1");
        run();
        await().atMost(PATIENCE).until(() -> failure.get() != null);
        assertThat(failure.get()).hasMessage("disk full");
        source.ended().block(PATIENCE);

        output.answer = payload -> Mono.just(true);
        output.arrived.clear();
        run();
        await().atMost(PATIENCE).until(() -> output.payloads().contains("1"));
        end();
        assertThat(output.arrived.get(0)).containsEntry("payload", "1").containsEntry("redelivered", true);
        assertThat(rest(queue)).isEmpty();
    }

    @Test
    void columnsAreThoseOfTheMessage() throws Exception {
        BasicProperties properties = new BasicProperties.Builder()
                .messageId("m")
                .correlationId("c")
                .replyTo("r")
                .contentType("text/plain")
                .type("order")
                .appId("shop")
                .timestamp(new Date(1_700_000_000_000L))
                .headers(Map.of("n", 7, "text", "ä", "list", List.of(1, "two"), "map", Map.of("deep", true)))
                .build();
        channel().queueBind(queue, "amq.topic", "orders.*");
        channel().basicPublish("amq.topic", "orders.shop", properties, new byte[] {0, -1});
        run();
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 1);
        assertThat(output.arrived.get(0))
                .containsEntry("payload", new byte[] {0, -1})
                .containsEntry("exchange", "amq.topic")
                .containsEntry("routing_key", "orders.shop")
                .containsEntry("redelivered", false)
                .containsEntry("message_id", "m")
                .containsEntry("correlation_id", "c")
                .containsEntry("reply_to", "r")
                .containsEntry("content_type", "text/plain")
                .containsEntry("type", "order")
                .containsEntry("app_id", "shop")
                .containsEntry("user_id", null)
                .containsEntry("timestamp", 1_700_000_000_000L)
                .containsEntry(
                        "headers",
                        Map.of("n", 7L, "text", "ä", "list", List.of(1L, "two"), "map", Map.of("deep", true)));
    }

    @Test
    void queueThatIsMissingOrDeletedEndsTheRun() throws Exception {
        String missing = "NOT_FOUND - no queue '" + queue + "-none' in vhost '/'";
        try (Source none = source(queue + "-none")) {
            assertThatThrownBy(() -> none.run(output).block(PATIENCE)).hasMessage(missing);
            assertThatThrownBy(() -> none.check().block(PATIENCE)).hasMessage(missing);
        }
        source.check().block(PATIENCE);
        run();
        await().atMost(PATIENCE).until(() -> output.works);
        channel().queueDelete(queue);
        await().atMost(PATIENCE).until(() -> failure.get() != null);
        assertThat(failure.get())
                .hasMessage(
                        "the server has ended the consumer of queue " + queue + ": it is deleted, or on another node");
    }

    @Test
    void serverThatDoesNothingDoesNotHoldTheEnd() throws Exception {
        run();
        await().atMost(PATIENCE).until(() -> output.works);
        server().pause();
        try {
            end();
        } finally {
            server().resume();
        }
    }
}
