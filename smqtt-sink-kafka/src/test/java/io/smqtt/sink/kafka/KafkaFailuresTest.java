// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.RuleActionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkRecord;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Errors of the producer, and what becomes of the rows. */
class KafkaFailuresTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final FakeCluster cluster = new FakeCluster();
    private KafkaSink sink = sink("rows");

    private KafkaSink sink(String topic) {
        return sink(topic, Duration.ofSeconds(10));
    }

    private KafkaSink sink(String topic, Duration timeout) {
        SinkContext context = SinkContract.context(
                new KafkaSinkFactory(),
                message -> Mono.empty(),
                null,
                "bootstrap-servers",
                "127.0.0.1:9092",
                "topic",
                topic,
                "key",
                "${key}",
                "value",
                "${n}");
        RuleActionConfig config = context.config().toBuilder().timeout(timeout).build();
        return new KafkaSink(new SinkContext("r", "a", config, context.settings(), context.publisher(), null), cluster);
    }

    @AfterEach
    void close() {
        sink.close();
    }

    /** Rows 0 to 9; even ones have the key a, odd ones b. */
    private static List<SinkRecord> rows() {
        return IntStream.range(0, 10)
                .mapToObj(n -> new SinkRecord(
                        Map.of("n", (long) n, "key", n % 2 == 0 ? "a" : "b"),
                        ApplicationMessage.builder("t").payload("x").build()))
                .toList();
    }

    private BatchResult send() {
        return sink.send(rows()).block(PATIENCE);
    }

    private void fail(String value, RuntimeException error) {
        cluster.failure = record -> value(record).equals(value) ? error : null;
    }

    private static String value(ProducerRecord<byte[], byte[]> record) {
        return new String(record.value(), StandardCharsets.UTF_8);
    }

    @Test
    void aRecordThatIsTooLargeIsRefusedAlone() {
        fail("3", new RecordTooLargeException("too large"));

        assertThat(send().refusals()).containsExactly(new Refusal(3, "too large", false));
        assertThat(cluster.values()).containsExactly("0", "1", "2", "4", "5", "6", "7", "8", "9");
        assertThat(cluster.producers).hasSize(1);
    }

    @Test
    void rowsAfterAFailureThatMayPassAreNotSent() {
        fail("3", new TimeoutException("expired"));

        assertThat(send().refusals())
                .hasSize(7)
                .allMatch(Refusal::recoverable)
                .first()
                .isEqualTo(new Refusal(3, "expired", true));
        assertThat(cluster.values()).containsExactly("0", "1", "2");
        assertThat(cluster.producers).hasSize(1);
    }

    /** As with a request that is too large and cannot be split. */
    @Test
    void afterRecordsHadNoAnswerEachIsSentAlone() {
        fail("3", new TimeoutException("expired"));
        assertThat(send().refusals()).hasSize(7);
        fail("3", new RecordTooLargeException("too large"));

        assertThat(send().refusals()).containsExactly(new Refusal(3, "too large", false));
    }

    /** The producer could still write its records when the action sends the batch again. */
    @Test
    void batchWhoseTurnComesTooLateIsNotSent() {
        sink.close();
        sink = sink("rows", Duration.ofMillis(200)); // of which 40 ms are for the turn
        CountDownLatch blocks = new CountDownLatch(1);
        cluster.blocks = blocks;
        AtomicReference<BatchResult> first = new AtomicReference<>();
        AtomicReference<BatchResult> second = new AtomicReference<>();
        long began = System.nanoTime();
        sink.send(rows()).subscribe(first::set);
        sink.send(rows()).subscribe(second::set);
        await().until(() -> System.nanoTime() - began > Duration.ofMillis(60).toNanos());
        blocks.countDown();

        await().untilAsserted(() -> assertThat(second.get()).isNotNull());
        assertThat(second.get().refusals())
                .hasSize(10)
                .allMatch(refusal ->
                        refusal.recoverable() && refusal.reason().equals("not sent in time, the cluster is slow"));
        assertThat(first.get().refusals()).hasSize(9); // the first row was handed over in time
        assertThat(cluster.values()).containsExactly("0");
    }

    @Test
    void rowsWithoutAKeyHaveNoOrder() {
        AtomicReference<BatchResult> result = new AtomicReference<>();
        BatchProgress progress = new BatchProgress(2, result::set);
        for (int i = 0; i < 2; i++) {
            progress.place(i, new ProducerRecord<>("t", null, new byte[0]));
        }
        progress.settle(1, null);
        progress.settle(0, KafkaFailure.of(new TimeoutException("expired"), false));

        assertThat(result.get().refusals()).containsExactly(new Refusal(0, "expired", true));
    }

    @Test
    void laterRowsOfTheSameKeyAreSentAgainThoughTheClusterHasThem() {
        AtomicReference<BatchResult> result = new AtomicReference<>();
        BatchProgress progress = new BatchProgress(4, result::set);
        List<String> keys = List.of("a", "b", "a", "b");
        for (int i = 0; i < 4; i++) {
            progress.place(i, new ProducerRecord<>("t", keys.get(i).getBytes(StandardCharsets.UTF_8), new byte[0]));
        }
        progress.settle(2, null);
        progress.settle(3, null);
        progress.settle(1, null);
        assertThat(result.get()).isNull();
        progress.settle(0, KafkaFailure.of(new TimeoutException("expired"), false));

        assertThat(result.get().refusals())
                .extracting(Refusal::index, Refusal::recoverable, Refusal::written)
                .containsExactly(tuple(0, true, false), tuple(2, true, true));
    }

    @Test
    void anErrorThatEndsTheProducerLeadsToANewOne() {
        fail("3", new InvalidProducerEpochException("fenced"));
        assertThat(send().refusals()).first().isEqualTo(new Refusal(3, "fenced", true));
        await().untilAsserted(
                        () -> assertThat(cluster.producers.get(0).closed()).isTrue());

        cluster.failure = record -> null;
        assertThat(send()).isEqualTo(BatchResult.DONE);
        assertThat(cluster.producers).hasSize(2);
    }

    @Test
    void aWrongPasswordMayBeMended() {
        fail("0", new AuthenticationException("wrong password"));

        assertThat(send().refusals()).hasSize(10).allMatch(Refusal::recoverable);
    }

    @Test
    void aTopicOfARowThatIsNotPermittedIsRefused() {
        fail("4", new TopicAuthorizationException("not permitted"));
        assertThat(send().refusals()).hasSize(6).allMatch(Refusal::recoverable);

        sink.close();
        sink = sink("rows-${key}");
        assertThat(send().refusals()).containsExactly(new Refusal(4, "not permitted", false));
    }

    @Test
    void aTopicThatKafkaDoesNotKnowIsRefusedBeforeItIsSent() {
        sink.close();
        sink = sink("rows/${key}");

        assertThat(send().refusals())
                .hasSize(10)
                .allMatch(refusal ->
                        !refusal.recoverable() && refusal.reason().equals("the topic is not valid in Kafka"));
        assertThat(cluster.written).isEmpty();
    }

    @Test
    void aClusterThatIsNotThereMayComeBack() {
        cluster.unreachable =
                new KafkaException("Failed to construct kafka producer", new IllegalStateException("no such host"));

        assertThat(send().refusals())
                .hasSize(10)
                .allMatch(refusal -> refusal.reason().equals("no such host"));
        assertThatThrownBy(() -> sink.check().block(PATIENCE)).hasMessage("no such host");
        cluster.unreachable = null;
        assertThat(send()).isEqualTo(BatchResult.DONE);
        sink.check().block(PATIENCE);
    }

    @Test
    void whatHasNoAnswerFailsAtTheEnd() {
        cluster.hangs = true;
        AtomicReference<BatchResult> result = new AtomicReference<>();
        sink.send(rows()).subscribe(result::set);
        await().until(() -> cluster.producers.size() == 1
                && cluster.producers.get(0).history().size() == 10);

        sink.close();

        assertThat(result.get().refusals()).hasSize(10).allMatch(Refusal::recoverable);
        assertThatThrownBy(() -> sink.send(rows()).block(PATIENCE)).hasMessage("the sink is closed");
    }
}
