// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The figures over time at the management port. */
class MonitorPortTest {

    private static final String TOKEN = "0123456789abcdef-secret";
    private static final String BEARER = "Bearer " + TOKEN;

    @TempDir
    Path directory;

    private ManagedBroker broker;

    @BeforeEach
    void start() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        broker = new ManagedBroker(
                builder -> builder, management -> management.tokenFile(file).sysInterval(Duration.ZERO));
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private String get(String path) throws Exception {
        return broker.get("/api/v5" + path, "Authorization", BEARER).body();
    }

    private int status(String path) throws Exception {
        return broker.get("/api/v5" + path, "Authorization", BEARER).statusCode();
    }

    @Test
    void theFiguresOfTheMomentAreShown() throws Exception {
        ApplicationMessage kept =
                ApplicationMessage.builder("a").payload("x").retain(true).build();
        broker.broker.publish(kept).block(Duration.ofSeconds(30));

        assertThat(get("/monitor_current"))
                .contains("\"live_connections\":0", "\"retained_msg_count\":1", "\"dropped_by_reason\":{");
        assertThat(get("/monitor_current/nodes/smqtt")).contains("\"received_msg_rate\":");
        assertThat(status("/monitor_current/nodes/other")).isEqualTo(404);
    }

    @Test
    void aFreshBrokerHasNoHistory() throws Exception {
        assertThat(get("/monitor?latest=3600")).isEqualTo("[]");
        assertThat(get("/monitor/nodes/smqtt")).isEqualTo("[]");
        assertThat(status("/monitor?latest=0")).isEqualTo(400);
        assertThat(status("/monitor/nodes/other")).isEqualTo(404);
    }

    @Test
    void aStreamNeedsKnownTopicsAndALogin() throws Exception {
        assertThat(status("/stream")).isEqualTo(400);
        assertThat(status("/stream?topics=monitor,passwords")).isEqualTo(400);
        assertThat(broker.get("/api/v5/stream?topics=monitor").statusCode()).isEqualTo(401);
        assertThat(broker.get("/api/v5/monitor").statusCode()).isEqualTo(401);
    }
}
