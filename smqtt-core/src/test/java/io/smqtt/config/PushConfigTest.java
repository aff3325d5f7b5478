// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where metrics are sent. */
class PushConfigTest {

    private static final String URL = "http://localhost:8086";
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @ParameterizedTest
    @ValueSource(
            strings = {"", "localhost:4318", "file:/x", "http://", "http://a b", "http://user:pw@host", "http://h/#f"})
    void onlyUrlsOfHttpAreTaken(String url) {
        assertThatThrownBy(() -> OtlpConfig.of(url))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("otlp.url");
        assertThatThrownBy(() -> InfluxConfig.of(url))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("influx.url");
    }

    @ParameterizedTest
    @ValueSource(strings = {"secret", ": secret", "a b: secret", "a: secret\nb: c", "a: s\u00e9cret"})
    void aHeaderThatIsNoneIsRefusedAndNotShown(String header) {
        assertThatThrownBy(() -> new OtlpConfig(URL, List.of(header), MINUTE))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("otlp.headers")
                .hasMessageNotContaining("secret");
    }

    @Test
    void whatBelongsTogetherIsSetTogether() {
        assertThat(new InfluxConfig(URL, "d", "user", "password", null, null, null, MINUTE).user())
                .isEqualTo("user");
        assertThat(new InfluxConfig(URL, "d", null, null, "org", "bucket", "token", MINUTE).org())
                .isEqualTo("org");
        assertThatThrownBy(() -> new InfluxConfig(URL, "d", "user", null, null, null, null, MINUTE))
                .hasMessageContaining("influx.password");
        assertThatThrownBy(() -> new InfluxConfig(URL, "d", null, null, "org", "bucket", null, MINUTE))
                .hasMessageContaining("influx.token");
        assertThatThrownBy(() -> new InfluxConfig(URL, "d", "u", "p", "o", "b", "t", MINUTE))
                .hasMessageContaining("InfluxDB 2");
        assertThatThrownBy(() -> new InfluxConfig(URL, "d", null, null, null, null, null, Duration.ZERO))
                .hasMessageContaining("influx.interval");
    }
}
