// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.RuleActionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.sink.kafka.KafkaSinkFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** The contract of the sink {@code kafka} with a real cluster of one node, its records, and those that it refuses. */
class KafkaSinkTest extends SinkContract {

    private static final int KEYS = 7;

    @TempDir
    static Path folder;

    private static KafkaServer kafka;
    private static int topics;

    private final String topic = "rows-" + topics++;
    private boolean paused;

    @BeforeAll
    static void start() throws Exception {
        kafka = KafkaServer.brief(folder);
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    private String[] pairs(String... further) {
        return Stream.concat(Stream.of("bootstrap-servers", kafka.address(), "topic", topic), Stream.of(further))
                .toArray(String[]::new);
    }

    private Sink kafka(String... further) {
        return sink(new KafkaSinkFactory(), message -> Mono.empty(), pairs(further));
    }

    @Override
    protected Sink open() throws Exception {
        kafka.createTopic(topic, 1, Map.of());
        return kafka("value", "${n}");
    }

    private static List<Integer> numbers(Stream<ConsumerRecord<String, String>> records) {
        return records.map(record -> Integer.valueOf(record.value().strip())).toList();
    }

    @Override
    protected List<Integer> received() {
        return numbers(kafka.records(topic, 1).stream());
    }

    @Override
    protected boolean hang() {
        kafka.pause();
        paused = true;
        return true;
    }

    @Override
    protected void answerAgain() {
        if (paused) {
            kafka.resume();
        }
    }

    private static SinkRecord row(Map<String, Object> columns) {
        return new SinkRecord(
                columns, ApplicationMessage.builder("t").payload("x").build());
    }

    @Test
    void keysHeadersAndTimeArrive() throws Exception {
        String keyed = topic + "-keyed";
        kafka.createTopic(keyed, 4, Map.of());
        List<SinkRecord> batch = IntStream.range(0, 10 * KEYS)
                .mapToObj(n -> row(Map.of("n", (long) n, "key", "key " + n % KEYS, "at", 1_700_000_000_000L + n)))
                .toList();
        try (Sink sink = kafka(
                "topic",
                keyed,
                "key",
                "${key}",
                "timestamp",
                "${at}",
                "headers.source",
                "smqtt ${n}",
                "compression",
                "zstd")) {
            assertThat(sink.send(batch).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }

        List<ConsumerRecord<String, String>> records = kafka.records(keyed, 4);
        assertThat(records).hasSize(10 * KEYS).allSatisfy(record -> {
            long n = record.timestamp() - 1_700_000_000_000L;
            assertThat(record.key()).isEqualTo("key " + n % KEYS);
            assertThat(record.value()).contains("\"n\":" + n).contains("\"key\":\"key " + n % KEYS + "\"");
            assertThat(new String(record.headers().lastHeader("source").value()))
                    .isEqualTo("smqtt " + n);
        });
        assertThat(records.stream().map(ConsumerRecord::partition).distinct().count())
                .isGreaterThan(1);
        for (int key = 0; key < KEYS; key++) {
            String name = "key " + key;
            assertThat(records.stream().filter(record -> record.key().equals(name)))
                    .hasSize(10)
                    .extracting(ConsumerRecord::timestamp)
                    .isSorted();
        }
    }

    /** Small rows stay in one request with a large one, whatever the producer tries, until they expire. */
    @ParameterizedTest
    @ValueSource(ints = {1, 200})
    void recordThatTheClusterRefusesIsAlone(int size) throws Exception {
        String small = topic + "-small";
        kafka.createTopic(small, 1, Map.of("max.message.bytes", "1000"));
        List<SinkRecord> batch = IntStream.range(0, 10)
                .mapToObj(n -> row(Map.of("n", " ".repeat(n == 4 ? 2_000 : size) + n)))
                .toList();
        SinkContext context = SinkContract.context(
                new KafkaSinkFactory(), message -> Mono.empty(), null, pairs("topic", small, "value", "${n}"));
        RuleActionConfig brief =
                context.config().toBuilder().timeout(Duration.ofSeconds(2)).build();
        List<SinkRecord> rest = batch;
        List<String> refused = new ArrayList<>();
        try (Sink sink = new KafkaSinkFactory()
                .open(new SinkContext("r", "a", brief, context.settings(), context.publisher(), null))) {
            for (int attempt = 0; attempt < 3 && !rest.isEmpty(); attempt++) {
                List<SinkRecord> sent = rest;
                rest = sink.send(sent).block(PATIENCE).refusals().stream()
                        .peek(refusal -> refused.addAll(refusal.recoverable() ? List.of() : List.of(refusal.reason())))
                        .filter(Refusal::recoverable)
                        .map(refusal -> sent.get(refusal.index()))
                        .toList();
            }
        }

        assertThat(rest).isEmpty();
        assertThat(refused).singleElement().asString().contains("larger than the max message size");
        assertThat(new LinkedHashSet<>(numbers(kafka.records(small, 1).stream())))
                .containsExactly(0, 1, 2, 3, 5, 6, 7, 8, 9);
    }

    @Test
    void topicThatIsMissingMayBeMade() throws Exception {
        String later = topic + "-later";
        try (Sink sink = kafka("topic", later, "value", "${n}", "max-block", "200ms")) {
            assertThatThrownBy(() -> sink.check().block(PATIENCE)).hasMessage("the cluster has no topic " + later);
            assertThat(sink.send(List.of(row(1), row(2))).block(PATIENCE).refusals())
                    .hasSize(2)
                    .allMatch(Refusal::recoverable);
            kafka.createTopic(later, 1, Map.of());

            sink.check().block(PATIENCE);
            await().atMost(PATIENCE)
                    .until(() ->
                            sink.send(List.of(row(1), row(2))).block(PATIENCE).equals(BatchResult.DONE));
        }
        assertThat(numbers(kafka.records(later, 1).stream())).containsExactly(1, 2);
    }
}
