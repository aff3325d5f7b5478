// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.rules.sink.SourceRuns;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A member of a consumer group. Each run has a consumer and a thread of its own. */
@AnyThread
final class KafkaSource implements Source {

    private static final Duration CLOSE = Duration.ofSeconds(4);
    private static final int PROBE_MILLIS = 5_000;

    private final SourceContext context;
    private final List<String> topics;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final Runnable probe;
    private final LongSupplier nanoTime;
    private final SourceRuns runs;

    /**
     * Creates the source.
     *
     * @param consumers makes the consumer of a run. Blocks
     * @param probe asks the cluster for the topics, and throws if it has them not. Blocks
     * @param nanoTime a clock, in nanoseconds
     */
    KafkaSource(
            SourceContext context,
            Supplier<Consumer<byte[], byte[]>> consumers,
            Runnable probe,
            LongSupplier nanoTime) {
        this.context = context;
        this.topics = topics(context);
        this.consumers = consumers;
        this.probe = probe;
        this.nanoTime = nanoTime;
        this.runs = new SourceRuns("smqtt-source-" + context.name(), CLOSE);
    }

    /** Checks settings, and that files can be read. Blocks. */
    static KafkaSource of(SourceContext context) {
        KafkaConnection connection = new KafkaConnection(context.settings(), "smqtt-" + context.name());
        return new KafkaSource(
                context,
                () -> consumer(context, connection),
                () -> ClusterProbe.ask(connection, topics(context), PROBE_MILLIS),
                System::nanoTime);
    }

    private static List<String> topics(SourceContext context) {
        return List.of(
                context.settings().text(KafkaSourceFactory.TOPICS).strip().split("\\s*,\\s*"));
    }

    private static Consumer<byte[], byte[]> consumer(SourceContext context, KafkaConnection connection) {
        Map<String, Object> properties = properties(context, connection);
        return KafkaThread.withOwnClasses(
                () -> new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer()));
    }

    /** The properties of a consumer. Blocks. */
    static Map<String, Object> properties(SourceContext context, KafkaConnection connection) {
        SinkSettings settings = context.settings();
        int bytes = Math.toIntExact(settings.bytes(KafkaSourceFactory.FETCH_BYTES));
        Map<String, Object> properties = connection.properties();
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, settings.text(KafkaSourceFactory.GROUP));
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, settings.text(KafkaSourceFactory.RESET));
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, atOnce(context));
        properties.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, bytes);
        properties.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, Math.min(bytes, 1 << 20));
        return properties;
    }

    /** The records that are taken at a time: half of those that may be in flight. */
    static int atOnce(SourceContext context) {
        return Math.max(1, context.config().inflight() / 2);
    }

    @Override
    public Mono<Void> run(SourceOutput out) {
        return runs.run(() ->
                new ConsumerRun(context, topics, consumers, out, new SourceHealth(topics, out, nanoTime), nanoTime));
    }

    @Override
    public Mono<Void> ended() {
        return runs.ended();
    }

    @Override
    public Mono<Void> check() {
        return Mono.<Void>fromRunnable(probe).subscribeOn(Schedulers.boundedElastic());
    }

    @Override
    public void close() {
        runs.close();
    }
}
