// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.net.InetSocketAddress;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Applications with a broker on a free port of the loopback address. */
final class Contexts {

    private Contexts() {}

    static ApplicationContextRunner runner() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(SmqttAutoConfiguration.class))
                .withPropertyValues(
                        "smqtt.listeners.tcp.host=127.0.0.1",
                        "smqtt.listeners.tcp.port=0",
                        "smqtt.listeners.ws.enabled=false",
                        "smqtt.event-loops=1",
                        "smqtt.spring.stop-timeout=1s");
    }

    static RawClient client(ApplicationContext context) {
        Integer port = context.getEnvironment().getRequiredProperty("local.smqtt.tcp.port", Integer.class);
        return RawClient.to(new InetSocketAddress("127.0.0.1", port), ProtocolVersion.MQTT_5);
    }
}
