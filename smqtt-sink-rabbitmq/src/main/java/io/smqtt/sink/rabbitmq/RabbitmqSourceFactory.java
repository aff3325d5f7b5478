// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import java.util.ArrayList;
import java.util.List;

/** Makes sources of the type {@code rabbitmq}, which consume a queue. */
public final class RabbitmqSourceFactory implements SourceFactory {

    static final String QUEUE = "queue";
    static final String MESSAGE_BYTES = "max-message-bytes";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public RabbitmqSourceFactory() {}

    @Override
    public String type() {
        return "rabbitmq";
    }

    @Override
    public List<SinkSetting> settings() {
        List<SinkSetting> settings = new ArrayList<>(RabbitmqServers.settings());
        settings.addAll(
                1,
                List.of(
                        SinkSetting.text(QUEUE, null, "the queue, which must exist")
                                .required(),
                        SinkSetting.size(
                                MESSAGE_BYTES,
                                "16MiB",
                                "1KiB",
                                "255MiB",
                                "maximum size of a body; larger messages are rejected")));
        return settings;
    }

    @Override
    public Source open(SourceContext context) {
        return new RabbitmqSource(context, new RabbitmqServers(context));
    }
}
