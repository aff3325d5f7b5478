// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

class EnableMqttServerTest {

    @Test
    void annotationStartsTheBrokerWhereNothingIsConfiguredByItself() {
        new ApplicationContextRunner()
                .withPropertyValues(
                        "smqtt.listeners.tcp.host=127.0.0.1",
                        "smqtt.listeners.tcp.port=0",
                        "smqtt.listeners.ws.enabled=false",
                        "smqtt.spring.stop-timeout=1s")
                .withUserConfiguration(Former.class)
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(BrokerLifecycle.class);
                    assertThat(context.getBean(BrokerLifecycle.class).isRunning())
                            .isTrue();
                });
    }

    @Configuration(proxyBeanMethods = false)
    @SuppressWarnings("deprecation")
    @EnableMqttServer
    static class Former {}
}
