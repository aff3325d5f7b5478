// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BlockValuesTest {

    @Test
    void aBuilderRefusesAValueOutOfItsBounds() {
        assertThatThrownBy(() -> LimitsConfig.builder().maxInFlight(0).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("limits.max-in-flight must be 1 to 65535, but is 0");
        assertThatThrownBy(() ->
                        SessionConfig.builder().maxExpiry(Duration.ofMillis(-1)).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("session.max-expiry must be 0s to 4294967295s, but is ");
    }

    @Test
    @SuppressWarnings("NullAway")
    void aBuilderRefusesAValueThatIsMissing() {
        assertThatThrownBy(() -> TlsConfig.builder(Path.of("certificate"), null).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("tls.key must be set");
    }

    @Test
    void aBrokerHasNoValueThatWasNotChecked() {
        OtlpConfig unchecked = new OtlpConfig("http://127.0.0.1:1", null, Duration.ofDays(1));
        ManagementConfig management = new ManagementConfig(
                "127.0.0.1",
                0,
                null,
                null,
                List.of(),
                null,
                null,
                null,
                null,
                1 << 20,
                1,
                true,
                true,
                Duration.ZERO,
                AlarmConfig.defaults(),
                unchecked,
                null,
                null);
        BrokerConfig defaults = BrokerConfig.defaults();

        assertThatThrownBy(() -> new BrokerConfig(
                        defaults.listeners(),
                        defaults.limits(),
                        defaults.session(),
                        defaults.mqtt(),
                        defaults.access(),
                        defaults.autoSubscriptions(),
                        defaults.topicRewrites(),
                        defaults.retainedPolicies(),
                        defaults.validations(),
                        defaults.delayed(),
                        defaults.bridges(),
                        defaults.rules(),
                        defaults.sources(),
                        defaults.ruleEngine(),
                        defaults.overload(),
                        defaults.storage(),
                        management,
                        0,
                        true,
                        defaults.cluster()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("otlp.interval must be 1s to 1h, but is 1d");
    }

    @Test
    void aBuilderLeavesWhatItHasMadeAlone() {
        BrokerConfigBuilder builder = BrokerConfig.builder().listeners(Map.of());
        BrokerConfig first = builder.listener("one", ListenerConfig.tcp(0)).build();
        BrokerConfig second = builder.listener("two", ListenerConfig.ws(0)).build();

        assertThat(first.listeners()).containsOnlyKeys("one");
        assertThat(second.listeners()).containsOnlyKeys("one", "two");
        assertThat(second.toBuilder().build()).isEqualTo(second);
    }

    @Test
    void valuesWithoutADeclaredDefaultAreEmpty() {
        assertThat(AccessConfig.defaults().admins()).isEqualTo(List.of());
        assertThat(AccessConfig.defaults().aclFile()).isNull();
        assertThat(MqttConfig.defaults().serverReference()).isEmpty();
    }

    @Test
    void defaultsInPercentFollowTheHeap() {
        long heap = Runtime.getRuntime().maxMemory();

        assertThat(LimitsConfig.defaults().maxRetainedBytes()).isEqualTo(heap / 4);
        assertThat(LimitsConfig.defaults().maxSessionBytes()).isEqualTo(Math.min(1 << 30, heap * 2 / 100));
    }
}
