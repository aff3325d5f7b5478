// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands and configurations of {@code docs/certificates.md}, with the real program and mosquitto's clients. */
class CertificateRecipeIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @TempDir
    Path directory;

    private String page = "";

    @BeforeEach
    void makeCertificates() throws Exception {
        page = Files.readString(Path.of(System.getProperty("smqtt.home", "..")).resolve("docs/certificates.md"));
        List<String> commands = blocks("", "openssl ");
        assertThat(commands).hasSize(4);
        ForeignProgram.path("openssl");
        ForeignProgram.path("mosquitto_pub");
        run(String.join("\n", commands));
    }

    private List<String> blocks(String language, String begin) {
        return Pattern.compile("(?s)```" + language + "\n(" + Pattern.quote(begin) + ".*?)```")
                .matcher(page)
                .results()
                .map((MatchResult block) -> block.group(1))
                .toList();
    }

    private void run(String commands) {
        ProcessBuilder shell = new ProcessBuilder("bash", "-euc", commands).directory(directory.toFile());
        try (CapturedProcess process = CapturedProcess.start("commands of the page", shell)) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
        }
    }

    private BrokerProcess start(String name, String yaml, String... settings) throws Exception {
        Path file = Files.writeString(directory.resolve(name + ".yaml"), yaml + """
                storage:
                  kind: memory
                management:
                  port: 0
                """);
        Path home = Files.createDirectories(directory.resolve(name));
        return BrokerProcess.start(home, List.of(), file, settings);
    }

    @Test
    void listenersServeClientsWithAndWithoutACertificate() throws Exception {
        List<String> yaml = blocks("yaml", "listeners:");
        List<String> publications = blocks("", "mosquitto_pub ");
        assertThat(yaml).hasSameSizeAs(publications).hasSize(2);
        String both = yaml.get(0) + yaml.get(1).replaceFirst("listeners:\n", "");
        try (BrokerProcess broker = start(
                "broker",
                both,
                "listeners.tcp.host=127.0.0.1",
                "listeners.tcp.port=0",
                "listeners.ws.enabled=false",
                "listeners.tls.host=127.0.0.1",
                "listeners.tls.port=0",
                "listeners.mtls.host=127.0.0.1",
                "listeners.mtls.port=0")) {
            try (RawClient subscriber = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
                subscriber.deadline(PATIENCE);
                subscriber.connect("subscriber");
                subscriber.subscribe("greeting/#", 0);
                for (String publication : publications) {
                    run(publication
                            .replace("-p 8883", "-p " + broker.port("tls"))
                            .replace("-p 8884", "-p " + broker.port("mtls")));
                }
                subscriber.expectPublish("greeting/tls", "hello");
                subscriber.expectPublish("greeting/mtls", "hello");
            }
        }
    }

    @Test
    void nodesFormACluster() throws Exception {
        List<String> yaml = blocks("yaml", "cluster:");
        assertThat(yaml).hasSize(1);
        run(blocks("", "openssl ")
                .get(3)
                .lines()
                .skip(2)
                .collect(Collectors.joining("\n"))
                .replace("node-1", "node-2"));
        List<Integer> ports = LoopbackPorts.some(2);
        String addresses = yaml.get(0)
                .replace("192.0.2.1:7800", "127.0.0.1:" + ports.get(0))
                .replace("192.0.2.2:7800", "127.0.0.1:" + ports.get(1));
        String second = addresses
                .replace("bind: 127.0.0.1:" + ports.get(0), "bind: 127.0.0.1:" + ports.get(1))
                .replace("node-1", "node-2");
        String[] settings = {
            "listeners.tcp.host=127.0.0.1", "listeners.tcp.port=0", "listeners.ws.enabled=false",
        };
        try (BrokerProcess one = start("one", addresses, settings);
                BrokerProcess two = start("two", second, settings)) {
            for (BrokerProcess node : List.of(one, two)) {
                await().atMost(PATIENCE).until(() -> cluster(node).contains("\"reachable\":true"));
            }
        }
    }

    private static String cluster(BrokerProcess node) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + node.port("management") + "/cluster");
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(PATIENCE).build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
