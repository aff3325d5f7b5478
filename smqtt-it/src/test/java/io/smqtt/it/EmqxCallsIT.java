// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calls of the table in {@code docs/api.md}, as they stand there, by curl; only address and secrets are changed. */
class EmqxCallsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String TOKEN = LoopbackBroker.TOKEN;
    private static final Path DOCUMENT =
            Path.of(System.getProperty("smqtt.home", "..")).resolve("docs/api.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]+) \\| `(curl [^|]+)` \\| (\\d{3}) \\|$");

    @TempDir
    Path directory;

    private BrokerProcess start() throws IOException {
        return LoopbackBroker.open(directory, "listeners.ws.enabled=true");
    }

    private String curl(String command) {
        String quiet = command.replaceFirst("^curl ", "curl -sS -w '\\\\nstatus %{http_code}' ");
        try (CapturedProcess process =
                CapturedProcess.start("curl", new ProcessBuilder("bash", "-c", quiet).directory(directory.toFile()))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
            return String.join("\n", process.output());
        }
    }

    @Test
    void eachCallIsAnsweredAsTheTableSays() throws Exception {
        ForeignProgram.path("curl");
        try (BrokerProcess broker = start();
                RawClient first = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient second = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            first.connect("emqx_c");
            second.connect("emqx_d");
            RestApi administrator = RestApi.of(broker).token(TOKEN);
            administrator.post(
                    "/users", "{\"username\":\"admin\",\"password\":\"public-1234\",\"role\":\"administrator\"}");
            JsonNode key = administrator
                    .post("/api_key", "{\"name\":\"scripts\",\"role\":\"administrator\"}")
                    .json();
            String pair =
                    key.path("api_key").asText() + ":" + key.path("api_secret").asText();
            Matcher row = ROW.matcher(Files.readString(DOCUMENT));
            int run = 0;
            while (row.find()) {
                String command = row.group(2)
                        .replace("localhost:18083", "127.0.0.1:" + broker.port("management"))
                        .replace("key:secret", pair)
                        .replace("Bearer token", "Bearer " + TOKEN);
                String answer = curl(command);
                assertThat(answer).as("%s: %s", row.group(1), command).endsWith("status " + row.group(3));
                run++;
            }
            assertThat(run).isGreaterThanOrEqualTo(45);
        }
    }
}
