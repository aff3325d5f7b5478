// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.it.RabbitmqTest.channel;
import static io.smqtt.it.RabbitmqTest.server;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.GetResponse;
import io.smqtt.Broker;
import io.smqtt.BrokerComposition;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleActionConfigBuilder;
import io.smqtt.config.RuleConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.sink.rabbitmq.RabbitmqSinkFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** The contract of the sink {@code rabbitmq} with the server of {@link RabbitmqTest}, its messages, and those that the server does not take. */
abstract class RabbitmqSinkSuite extends SinkContract {

    private static int queues;

    private final String queue = "rows-" + queues++;
    private final List<Integer> numbers = new ArrayList<>();
    private boolean paused;

    @TempDir
    Path folder;

    @AfterEach
    void resume() {
        answerAgain();
    }

    private static Sink rabbitmq(String... pairs) {
        String[] all = Stream.concat(Stream.of("url", "amqp://127.0.0.1:" + server().port()), Stream.of(pairs))
                .toArray(String[]::new);
        return sink(new RabbitmqSinkFactory(), message -> Mono.empty(), all);
    }

    @Override
    protected Sink open() throws Exception {
        channel().queueDeclare(queue, true, false, false, Map.of());
        return rabbitmq("routing-key", queue, "body", "${n}");
    }

    @Override
    protected List<Integer> received() throws Exception {
        for (GetResponse got = channel().basicGet(queue, true);
                got != null;
                got = channel().basicGet(queue, true)) {
            numbers.add(Integer.valueOf(text(got)));
        }
        return numbers;
    }

    private static String text(GetResponse got) {
        return new String(got.getBody(), StandardCharsets.UTF_8);
    }

    @Override
    protected boolean hang() {
        server().pause();
        paused = true;
        return true;
    }

    @Override
    protected void answerAgain() {
        if (paused) {
            paused = false;
            server().resume();
        }
    }

    private static List<SinkRecord> rows(int count) {
        return IntStream.range(0, count).mapToObj(SinkContract::row).toList();
    }

    @Test
    void messageThatReachesNoQueueIsRefusedAlone() throws Exception {
        List<SinkRecord> batch = IntStream.range(0, 10)
                .mapToObj(n ->
                        new SinkRecord(Map.of("n", (long) n, "queue", n % 4 == 2 ? "nobody" : queue), row(n).origin()))
                .toList();
        try (Sink sink = rabbitmq("routing-key", "${queue}", "body", "${n}")) {
            assertThat(sink.send(batch).block(PATIENCE).refusals())
                    .containsExactly(
                            new Refusal(2, "it reaches no queue: NO_ROUTE", false),
                            new Refusal(6, "it reaches no queue: NO_ROUTE", false));
        }
        assertThat(received()).containsExactly(0, 1, 3, 4, 5, 7, 8, 9);
        try (Sink sink = rabbitmq("routing-key", "nobody", "mandatory", "false")) {
            assertThat(sink.send(batch).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }
    }

    @Test
    void exchangeThatIsMissingMayBeDeclared() throws Exception {
        String exchange = queue + "-exchange";
        String missing = "NOT_FOUND - no exchange '" + exchange + "' in vhost '/'";
        try (Sink sink = rabbitmq("exchange", exchange, "routing-key", "k", "body", "${n}")) {
            assertThatThrownBy(() -> sink.check().block(PATIENCE)).hasMessage(missing);
            assertThat(sink.send(rows(2)).block(PATIENCE).refusals())
                    .containsExactly(new Refusal(0, missing, true), new Refusal(1, missing, true));
            channel().exchangeDeclare(exchange, "direct");
            channel().queueBind(queue, exchange, "k");

            sink.check().block(PATIENCE);
            assertThat(sink.send(rows(2)).block(PATIENCE)).isEqualTo(BatchResult.DONE);
            channel().exchangeDelete(exchange);
            assertThat(sink.send(rows(1)).block(PATIENCE).refusals()).containsExactly(new Refusal(0, missing, true));
        }
        assertThat(received()).containsExactly(0, 1);
    }

    /** The server ends the channel, and does not say which message it was. */
    @Test
    void rowThatEndsTheChannelIsFoundByItself() throws Exception {
        SinkRecord large = new SinkRecord(Map.of("n", "x".repeat(RabbitmqServer.MOST_BYTES + 1)), row(1).origin());
        SinkRecord lost = new SinkRecord(Map.of("n", 1L, "exchange", "none"), row(1).origin());
        try (Sink sink = rabbitmq("routing-key", queue, "body", "${n}")) {
            assertThatThrownBy(() -> sink.send(List.of(row(1), large, row(2))).block(PATIENCE))
                    .isInstanceOfSatisfying(
                            SinkException.class,
                            error -> assertThat(error.isRecoverable()).isFalse());
            assertThat(sink.send(List.of(large)).block(PATIENCE).refusals())
                    .singleElement()
                    .satisfies(refusal -> {
                        assertThat(refusal.recoverable()).isFalse();
                        assertThat(refusal.reason()).startsWith("PRECONDITION_FAILED - message size");
                    });
            assertThat(sink.send(List.of(row(3))).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }
        try (Sink sink = rabbitmq("exchange", "${exchange}", "routing-key", queue)) {
            assertThat(sink.send(List.of(lost)).block(PATIENCE).refusals())
                    .containsExactly(new Refusal(0, "NOT_FOUND - no exchange …", false));
        }
        assertThat(received()).contains(3);
    }

    @Test
    void queueThatIsFullMayHaveRoomLater() throws Exception {
        String full = queue + "-full";
        channel().queueDeclare(full, true, false, false, Map.of("x-max-length", 3, "x-overflow", "reject-publish"));
        try (Sink sink = rabbitmq("routing-key", full, "body", "${n}")) {
            BatchResult result = sink.send(rows(100)).block(PATIENCE);

            assertThat(result.refusals()).isNotEmpty().allMatch(Refusal::recoverable);
            assertThat(result.refusals().get(0).index()).isGreaterThanOrEqualTo(3);
            channel().queuePurge(full);
            assertThat(sink.send(rows(1)).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }
    }

    @Test
    void serverWithoutMemoryTakesNothing() throws Exception {
        try (Sink sink = open()) {
            assertThat(sink.send(rows(1)).block(PATIENCE)).isEqualTo(BatchResult.DONE);
            server().control("eval", "rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []}).");
            BatchResult[] blocked = new BatchResult[1];
            try {
                // it tells a connection only when that publishes
                assertThatThrownBy(() -> sink.send(rows(1))
                                .timeout(Duration.ofMillis(500))
                                .block(PATIENCE))
                        .hasRootCauseInstanceOf(TimeoutException.class);
                blocked[0] = sink.send(rows(2)).block(PATIENCE);
                assertThatThrownBy(() -> sink.check().block(PATIENCE))
                        .hasMessage("blocked by the server: low on memory");
            } finally {
                server().control("eval", "rabbit_alarm:clear_alarm({resource_limit, memory, node()}).");
            }
            assertThat(blocked[0].refusals())
                    .hasSize(2)
                    .allMatch(Refusal::recoverable)
                    .allMatch(refusal -> refusal.reason().equals("blocked by the server: low on memory"));
            await().atMost(PATIENCE)
                    .until(() -> sink.send(rows(1)).block(PATIENCE).equals(BatchResult.DONE));
        }
        assertThat(received()).hasSizeBetween(2, 3); // the one in between may be there twice
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/     | wrong | ACCESS_REFUSED - Login was refused",
                "other | guest | NOT_ALLOWED - vhost other not found",
            })
    void loginThatIsWrongMayBeMended(String host, String password, String reason) throws Exception {
        Path file = Files.writeString(folder.resolve("password"), password + "\n");
        try (Sink sink = rabbitmq(
                "routing-key", queue, "virtual-host", host, "username", "guest", "password-file", file.toString())) {
            assertThatThrownBy(() -> sink.check().block(PATIENCE)).hasMessageContaining(reason);
            assertThat(sink.send(rows(1)).block(PATIENCE).refusals())
                    .singleElement()
                    .satisfies(refusal -> {
                        assertThat(refusal.recoverable()).isTrue();
                        assertThat(refusal.reason()).startsWith(reason);
                    });
        }
    }

    @Test
    void connectionsUseTls() throws Exception {
        String url = "amqps://127.0.0.1:" + server().tlsPort();
        try (Sink sink = rabbitmq(
                "url",
                url,
                "ca",
                RabbitmqTest.certificates().authority().toString(),
                "routing-key",
                queue,
                "body",
                "${n}")) {
            assertThat(sink.send(rows(3)).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }
        assertThat(received()).containsExactly(0, 1, 2);
        try (Sink sink = rabbitmq("url", url, "routing-key", queue)) {
            assertThatThrownBy(() -> sink.check().block(PATIENCE)).hasMessageContaining("certification path");
        }
    }

    /** The example of the page, but for the address. */
    @Test
    void exampleOfThePageWorks() throws Exception {
        channel().queueBind(queue, "amq.topic", "climate.#");
        RuleActionConfigBuilder action = RuleActionConfig.builder("rabbitmq");
        Map<String, ConfigValue> settings = new LinkedHashMap<>();
        Map<String, String> example = example();
        String sql = String.valueOf(example.remove("sql"));
        action.batchSize(Integer.parseInt(String.valueOf(example.remove("batch-size"))));
        example.put("url", "amqp://127.0.0.1:" + server().port());
        example.remove("username");
        example.remove("password-file");
        example.forEach((key, value) -> settings.put(key, new ConfigValue(value, "", folder)));
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of())
                .rules(Map.of(
                        "climate",
                        RuleConfig.builder(sql)
                                .actions(Map.of(
                                        "queue", action.settings(settings).build()))
                                .build()))
                .build();
        Broker broker = BrokerComposition.ofApplication(config, getClass().getClassLoader())
                .start();
        try {
            broker.publish(ApplicationMessage.builder("sensors/attic")
                            .payload("{\"t\": 21.5}")
                            .build())
                    .block(PATIENCE);
            GetResponse got =
                    await().atMost(PATIENCE).until(() -> channel().basicGet(queue, true), each -> each != null);
            BasicProperties properties = got.getProps();
            assertThat(got.getEnvelope().getRoutingKey()).isEqualTo("climate.attic");
            assertThat(text(got)).isEqualTo("{\"room\":\"attic\",\"t\":21.5}");
            assertThat(properties.getContentType()).isEqualTo("application/json");
            assertThat(properties.getType()).isEqualTo("reading");
            assertThat(properties.getDeliveryMode()).isEqualTo(2);
            assertThat(properties.getMessageId()).isNotEmpty();
            assertThat(properties.getHeaders()).containsEntry("t", 21.5);
        } finally {
            broker.close(PATIENCE).block(PATIENCE);
        }
    }

    /** The keys of the action in the example, and its statement. */
    private static Map<String, String> example() throws IOException {
        String page = DocumentPage.read("rules.md").blocks("yaml").stream()
                .filter(block -> block.contains("type: rabbitmq"))
                .findFirst()
                .orElseThrow();
        Map<String, String> keys = new LinkedHashMap<>();
        for (String line : page.lines().map(String::strip).toList()) {
            int colon = line.indexOf(": ");
            if (colon > 0) {
                keys.put(line.substring(0, colon), line.substring(colon + 2));
            }
        }
        keys.remove("type");
        return keys;
    }
}
