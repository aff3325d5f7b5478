// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.basic;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import java.util.List;

/** Makes sinks of the type {@code republish}, which publish rows to the same broker. */
public final class RepublishSinkFactory implements SinkFactory {

    static final String TOPIC = "topic";
    static final String PAYLOAD = "payload";
    static final String QOS = "qos";
    static final String RETAIN = "retain";
    static final String PROPERTIES = "user-properties";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public RepublishSinkFactory() {}

    @Override
    public String type() {
        return "republish";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.template(TOPIC, null, "the topic").required(),
                SinkSetting.template(PAYLOAD, null, "the payload; by default the row as JSON"),
                SinkSetting.template(QOS, "0", "0, 1 or 2, or a placeholder such as `${qos}`"),
                SinkSetting.template(RETAIN, "false", "true or false, or a placeholder such as `${flags.retain}`"),
                SinkSetting.entries(PROPERTIES, "user properties of MQTT 5.0"));
    }

    @Override
    public Sink open(SinkContext context) {
        return new RepublishSink(context);
    }
}
