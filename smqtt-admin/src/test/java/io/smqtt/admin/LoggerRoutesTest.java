// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.LoggerContext;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The levels of loggers, read and set by the API. */
class LoggerRoutesTest {

    private static final String NAME = "io.smqtt.test.LoggerRoutes";
    private static final Logger LOGGER = LoggerFactory.getLogger(NAME);

    @TempDir
    Path directory;

    private ApiBroker api;

    @BeforeEach
    void start() {
        api = new ApiBroker(directory);
    }

    @AfterEach
    void stop() {
        set("{\"configuredLevel\":null}");
        api.close();
    }

    private int set(String body) {
        return api.post("/loggers/" + NAME, body).status();
    }

    @Test
    void aLevelIsSetAndTakenBack() {
        assertThat(LOGGER.isDebugEnabled()).isFalse();

        assertThat(set("{\"configuredLevel\":\"DEBUG\"}")).isEqualTo(200);
        assertThat(LOGGER.isDebugEnabled()).isTrue();
        JsonNode all = api.get("/loggers").json();
        assertThat(all.path("loggers").path(NAME).path("configuredLevel").asText())
                .isEqualTo("DEBUG");
        assertThat(all.path("loggers").path("ROOT").path("effectiveLevel").asText())
                .isEqualTo("WARN");

        assertThat(set("{\"configuredLevel\":null}")).isEqualTo(200);
        assertThat(LOGGER.isDebugEnabled()).isFalse();
        assertThat(api.get("/loggers/" + NAME).json().has("configuredLevel")).isFalse();
    }

    @Test
    void aLevelGoesBackAtItsTime() {
        set("{\"configuredLevel\":\"ERROR\"}");
        long second = Instant.now().getEpochSecond() + 2;

        assertThat(set("{\"configuredLevel\":\"DEBUG\",\"until\":" + second + "}"))
                .isEqualTo(200);
        assertThat(LOGGER.isDebugEnabled()).isTrue();

        await().until(() -> !LOGGER.isDebugEnabled());
        assertThat(LOGGER.isWarnEnabled()).as("the level before").isFalse();
    }

    @Test
    void aLevelGoesBackWhenTheBrokerStops() {
        set("{\"configuredLevel\":\"TRACE\",\"until\":\"" + Instant.now().plusSeconds(3_600) + "\"}");
        assertThat(LOGGER.isTraceEnabled()).isTrue();

        api.broker().close();

        assertThat(LOGGER.isTraceEnabled()).isFalse();
        api = new ApiBroker(directory);
    }

    @Test
    void aLoggerThatIsOnlyAskedForIsNotCreated() {
        set("{\"configuredLevel\":\"ERROR\"}");
        String below = NAME + ".never.used";

        assertThat(api.get("/loggers/" + below).json().path("effectiveLevel").asText())
                .isEqualTo("ERROR");
        assertThat(api.get("/loggers/elsewhere.x").json().path("effectiveLevel").asText())
                .isEqualTo("WARN");
        assertThat(((LoggerContext) LoggerFactory.getILoggerFactory()).exists(below))
                .isNull();
    }

    @Test
    void whatIsNoLevelIsRefused() {
        assertThat(set("{\"configuredLevel\":\"LOUD\"}")).isEqualTo(400);
        assertThat(set("{\"configuredLevel\":\"DEBUG\",\"until\":1}")).isEqualTo(400);
        assertThat(set("{\"configuredLevel\":\"DEBUG\",\"until\":\"2099-01-01T00:00:00Z\"}"))
                .isEqualTo(400);
        assertThat(api.post("/loggers/ROOT", "{\"configuredLevel\":null}").status())
                .isEqualTo(400);
        assertThat(api.post("/loggers/a%0Ab", "{\"configuredLevel\":\"DEBUG\"}").status())
                .isEqualTo(400);
        assertThat(LOGGER.isDebugEnabled()).isFalse();
    }
}
