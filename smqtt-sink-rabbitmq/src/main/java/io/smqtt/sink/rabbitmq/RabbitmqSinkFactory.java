// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import java.util.ArrayList;
import java.util.List;

/** Makes sinks of the type {@code rabbitmq}, which publish a message for each row. */
public final class RabbitmqSinkFactory implements SinkFactory {

    static final String EXCHANGE = "exchange";
    static final String ROUTING_KEY = "routing-key";
    static final String BODY = "body";
    static final String HEADERS = "headers";
    static final String PROPERTIES = "properties";
    static final String PERSISTENT = "persistent";
    static final String MANDATORY = "mandatory";
    static final String MESSAGE_BYTES = "max-message-bytes";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public RabbitmqSinkFactory() {}

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
                        SinkSetting.template(
                                EXCHANGE,
                                null,
                                "the exchange; by default the one whose routing keys are names of queues"),
                        SinkSetting.template(ROUTING_KEY, null, "the routing key; needed without an exchange")
                                .plain(),
                        SinkSetting.template(
                                BODY,
                                null,
                                "the body; by default the row as JSON. In a text that begins with `{` or `[`, values are written so that it stays JSON"),
                        SinkSetting.entries(
                                HEADERS,
                                "headers; a placeholder alone keeps the type of its value, and one whose value is absent is left out"),
                        SinkSetting.entries(
                                PROPERTIES,
                                "properties of the message: `content-type`, `content-encoding`, `correlation-id`, `reply-to`, `message-id`, `type`, `app-id`, `expiration` (ms), `priority` (0 to 255), `timestamp` (ms since 1970)"),
                        SinkSetting.flag(
                                PERSISTENT, true, "whether messages in durable queues survive a restart of the server"),
                        SinkSetting.flag(
                                MANDATORY,
                                true,
                                "whether a message that reaches no queue is refused; otherwise it is lost"),
                        SinkSetting.size(
                                MESSAGE_BYTES,
                                "16MiB",
                                "1KiB",
                                "64MiB",
                                "maximum size of a body; larger ones are refused")));
        return settings;
    }

    @Override
    public Sink open(SinkContext context) {
        return new RabbitmqSink(context, new RabbitmqServers(context), new MessageTemplate(context));
    }
}
