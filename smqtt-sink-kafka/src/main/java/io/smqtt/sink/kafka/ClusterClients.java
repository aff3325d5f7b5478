// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * The clients of a real cluster. The producer is idempotent and waits for all replicas. It gives a record up before the action sends its batch
 * again ({@link AttemptTimes}), so that a record is not written once more by the former attempt.
 */
@AnyThread
final class ClusterClients implements KafkaClients {

    private static final int MOST_IN_FLIGHT = 5; // the most with which an idempotent producer keeps the order
    private static final long LONGEST_REQUEST_MILLIS = 30_000;

    private final SinkContext context;
    private final KafkaConnection connection;
    private final AttemptTimes times;

    /** Checks settings. Blocks. */
    ClusterClients(SinkContext context) {
        SinkSettings settings = context.settings();
        this.context = context;
        this.times = AttemptTimes.of(context);
        this.connection =
                new KafkaConnection(settings, "smqtt-" + context.label().replace('/', '-'));
        if (settings.bytes(KafkaSinkFactory.BUFFER) < settings.bytes(KafkaSinkFactory.REQUEST_BYTES)) {
            throw settings.problem(KafkaSinkFactory.BUFFER, "must not be less than max-request-bytes");
        }
    }

    /** The properties of the producer. Blocks. */
    Map<String, Object> producerProperties() {
        SinkSettings settings = context.settings();
        long delivery = times.delivery().toMillis();
        long linger = Math.min(settings.duration(KafkaSinkFactory.LINGER).toMillis(), delivery / 4);
        long request = Math.min(LONGEST_REQUEST_MILLIS, (delivery - linger) / 2);
        Map<String, Object> properties = connection.properties();
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        properties.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, MOST_IN_FLIGHT);
        properties.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, settings.text(KafkaSinkFactory.COMPRESSION));
        properties.put(ProducerConfig.LINGER_MS_CONFIG, linger);
        properties.put(
                ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
                Math.toIntExact(settings.bytes(KafkaSinkFactory.REQUEST_BYTES)));
        properties.put(ProducerConfig.BUFFER_MEMORY_CONFIG, settings.bytes(KafkaSinkFactory.BUFFER));
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, times.block().toMillis());
        properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Math.toIntExact(delivery));
        properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Math.toIntExact(request));
        return properties;
    }

    @Override
    public Producer<byte[], byte[]> producer() {
        Map<String, Object> properties = producerProperties();
        return KafkaThread.withOwnClasses(
                () -> new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer()));
    }

    @Override
    public void probe(@Nullable String topic) {
        long timeout = context.config().timeout().toMillis();
        int millis = Math.toIntExact(timeout - timeout / 10); // the reason is there before the action gives up
        ClusterProbe.ask(connection, topic == null ? List.of() : List.of(topic), millis);
    }
}
