// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import java.util.ArrayList;
import java.util.List;

/** Makes sinks of the type {@code kafka}, which write rows as records of Kafka. */
public final class KafkaSinkFactory implements SinkFactory {

    static final String TOPIC = "topic";
    static final String KEY = "key";
    static final String VALUE = "value";
    static final String HEADERS = "headers";
    static final String TIMESTAMP = "timestamp";
    static final String COMPRESSION = "compression";
    static final String LINGER = "linger";
    static final String REQUEST_BYTES = "max-request-bytes";
    static final String BUFFER = "buffer-memory";
    static final String MAX_BLOCK = "max-block";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public KafkaSinkFactory() {}

    @Override
    public String type() {
        return "kafka";
    }

    @Override
    public List<SinkSetting> settings() {
        List<SinkSetting> settings = new ArrayList<>(KafkaConnection.settings());
        settings.addAll(1, ofRecords());
        settings.addAll(ofProducer());
        return settings;
    }

    private static List<SinkSetting> ofRecords() {
        return List.of(
                SinkSetting.template(TOPIC, null, "the topic of Kafka").required(),
                SinkSetting.template(
                                KEY,
                                null,
                                "the key. Records with the same key are in the same partition; a row whose key is absent has none, and any partition")
                        .plain(),
                SinkSetting.template(
                        VALUE,
                        null,
                        "the value; by default the row as JSON. In a text that begins with `{` or `[`, values are written so that it stays JSON"),
                SinkSetting.entries(HEADERS, "headers; one whose value is absent is left out"),
                SinkSetting.template(
                        TIMESTAMP,
                        null,
                        "the time of the record in milliseconds since 1970, such as `${publish_received_at}`; by default now"));
    }

    private static List<SinkSetting> ofProducer() {
        return List.of(
                SinkSetting.choice(
                        COMPRESSION,
                        "none",
                        List.of("none", "gzip", "snappy", "lz4", "zstd"),
                        "`none`, `gzip`, `snappy`, `lz4` or `zstd`"),
                SinkSetting.duration(
                        LINGER, "0s", "0s", "1s", "how long records of a partition wait for others of their request"),
                SinkSetting.size(
                        REQUEST_BYTES, "1MiB", "1KiB", "100MiB", "maximum size of a record; larger ones are refused"),
                SinkSetting.size(
                        BUFFER,
                        "16MiB",
                        "1MiB",
                        "1GiB",
                        "maximum size of all records that have no answer yet; at least max-request-bytes"),
                SinkSetting.duration(
                        MAX_BLOCK,
                        "1s",
                        "10ms",
                        "1m",
                        "how long a row waits for the brokers of its topic, or for room in buffer-memory, before its batch has failed"));
    }

    @Override
    public Sink open(SinkContext context) {
        return new KafkaSink(context, new ClusterClients(context));
    }
}
