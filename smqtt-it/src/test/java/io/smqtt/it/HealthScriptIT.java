// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The health check of the image, {@code deploy/docker/health}, against a broker. */
class HealthScriptIT {

    @TempDir
    Path directory;

    @Test
    void theScriptTellsABrokerThatIsReadyFromNone() throws IOException {
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), """
                management: {port: 0}
                listeners:
                  tcp: {host: 127.0.0.1, port: 0}
                  ws: {enabled: false}
                """);
        int port;
        try (BrokerProcess broker = BrokerProcess.start(directory, List.of(), file)) {
            port = broker.port("management");

            assertThat(health("ready", port)).isZero();
            assertThat(health("live", port)).isZero();
            assertThat(health("no-such-path", port)).isNotZero();
        }
        assertThat(health("ready", port)).isNotZero();
    }

    private static int health(String what, int port) {
        Path script =
                BrokerProcess.script().resolveSibling("../deploy/docker/health").normalize();
        try (CapturedProcess process =
                CapturedProcess.start("health", new ProcessBuilder(script.toString(), what, Integer.toString(port)))) {
            return process.awaitExit(BrokerPair.PATIENCE);
        }
    }
}
