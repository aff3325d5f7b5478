// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.ReloadResult;
import io.smqtt.access.PasswordFile;
import io.smqtt.config.BrokerConfig;
import io.smqtt.migrate.legacy.LegacyConfig;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.LifecycleObserver;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandLineTest {

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Map<String, String> environment = new HashMap<>();
    private final FakeSignals signals = new FakeSignals();
    private final FakeBroker broker = new FakeBroker(signals);
    private BrokerStarter starter = broker;
    private InputStream in = InputStream.nullInputStream();

    @Test
    void startPrintsListenersAndReadinessAndStopsWhenToldTo() {
        int code = run("start", "--set", "listeners.tcp.port=1884", "--set", "shutdown-timeout=3s");

        assertThat(code).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8).lines())
                .hasSize(3)
                .startsWith("listener tcp bound to 127.0.0.1:1884", "listener ws bound to 127.0.0.1:8083")
                .last()
                .asString()
                .matches("smqtt started in \\d+\\.\\d\\d s \\(pid "
                        + ProcessHandle.current().pid() + "\\)");
        assertThat(broker.closedWithin).isEqualTo(Duration.ofSeconds(3));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    management.otlpp.url=http://localhost          | management.otlpp.url     | management.otlp
                    management.graphite.url=http://localhost       | management.graphite.url  | unknown key
                    management.otlp.url=localhost:4318             | management.otlp.url      | http:// or https://
                    management.otlp.url=http://u:p@localhost/      | management.otlp.url      | without a user
                    management.otlp.interval=5s                    | management.otlp.url      | must be set
                    management.influx.url=ftp://localhost          | management.influx.url    | http:// or https://
                    management.influx.org=home                     | management.influx.url    | must be set
                    management.sys-interval=1ms                    | management.sys-interval  | at least 100ms
                    management.tracing.url=localhost:4318          | management.tracing.url   | http:// or https://
                    management.tracing.share=0.5                   | management.tracing.url   | must be set
                    management.tracing.enabled=true                | management.tracing.enabled | unknown key
                    """)
    void registriesThatCannotBeUsedAreRefused(String setting, String key, String problem) {
        int code = run("start", "--set", setting);

        assertThat(code).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains(key, problem);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    bind: 127.0.0.1:0                              | cluster.bind          | port
                    bind: 8.8.8.8:7800                             | cluster.bind          | takes cluster.tls
                    bind: no.such.host.invalid:7800                | cluster.bind          | no such host
                    seeds: [10.0.0.1]                              | cluster.seeds         | host:port
                    secret: short                                  | cluster.secret        | at least 16 characters
                    discovery: dns                                 | cluster.discovery     | cluster.seeds
                    discovery: kubernetes                          | cluster.discovery     | cluster.seeds
                    tls: {certificate: gone.pem, key: gone.key}    | cluster.tls.client-ca | must be set
                    tls: {certificate: a, key: gone, client-ca: b} | cluster.tls.key       | gone
                    """)
    void aClusterThatCannotBeFormedIsRefusedWithItsKeyAndLine(String setting, String key, String problem)
            throws IOException {
        Files.writeString(
                directory.resolve("cluster.yaml"), "cluster:\n  enabled: true\n  node-id: a\n  " + setting + "\n");

        assertThat(run("config", "check", "--config", "cluster.yaml")).isEqualTo(ExitCode.BAD_CONFIGURATION);

        assertThat(err.toString(StandardCharsets.UTF_8).lines())
                .anyMatch(line -> line.contains("cluster.yaml:4") && line.contains(key) && line.contains(problem));
        assertThat(run("start", "--config", "cluster.yaml")).isEqualTo(ExitCode.BAD_CONFIGURATION);
    }

    @Test
    void aNodeWithAnEmptyNameIsRefusedWithItsLine() throws IOException {
        Files.writeString(directory.resolve("cluster.yaml"), "cluster:\n  enabled: true\n  node-id: \"\"\n");

        assertThat(run("config", "check", "--config", "cluster.yaml")).isEqualTo(ExitCode.BAD_CONFIGURATION);

        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("cluster.yaml:3", "cluster.node-id", "must not be empty");
    }

    @Test
    void secretsOfRegistriesComeFromFilesAndAreNotShown() throws IOException {
        Files.writeString(directory.resolve("token"), "very-secret\n");
        environment.put("SMQTT_MANAGEMENT__INFLUX__TOKEN_FILE", "token");
        environment.put("SMQTT_MANAGEMENT__OTLP__HEADERS", "api-key: also-secret");

        int code = run(
                "config",
                "print",
                "--set=management.influx.url=http://localhost:8086",
                "--set=management.influx.org=home",
                "--set=management.influx.bucket=mqtt",
                "--set=management.otlp.url=http://localhost:4318/v1/metrics");

        assertThat(code).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("http://localhost:8086", "bucket: mqtt")
                .doesNotContain("very-secret")
                .doesNotContain("also-secret");
    }

    @Test
    void commandsThatAskABrokerRefuseWhatIsNoUrlOfHttp() {
        for (List<String> command :
                List.of(List.of("top"), List.of("ctl", "cluster"), List.of("ctl", "explain", "a/b"))) {
            err.reset();
            List<String> arguments = new ArrayList<>(command);
            arguments.add("--url=file:/etc/passwd");

            assertThat(run(arguments.toArray(String[]::new))).isEqualTo(ExitCode.USAGE);
            assertThat(err.toString(StandardCharsets.UTF_8))
                    .contains("--url must be like http://127.0.0.1:18083", "file:/etc/passwd")
                    .doesNotContain("Exception");
        }
    }

    @Test
    void flagsOfTheQuickStartWork() throws IOException {
        Files.writeString(directory.resolve("f.yaml"), "limits:\n  max-in-flight: 9\n");

        int code = run(
                "start",
                "--config",
                "f.yaml",
                "--set",
                "listeners.tcp.port=1884",
                "--set",
                "listeners.ws.port=8084",
                "--set",
                "management.port=18083",
                "--data",
                "d");

        assertThat(code).isEqualTo(ExitCode.OK);
        BrokerConfig config = broker.started();
        assertThat(config.limits().maxInFlight()).isEqualTo(9);
        assertThat(config.listeners().get("tcp").port()).isEqualTo(1884);
        assertThat(config.listeners().get("ws").port()).isEqualTo(8084);
        assertThat(config.storage().dir()).isEqualTo(directory.resolve("d"));
    }

    @Test
    void checkLooksIntoTheFilesThatAStartWouldRead() throws IOException {
        Files.writeString(directory.resolve("passwords"), "anna:in the clear\n");
        Files.writeString(directory.resolve("acl"), "topic nonsense a b\n");
        Files.writeString(directory.resolve("pem"), "nothing\n");

        int code = run(
                "config",
                "check",
                "--set=access.password-file=passwords",
                "--set=access.acl-file=acl",
                "--set=listeners.tcp.tls.certificate=pem",
                "--set=listeners.tcp.tls.key=pem",
                "--set=listeners.ws.proxy-protocol=true",
                "--set=listeners.ws.trusted-proxies=10.0.0.0/8");

        assertThat(code).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8).lines())
                .hasSize(3)
                .anyMatch(line -> line.contains("passwords:1: "))
                .anyMatch(line -> line.contains("acl:1: "))
                .anyMatch(line -> line.contains("listeners.tcp.tls.certificate: "));
    }

    @Test
    void checkRefusesWhatAStartWouldRefuseOfTheManagementPort() throws IOException {
        Files.writeString(directory.resolve("token"), "short\n");

        assertThat(run("config", "check", "--set=management.token-file=token")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("management.token-file", "16");
        err.reset();
        assertThat(run("config", "check", "--set=management.host=0.0.0.0")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("management.token-file", "0.0.0.0");
        assertThat(run("config", "check", "--set=management.tracing.url=http://127.0.0.1:1/v1/traces"))
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void twoKeysWithTheSamePortAreNamed() {
        assertThat(run("config", "check", "--set=management.port=1883")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("management.port is 1883", "listeners.tcp.port");
        err.reset();
        assertThat(run("config", "check", "--set=listeners.ws.port=1883")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("listeners.ws.port", "tcp");
        assertThat(run(
                        "config",
                        "check",
                        "--set=listeners.tcp.host=127.0.0.2",
                        "--set=management.host=127.0.0.1",
                        "--set=management.port=1883"))
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void passwordFileThatCannotBeWrittenIsNoDefect() {
        in = new ByteArrayInputStream("secret\n".getBytes(StandardCharsets.UTF_8));

        assertThat(run("passwd", "--create", "missing/users", "anna")).isEqualTo(ExitCode.BAD_CONFIGURATION);

        assertThat(err.toString(StandardCharsets.UTF_8).lines())
                .singleElement()
                .asString()
                .contains("missing/users: cannot be written");
    }

    @Test
    void hangUpBeforeTheBrokerRunsDoesNothing() {
        signals.early = true;
        signals.hangUps = 1;

        assertThat(run("start")).isEqualTo(ExitCode.OK);

        assertThat(broker.reloads).isZero();
        assertThat(broker.closedWithin).isNotNull();
    }

    @Test
    void hangUpReadsFilesAgainAndSecondStopForces() {
        signals.hangUps = 1;
        signals.stops = 2;

        assertThat(run("start")).isEqualTo(ExitCode.OK);

        assertThat(broker.reloads).isEqualTo(1);
        assertThat(signals.halted).isTrue();
    }

    @Test
    void signalThatArrivesTwiceForOneRequestForcesNothing() {
        signals.stops = 2;
        signals.nanosBetween = 1_000_000;

        assertThat(run("start")).isEqualTo(ExitCode.OK);

        assertThat(signals.halted).isFalse();
    }

    @Test
    void flagsWinOverEnvironmentOverFileOverDefaults() throws IOException {
        Files.writeString(
                directory.resolve("f.yaml"),
                "limits:\n  max-in-flight: 1\n  receive-maximum: 1\n  max-topic-levels: 1\n");
        environment.put("SMQTT_LIMITS__MAX_IN_FLIGHT", "2");
        environment.put("SMQTT_LIMITS__RECEIVE_MAXIMUM", "2");

        run("config", "print", "--format", "properties", "--config", "f.yaml", "--set", "limits.max-in-flight=3");

        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("# --set limits.max-in-flight\nlimits.max-in-flight=3\n")
                .contains("# environment SMQTT_LIMITS__RECEIVE_MAXIMUM\nlimits.receive-maximum=2\n")
                .contains("# f.yaml:4\nlimits.max-topic-levels=1\n")
                .contains("# default\nlimits.max-user-properties=100\n");
    }

    @Test
    void printedYamlIsAConfigurationWithTheSameValues() throws IOException {
        run("config", "print", "--set", "mqtt.server-reference=a\"b\\c:1", "--set", "listeners.tcp.path=/x");
        String printed = out.toString(StandardCharsets.UTF_8);
        Files.writeString(directory.resolve("printed.yaml"), printed);
        out.reset();

        run("config", "print", "--config", "printed.yaml");

        assertThat(withoutComments(out.toString(StandardCharsets.UTF_8))).isEqualTo(withoutComments(printed));
    }

    @Test
    void secretComesFromAFileAndIsNeverPrinted() throws IOException {
        Files.writeString(directory.resolve("secret"), "0123456789abcdef\n");
        environment.put("SMQTT_CLUSTER__SECRET_FILE", "secret");

        int code = run("config", "print");

        assertThat(code).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("secret: \"***\"  # environment SMQTT_CLUSTER__SECRET_FILE")
                .doesNotContain("0123456789abcdef");
    }

    @Test
    void variablesOfAnOrchestratorAndOfTheScriptAreNoKeys() {
        environment.putAll(new TreeMap<>(Map.of(
                "SMQTT_SERVICE_HOST",
                "10.0.0.1",
                "SMQTT_SERVICE_PORT_MQTT",
                "1883",
                "SMQTT_PORT",
                "tcp://10.0.0.1:1883",
                "SMQTT_PORT_1883_TCP_ADDR",
                "10.0.0.1",
                "SMQTT_HEADLESS_SERVICE_HOST",
                "10.0.0.1",
                "SMQTT_JAVA_OPTS",
                "-Xmx1g",
                "SMQTT_LOG_FORMAT",
                "json",
                "PATH",
                "/bin")));

        assertThat(run("config", "check")).isEqualTo(ExitCode.OK);
        assertThat(EnvironmentKeys.leftAlone(environment))
                .containsExactly(
                        "SMQTT_HEADLESS_SERVICE_HOST",
                        "SMQTT_PORT",
                        "SMQTT_PORT_1883_TCP_ADDR",
                        "SMQTT_SERVICE_HOST",
                        "SMQTT_SERVICE_PORT_MQTT");
    }

    @Test
    void aVariableThatIsNearlyAKeyStopsTheStart() {
        environment.put("SMQTT_LISTENERS_TCP_PORT", "1884"); // a level is two underscores

        assertThat(run("config", "check")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("environment SMQTT_LISTENERS_TCP_PORT: unknown key listeners-tcp-port");
    }

    @ParameterizedTest
    @CsvSource({
        "2, ''",
        "2, nonsense",
        "2, start --nonsense",
        "2, start --set novalue",
        "2, config",
        "2, config print --format xml",
        "2, passwd",
        "0, --help",
        "0, start --help",
        "0, version",
        "0, config check",
        "3, config check --set foo.bar=1",
        "3, config check --set listeners.tcp.port=x",
        "3, config check --config none.yaml",
        "3, config check --set access.password-file=none",
        "3, config check --set listeners.tcp.tls.certificate=none --set listeners.tcp.tls.key=none",
        "3, start --set foo.bar=1",
        "3, start --set cluster.enabled=true",
        "2, start --profile small",
    })
    void exitCodeTellsWhatHappened(int code, String line) {
        assertThat(run(line.isEmpty() ? new String[0] : line.split(" "))).isEqualTo(code);
        assertThat(code == ExitCode.OK || err.size() > 0).as("says why").isTrue();
        assertThat(broker.config).as("nothing was started").isNull();
    }

    @Test
    void unknownVariableStopsTheStartWithItsName() {
        environment.put("SMQTT_LISTENERS__TCP__PROT", "1");

        assertThat(run("start")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .isEqualTo("smqtt: environment SMQTT_LISTENERS__TCP__PROT: unknown key listeners.tcp.prot,"
                        + " did you mean listeners.tcp.port?" + System.lineSeparator());
    }

    @Test
    void portInUseIsExitFour() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            starter = BrokerStarter.CORE;

            int code = run(
                    "start",
                    "--set=listeners.ws.enabled=false",
                    "--set=listeners.tcp.host=127.0.0.1",
                    "--set=listeners.tcp.port=" + taken.getLocalPort());

            assertThat(code).isEqualTo(ExitCode.PORT_IN_USE);
            assertThat(err.toString(StandardCharsets.UTF_8))
                    .contains("tcp")
                    .contains(Integer.toString(taken.getLocalPort()))
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void brokenAccessFileIsExitThree() throws IOException {
        Files.writeString(directory.resolve("users"), "no colon in here\n");
        starter = BrokerStarter.CORE;

        int code = run(
                "start", "--set=listeners.tcp.port=0", "--set=listeners.ws.port=0", "--set=access.password-file=users");

        assertThat(code).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("users:1:");
    }

    @Test
    void brokerOfTheCoreStartsAndStops() {
        signals.early = true;
        starter = BrokerStarter.CORE;

        int code = run("start", "--set=listeners.tcp.port=0", "--set=listeners.ws.port=0", "--set=shutdown-timeout=1s");

        assertThat(code).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8))
                .containsPattern("listener tcp bound to \\S+:[1-9]\\d*\n")
                .containsPattern("listener ws bound to \\S+:[1-9]\\d*\n");
    }

    @Test
    void dataIsKeptBesideTheConfigurationForItsOwnerOnly() throws IOException {
        Files.createDirectory(directory.resolve("etc"));
        Files.writeString(
                directory.resolve("etc/smqtt.yaml"),
                "listeners:\n  tcp:\n    host: 127.0.0.1\n    port: 0\n  ws:\n    enabled: false\n");
        signals.early = true;
        starter = BrokerStarter.CORE;

        assertThat(run("start", "--config", "etc/smqtt.yaml", "--set=shutdown-timeout=1s"))
                .isEqualTo(ExitCode.OK);

        Path data = directory.resolve("etc/data");
        try (Stream<Path> files = Files.walk(data)) {
            assertThat(files.toList())
                    .contains(data.resolve("store/FORMAT"), data.resolve("store/db/CURRENT"))
                    .allSatisfy(file -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                            .as(file.toString())
                            .isEqualTo(Files.isDirectory(file) ? "rwx------" : "rw-------"));
        }
    }

    @Test
    void memoryLeavesNothingOnDisk() throws IOException {
        signals.early = true;
        starter = BrokerStarter.CORE;

        assertThat(run(
                        "start",
                        "--set=storage.kind=memory",
                        "--set=listeners.tcp.port=0",
                        "--set=listeners.ws.port=0",
                        "--set=shutdown-timeout=1s"))
                .isEqualTo(ExitCode.OK);

        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void dataDirectoryThatCannotBeUsedIsExitFive() throws IOException {
        Files.writeString(Files.createDirectory(directory.resolve("taken")).resolve("store"), "a file\n");
        starter = BrokerStarter.CORE;

        assertThat(run("start", "--data", "taken", "--set=listeners.tcp.port=0", "--set=listeners.ws.port=0"))
                .isEqualTo(ExitCode.BAD_DATA);

        assertThat(err.toString(StandardCharsets.UTF_8)).contains("taken").doesNotContain("\tat ");
    }

    @Test
    void unexpectedFailureIsExitOne() {
        broker.failure = new IllegalStateException("boom");

        assertThat(run("start")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("boom");
    }

    @Test
    void passwordIsReadFromStandardInputAndCanBeDeleted() throws IOException {
        in = new ByteArrayInputStream("geheim\n".getBytes(StandardCharsets.UTF_8));
        assertThat(run("passwd", "--create", "-I", "1", "users", "anna")).isEqualTo(ExitCode.OK);
        assertThat(Files.readString(directory.resolve("users")))
                .startsWith("anna:$7$1$")
                .doesNotContain("geheim");

        assertThat(run("passwd", "--delete", "users", "anna")).isEqualTo(ExitCode.OK);
        assertThat(PasswordFile.read(directory.resolve("users")).userNames()).isEmpty();
        assertThat(run("passwd", "--delete", "users", "anna")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(run("passwd", "--create", "users", "anna")).isEqualTo(ExitCode.USAGE);
        assertThat(run("passwd", "other", "anna")).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void warmUpStartsOnLoopbackAndEndsByItself() {
        assertThat(run("warm-up")).isEqualTo(ExitCode.OK);

        assertThat(broker.started().listeners().values())
                .allSatisfy(listener -> assertThat(listener.host()).isEqualTo("127.0.0.1"));
        assertThat(broker.started().storage().dir()).doesNotExist();
        assertThat(directory).isEmptyDirectory();
        assertThat(broker.closedWithin).isNotNull();
    }

    /** The class archive has the classes of a CONNECT only if clients get through while the training run is up. */
    @Test
    void warmUpLetsClientsOfBothVersionsThrough() {
        List<String> connected = new CopyOnWriteArrayList<>();
        starter = (config, legacy, beforehand) -> BrokerStarter.start(
                config,
                legacy,
                beforehand,
                builder -> builder.observer(new LifecycleObserver() {
                    @Override
                    public void clientConnected(ClientIdentity client, boolean sessionPresent) {
                        connected.add(client.version().name());
                    }
                }));

        assertThat(run("warm-up")).isEqualTo(ExitCode.OK);

        assertThat(connected).containsExactly("MQTT_5", "MQTT_3_1_1");
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    private int run(String... args) {
        ProgramContext program = new ProgramContext(
                in,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                environment,
                directory,
                starter,
                signals,
                () -> signals.nanoTime,
                Set.of("smqtt-persistence"));
        return SmqttMain.run(program, args);
    }

    private static List<String> withoutComments(String yaml) {
        List<String> lines = new ArrayList<>();
        yaml.lines().forEach(line -> lines.add(line.replaceFirst("  # .*", "")));
        return lines;
    }

    /** Remembers what it was started with; its listeners are what was asked for, on the loopback address. */
    private static final class FakeBroker implements BrokerStarter, BrokerStarter.Running {

        private final FakeSignals signals;

        @Nullable
        BrokerConfig config;

        @Nullable
        RuntimeException failure;

        @Nullable
        Duration closedWithin;

        int reloads;

        FakeBroker(FakeSignals signals) {
            this.signals = signals;
        }

        @Override
        public long connectionsOpened() {
            return 0;
        }

        @Override
        public Running start(BrokerConfig asked, LegacyConfig legacy, Runnable beforehand) {
            if (failure != null) {
                throw failure;
            }
            config = asked;
            return this;
        }

        BrokerConfig started() {
            assertThat(config).as("was started").isNotNull();
            return config;
        }

        @Override
        public Map<String, InetSocketAddress> listeners() {
            Map<String, InetSocketAddress> bound = new LinkedHashMap<>();
            signals.send(); // it runs
            started()
                    .listeners()
                    .forEach((name, listener) ->
                            bound.put(name, new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port())));
            return bound;
        }

        @Override
        public ReloadResult reload() {
            reloads++;
            return new ReloadResult(List.of("acl"), List.of("passwords: bad\u001bline"));
        }

        @Override
        public void close(Duration deadline) {
            closedWithin = deadline;
        }
    }

    /** Sends its signals as soon as the broker runs, or before. */
    private static final class FakeSignals implements Signals {

        int hangUps;
        int stops = 1;
        boolean halted;
        long nanosBetween = 2_000_000_000L;
        long nanoTime;
        boolean early;
        private Runnable stop = () -> {};
        private Runnable reload = () -> {};

        @Override
        public void onStop(Runnable action) {
            stop = action;
        }

        @Override
        public void onReload(Runnable action) {
            reload = action;
            if (early) {
                send();
            }
        }

        void send() {
            for (int i = 0; i < hangUps; i++) {
                reload.run();
            }
            for (int i = 0; i < stops; i++) {
                stop.run();
                nanoTime += nanosBetween;
            }
            hangUps = 0;
            stops = 0;
        }

        @Override
        public void halt() {
            halted = true;
        }
    }
}
