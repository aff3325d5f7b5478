// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tarball and Debian package of {@code mvn -Pdist package}, unpacked: the broker in them starts and serves. Run by {@code .ci/dist}; an
 * installation by dpkg, with its scripts, needs root and a machine to spare.
 */
class DistProof {

    private static final Path TARGET =
            BrokerProcess.script().resolveSibling("../smqtt-bootstrap/target").normalize();

    @TempDir
    Path directory;

    @Test
    void theTarballRuns() throws IOException {
        run("tar", "-xzf", made(".tar.gz").toString(), "-C", directory.toString());
        Path home;
        try (Stream<Path> folders = Files.list(directory)) {
            home = folders.filter(Files::isDirectory).findFirst().orElseThrow();
        }

        assertThat(home.resolve("LICENSE")).exists();
        assertThat(home.resolve("config/smqtt.yaml")).exists();
        assertThat(home.resolve("deploy/systemd/smqtt.service")).exists();
        assertThat(home.resolve("docs/configuration.md")).exists();
        assertThatPagesAndCompletionAreThere(home.resolve("share"));
        assertThatExtensionsAreThere(home.resolve("bin/smqtt"));
        assertThatABrokerServes(home.resolve("bin/smqtt"), home.resolve("config/smqtt.yaml"));
        assertThatTheBillNamesWhatIsInside(home.resolve("lib/smqtt.cdx.json"));
    }

    @Test
    void theDebianPackageRuns() throws IOException {
        String deb = made("_all.deb").toString();
        Path root = directory.resolve("root");
        run("dpkg-deb", "-x", deb, root.toString());
        Path control = directory.resolve("control");
        run("dpkg-deb", "-e", deb, control.toString());

        assertThat(control.resolve("conffiles")).content().contains("/etc/smqtt/smqtt.yaml");
        assertThat(control.resolve("postinst")).isExecutable();
        for (String script : List.of("postinst", "prerm", "postrm")) {
            run("sh", "-n", control.resolve(script).toString());
        }
        String unit = Files.readString(root.resolve("lib/systemd/system/smqtt.service"));
        assertThat(unit).contains("ExecStart=/usr/share/smqtt/bin/smqtt start").doesNotContain("/opt/");
        assertThat(Files.readSymbolicLink(root.resolve("usr/bin/smqtt"))).isRelative();
        assertThatExtensionsAreThere(root.resolve("usr/bin/smqtt"));
        assertThatABrokerServes(root.resolve("usr/bin/smqtt"), root.resolve("etc/smqtt/smqtt.yaml"));
        assertThatTheBillNamesWhatIsInside(root.resolve("usr/share/smqtt/lib/smqtt.cdx.json"));
        assertThatPagesAndCompletionAreThere(root.resolve("usr/share"));
    }

    private static void assertThatExtensionsAreThere(Path program) {
        ProcessBuilder command = new ProcessBuilder(program.toString(), "ext", "list");
        try (CapturedProcess list = CapturedProcess.start("smqtt ext list", command)) {
            assertThat(list.awaitExit(BrokerPair.PATIENCE)).as(list.report()).isZero();
            assertThat(String.join("\n", list.output()))
                    .contains(
                            "access backend ldap",
                            "access backend redis",
                            "access backend sql",
                            "sink jdbc",
                            "sink kafka",
                            "sink rabbitmq",
                            "sink redis",
                            "source kafka",
                            "source rabbitmq",
                            "source redis");
        }
    }

    private static void assertThatPagesAndCompletionAreThere(Path share) throws IOException {
        assertThat(share.resolve("bash-completion/completions/smqtt")).content().contains("_complete_smqtt");
        assertThat(share.resolve("zsh/vendor-completions/_smqtt")).content().startsWith("#compdef smqtt\n");
        assertThat(share.resolve("fish/vendor_completions.d/smqtt.fish"))
                .content()
                .contains("complete -c smqtt");
        try (InputStream page = new GZIPInputStream(Files.newInputStream(share.resolve("man/man1/smqtt-start.1.gz")))) {
            assertThat(new String(page.readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith(".TH SMQTT-START 1")
                    .contains("\\-\\-config");
        }
    }

    /** The file in question of the last build. */
    private static Path made(String suffix) throws IOException {
        try (Stream<Path> files = Files.list(TARGET)) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no " + suffix + " in " + TARGET + ": mvn -Pdist package"));
        }
    }

    private void assertThatABrokerServes(Path program, Path configuration) throws IOException {
        ProcessBuilder command = new ProcessBuilder(
                program.toString(),
                "start",
                "--config",
                configuration.toString(),
                "--data",
                directory.resolve("data").toString(),
                "--set",
                "listeners.tcp.port=0",
                "--set",
                "listeners.ws.port=0",
                "--set",
                "management.port=0");
        command.environment().put("SMQTT_CACHE_DIR", "none");
        try (BrokerProcess broker = BrokerProcess.start(command);
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.deadline(BrokerPair.PATIENCE).connect("from-the-package");
            client.subscribe("a/b", 0);
            client.send(PublishBytes.to("a/b").payload("hello"));
            client.expectPublish("a/b", "hello");
        }
    }

    private static void assertThatTheBillNamesWhatIsInside(Path bill) throws IOException {
        Set<String> names = new HashSet<>();
        for (JsonNode component : new ObjectMapper().readTree(bill.toFile()).get("components")) {
            names.add(component.get("name").asText());
            assertThat(component.hasNonNull("version")).isTrue();
        }
        assertThat(names).contains("netty-handler", "reactor-netty-core", "rocksdbjni", "jgroups", "logback-classic");
    }

    private static void run(String... command) {
        try (CapturedProcess process = CapturedProcess.start(command[0], new ProcessBuilder(command))) {
            assertThat(process.awaitExit(BrokerPair.PATIENCE))
                    .as("%s%s", command[0], process.report())
                    .isZero();
        }
    }
}
