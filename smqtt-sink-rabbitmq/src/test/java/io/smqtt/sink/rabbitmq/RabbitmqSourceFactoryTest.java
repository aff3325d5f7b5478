// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.rules.sink.SinkPage;
import io.smqtt.rules.sink.SourceFactory;
import java.io.IOException;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class RabbitmqSourceFactoryTest {

    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(SourceFactory.class))
                .extracting(SourceFactory::type)
                .contains("rabbitmq");
    }

    @Test
    void pageHasTheKeys() throws IOException {
        SinkPage.assertHasKeys("source rabbitmq", new RabbitmqSourceFactory().settings());
    }
}
