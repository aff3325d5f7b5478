// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.rules.sink.SourceOutput;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class SourceHealthTest {

    private final List<String> told = new ArrayList<>();
    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest") {
        @Override
        public List<PartitionInfo> partitionsFor(String topic, Duration timeout) {
            if (refusal != null) {
                throw refusal;
            }
            return partitionsFor(topic);
        }

        @Override
        public Map<MetricName, ? extends Metric> metrics() {
            return metrics;
        }
    };
    private Map<MetricName, Metric> metrics = Map.of();
    private @Nullable KafkaException refusal;
    private long now = Long.MAX_VALUE; // a clock may begin anywhere
    private final SourceHealth health = new SourceHealth(List.of("orders", "returns"), new Output(), () -> now);

    private final class Output implements SourceOutput {

        @Override
        public Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
            return Mono.just(true);
        }

        @Override
        public boolean isPaused() {
            return false;
        }

        @Override
        public void rejected(String reason) {}

        @Override
        public void failing(String reason) {
            told.add(reason);
        }

        @Override
        public void working() {
            told.add("working");
        }
    }

    private record Connections(MetricName metricName, Object metricValue) implements Metric {}

    private void has(String topic) {
        consumer.updatePartitions(topic, List.of(new PartitionInfo(topic, 0, null, null, null)));
    }

    private void lookAfter(int seconds) {
        now += TimeUnit.SECONDS.toNanos(seconds);
        health.look(consumer);
    }

    @Test
    void aTopicThatIsMissingIsToldUntilItIsThere() {
        has("orders");
        lookAfter(4);
        assertThat(told).isEmpty();
        lookAfter(1);
        lookAfter(1);
        assertThat(told).containsExactly("the cluster has no topic returns", "the cluster has no topic returns");

        has("returns");
        lookAfter(1);
        lookAfter(4);
        assertThat(told).hasSize(3).last().isEqualTo("working");
        lookAfter(1);
        assertThat(told).hasSize(4).last().isEqualTo("working");
    }

    @Test
    void aClusterThatIsNotReachedOrDoesNotAnswerIsTold() {
        MetricName name = new MetricName("connection-count", "consumer-metrics", "", Map.of());
        metrics = Map.of(name, new Connections(name, 0.0));
        lookAfter(5);
        metrics = Map.of(name, new Connections(name, 1.0));
        refusal = new TimeoutException("late");
        lookAfter(1);

        assertThat(told)
                .containsExactly(
                        "no broker of Kafka is connected",
                        "the cluster does not answer whether it has the topic orders");
    }

    @Test
    void aTopicThatIsRefusedEndsTheRun() {
        refusal = new TopicAuthorizationException("orders");
        assertThatThrownBy(() -> lookAfter(5)).isSameAs(refusal);
        assertThat(told).isEmpty();
    }

    @Test
    void offsetsThatAreNotCommittedForTenSecondsAreToldUntilSomeAre() {
        has("orders");
        has("returns");
        health.committing();
        lookAfter(9);
        assertThat(told).containsExactly("working");
        told.clear();

        lookAfter(5);
        health.notCommitted(new RetriableCommitFailedException(new CoordinatorNotAvailableException("no coordinator")));
        health.committing();
        lookAfter(1);
        assertThat(told)
                .containsExactly(
                        "offsets cannot be committed: no answer", "offsets cannot be committed: no coordinator");
        told.clear();

        health.committed();
        lookAfter(1);
        health.committing();
        lookAfter(5);
        assertThat(told).containsExactly("working", "working");
    }
}
