// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import java.util.ArrayList;
import java.util.List;

/** Makes sources of the type {@code kafka}, which are members of a consumer group. */
public final class KafkaSourceFactory implements SourceFactory {

    static final String TOPICS = "topics";
    static final String GROUP = "group-id";
    static final String RESET = "offset-reset";
    static final String COMMIT = "commit-interval";
    static final String FETCH_BYTES = "fetch-bytes";
    static final String MAX_MEMORY = "max-memory";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public KafkaSourceFactory() {}

    @Override
    public String type() {
        return "kafka";
    }

    @Override
    public List<SinkSetting> settings() {
        List<SinkSetting> settings = new ArrayList<>(KafkaConnection.settings());
        settings.addAll(
                1,
                List.of(
                        SinkSetting.text(TOPICS, null, "the topics of Kafka, with commas between them")
                                .required(),
                        SinkSetting.text(GROUP, null, "the consumer group, which keeps what was read")
                                .required(),
                        SinkSetting.choice(
                                RESET,
                                "earliest",
                                List.of("earliest", "latest"),
                                "where a new group begins: `earliest` or `latest`"),
                        SinkSetting.duration(
                                COMMIT,
                                "100ms",
                                "1ms",
                                "1m",
                                "interval of offset commits; records published since the last commit are published again after a crash"),
                        SinkSetting.size(
                                FETCH_BYTES,
                                "8MiB",
                                "64KiB",
                                "1GiB",
                                "maximum size of what is fetched at a time from each broker, and kept in memory; a larger record is fetched alone"),
                        SinkSetting.size(
                                MAX_MEMORY,
                                "64MiB",
                                "1",
                                "16GiB",
                                "maximum size of all records that were taken and are not yet stored; the source is not read beyond that")));
        return settings;
    }

    @Override
    public Source open(SourceContext context) {
        return KafkaSource.of(context);
    }
}
