// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code smqtt rule test}. */
class RuleCommandTest {

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String sql, String... options) throws IOException {
        Files.writeString(directory.resolve("rule.sql"), sql);
        String[] arguments = new String[options.length + 3];
        arguments[0] = "rule";
        arguments[1] = "test";
        arguments[2] = "rule.sql";
        System.arraycopy(options, 0, arguments, 3, options.length);
        ProgramContext program = new ProgramContext(
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                Map.of(),
                directory,
                (config, legacy, beforehand) -> {
                    throw new AssertionError("was started");
                },
                new NoSignals(),
                System::nanoTime,
                Set.of());
        return SmqttMain.run(program, arguments);
    }

    @Test
    void clausesAndRowsArePrinted() throws IOException {
        assertThat(run("SELECT payload.temp AS t FROM \"t/#\" WHERE payload.temp > 20", "--payload", "{\"temp\":21.5}"))
                .isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8).lines())
                .containsExactly(
                        "FROM \"t/#\": true",
                        "WHERE payload.temp > 20: true",
                        "SELECT payload.temp AS t: 21.5",
                        "{\"t\":21.5}");
    }

    @Test
    void aMessageThatFromDoesNotHaveIsNoMatch() throws IOException {
        assertThat(run("SELECT qos FROM \"sensors/+\"", "--topic", "t/1")).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8).lines())
                .containsExactly(
                        "FROM \"sensors/+\": false", "SELECT qos: 0", "no match: FROM does not have the topic t/1");
        out.reset();
        assertThat(run("SELECT topic FROM \"sensors/+\"")).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8)).endsWith("{\"topic\":\"sensors/1\"}\n");
    }

    @Test
    void theEventComesFromAFile() throws IOException {
        Files.writeString(directory.resolve("event.json"), "{\"clientid\":\"c9\",\"qos\":2}");
        assertThat(run("SELECT clientid, topic FROM \"t/#\" WHERE qos = 2", "-e", "event.json", "-t", "t/9"))
                .isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8)).endsWith("{\"clientid\":\"c9\",\"topic\":\"t/9\"}\n");
    }

    @Test
    void mistakesHaveExitCode1() throws IOException {
        assertThat(run("SELECT FROM \"t/#\"")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .startsWith("smqtt: rule.sql: line 1, column 8: unexpected 'FROM'");
        err.reset();
        assertThat(run("SELECT * FROM \"$share/g/t\"")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .startsWith("smqtt: rule.sql: line 1, column 15: a rule has no shared subscription");
        err.reset();
        assertThat(run("SELECT 1 / 0 AS x FROM \"t/#\"")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("smqtt: division by zero\n");
        assertThat(run("SELECT x FROM \"t/#\"", "-e", "missing.json")).isEqualTo(ExitCode.BAD_CONFIGURATION);
    }
}
