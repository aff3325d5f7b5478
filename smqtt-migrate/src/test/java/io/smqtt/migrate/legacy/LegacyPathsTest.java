// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate.legacy;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.Broker;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.ManagementEndpoint;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the path for publishing refuses. */
class LegacyPathsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final LimitsConfig limits =
            LimitsConfig.builder().maxTopicBytes(20).maxTopicLevels(3).build();
    private final BrokerView view = new BrokerView();
    private final LegacyPaths paths = new LegacyPaths(view);
    private Broker broker;

    @BeforeEach
    void start() {
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        broker = Objects.requireNonNull(Broker.builder()
                .config(BrokerConfig.builder()
                        .listeners(Map.of("tcp", tcp))
                        .limits(limits)
                        .build())
                .module(view)
                .start()
                .block(PATIENCE));
    }

    @AfterEach
    void stop() {
        broker.close(Duration.ofSeconds(1)).block(PATIENCE);
    }

    private ManagementEndpoint.Answer publish(String topic) {
        String body = "{\"topic\":\"" + topic + "\",\"message\":\"x\"}";
        return Objects.requireNonNull(
                paths.answer(new ManagementEndpoint.Request("POST", "/smqtt/publish", Map.of(), body))
                        .block(PATIENCE));
    }

    @Test
    void theLimitsOfTopicsHoldHereToo() {
        assertThat(publish("a/b/c").status()).isEqualTo(200);
        assertThat(publish("a/b/c/d").status()).isEqualTo(400);
        assertThat(publish("a/b/c/d").body()).contains("limits.max-topic-levels");
        assertThat(publish("x".repeat(20)).status()).isEqualTo(200);
        assertThat(publish("x".repeat(21)).status()).isEqualTo(400);
        assertThat(publish("\u20ac".repeat(7)).body()).contains("limits.max-topic-bytes");
    }

    @Test
    void halfOfASurrogatePairIsRefusedAndNotPublishedAsAnotherTopic() {
        assertThat(publish("s\\ud800t").status()).isEqualTo(400);
        assertThat(publish("s\\ud83d\\ude00t").status()).isEqualTo(200);
    }
}
