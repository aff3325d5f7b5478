// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.sink.kafka.KafkaSinkFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** How many rows of 128 bytes the sink {@code kafka} writes in a second, with a Kafka on the same machine. By hand. */
class KafkaRateProof {

    private static final int LANES = 4;
    private static final int BATCH = 1_000;
    private static final int PARTITIONS = 4;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final ApplicationMessage MESSAGE =
            ApplicationMessage.builder("in").payload("x").build();
    private static final int ROWS = Integer.getInteger("smqtt.kafka.rows", 3_000_000);

    @TempDir
    Path folder;

    @Test
    void rowsInASecond() throws Exception {
        KafkaSinkFactory factory = new KafkaSinkFactory();
        try (KafkaServer kafka = KafkaServer.lasting(folder)) {
            kafka.createTopic("rows", PARTITIONS, Map.of());
            String[] pairs = {
                "bootstrap-servers", kafka.address(), "topic", "rows", "key", "${key}", "value", "${value}"
            };
            try (Sink sink = factory.open(SinkContract.context(factory, message -> Mono.empty(), null, pairs))) {
                write(sink, ROWS / 3); // warm
                long began = System.nanoTime();
                write(sink, ROWS);
                double seconds = (System.nanoTime() - began) / 1e9;
                System.out.printf(
                        "kafka: %,d rows of 128 bytes in %.1f s, %,.0f in a second%n", ROWS, seconds, ROWS / seconds);
            }
        }
    }

    /** Lanes side by side, each with one batch at a time, as those of an action. */
    private static void write(Sink sink, int rows) {
        List<SinkRecord> batch = IntStream.range(0, BATCH)
                .mapToObj(n -> new SinkRecord(Map.of("key", "device-" + n % 100, "value", "x".repeat(128)), MESSAGE))
                .toList();
        Long done = Flux.range(0, rows / BATCH)
                .flatMap(number -> sink.send(batch), LANES)
                .doOnNext(result -> assertThat(result).isEqualTo(BatchResult.DONE))
                .count()
                .block(PATIENCE);
        assertThat(done).isEqualTo(rows / BATCH);
    }
}
