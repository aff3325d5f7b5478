// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
        assertThatThrownBy(() -> TracingConfig.of(url))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("tracing.url");
    }

    @ParameterizedTest
    @ValueSource(strings = {"secret", ": secret", "a b: secret", "a: secret\nb: c", "a: s\u00e9cret"})
    void aHeaderThatIsNoneIsRefusedAndNotShown(String header) {
        assertThatThrownBy(() -> new OtlpConfig(URL, List.of(header), MINUTE))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("otlp.headers")
                .hasMessageNotContaining("secret");
        assertThatThrownBy(() -> new TracingConfig(URL, List.of(header), 1))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("tracing.headers")
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 1.01, Double.NaN, Double.POSITIVE_INFINITY})
    void aShareIsAPartOfTheWhole(double share) {
        assertThatThrownBy(() -> TracingConfig.of(URL).toBuilder().share(share).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("tracing.share must be 0 to 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"NaN", "0x1p3", "1e-2", "1%", ".5", "0,5", "1d", ""})
    void aShareIsWrittenWithDigitsAndAPoint(String text) {
        assertThatThrownBy(() -> share(text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("management.tracing.share must be a number such as 0.01");
    }

    @Test
    void aShareIsReadAndShown() {
        BrokerConfig config = share("0.250");

        assertThat(config.management().tracing()).isEqualTo(new TracingConfig(URL, null, 0.25));
        assertThat(ConfigSchema.values(config)).containsEntry("management.tracing.share", "0.25");
    }

    private static BrokerConfig share(String text) {
        Path base = Path.of("");
        return ConfigBinder.bind(
                BrokerConfig.defaults(),
                Map.of(
                        "management.tracing.url", new ConfigValue(URL, "test", base),
                        "management.tracing.share", new ConfigValue(text, "test", base)));
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
        assertThatThrownBy(() ->
                        InfluxConfig.of(URL).toBuilder().interval(Duration.ZERO).build())
                .hasMessageContaining("influx.interval");
    }
}
