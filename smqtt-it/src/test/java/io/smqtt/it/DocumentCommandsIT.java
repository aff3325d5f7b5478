// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands of the documents that need nothing but a moment, as they stand there, by the real program and a shell. */
class DocumentCommandsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Path DOCS = Path.of(System.getProperty("smqtt.home", ".."))
            .resolve("docs")
            .toAbsolutePath()
            .normalize();

    /** A command, and what the document says that it prints: all up to the next one, or to the end of the block. */
    private static final Pattern SESSION =
            Pattern.compile("(?m)^\\$ ([^\n]*bin/smqtt [^\n]*)\n((?:(?!\\$ |```)[^\n]*\n)*)");

    private static final Pattern LINE = Pattern.compile("(?m)^(?:\\.\\./)*(bin/smqtt [^\n#]*)");

    @TempDir
    Path directory;

    /** What a command came to. */
    private record Result(int code, String output) {}

    private Result shell(String command, String input) throws Exception {
        Path bin = Files.createDirectories(directory.resolve("bin"));
        Path program = bin.resolve("smqtt");
        if (!Files.exists(program)) {
            List<String> words = new ArrayList<>();
            BrokerProcess.program().forEach(word -> words.add("'" + word + "'"));
            Files.writeString(program, "#!/bin/sh\nexec " + String.join(" ", words) + " \"$@\"\n");
            Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        }
        Path output = Files.createTempFile(directory, "output", ".txt");
        Process process = new ProcessBuilder("bash", "-c", command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().close();
        } catch (IOException e) {
            assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue(); // it reads nothing
        }
        try {
            assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as(command)
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Result(process.exitValue(), Files.readString(output));
    }

    private String plain(String text) {
        return text.replace(directory + "/", "/srv/")
                .replaceAll("process [0-9]+", "process N")
                .replaceAll("\\s+", " ")
                .strip();
    }

    /** {@code docs/data.md}, from the backup of a running broker to the attempt to export what it has open. */
    @Test
    void storedDataIsHandledAsTheDocumentShows() throws Exception {
        try (BrokerProcess broker = start()) {
            leave(broker);
            Matcher session = SESSION.matcher(Files.readString(DOCS.resolve("data.md")));
            int run = 0;
            while (session.find()) {
                if (session.group(2).contains("block checksum mismatch")) {
                    continue; // DamagedStoreIT damages a store
                }
                Result result = shell(session.group(1), "");
                String said = plain(session.group(2));
                assertThat(plain(result.output())).as(session.group(1)).contains(said);
                boolean fails = !said.matches(".*(lines (ex|im)ported|all is well|backup made).*");
                assertThat(result.code() != 0).as(session.group(1)).isEqualTo(fails);
                run++;
            }
            assertThat(run).isEqualTo(8);
        }
    }

    private BrokerProcess start() throws IOException {
        return LoopbackBroker.start(directory);
    }

    /** One session with a subscription and three messages, and a retained message: what the document counts. */
    private static void leave(BrokerProcess broker) {
        try (RawClient away = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            away.connect(ConnectBytes.of("away").persistent(3_600));
            away.subscribe("queued", 1);
            away.disconnect();
            publisher.connect("publisher");
            for (int i = 0; i < 3; i++) {
                publisher.publish("queued", "message " + i, 1);
            }
            publisher.publish(PublishBytes.to("kept").payload("stays").qos(1, 9).retained());
        }
    }

    /** Users, checks of a configuration, and the migration of one. */
    @Test
    void usersAndConfigurationsAreMadeAndCheckedAsTheDocumentsShow() throws Exception {
        Files.writeString(directory.resolve("my.yaml"), "listeners:\n  tcp:\n    port: 1884\n");
        Files.writeString(directory.resolve("mosquitto.conf"), "listener 1883\nallow_anonymous true\n");
        Files.writeString(directory.resolve("emqx.conf"), "listeners.tcp.default { bind = \"0.0.0.0:1883\" }\n");
        int run = 0;
        for (String document : List.of("getting-started.md", "deployment.md", "migration.md")) {
            Matcher line = LINE.matcher(Files.readString(DOCS.resolve(document)));
            while (line.find()) {
                String command = line.group(1).strip().replaceAll("/etc/(mosquitto|smqtt|emqx)/", "");
                if (command.matches("bin/smqtt (passwd|config|version)\\b.*")) {
                    Files.deleteIfExists(directory.resolve("passwords")); // each document begins anew
                    if (command.contains(" migrate ")) {
                        Files.deleteIfExists(directory.resolve("smqtt.yaml"));
                    }
                    Result result = shell(command, "secret-1234\nsecret-1234\n");
                    assertThat(result.code())
                            .as("%s: %s", command, result.output())
                            .isZero();
                    assertThat(command.contains(" passwd ")).isEqualTo(Files.exists(directory.resolve("passwords")));
                    run++;
                }
            }
        }
        assertThat(run).isGreaterThanOrEqualTo(6);
        assertThat(shell("bin/smqtt version", "").output()).contains("smqtt");
    }

    /** The script of the page for browsers, by the same client library on Node.js: a browser is not needed for it. */
    @Test
    void theScriptForBrowsersTalksToTheBroker() throws Exception {
        Matcher page = Pattern.compile("(?s)<script>\n(.*?)</script>")
                .matcher(Files.readString(DOCS.resolve("getting-started.md")));
        assertThat(page.find()).isTrue();
        Path library = ForeignLibrary.installed("node/node_modules/mqtt");
        try (BrokerProcess broker = BrokerProcess.start(directory, TestCertificates.in(directory))) {
            Files.writeString(
                    directory.resolve("page.cjs"),
                    """
                    const mqtt = require(process.argv[2]);
                    const document = { body: { append: line => {
                      process.stdout.write(String(line));
                      client.end();
                    } } };
                    """ + page.group(1).replace("8083", Integer.toString(broker.port("ws"))));

            Result result = shell("node page.cjs '" + library + "'", "");

            assertThat(result.code()).as(result.output()).isZero();
            assertThat(result.output()).contains("greeting/browser: hello");
        }
    }

    /** Those runs of {@code docs/bench.md} that take seconds and need no more than a broker. */
    @Test
    void theShortMeasurementsOfTheDocumentRun() throws Exception {
        try (BrokerProcess broker = start()) {
            Matcher session = SESSION.matcher(Files.readString(DOCS.resolve("bench.md")));
            int run = 0;
            while (session.find()) {
                String command = session.group(1);
                if (command.matches(".* (conn -c 1000|scenario retained) .*")) {
                    Result result = shell(command.replace("-p 21883", "-p " + broker.port("tcp")), "");
                    assertThat(result.code())
                            .as("%s: %s", command, result.output())
                            .isZero();
                    run++;
                }
            }
            assertThat(run).isEqualTo(2);
        }
    }
}
