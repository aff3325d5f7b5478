// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MigrationTest {

    private static final Path SAMPLES = Path.of("src/test/resources/migrate");

    /** Keys that decide what others say, or are half of one that has the origin. */
    private static final Set<String> SAID_BY_ANOTHER_KEY = Set.of(
            "smqtt.ws.enable",
            "smqtt.http.ssl",
            "smqtt.http.ssl.enable",
            "smqtt.websocket.enable",
            "smqtt.tcp.ssl",
            "smqtt.tcp.ssl.enable",
            "smqtt.auth.fixed.password",
            "smqtt.acl.aclPolicy",
            "smqtt.cluster.enable",
            "smqtt.cluster.port",
            "smqtt.cluster.localAddress",
            "smqtt.rules[0].chain[0].ruleType");

    @TempDir
    Path directory;

    @Test
    void keysOfTheFormerSmqttBecomeOurs() {
        Map<String, String> settings =
                Migration.read(SAMPLES.resolve("smqtt.yaml"), "old.yaml", null).settings("new");

        assertThat(settings)
                .containsEntry("logging.level", "debug")
                .containsEntry("listeners.tcp.port", "1884")
                .containsEntry("listeners.tcp.backlog", "2000")
                .containsEntry("listeners.ws.port", "8999")
                .containsEntry("listeners.ws.path", "/mqtt")
                .containsEntry("limits.max-packet-bytes", "4194304")
                .containsEntry("limits.max-outbound-bytes", "80000000")
                .containsEntry("access.allow-anonymous", "false")
                .containsEntry("access.password-file", "new.passwd")
                .containsEntry("management.port", "60000")
                .containsEntry("cluster.enabled", "true")
                .containsEntry("cluster.bind", "127.0.0.1:7771")
                .containsEntry("cluster.seeds", "127.0.0.1:7771,127.0.0.1:7772")
                .containsEntry("cluster.node-id", "node-1")
                .containsEntry("session.max-expiry", "4294967295s")
                .containsEntry("rules.filter.sql", "SELECT topic, clientid, qos, payload FROM \"#\"")
                .containsEntry("rules.filter.actions.action-1.topic", "test/test2")
                .doesNotContainKey("listeners.tcp.tls.key");
    }

    @ParameterizedTest
    @ValueSource(strings = {"smqtt.yaml", "smqttx.yaml", "smqtt.properties", "moquette.conf"})
    void noKeyIsLost(String sample) {
        Path path = SAMPLES.resolve(sample);
        OldFile file = OldFile.read(path, sample);
        List<OldSetting> all = sample.endsWith(".yaml")
                ? OldYaml.read(file)
                : sample.endsWith(".conf") ? ConfLines.read(file) : OldProperties.read(file);
        Migration migration = Migration.read(path, sample, null);
        List<String> origins = migration.settings("new").keySet().stream()
                .map(migration::origin)
                .toList();

        assertThat(all).hasSizeGreaterThan(10).allSatisfy(setting -> {
            boolean named = migration.notes().stream().anyMatch(note -> note.startsWith(setting + ": "));
            boolean taken = origins.contains(setting.where() + " " + setting.key());
            assertThat(named || taken || SAID_BY_ANOTHER_KEY.contains(setting.key()))
                    .as("%s", setting)
                    .isTrue();
        });
    }

    @Test
    void notesNameLineKeyAndWhatToDoAndNoSecret() {
        Migration migration = Migration.read(SAMPLES.resolve("smqtt.yaml"), "old.yaml", null);

        assertThat(migration.notes())
                .contains("old.yaml:9: smqtt.tcp.wiretap: not migrated; packets are not logged; use tcpdump")
                .anyMatch(note -> note.startsWith("old.yaml:7: smqtt.tcp.username: differs; access.password-file"))
                .anyMatch(note -> note.contains("smqtt.rules[0].ruleName: differs; rules.filter: "))
                .anyMatch(note -> note.contains("smqtt.sources[0].source: not migrated; an action of a rule has"))
                .anyMatch(note -> note.contains("smqtt.tcp.ssl.crt: not migrated; TLS is off"))
                .noneMatch(note -> note.contains("s3cret") || note.contains("topsecret"));
        assertThat(migration.settings("new").values()).noneMatch(text -> text.contains("s3cret"));
    }

    @Test
    void rulesForAllAndForNetworksAreTakenOverAndOthersAreNamed() throws IOException {
        Migration migration = Migration.read(SAMPLES.resolve("smqttx.yaml"), "x.yaml", null);

        migration.writeAccessFiles(directory, "new", false);

        assertThat(Files.readAllLines(directory.resolve("new.acl")))
                .containsSubsequence(
                        "address any",
                        "pattern read public/news",
                        "address 127.0.0.0/8",
                        "pattern readwrite local/#",
                        "address any",
                        "pattern deny write public/secret")
                .noneMatch(line -> line.contains("topic"));
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("rules.csv:4: not migrated"))
                .anyMatch(note -> note.startsWith("rules.csv:5: NOT ENFORCED"));
        assertThat(migration.settings("new"))
                .containsEntry("cluster.bind", "10.0.0.2:5701")
                .containsEntry("listeners.ws.enabled", "false")
                .containsEntry("management.port", "60000")
                .doesNotContainKey("listeners.ws.port");
    }

    @Test
    void usersAreWrittenHashedForTheOwnerAlone() throws IOException {
        Migration migration = Migration.read(SAMPLES.resolve("smqtt.properties"), "p", OldBroker.smqtt);

        assertThat(migration.writeAccessFiles(directory, "new", false))
                .containsExactly(directory.resolve("new.passwd"));

        assertThat(Files.readString(directory.resolve("new.passwd")))
                .startsWith("smqtt:$7$")
                .doesNotContain(":smqtt");
        assertThat(Files.getPosixFilePermissions(directory.resolve("new.passwd")))
                .hasSize(2);
        assertThatThrownBy(() -> migration.writeAccessFiles(directory, "new", false))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("exists already");
        assertThat(migration.settings("new"))
                .containsEntry("listeners.ws.port", "8998")
                .containsEntry("management.port", "60001");
        assertThat(migration.notes()).anyMatch(note -> note.startsWith("p:22: server.port: not migrated"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "smqtt:\\n  tcp:\\n    ssl:\\n      enable: true | smqtt.tcp.ssl.enable is on without crt and key",
                "smqtt:\\n  tcp:\\n    username: anna | f.yaml:3: smqtt.tcp.username needs both user name and password",
                "smqtt:\\n  ws:\\n    enable: maybe | f.yaml:3: smqtt.ws.enable must be true or false",
                "smqtt:\\n  tcp: 1\\n  tcp: 2 | f.yaml:3: smqtt.tcp is given twice, first in line 2",
                "listeners: 1 | has no key below smqtt",
                "smqtt: [ | f.yaml:1: is not valid YAML",
                "smqtt:\\n  a: *b | f.yaml:2: smqtt.a uses an anchor or alias",
            })
    void whatCannotBeMigratedIsRefusedWithItsLine(String yaml, String problem) throws IOException {
        Path file = Files.writeString(directory.resolve("f.yaml"), yaml.replace("\\n", "\n"));

        assertThatThrownBy(() -> Migration.read(file, "f.yaml", null))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void sizeDepthAndNumberOfKeysAreLimited() throws IOException {
        Path large = Files.writeString(directory.resolve("large.yaml"), "#".repeat(OldFile.MAX_BYTES + 1));
        Path deep = Files.writeString(directory.resolve("deep.yaml"), "smqtt: " + "[".repeat(10_000));
        Path wide = Files.writeString(directory.resolve("wide.properties"), lines("smqtt.x%d=1"));
        Path conf = Files.writeString(directory.resolve("wide.conf"), lines("port %d"));

        assertThatThrownBy(() -> Migration.read(large, "f", null)).hasMessageContaining("larger than 1 MiB");
        assertThatThrownBy(() -> Migration.read(deep, "f", null))
                .hasMessageContaining("f:1: ")
                .hasMessageContaining("deeper");
        assertThatThrownBy(() -> Migration.read(wide, "f", null)).hasMessageContaining("f:10001: has more than");
        assertThatThrownBy(() -> Migration.read(conf, "f", null)).hasMessageContaining("f:10001: has more than");
    }

    /** What is made of a key takes time with the square of its length. */
    @ParameterizedTest
    @CsvSource({"f.yaml,'smqtt:\n  %s: 1'", "g.yaml,%s: 1", "f.properties,%s=1", "f.conf,%s 1"})
    void keysAreNotLong(String name, String format) throws IOException {
        String text = String.format(format.replace("\\n", "\n"), "k".repeat(OldFile.MAX_KEY + 1));
        Path file = Files.writeString(directory.resolve(name), text);

        assertThatThrownBy(() -> Migration.read(file, "f", null))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("holds a key of more than 512 characters");
    }

    private static String lines(String format) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i <= OldFile.MAX_SETTINGS; i++) {
            text.append(String.format(format, i)).append('\n');
        }
        return text.toString();
    }

    @Test
    void otherCharacterSetsAreNamed() throws IOException {
        Path file = Files.write(directory.resolve("f.yaml"), "smqtt: \u00e9".getBytes(StandardCharsets.ISO_8859_1));

        assertThatThrownBy(() -> Migration.read(file, "f.yaml", null)).hasMessageContaining("is not in UTF-8");
    }

    @Test
    void controlCharactersOfKeysDoNotReachTheTerminal() throws IOException {
        Path file = Files.writeString(directory.resolve("f.yaml"), "smqtt:\n  \"a\\u001b[31m\\nb\": 1\n");

        assertThat(Migration.read(file, "f.yaml", null).notes())
                .allMatch(note -> note.chars().allMatch(c -> c >= ' '))
                .anyMatch(note -> note.contains("smqtt.a…: "));
    }

    @Test
    void mosquittoWithoutListenerServesThisMachineOnly() throws IOException {
        assertThat(mosquitto("persistence true"))
                .containsEntry("listeners.tcp.host", "127.0.0.1")
                .containsEntry("listeners.tcp.port", "1883")
                .containsEntry("listeners.ws.enabled", "false")
                .containsEntry("access.allow-anonymous", "true")
                .containsEntry("storage.kind", "rocksdb")
                .containsEntry("session.max-expiry", "4294967295s");
    }

    /** mosquitto leaves this machine at listener, port and bind_address only. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "max_connections 100",
                "max_connections -1",
                "protocol mqtt",
                "protocol websockets",
                "cafile ca.pem",
                "bind_interface eth0",
                "require_certificate false"
            })
    void keysOfTheFirstListenerDoNotOpenIt(String line) throws IOException {
        String name = line.endsWith("websockets") ? "ws" : "tcp";

        assertThat(mosquitto("allow_anonymous true", line))
                .containsEntry("listeners." + name + ".host", "127.0.0.1")
                .containsEntry("listeners." + name + ".port", "1883");
    }

    @ParameterizedTest
    @ValueSource(strings = {"max_connections -1", "protocol mqtt", "require_certificate false"})
    void whatIsTheDefaultMakesNoSecondListener(String line) throws IOException {
        Map<String, String> settings =
                mosquitto("allow_anonymous true", line, "listener 8883", "certfile c.pem", "keyfile k.pem");

        assertThat(settings)
                .containsEntry("listeners.tcp.port", "8883")
                .containsEntry(
                        "listeners.tcp.tls.key", directory.resolve("k.pem").toString())
                .containsEntry("listeners.ws.enabled", "false");
        assertThat(settings.keySet()).noneMatch(key -> key.startsWith("listeners.tcp-"));
        assertThat(mosquitto("max_connections 100", "listener 8883", "certfile c.pem", "keyfile k.pem"))
                .containsEntry("listeners.tcp.port", "1883")
                .containsEntry("listeners.tcp-8883.port", "8883");
    }

    @Test
    void interfaceNeedsItsAddress() throws IOException {
        for (String listener :
                List.of("listener 1883", "listener 1883 0.0.0.0", "listener 1883 ::", "listener 1883 any.example")) {
            assertThatThrownBy(() -> mosquitto(listener, "bind_interface eth0"))
                    .hasMessageContaining("m.conf:2: bind_interface is not migrated");
        }
        Migration migration = read("listener 1883 10.0.0.1", "bind_interface eth0");

        assertThat(migration.settings("new")).containsEntry("listeners.tcp.host", "10.0.0.1");
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("m.conf:2: bind_interface: differs; listeners.<name>.host"));
    }

    @Test
    void unixSocketAloneIsNotMadeAPort() throws IOException {
        assertThatThrownBy(() -> mosquitto("listener 0 /run/mosquitto.sock", "allow_anonymous true"))
                .hasMessageContaining("m.conf:1: listener is a Unix socket and the only listener");
        assertThat(mosquitto("listener 0 /run/mosquitto.sock", "listener 1884 127.0.0.1"))
                .containsEntry("listeners.tcp.port", "1884");
    }

    @Test
    void listenersOfMosquittoKeepTheirKeys() throws IOException {
        Map<String, String> settings = mosquitto(
                "listener 1884 10.0.0.1",
                "max_connections 50",
                "listener 8883",
                "certfile c.pem",
                "keyfile k.pem",
                "cafile ca.pem",
                "require_certificate true",
                "use_identity_as_username true",
                "listener 9001",
                "protocol websockets",
                "listener 8884",
                "psk_hint x",
                "password_file users",
                "acl_file /etc/acl",
                "max_inflight_messages 0",
                "max_keepalive 300",
                "persistent_client_expiration 2w");

        assertThat(settings)
                .containsEntry("listeners.tcp.host", "10.0.0.1")
                .containsEntry("listeners.tcp.max-connections", "50")
                .containsEntry("listeners.tcp-8883.type", "tcp")
                .containsEntry(
                        "listeners.tcp-8883.tls.certificate",
                        directory.resolve("c.pem").toString())
                .containsEntry("listeners.tcp-8883.tls.client-auth", "required")
                .containsEntry("listeners.tcp-8883.tls.user-name", "cn")
                .containsEntry("listeners.ws.port", "9001")
                .containsEntry("listeners.tcp-8884.enabled", "false")
                .doesNotContainKey("listeners.tcp-8884.port")
                .containsEntry("access.allow-anonymous", "false")
                .containsEntry(
                        "access.password-file", directory.resolve("users").toString())
                .containsEntry("access.acl-file", "/etc/acl")
                .containsEntry("limits.max-in-flight", "65535")
                .containsEntry("mqtt.max-keep-alive", "300s")
                .containsEntry("session.default-expiry", "336h");
    }

    @Test
    void differentAccessRulesOfListenersAreNeverMixed() throws IOException {
        assertThat(mosquitto(
                        "per_listener_settings true",
                        "listener 1883 127.0.0.1",
                        "allow_anonymous true",
                        "listener 1884",
                        "password_file users"))
                .containsEntry("access.allow-anonymous", "false")
                .containsEntry(
                        "access.password-file", directory.resolve("users").toString());
        assertThatThrownBy(() -> mosquitto(
                        "per_listener_settings true", "listener 1883", "acl_file a", "listener 1884", "acl_file b"))
                .hasMessageContaining("m.conf:5: acl_file differs from the one in m.conf:3");
    }

    @Test
    void whoPluginsLetInStaysOut() throws IOException {
        assertThat(mosquitto("listener 1883", "allow_anonymous true", "plugin /usr/lib/dynsec.so"))
                .containsEntry("access.allow-anonymous", "false");
    }

    static Stream<String> keysThatNeedAUser() {
        return MosquittoMapper.RULES.rules().stream()
                .filter(rule -> rule.advice().startsWith("clients need a user in"))
                .map(rule -> rule.key().replace("*", "opt_x"));
    }

    @ParameterizedTest
    @MethodSource("keysThatNeedAUser")
    void whoSaysThatNobodyGetsInLetsNobodyIn(String key) throws IOException {
        Migration migration = read("listener 1883", "allow_anonymous true", key + " x /usr/lib/x.so");

        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("m.conf:3: " + key + ": not migrated; clients need a user"));
        assertThat(migration.settings("new"))
                .containsEntry("access.allow-anonymous", "false")
                .containsEntry("access.acl-file", "new.acl");
        assertThat(keysThatNeedAUser()).contains("plugin_load", "plugin_use", "global_plugin");
    }

    @ParameterizedTest
    @CsvSource({
        "allow_anonymous true,listener_allow_anonymous true,true",
        "allow_anonymous true,listener_allow_anonymous false,false",
        "allow_anonymous false,listener_allow_anonymous true,true",
        "max_keepalive 9,listener_allow_anonymous true,true",
        "max_keepalive 9,max_qos 1,false"
    })
    void whatOneListenerAllowsCountsBeforeWhatIsSaidOfAll(String all, String own, String expected) throws IOException {
        assertThat(mosquitto(all, "listener 1883", own)).containsEntry("access.allow-anonymous", expected);
        assertThat(mosquitto(all, "listener 1883", own, "listener 1884", "listener_allow_anonymous false"))
                .containsEntry("access.allow-anonymous", "false");
    }

    @Test
    void permissionOfAListenerNeedsTheListener() {
        assertThatThrownBy(() -> mosquitto("listener_allow_anonymous true", "listener 1883"))
                .hasMessageContaining("m.conf:1: listener_allow_anonymous is before the first listener");
    }

    @Test
    void whatPluginsRefusedIsNotAllowedWithoutAWord() throws IOException {
        Migration without = read("listener 1883", "plugin /usr/lib/dynsec.so", "password_file users");
        assertThat(without.settings("new")).containsEntry("access.acl-file", "new.acl");
        without.writeAccessFiles(directory, "new", false);
        assertThat(Files.readAllLines(directory.resolve("new.acl")))
                .isNotEmpty()
                .allMatch(line -> line.startsWith("#"));

        Migration with = read("listener 1883", "plugin /usr/lib/dynsec.so", "acl_file acl");
        assertThat(with.settings("new"))
                .containsEntry("access.acl-file", directory.resolve("acl").toString());
        assertThat(with.notes()).anyMatch(note -> note.startsWith("m.conf:2: plugin: NOT ENFORCED; access.acl-file"));
        assertThat(read("clientid_prefixes x").notes())
                .anyMatch(note -> note.startsWith("m.conf:1: clientid_prefixes: NOT ENFORCED"));
    }

    @Test
    void whatOtherGuardsAreLostIsSaid() throws IOException {
        assertThat(read("host 127.0.0.1", "authorizator_class x.Y", "acl_file acl")
                        .notes())
                .anyMatch(note -> note.startsWith("m.conf:2: authorizator_class: NOT ENFORCED; access.acl-file"));
        Files.writeString(directory.resolve("users.csv"), "c1,anna,secret\n");
        Path file = Files.writeString(directory.resolve("x.yaml"), "smqtt:\n  auth:\n    file: users.csv\n");
        assertThat(Migration.read(file, "x.yaml", null).notes())
                .anyMatch(note -> note.startsWith("x.yaml:3: smqtt.auth.file: NOT ENFORCED; access.password-file"));
    }

    @Test
    void metersForInfluxAreTakenWhereTheTypeSaysSo() {
        assertThat(Migration.read(SAMPLES.resolve("smqtt.yaml"), "old.yaml", null)
                        .notes())
                .anyMatch(note -> note.contains(
                        "smqtt.meter.influxdb.uri: not migrated; meterType is not INFLUXDB in this file"));
    }

    @Test
    void influxIsTakenWithItsUserOrItIsSaidWhatIsMissing() throws IOException {
        Migration whole = influx("uri=http://h:8086", "db=d", "userName=u", "password=s3cret", "step=7200");
        assertThat(whole.settings("x"))
                .containsEntry("management.influx.url", "http://h:8086")
                .containsEntry("management.influx.database", "d")
                .containsEntry("management.influx.user", "u")
                .containsEntry("management.influx.interval", "3600s");
        assertThat(whole.notes())
                .anyMatch(note -> note.contains("password: differs; management.influx.password: it is not written"))
                .anyMatch(note -> note.contains("step: differs; management.influx.interval: the maximum is one hour"));

        Migration user = influx("uri=http://h:8086", "db=   ", "userName=u", "step=often");
        assertThat(user.settings("x"))
                .containsEntry("management.influx.interval", "10s")
                .doesNotContainKeys("management.influx.user", "management.influx.database");
        assertThat(user.notes())
                .anyMatch(note -> note.contains("influxdb.userName: not migrated; it has no password"))
                .anyMatch(note -> note.contains("influxdb.db: not migrated; it is blank"))
                .anyMatch(note -> note.contains("influxdb.step: not migrated; it is not an integer"));

        assertThat(influx("uri=http://h:8086", "password=s3cret").notes())
                .anyMatch(note -> note.contains("influxdb.password: not migrated; it has no userName"))
                .noneMatch(note -> note.contains("put it into a file"));
    }

    @ParameterizedTest
    @CsvSource({"   ,there is no uri", "localhost:8086,the uri must begin with http"})
    void influxWithoutAUsableUriIsNotTaken(String uri, String why) throws IOException {
        Migration migration = influx("uri=" + (uri == null ? "\\u0020" : uri), "db=d", "password=s3cret");

        assertThat(migration.settings("x").keySet()).noneMatch(key -> key.startsWith("management.influx"));
        assertThat(migration.notes())
                .anyMatch(note -> note.contains("influxdb.uri: not migrated"))
                .anyMatch(note -> note.contains("influxdb.db: not migrated; " + why))
                .anyMatch(note -> note.contains("influxdb.password: not migrated; " + why));
    }

    @Test
    void thePasswordForInfluxIsNotAskedForWhereTheTypeIsAnother() throws IOException {
        assertThat(properties("smqtt.meter.meterType=PROMETHEUS", "smqtt.meter.influxdb.password=s3cret")
                        .notes())
                .anyMatch(note -> note.contains("influxdb.password: not migrated; meterType is not INFLUXDB"))
                .noneMatch(note -> note.contains("put it into a file"));
    }

    private Migration influx(String... settings) throws IOException {
        return properties(Stream.concat(
                        Stream.of("smqtt.meter.meterType=INFLUXDB"),
                        Stream.of(settings)
                                .map(setting -> "smqtt.meter.influxdb." + setting.replace("=   ", "=\\u0020")))
                .toArray(String[]::new));
    }

    private Migration properties(String... lines) throws IOException {
        Path file = Files.writeString(directory.resolve("old.properties"), String.join("\n", lines) + "\n");
        return Migration.read(file, "old.properties", null);
    }

    @Test
    void certificateAndKeyOfHttpAreThoseOfTheManagementPort() throws IOException {
        Migration migration = properties(
                "smqtt.http.enable=true",
                "smqtt.http.ssl.enable=true",
                "smqtt.http.ssl.crt=server.crt",
                "smqtt.http.ssl.key=/keys/server.key",
                "smqtt.http.ssl.ca=ca.crt");

        assertThat(migration.settings("x"))
                .containsEntry(
                        "management.tls.certificate",
                        directory.resolve("server.crt").toString())
                .containsEntry("management.tls.key", "/keys/server.key");
        assertThat(migration.notes()).anyMatch(note -> note.contains("http.ssl.ca: not migrated"));
    }

    @ParameterizedTest
    @CsvSource({
        "smqtt.http.enable=true,smqtt.http.ssl.enable=true,it needs both crt and key",
        "smqtt.http.enable=true,smqtt.http.ssl.enable=false,TLS is off in this file",
        "smqtt.http.enable=false,smqtt.http.ssl.enable=true,HTTP is off in this file"
    })
    void tlsOfHttpThatIsNotTakenIsNamed(String http, String tls, String why) throws IOException {
        Migration migration = properties(http, tls, "smqtt.http.ssl.crt=server.crt");

        assertThat(migration.settings("x").keySet()).noneMatch(key -> key.startsWith("management.tls"));
        assertThat(migration.notes()).anyMatch(note -> note.contains("http.ssl.crt: not migrated; " + why));
    }

    /** Opening a pipe waits for somebody who writes. */
    @Test
    @Timeout(60)
    void pipesAreNotIncluded() throws Exception {
        Path folder = Files.createDirectory(directory.resolve("conf.d"));
        Files.writeString(folder.resolve("b.conf"), "max_keepalive 20\n");
        Process mkfifo = new ProcessBuilder("mkfifo", folder.resolve("a.conf").toString()).start();
        assertThat(mkfifo.waitFor()).isZero();

        assertThat(mosquitto("include_dir conf.d")).containsEntry("mqtt.max-keep-alive", "20s");
    }

    @Test
    void foldersAreIncludedInTheOrderOfTheirNames() throws IOException {
        Path folder = Files.createDirectory(directory.resolve("conf.d"));
        Files.writeString(folder.resolve("b.conf"), "max_keepalive 20\n");
        Files.writeString(folder.resolve("a.conf"), "max_keepalive 10\nlistener 1999\n");
        Files.writeString(folder.resolve("c.txt"), "nonsense\n");

        assertThat(mosquitto("include_dir conf.d"))
                .containsEntry("mqtt.max-keep-alive", "20s")
                .containsEntry("listeners.tcp.port", "1999");
        assertThatThrownBy(() -> mosquitto("include_dir missing"))
                .hasMessageContaining("m.conf:1: include_dir names a directory that cannot be read");
    }

    @Test
    void filesOfAFolderDoNotSayWhichListenerComesNext() throws IOException {
        Path folder = Files.createDirectory(directory.resolve("conf.d"));
        Files.writeString(folder.resolve("a.conf"), "max_connections 7\nlistener 1999\n");

        assertThat(mosquitto(
                        "listener 8883",
                        "certfile c.pem",
                        "keyfile k.pem",
                        "cafile ca.pem",
                        "include_dir conf.d",
                        "require_certificate true"))
                .containsEntry("listeners.tcp-8883.tls.client-auth", "required")
                .doesNotContainKeys("listeners.tcp-8883.max-connections", "listeners.tcp-1999.max-connections");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"listner 1883", "memroy_limit 1", "new_acl x", "pasword_file users", "client_trust_level 2"})
    void unknownKeysThatMayGuardAreRefused(String line) {
        assertThatThrownBy(() -> mosquitto(line))
                .hasMessageContaining("m.conf:1: " + line.split(" ")[0] + " is not a known key of mosquitto");
    }

    @Test
    void unknownKeysThatGuardNothingAreNamed() throws IOException {
        Migration migration = read("listener 1884 127.0.0.1", "message_spool_size 10");

        assertThat(migration.settings("new")).containsEntry("listeners.tcp.port", "1884");
        assertThat(migration.notes())
                .contains("m.conf:2: message_spool_size: not migrated; it is not a known key of mosquitto");
    }

    @Test
    void keysOfOlderAndNewerVersionsMeanWhatTheyMeant() throws IOException {
        Migration migration = read(
                "maximum_qos 1",
                "retry_interval 20",
                "retained_persistence true",
                "enable_control_api true",
                "packet_buffer_size 4096",
                "persistent_client_expiration 90s",
                "listener 1883 127.0.0.1",
                "disable_client_cert_date_checks true",
                "proxy_protocol_v2_require_tls true",
                "listener 8080",
                "protocol http_api");

        assertThat(migration.settings("new"))
                .containsEntry("mqtt.max-qos", "1")
                .containsEntry("storage.kind", "rocksdb")
                .containsEntry("session.max-expiry", "90s")
                .containsEntry("listeners.tcp-8080.enabled", "false")
                .doesNotContainKey("listeners.tcp-8080.port");
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("m.conf:9: proxy_protocol_v2_require_tls: NOT ENFORCED"))
                .anyMatch(note -> note.startsWith("m.conf:11: protocol: not migrated"))
                .filteredOn(note -> note.contains(": not migrated; "))
                .hasSize(5);
    }

    @Test
    void everyKeyOfMosquittoHasARule() {
        assertThat(Stream.of(MOSQUITTO_KEYS.split("\\s+")).filter(key -> MosquittoMapper.RULES.find(key) == null))
                .isEmpty();
    }

    /** The keys of mosquitto.conf(5) of 2.0, and those that 2.1 added. */
    private static final String MOSQUITTO_KEYS = """
            acl_file address addresses allow_anonymous allow_duplicate_messages allow_zero_length_clientid auth_opt_x auth_plugin
            auth_plugin_deny_special_chars auto_id_prefix autosave_interval autosave_on_changes bind_address bind_interface
            bridge_alpn bridge_attempt_unsubscribe bridge_bind_address bridge_cafile bridge_capath bridge_certfile bridge_identity
            bridge_insecure bridge_keyfile bridge_max_packet_size bridge_outgoing_retain bridge_protocol_version bridge_psk
            bridge_require_ocsp bridge_tls_version cafile capath certfile check_retain_source ciphers ciphers_tls1.3 cleansession
            clientid_prefixes connection connection_messages crlfile dhparamfile http_dir idle_timeout include_dir
            keepalive_interval keyfile listener local_cleansession local_clientid local_password local_username log_dest
            log_facility log_timestamp log_timestamp_format log_type max_connections max_inflight_bytes max_inflight_messages
            max_keepalive max_packet_size max_qos max_queued_bytes max_queued_messages max_topic_alias memory_limit
            message_size_limit mount_point notification_topic notifications notifications_local_only password_file
            per_listener_settings persistence persistence_file persistence_location persistent_client_expiration pid_file plugin
            plugin_opt_x port protocol psk_file psk_hint queue_qos0_messages remote_clientid remote_password remote_username
            require_certificate restart_timeout retain_available round_robin set_tcp_nodelay socket_domain start_type sys_interval
            threshold tls_engine tls_engine_kpass_sha1 tls_keyform tls_version topic try_private upgrade_outgoing_qos
            use_identity_as_username use_subject_as_username use_username_as_clientid user websockets_headers_size
            websockets_log_level websockets_origin enable_proxy_protocol accept_protocol_versions global_max_connections
            global_max_clients global_plugin max_topic_alias_broker retain_expiry_interval maximum_qos retry_interval
            retained_persistence plugin_load plugin_use listener_allow_anonymous listener_auto_id_prefix enable_control_api
            packet_buffer_size disable_client_cert_date_checks proxy_protocol_v2_require_tls""";

    /** As version 0.17 was seen to do. */
    @Test
    void moquettesRulesAreRelativeToItsHomeAndReadAsItReadsThem() throws IOException {
        Path config = Files.createDirectory(directory.resolve("config"));
        Files.writeString(
                config.resolve("acl.conf"), "# all\ntopic read a/#\nuser anna\ntopic deny b\ntopic readwrite c/+\n");
        Path file = Files.writeString(config.resolve("moquette.conf"), "host 127.0.0.1\nacl_file config/acl.conf\n");

        Migration migration = Migration.read(file, "moquette.conf", null);

        assertThat(migration.settings("x")).containsEntry("access.acl-file", "x.acl");
        migration.writeAccessFiles(directory, "x", false);
        assertThat(directory.resolve("x.acl"))
                .hasContent("# all\npattern read a/#\nuser anna\ntopic deny b\ntopic readwrite c/+\n");
        Files.writeString(config.resolve("acl.conf"), "user anna\ntopic readwrite c/+\n");
        assertThat(Migration.read(file, "moquette.conf", null).settings("x"))
                .containsEntry("access.acl-file", config.resolve("acl.conf").toString());
        assertThat(migration.notes())
                .filteredOn(note -> note.contains("NOT ENFORCED"))
                .hasSize(2)
                .anyMatch(note -> note.startsWith("config/acl.conf:2: NOT ENFORCED; Moquette treats a #"))
                .anyMatch(note -> note.startsWith("config/acl.conf:4: NOT ENFORCED; Moquette has no denying rules"));
    }

    @Test
    void ofTwoAccessFilesOfMoquetteTheLastCounts() throws IOException {
        Path open = Files.writeString(directory.resolve("open.conf"), "topic readwrite a/+\ntopic deny b\n");
        Path guarded = Files.writeString(directory.resolve("guarded.conf"), "user anna\ntopic read a/+\n");

        Migration migration = read("host 127.0.0.1", "acl_file open.conf", "acl_file guarded.conf");
        assertThat(migration.settings("x")).containsEntry("access.acl-file", guarded.toString());
        assertThat(migration.accessFileKeys()).isEmpty();
        assertThat(migration.notes()).noneMatch(note -> note.startsWith("open.conf"));

        Migration swapped = read("host 127.0.0.1", "acl_file guarded.conf", "acl_file open.conf");
        assertThat(swapped.settings("x")).containsEntry("access.acl-file", "x.acl");
        swapped.writeAccessFiles(directory, "x", false);
        assertThat(directory.resolve("x.acl")).hasContent("pattern readwrite a/+\npattern deny b\n");

        Files.delete(open);
        assertThat(read("host 127.0.0.1", "acl_file open.conf", "acl_file guarded.conf")
                        .settings("x"))
                .containsEntry("access.acl-file", guarded.toString());
    }

    @Test
    void moquetteWithTlsListensWithoutItUntilThereArePemFiles() {
        Migration migration = Migration.read(SAMPLES.resolve("moquette.conf"), "moquette.conf", null);

        assertThat(migration.broker()).isEqualTo(OldBroker.moquette);
        assertThat(migration.settings("new"))
                .containsEntry("listeners.tcp.port", "1887")
                .containsEntry("listeners.tcp.host", "127.0.0.1")
                .containsEntry("listeners.ws.port", "8081")
                .containsEntry("listeners.tls.enabled", "false")
                .containsEntry("access.allow-anonymous", "true")
                .containsEntry("session.max-expiry", "1209600s")
                .containsEntry("storage.kind", "rocksdb")
                .doesNotContainKey("access.password-file");
        assertThat(migration.notes()).noneMatch(note -> note.contains("passw0rdsrv"));
    }

    @Test
    void portOfMoquetteThatIsDisabledDoesNotListen() throws IOException {
        assertThat(read("port disabled", "ssl_port 8883", "host 0.0.0.0").settings("new"))
                .containsEntry("listeners.tcp.enabled", "false")
                .containsEntry("listeners.ws.enabled", "false")
                .containsEntry("listeners.tls.enabled", "false")
                .containsEntry("listeners.tls.port", "8883")
                .doesNotContainKeys("listeners.tcp.port", "listeners.tcp.host");
        assertThat(read("port 1884", "websocket_port 8080", "host 10.0.0.1", "port disabled", "websocket_port disabled")
                        .settings("new"))
                .containsEntry("listeners.tcp.enabled", "false")
                .containsEntry("listeners.ws.enabled", "false")
                .doesNotContainKeys("listeners.tcp.port", "listeners.ws.port", "listeners.ws.host");
        assertThat(read("host 10.0.0.1", "ssl_port disabled", "port disabled", "port 1884")
                        .settings("new"))
                .containsEntry("listeners.tcp.port", "1884")
                .containsEntry("listeners.tcp.host", "10.0.0.1")
                .doesNotContainKeys("listeners.tcp.enabled", "listeners.tls.enabled", "listeners.tls.port");
    }

    private Map<String, String> mosquitto(String... lines) throws IOException {
        return read(lines).settings("new");
    }

    private Migration read(String... lines) throws IOException {
        Path file = Files.writeString(directory.resolve("m.conf"), String.join("\n", lines) + "\n");
        return Migration.read(file, "m.conf", null);
    }
}
