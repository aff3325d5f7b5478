// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code bin/smqtt ctl} asks and changes a running broker, by the token that the broker made in its data directory. The commands themselves
 * are tested without a process for each of them, in smqtt-bootstrap.
 */
class CtlIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private BrokerProcess broker;

    @BeforeEach
    void start() throws IOException {
        Files.writeString(directory.resolve("acl"), "topic readwrite devices/#\n");
        broker = LoopbackBroker.start(directory, "access.acl-file=acl");
    }

    @AfterEach
    void stop() {
        if (broker != null) {
            broker.close();
        }
    }

    @Test
    void clientsAreBanned() throws Exception {
        try (RawClient device = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            device.connect("device-7");

            assertThat(ctl(0, "bans", "add", "clientid", "device-7", "--for", "1h", "--reason", "floods"))
                    .containsExactly("banned clientid device-7");
            device.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
            assertThat(ctl(0, "bans", "list", "--match", "dev"))
                    .anySatisfy(line -> assertThat(line).matches("clientid +device-7 +\\S+Z +\\S+Z .* floods"))
                    .endsWith("bans: 1");
            assertThat(ctl(0, "bans", "delete", "clientid", "device-7"))
                    .containsExactly("ended the ban of clientid device-7");
            assertThat(ctl(1, "bans", "delete", "clientid", "device-7").get(0)).contains(" says: ");
            assertThat(ctl(0, "bans", "delete", "--all")).containsExactly("ended all bans");
        }
    }

    @Test
    void exitCodesTellWhatWentWrong() throws Exception {
        String id = "ä".repeat(30_000);
        try (RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect(ConnectBytes.of(id).keepAlive(60).persistent(3600));
            assertThat(ctl(1, "clients", "show", id).get(0)).contains("too long for a request");
            assertThat(json(ctl(0, "clients", "list", "--json"))
                            .path("clientid")
                            .asText())
                    .isEqualTo(id);
            ctl(0, "clients", "kick", id);
            client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        }
        assertThat(ctl(1, "clients", "show", "nobody").get(0)).contains("CLIENTID_NOT_FOUND");
        assertThat(ctl(2, "clients", "list", "--limit", "many").get(0)).contains("is not a number");
        String own = "http://127.0.0.1:" + broker.port("management");
        assertThat(ctl(1, "nodes", "--url", own).get(0)).contains("--token-file, --user or --api-key say who asks");
        assertThat(ctl(3, "nodes", "--url", "http://127.0.0.1:1").get(0)).contains("no answer from");
        assertThat(ctl(3, "nodes", "--url", own, "--token-file", "missing").get(0))
                .contains("cannot be read");
    }

    private List<String> ctl(int exit, String... arguments) {
        List<String> command = new ArrayList<>(List.of("ctl"));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--data", "data", "--set", "management.port=" + broker.port("management")));
        try (CapturedProcess process = BrokerProcess.run(directory, command.toArray(String[]::new))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isEqualTo(exit);
            return process.output();
        }
    }

    private static JsonNode json(List<String> lines) throws IOException {
        assertThat(lines).hasSize(1);
        return new ObjectMapper().readTree(lines.get(0));
    }
}
