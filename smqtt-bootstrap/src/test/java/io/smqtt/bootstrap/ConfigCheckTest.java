// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code config check} and {@code start} say of a configuration that cannot be used: all of it, each with its place and key. */
class ConfigCheckTest {

    @TempDir
    Path directory;

    private final Map<String, String> environment = new HashMap<>();
    private final BrokerStarter starter = (config, legacy, beforehand) -> {
        throw new AssertionError("was started");
    };

    @Test
    void allThatIsWrongIsSaidAtOnceWithPlaceAndKey() throws IOException {
        Files.createDirectory(directory.resolve("folder"));
        Files.writeString(directory.resolve("acl"), "nonsense\n");
        Files.writeString(directory.resolve("f.yaml"), """
                listeners:
                  tcp:
                    port: 99999
                    host: 999.1.1.1
                  ws:
                    port:
                    max-connections: -1
                    backlog: many
                limits:
                  max-in-flight: 0
                  receive-maximum: 70000
                  nonsense: 1
                access:
                  password-file: folder
                  acl-file: acl
                management:
                  port: 8000
                  token-file: gone
                mqtt:
                  max-qos: [[2]]
                  max-qos: 7
                """);
        environment.put("SMQTT_SESSION__MAX_EXPIRY", "soon");

        List<String> problems = problems("check", "-c", "f.yaml", "--set", "limits.max-topic-levels=x");

        assertThat(problems)
                .anyMatch(line -> line.startsWith("f.yaml:3: listeners.tcp.port must be 0 to 65535, but is 99999"))
                .anyMatch(line -> line.startsWith("f.yaml:4: listeners.tcp.host")
                        && line.contains("999.1.1.1 is no IPv4 address"))
                .anyMatch(line -> line.startsWith("f.yaml:6: listeners.ws.port has no value"))
                .anyMatch(line -> line.startsWith("f.yaml:7: listeners.ws.max-connections must be"))
                .anyMatch(line -> line.startsWith("f.yaml:8: listeners.ws.backlog must be an integer, but is \"many\""))
                .anyMatch(line -> line.startsWith("f.yaml:10: limits.max-in-flight must be"))
                .anyMatch(line -> line.startsWith("f.yaml:11: limits.receive-maximum must be"))
                .anyMatch(line -> line.startsWith("f.yaml:12: unknown key limits.nonsense"))
                .anyMatch(line -> line.startsWith("f.yaml:14: access.password-file: the file ")
                        && line.endsWith("folder is a directory, but must be a file"))
                .anyMatch(line -> line.contains("acl:1: begins with 'nonsense'"))
                .anyMatch(line -> line.startsWith("f.yaml:18: management.token-file: the file ")
                        && line.endsWith("does not exist"))
                .anyMatch(line -> line.startsWith("f.yaml:20: mqtt.max-qos must be a list of plain values"))
                .anyMatch(line -> line.startsWith("f.yaml:21: mqtt.max-qos is given twice, first in line 20"))
                .anyMatch(line ->
                        line.startsWith("environment SMQTT_SESSION__MAX_EXPIRY: session.max-expiry must be a duration"))
                .anyMatch(line ->
                        line.startsWith("--set limits.max-topic-levels: limits.max-topic-levels must be an integer"))
                .doesNotHaveDuplicates();
        assertThat(problems.stream()
                        .filter(line -> line.startsWith("f.yaml:"))
                        .map(line -> Integer.valueOf(line.split(":")[1])))
                .as("in the order of the lines")
                .isSorted();
        assertThat(problems("start", "-c", "f.yaml", "--set", "limits.max-topic-levels=x"))
                .as("the same from a start")
                .isEqualTo(problems);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "listeners.tcp.port=7800      | cluster.bind | listeners.tcp.port",
                "listeners.ws.port=7800       | cluster.bind | listeners.ws.port",
                "management.port=7800         | cluster.bind | management.port",
            })
    void thePortOfTheClusterIsKnown(String setting, String key, String other) throws IOException {
        Files.writeString(
                directory.resolve("f.yaml"), "cluster:\n  enabled: true\n  node-id: a\n  bind: 127.0.0.1:7800\n");

        assertThat(problems(
                        "check",
                        "-c",
                        "f.yaml",
                        "--set",
                        setting,
                        "--set",
                        other.replaceAll("[a-z]+$", "host") + "=127.0.0.1"))
                .singleElement()
                .asString()
                .startsWith("f.yaml:4: ")
                .contains(key, other, setting.substring(setting.indexOf('=') + 1), "at the same address");
    }

    @ParameterizedTest
    @CsvSource({
        "999.1.1.1, is no IPv4 address",
        "1.2.3, is no IPv4 address",
        "1, is no IPv4 address",
        "::1::2, is no IPv6 address",
        "no.such.host.invalid, there is no host no.such.host.invalid",
        "a b, must be a host name or an address",
    })
    void anAddressThatIsNoneIsRefused(String host, String problem) {
        for (String key : List.of("listeners.tcp.host", "management.host")) {
            assertThat(problems("check", "--set", key + "=" + host))
                    .first()
                    .asString()
                    .startsWith("--set " + key + ": " + key)
                    .contains(problem);
        }
        if (!host.contains("::")) {
            assertThat(problems("check", "--set", "cluster.enabled=true", "--set", "cluster.bind=" + host + ":7800"))
                    .singleElement()
                    .asString()
                    .startsWith("--set cluster.bind: cluster.bind");
        }
    }

    @Test
    void aKeyWithoutAValueIsRefusedWhereItMustHaveOne() throws IOException {
        Files.writeString(
                directory.resolve("f.yaml"),
                "listeners:\n  tcp:\n    port:\n  ws:\nlimits:\n  max-in-flight: ~\naccess:\n  acl-file:\n");

        assertThat(problems("check", "--config", "f.yaml"))
                .hasSize(2)
                .anyMatch(line -> line.startsWith("f.yaml:3: listeners.tcp.port has no value"))
                .anyMatch(line -> line.startsWith("f.yaml:6: limits.max-in-flight has no value"));
    }

    @Test
    void theFileItselfMayBeMissingADirectoryOrBroken() throws IOException {
        Files.createDirectory(directory.resolve("folder"));
        Files.writeString(directory.resolve("f.yaml"), "listeners:\n  tcp: {port: 1883\nlimits: 1\n");

        assertThat(problems("check", "-c", "gone.yaml")).containsExactly("gone.yaml: the file does not exist");
        assertThat(problems("check", "-c", "no/where.yaml"))
                .containsExactly("no/where.yaml: the file does not exist, and neither does its directory");
        assertThat(problems("start", "-c", "folder"))
                .containsExactly("folder: the file is a directory, but must be a file");
        assertThat(problems("check", "-c", "f.yaml"))
                .singleElement()
                .asString()
                .startsWith("f.yaml:3: is not valid YAML");
    }

    @Test
    void theVariableThatNamesTheFileIsNamed() {
        environment.put("SMQTT_CONFIG", "nope.yaml");
        assertThat(problems("check")).containsExactly("environment SMQTT_CONFIG: nope.yaml: the file does not exist");

        environment.put("SMQTT_CONFIG", "");
        assertThat(problems("start"))
                .containsExactly("environment SMQTT_CONFIG: is empty; name a file, or unset the variable");
    }

    @Test
    void aFileInThePlaceOfTheDataDirectoryIsRefused() throws IOException {
        Path file = Files.writeString(directory.resolve("taken"), "a file\n");

        for (String command : List.of("check", "start")) {
            assertThat(problems(command, "--data", "taken"))
                    .containsExactly("--data: storage.dir: " + file + " is a file, but must be a directory");
        }
    }

    @Test
    void allMalformedLinesOfAccessFilesAreNamed() throws IOException {
        Path passwords = Files.writeString(directory.resolve("passwords"), "nothing\n#\nanna:x\n");
        Path acl = Files.writeString(directory.resolve("acl"), "topci a\nuser\n");

        assertThat(problems("check", "--set", "access.password-file=passwords", "--set", "access.acl-file=acl"))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith(passwords + ":1: "),
                        line -> assertThat(line).startsWith(passwords + ":3: "),
                        line -> assertThat(line).startsWith(acl + ":1: "),
                        line -> assertThat(line).startsWith(acl + ":2: "));
    }

    @Test
    void halfOfTheLoginOfInfluxDbIsReportedWithItsLine() throws IOException {
        Files.writeString(
                directory.resolve("f.yaml"),
                "management:\n  influx:\n    url: http://127.0.0.1:8086\n    password: secret\n");

        assertThat(problems("check", "-c", "f.yaml"))
                .containsExactly("f.yaml:4: management.influx.password needs influx.user");
    }

    @Test
    void theFilesOfUsersAndKeysAreReadAndTheirPermissionsLookedAt() throws IOException {
        Path users = Files.writeString(directory.resolve("users"), "# people\nalice:nothing:viewer\n");
        Path keys = Files.writeString(directory.resolve("keys"), "exporter:0123456789abcdef:nobody\n");
        String[] check = {"check", "--set", "management.users-file=users", "--set", "management.api-keys-file=keys"};
        assertThat(problems(check))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith(users + ":2: "),
                        line -> assertThat(line).startsWith(keys + ":1: "));

        Files.writeString(users, "");
        Files.writeString(keys, "exporter:0123456789abcdef:viewer\n");
        Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(keys, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(said(ExitCode.OK, check))
                .containsExactly("warning: management.api-keys-file: " + keys
                        + " is readable by every user of this machine; change its permissions with chmod 600");
    }

    @Test
    void aWrongLineOfTheBansIsNamed() throws IOException {
        Path bans = Files.writeString(
                directory.resolve("bans"), "{\"as\":\"clientid\",\"who\":\"a\"}\n{\"as\":\"clientid\"}\n");
        assertThat(problems("check", "--set", "management.bans-file=bans"))
                .containsExactly(bans + ":2: the field who is missing");
    }

    /** What is said of a configuration that cannot be used. */
    private List<String> problems(String... arguments) {
        return said(ExitCode.BAD_CONFIGURATION, arguments);
    }

    /** The lines of standard error, without the name of the program. */
    private List<String> said(int expected, String... arguments) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        List<String> command = new ArrayList<>(List.of(arguments));
        if (command.get(0).equals("check")) {
            command.add(0, "config");
        }
        int code = SmqttMain.run(
                new ProgramContext(
                        InputStream.nullInputStream(),
                        new PrintStream(new ByteArrayOutputStream()),
                        new PrintStream(err, true, StandardCharsets.UTF_8),
                        environment,
                        directory,
                        starter,
                        new NoSignals(),
                        System::nanoTime,
                        Set.of("smqtt-persistence", "smqtt-cluster")),
                command.toArray(String[]::new));
        assertThat(code).as(err.toString(StandardCharsets.UTF_8)).isEqualTo(expected);
        return err.toString(StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.replaceFirst("^smqtt: ", ""))
                .toList();
    }
}
