// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import java.util.ArrayList;
import java.util.List;

/** Makes sources of the type {@code redis}, which are members of a consumer group of a stream. */
public final class RedisSourceFactory implements SourceFactory {

    static final String STREAM = "stream";
    static final String GROUP = "group";
    static final String CONSUMER = "consumer";
    static final String START = "start";
    static final String CLAIM = "claim-after";
    static final String MAX_MEMORY = "max-memory";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public RedisSourceFactory() {}

    @Override
    public String type() {
        return "redis";
    }

    @Override
    public List<SinkSetting> settings() {
        List<SinkSetting> settings = new ArrayList<>(RedisServers.settings());
        settings.addAll(
                1,
                List.of(
                        SinkSetting.text(STREAM, null, "the key of the stream").required(),
                        SinkSetting.text(
                                        GROUP,
                                        null,
                                        "the consumer group, which keeps what was read; it is made if there is none")
                                .required(),
                        SinkSetting.text(
                                CONSUMER,
                                null,
                                "the name of this consumer in the group; by default `smqtt`, and with `nodes: each` `smqtt-` and the name of the host"),
                        SinkSetting.choice(
                                START,
                                "earliest",
                                List.of("earliest", "latest"),
                                "where a new group begins: `earliest` or `latest`"),
                        SinkSetting.duration(
                                CLAIM,
                                "1m",
                                "100ms",
                                "1d",
                                "how long an entry that another consumer has read is not acknowledged until this one takes it over"),
                        SinkSetting.size(
                                MAX_MEMORY,
                                "64MiB",
                                "1",
                                "16GiB",
                                "maximum size of all entries that were read and are not yet stored; the source is not read beyond that")));
        return settings;
    }

    @Override
    public Source open(SourceContext context) {
        return new RedisSource(context);
    }
}
