// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.ReloadResult;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfig;
import io.smqtt.migrate.legacy.LegacyConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MigrateCommandTest {

    private static final Path SAMPLES =
            Path.of("../smqtt-migrate/src/test/resources/migrate").toAbsolutePath();

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final List<BrokerConfig> started = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(strings = {"smqtt.yaml", "smqttx.yaml", "smqtt.properties", "moquette.conf"})
    void whatIsWrittenIsAConfigurationThatCanBeStarted(String sample) {
        String old = SAMPLES.resolve(sample).toString();

        assertThat(run("config", "migrate", old, "-o", "new.yaml"))
                .as(text(err))
                .isEqualTo(ExitCode.OK);
        assertThat(text(err)).contains(": not migrated; ");
        assertThat(run("config", "check", "--config", "new.yaml")).as(text(err)).isEqualTo(ExitCode.OK);
        assertThat(run("start", "--config", "new.yaml")).as(text(err)).isEqualTo(ExitCode.OK);
        assertThat(run("start", "--migrate", old, "--data", "d")).as(text(err)).isEqualTo(ExitCode.OK);

        assertThat(started).hasSize(2);
        assertThat(started.get(1).listeners()).isEqualTo(started.get(0).listeners());
        assertThat(started.get(1).limits()).isEqualTo(started.get(0).limits());
        assertThat(started.get(1).session()).isEqualTo(started.get(0).session());
        assertThat(started.get(1).cluster()).isEqualTo(started.get(0).cluster());
    }

    @Test
    void rulesOfEmqxPassTheCheck() throws IOException {
        Files.writeString(directory.resolve("emqx.conf"), """
                connectors.http.web { url = "https://example.com" }
                actions.http.hook { connector = web, parameters { path = "/${.clientid}", body = "{\\"t\\": ${.t}}" } }
                connectors.influxdb.i { server = "127.0.0.1:8086", parameters { influxdb_type = influxdb_api_v1, database = d } }
                actions.influxdb.i { connector = i, parameters { write_syntax = "m,c=${clientid} t=${t}" } }
                rule_engine.rules.hot {
                  sql = "SELECT payload.t AS t, clientid FROM \\"sensors/#\\" WHERE payload.t > 40"
                  actions = ["http:hook", "influxdb:i", { function = console }
                    { function = republish, args { topic = "a/${.clientid}", payload = "${t} ${username}" } }
                    { function = republish, args { topic = "b/${.clientid}" } }]
                }
                """);

        assertThat(run("config", "migrate", "--from", "emqx", "emqx.conf", "-o", "new.yaml"))
                .as(text(err))
                .isEqualTo(ExitCode.OK);
        assertThat(text(err)).contains("the statement does not select username, which payload has");
        assertThat(run("config", "check", "--config", "new.yaml")).as(text(err)).isEqualTo(ExitCode.OK);
        assertThat(directory.resolve("new.yaml"))
                .content()
                .contains("type: influxdb", "type: console", "topic: \"b/${clientid}\"");
    }

    @Test
    void startTakesUsersOverIntoTheDataDirectory() {
        assertThat(run("start", "--migrate", SAMPLES.resolve("smqtt.yaml").toString(), "--data", "d"))
                .isEqualTo(ExitCode.OK);

        assertThat(started).singleElement().satisfies(config -> {
            assertThat(config.access().allowAnonymous()).isEqualTo(AnonymousAccess.FALSE);
            assertThat(config.access().passwordFile()).isEqualTo(directory.resolve("d/migrated.passwd"));
        });
        assertThat(directory.resolve("d/migrated.passwd")).content().startsWith("anna:$7$");
        assertThat(directory.resolve("d"))
                .satisfies(data -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data)))
                        .isEqualTo("rwx------"));
        assertThat(text(err)).contains("smqtt.yaml:9: smqtt.tcp.wiretap: not migrated; ");
    }

    @Test
    void nothingIsWrittenForABrokerThatCannotStart() throws IOException {
        Files.writeString(directory.resolve("old.yaml"), """
                smqtt:
                  tcp:
                    username: anna
                    password: secret
                    ssl:
                      enable: true
                      key: missing.key
                      crt: missing.crt
                """);

        assertThat(run("start", "--migrate", "old.yaml", "--data", "d")).isEqualTo(ExitCode.BAD_CONFIGURATION);

        assertThat(text(err)).contains("missing.crt").doesNotContain("migrated.passwd");
        assertThat(directory.resolve("d")).doesNotExist();
    }

    @Test
    void flagsWinOverTheOldFile() {
        String old = SAMPLES.resolve("smqtt.yaml").toString();

        assertThat(run("start", "--migrate", old, "--data", "d", "--set", "listeners.tcp.port=4321"))
                .isEqualTo(ExitCode.OK);

        assertThat(started.get(0).listeners().get("tcp"))
                .satisfies(tcp -> assertThat(tcp.port()).isEqualTo(4321));
        assertThat(run("start", "--migrate", old, "--config", "x.yaml")).isEqualTo(ExitCode.USAGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"smqtt.yaml", "smqtt.properties", "moquette.conf"})
    void startOfAnOldFileSaysWhatToDoInstead(String sample) {
        String old = SAMPLES.resolve(sample).toString();

        assertThat(run("start", "--config", old)).isEqualTo(ExitCode.BAD_CONFIGURATION);

        assertThat(text(err)).contains("config migrate " + old).contains("start --migrate " + old);
        assertThat(started).isEmpty();
    }

    @Test
    void fileOfOursMayHaveAnyName() throws IOException {
        for (String name : List.of("smqtt.conf", "smqtt.properties", "smqtt")) {
            Files.writeString(directory.resolve(name), "listeners:\n  tcp:\n    port: 1999\n");

            assertThat(run("start", "--config", name)).as(text(err)).isEqualTo(ExitCode.OK);
        }
        assertThat(started).hasSize(3);
    }

    @Test
    void theRootOfASpringApplicationIsTakenAndOtherKeysAreNot() throws IOException {
        Files.writeString(
                directory.resolve("a.yaml"), "smqtt:\n  cluster:\n    enabled: false\n  limits.max-in-flight: 7\n");
        assertThat(run("start", "--config", "a.yaml")).as(text(err)).isEqualTo(ExitCode.OK);
        assertThat(started.get(0).limits().maxInFlight()).isEqualTo(7);

        Files.writeString(directory.resolve("b.yaml"), """
                smqtt:
                  listeners:
                    tcp:
                      prot: 1
                """);
        assertThat(run("start", "--config", "b.yaml")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(text(err))
                .contains("b.yaml:4: unknown key listeners.tcp.prot, did you mean listeners.tcp.port?")
                .doesNotContain("former smqtt");

        Files.writeString(directory.resolve("c.yaml"), """
                spring:
                  application.name: x
                smqtt:
                  spring.security: true
                  limits.max-in-flight: 7
                """);
        assertThat(run("start", "--config", "c.yaml")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(text(err))
                .contains("c.yaml:2: spring.application.name is beside the root smqtt")
                .contains("c.yaml:4: smqtt.spring.security is for Spring applications; leave it out here");

        Files.writeString(directory.resolve("d.properties"), "smqtt.limits.max-in-flight=7\n");
        assertThat(run("start", "--config", "d.properties")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(text(err)).contains("d.properties: properties are for Spring applications");

        Files.writeString(directory.resolve("e.yaml"), "smqtt:\n  cluster:\n    enable: true\n    port: 7771\n");
        assertThat(run("start", "--config", "e.yaml")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(text(err)).contains("e.yaml: is a configuration of the former smqtt");
        assertThat(started).hasSize(1);
    }

    @Test
    void aPasswordOfInfluxStartsTheTrialAndIsInNoFile() throws IOException {
        Files.writeString(directory.resolve("old.yaml"), """
                smqtt:
                  tcp:
                    port: 1883
                  meter:
                    meterType: INFLUXDB
                    influxdb:
                      uri: http://localhost:8086
                      db: mqtt
                      userName: anna
                      password: topsecret
                      step: 5
                """);

        assertThat(run("start", "--migrate", "old.yaml", "--data", "d"))
                .as(text(err))
                .isEqualTo(ExitCode.OK);
        assertThat(started.get(0).management().influx()).satisfies(influx -> {
            assertThat(influx.url()).isEqualTo("http://localhost:8086");
            assertThat(influx.database()).isEqualTo("mqtt");
            assertThat(influx.user()).isEqualTo("anna");
            assertThat(influx.password()).isEqualTo("topsecret");
            assertThat(influx.interval()).isEqualTo(Duration.ofSeconds(10)); // never more often
        });
        assertThat(run("config", "migrate", "old.yaml", "-o", "new.yaml")).isEqualTo(ExitCode.OK);
        assertThat(directory.resolve("new.yaml"))
                .content()
                .contains("user: anna")
                .doesNotContain("topsecret");
        assertThat(text(err))
                .contains(
                        "old.yaml:10: smqtt.meter.influxdb.password: differs; management.influx.password: it is not written")
                .doesNotContain("topsecret");
    }

    @Test
    void valueOutOfRangeNamesTheOldKeyAndLine() throws IOException {
        Files.writeString(directory.resolve("old.yaml"), "smqtt:\n  tcp:\n    port: 99999\n");

        assertThat(run("config", "migrate", "old.yaml", "-o", "new.yaml")).isEqualTo(ExitCode.BAD_CONFIGURATION);

        assertThat(text(err)).contains("old.yaml:3 smqtt.tcp.port: listeners.tcp.port must be");
        assertThat(directory.resolve("new.yaml")).doesNotExist();
    }

    @Test
    void nothingIsOverwritten() throws IOException {
        Files.writeString(directory.resolve("new.yaml"), "kept");

        assertThat(run("config", "migrate", SAMPLES.resolve("smqtt.yaml").toString(), "-o", "new.yaml"))
                .isEqualTo(ExitCode.BAD_CONFIGURATION);

        assertThat(directory.resolve("new.yaml")).hasContent("kept");
        assertThat(directory.resolve("new.passwd")).doesNotExist();
    }

    @Test
    void standardOutputCarriesOnlyTheConfiguration() throws IOException {
        assertThat(run("config", "migrate", SAMPLES.resolve("moquette.conf").toString()))
                .isEqualTo(ExitCode.OK);
        Files.writeString(directory.resolve("new.yaml"), text(out));

        assertThat(run("config", "check", "--config", "new.yaml")).as(text(err)).isEqualTo(ExitCode.OK);
        try (var files = Files.list(directory)) {
            assertThat(files).containsExactly(directory.resolve("new.yaml"));
        }
    }

    private int run(String... args) {
        Recorder recorder = new Recorder(started);
        ProgramContext program = new ProgramContext(
                InputStream.nullInputStream(),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                Map.of(),
                directory,
                recorder,
                recorder,
                System::nanoTime,
                Set.of("smqtt-persistence", "smqtt-cluster", "smqtt-rules"));
        return SmqttMain.run(program, args);
    }

    private static String text(ByteArrayOutputStream stream) {
        return stream.toString(StandardCharsets.UTF_8);
    }

    /** Remembers what was started, and stops it at once. */
    private static final class Recorder implements BrokerStarter, BrokerStarter.Running, Signals {

        private final List<BrokerConfig> started;
        private Runnable stop = () -> {};

        Recorder(List<BrokerConfig> started) {
            this.started = started;
        }

        @Override
        public long connectionsOpened() {
            return 0;
        }

        @Override
        public Running start(BrokerConfig config, LegacyConfig legacy, Runnable beforehand) {
            beforehand.run();
            started.add(config);
            return this;
        }

        @Override
        public Map<String, InetSocketAddress> listeners() {
            stop.run();
            return Map.of();
        }

        @Override
        public ReloadResult reload() {
            return ReloadResult.NOTHING;
        }

        @Override
        public void close(Duration deadline) {}

        @Override
        public void onStop(Runnable action) {
            stop = action;
        }

        @Override
        public void onReload(Runnable action) {}

        @Override
        public void halt() {}
    }
}
