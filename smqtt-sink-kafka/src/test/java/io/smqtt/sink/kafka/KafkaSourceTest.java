// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.SourceConfig;
import io.smqtt.rules.sink.SinkPage;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongPredicate;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class KafkaSourceTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final TopicPartition PARTITION = new TopicPartition("orders", 0);
    private static final TopicPartition OTHER = new TopicPartition("orders", 1);

    private final AtomicReference<Exception> refusal = new AtomicReference<>();
    private final List<Map<TopicPartition, OffsetAndMetadata>> commits = new CopyOnWriteArrayList<>();
    private volatile @Nullable ConsumerRebalanceListener listener;
    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest") {
        @Override
        public synchronized void commitAsync(
                Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
            if (refusal.get() == null || callback == null) {
                commits.add(Map.copyOf(offsets));
                super.commitAsync(offsets, callback);
            } else {
                callback.onComplete(offsets, refusal.get());
            }
        }

        @Override
        public synchronized OptionalLong currentLag(TopicPartition partition) {
            return lagKnown ? super.currentLag(partition) : OptionalLong.empty();
        }

        @Override
        public void subscribe(Collection<String> topics, ConsumerRebalanceListener follower) {
            listener = follower;
            super.subscribe(topics, follower);
        }
    };
    private volatile boolean lagKnown = true;
    private final Output output = new Output();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicReference<RuntimeException> probe = new AtomicReference<>();
    private final AtomicLong now = new AtomicLong();
    private KafkaSource source = source(context(4));
    private @Nullable Disposable run;

    /** Keeps what arrives, and answers when a test says so. */
    private static final class Output implements SourceOutput {

        final List<Map<String, Object>> arrived = new CopyOnWriteArrayList<>();
        final List<Sinks.One<Boolean>> answers = new CopyOnWriteArrayList<>();
        final List<String> told = new CopyOnWriteArrayList<>();
        volatile boolean paused;
        volatile String lag = "";
        volatile LongPredicate answered = offset -> false;

        @Override
        public Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
            return Mono.defer(() -> {
                Sinks.One<Boolean> answer = Sinks.one();
                answers.add(answer);
                if (answered.test((Long) columns.get("offset"))) {
                    answer.tryEmitValue(true);
                }
                arrived.add(columns);
                return answer.asMono();
            });
        }

        @Override
        public boolean isPaused() {
            return paused;
        }

        @Override
        public void rejected(String reason) {}

        @Override
        public void lag(long messages) {
            lag = Long.toString(messages);
        }

        @Override
        public void lagUnknown() {
            lag = "unknown";
        }

        @Override
        public void failing(String reason) {
            told.add(reason);
        }

        @Override
        public void working() {
            told.add("working");
        }
    }

    private static SourceContext context(int inflight) {
        return context(inflight, "64MiB");
    }

    private static SourceContext context(int inflight, String maxMemory) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (String[] pair : new String[][] {
            {"bootstrap-servers", "127.0.0.1:9092"},
            {"topics", "orders"},
            {"group-id", "smqtt"},
            {"commit-interval", "1ms"},
            {"max-memory", maxMemory}
        }) {
            values.put(pair[0], new ConfigValue(pair[1], "test", Path.of("")));
        }
        return new SourceContext(
                "s",
                SourceConfig.builder("kafka", "t").inflight(inflight).build(),
                SinkSettings.of("sources.s.", new KafkaSourceFactory().settings(), values));
    }

    private KafkaSource source(SourceContext context) {
        return new KafkaSource(context, () -> consumer, this::probe, now::get);
    }

    private void probe() {
        if (probe.get() != null) {
            throw probe.get();
        }
    }

    private void begin(TopicPartition... partitions) {
        Set<TopicPartition> assigned = partitions.length == 0 ? Set.of(PARTITION) : Set.of(partitions);
        consumer.updateBeginningOffsets(Map.of(PARTITION, 0L, OTHER, 0L));
        consumer.schedulePollTask(() -> consumer.rebalance(assigned));
        run = source.run(output).subscribe(nothing -> {}, failure::set);
        await().atMost(PATIENCE).until(() -> consumer.assignment().equals(assigned));
    }

    @AfterEach
    void end() {
        if (run != null) {
            run.dispose();
        }
        source.close();
    }

    private void add(long offset) {
        add(PARTITION, offset);
    }

    private void add(TopicPartition partition, long offset) {
        consumer.schedulePollTask(() -> consumer.addRecord(new ConsumerRecord<>(
                partition.topic(),
                partition.partition(),
                offset,
                ("k" + offset).getBytes(StandardCharsets.UTF_8),
                ("v" + offset).getBytes(StandardCharsets.UTF_8))));
    }

    private long committed() {
        OffsetAndMetadata offset = consumer.committed(Set.of(PARTITION)).get(PARTITION);
        return offset == null ? -1 : offset.offset();
    }

    @Test
    void anOffsetIsCommittedWhenTheBrokerHasTheMessage() {
        begin();
        add(0);
        add(1);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 2);
        assertThat(output.arrived.get(1))
                .containsEntry("payload", "v1")
                .containsEntry("key", "k1")
                .containsEntry("topic", "orders")
                .containsEntry("partition", 0L)
                .containsEntry("offset", 1L);

        output.answers.get(1).tryEmitValue(true);
        add(2);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 3);
        assertThat(committed()).isEqualTo(-1);
        output.answers.get(0).tryEmitValue(true);
        await().atMost(PATIENCE).until(() -> committed() == 2);
        output.answers.get(2).tryEmitValue(false); // refused: it is not read again
        await().atMost(PATIENCE).until(() -> committed() == 3);
    }

    @Test
    void nothingIsFetchedWhileTheSourceIsPaused() {
        begin();
        for (int i = 0; i < 3; i++) {
            add(i); // of at most four in flight, two at a time
        }
        await().atMost(PATIENCE).until(() -> consumer.paused().contains(PARTITION));
        assertThat(output.arrived).hasSizeBetween(3, 4);
        output.answers.forEach(answer -> answer.tryEmitValue(true));
        await().atMost(PATIENCE).until(() -> consumer.paused().isEmpty());

        output.paused = true;
        await().atMost(PATIENCE).until(() -> consumer.paused().contains(PARTITION));
        output.paused = false;
        await().atMost(PATIENCE).until(() -> consumer.paused().isEmpty());
    }

    private void awaitLag(int seconds, String lag) {
        now.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
        await().atMost(PATIENCE).until(() -> output.lag.equals(lag));
    }

    @Test
    void lagIsThatOfTheLastFetchAndAbsentWhenThatIsOld() {
        consumer.updatePartitions("orders", List.of(new PartitionInfo("orders", 0, null, null, null)));
        consumer.updateEndOffsets(Map.of(PARTITION, 10L));
        begin();

        awaitLag(1, "10");
        lagKnown = false; // such as after a rebalance
        awaitLag(1, "unknown");
        lagKnown = true;
        awaitLag(1, "10");
        output.paused = true;
        await().atMost(PATIENCE).until(() -> consumer.paused().contains(PARTITION));
        awaitLag(6, "unknown");
        output.paused = false;
        await().atMost(PATIENCE).until(() -> consumer.paused().isEmpty());
        awaitLag(1, "10");
        consumer.updatePartitions("orders", List.of());
        awaitLag(6, "unknown"); // the cluster does not know the topic any more
    }

    @Test
    void aMessageThatTheBrokerCouldNotKeepEndsTheRunAndIsNotCommitted() {
        begin();
        add(0);
        add(1);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 2);
        output.answers.get(1).tryEmitValue(true);
        output.answers.get(0).tryEmitError(new IllegalStateException("disk full"));

        await().atMost(PATIENCE).until(() -> failure.get() != null);
        assertThat(failure.get()).hasMessage("disk full");
        assertThat(consumer.closed()).isTrue();
        assertThat(commits).isEmpty();
    }

    @Test
    void anErrorOfTheClusterEndsTheRun() {
        begin();
        consumer.schedulePollTask(() -> consumer.setPollException(new GroupAuthorizationException("smqtt")));

        await().atMost(PATIENCE).until(() -> failure.get() != null);
        assertThat(failure.get()).isInstanceOf(GroupAuthorizationException.class);
        assertThat(consumer.closed()).isTrue();
    }

    @Test
    void offsetsThatCannotBeCommittedEndTheRun() {
        begin();
        refusal.set(new RebalanceInProgressException("soon"));
        add(0);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 1);
        output.answers.get(0).tryEmitValue(true);
        add(1);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 2);
        assertThat(failure.get()).isNull();

        refusal.set(new TopicAuthorizationException("orders"));
        await().atMost(PATIENCE).until(() -> failure.get() != null);
        assertThat(failure.get()).hasMessageContaining("offsets cannot be committed: ");
    }

    @Test
    void aProbeAsksForTheTopics() {
        source.check().block(PATIENCE);
        probe.set(new UnknownTopicOrPartitionException("the cluster has no topic orders"));
        assertThatThrownBy(() -> source.check().block(PATIENCE)).hasMessage("the cluster has no topic orders");
    }

    @Test
    void atTheEndWhatIsOnItsWayIsWaitedFor() {
        begin();
        add(0);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 1);
        run.dispose();
        output.answers.get(0).tryEmitValue(true);

        source.close();

        assertThat(consumer.closed()).isTrue();
        assertThat(failure.get()).isNull();
        assertThat(commits).isNotEmpty().last().isEqualTo(Map.of(PARTITION, new OffsetAndMetadata(1)));
    }

    @Test
    void oneRecordWithoutAnAnswerDoesNotLetTheOthersGrow() {
        output.answered = offset -> offset > 0;
        begin();
        for (int i = 0; i < 40; i++) {
            add(i); // of at most 8 x 4, two at a time
        }
        await().atMost(PATIENCE).until(() -> consumer.paused().contains(PARTITION));
        assertThat(output.arrived).hasSizeBetween(31, 32);
        assertThat(commits).isEmpty();

        output.answers.get(0).tryEmitValue(true);
        await().atMost(PATIENCE).until(() -> committed() == 40);
        assertThat(consumer.paused()).isEmpty();
    }

    @Test
    void nothingIsFetchedWhileMaxMemoryIsFull() {
        source = source(context(100, "10"));
        consumer.setMaxPollRecords(1);
        begin();
        for (int i = 0; i < 5; i++) {
            add(i); // four bytes each
        }
        await().atMost(PATIENCE).until(() -> consumer.paused().contains(PARTITION));
        assertThat(output.arrived).hasSize(3);
        output.answers.get(1).tryEmitValue(true);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 4);
        output.answers.forEach(answer -> answer.tryEmitValue(true));
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 5);
        output.answers.get(4).tryEmitValue(true);
    }

    @Test
    void ofAPartitionThatIsRevokedTheFinishedBeginningIsCommitted() {
        begin(PARTITION, OTHER);
        add(PARTITION, 0);
        add(PARTITION, 1);
        add(OTHER, 0);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 3);
        output.answers.get(0).tryEmitValue(true);
        await().atMost(PATIENCE).until(() -> committed() == 1);
        commits.clear();

        consumer.schedulePollTask(() -> consumer.rebalance(List.of(OTHER)));
        await().atMost(PATIENCE).until(() -> consumer.assignment().equals(Set.of(OTHER)));
        assertThat(commits).containsExactly(Map.of(PARTITION, new OffsetAndMetadata(1)));

        output.answers.get(1).tryEmitValue(true); // too late: the next member reads it again
        output.answers.get(2).tryEmitValue(true);
        await().atMost(PATIENCE).until(() -> commits.size() > 1);
        assertThat(commits.subList(1, commits.size())).containsOnly(Map.of(OTHER, new OffsetAndMetadata(1)));
    }

    @Test
    void ofAPartitionThatIsLostNothingIsCommitted() {
        begin(PARTITION, OTHER);
        add(PARTITION, 0);
        add(OTHER, 0);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 2);
        consumer.schedulePollTask(() -> listener.onPartitionsLost(List.of(PARTITION)));
        add(OTHER, 1);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 3);

        output.answers.forEach(answer -> answer.tryEmitValue(true));
        await().atMost(PATIENCE).until(() -> commits.contains(Map.of(OTHER, new OffsetAndMetadata(2))));
        assertThat(commits).allSatisfy(commit -> assertThat(commit).containsOnlyKeys(OTHER));
    }

    @Test
    void offsetsThatAreNotCommittedForLongAreTold() {
        consumer.updatePartitions("orders", List.of(new PartitionInfo("orders", 0, null, null, null)));
        output.answered = offset -> true;
        begin();
        refusal.set(new RebalanceInProgressException("soon"));
        add(0);
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 1);
        await().atMost(PATIENCE).until(() -> {
            now.addAndGet(TimeUnit.SECONDS.toNanos(5));
            return output.told.contains("offsets cannot be committed: soon");
        });
        assertThat(failure.get()).isNull();

        refusal.set(null);
        await().atMost(PATIENCE).until(() -> {
            now.addAndGet(TimeUnit.SECONDS.toNanos(5));
            return output.told.get(output.told.size() - 1).equals("working");
        });
        assertThat(committed()).isEqualTo(1);
    }

    @Test
    void aTopicThatIsMissingIsTold() {
        begin();
        now.addAndGet(TimeUnit.SECONDS.toNanos(5));
        await().atMost(PATIENCE).until(() -> output.told.contains("the cluster has no topic orders"));
    }

    @Test
    void theConsumerCommitsNothingByItself() {
        SourceContext context = context(100);
        Map<String, Object> properties = KafkaSource.properties(context, new KafkaConnection(context.settings(), "c"));
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        ConsumerConfig config = new ConsumerConfig(properties);

        assertThat(config.getBoolean("enable.auto.commit")).isFalse();
        assertThat(config.getInt("max.poll.records")).isEqualTo(50);
        assertThat(config.getString("group.id")).isEqualTo("smqtt");
        assertThat(config.getString("auto.offset.reset")).isEqualTo("earliest");
    }

    @Test
    void pageHasTheKeys() throws IOException {
        SinkPage.assertHasKeys("source kafka", new KafkaSourceFactory().settings());
    }
}
