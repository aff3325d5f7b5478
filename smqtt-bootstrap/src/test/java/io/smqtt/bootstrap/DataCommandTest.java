// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Export, import, check and backup, as the command line runs them. */
class DataCommandTest {

    private static final List<String> MOMENTS = List.of("ageMillis", "expiresInMillis", "willInMillis");
    private static final String FORMAT = "{\"type\":\"format\",\"name\":\"smqtt-data\",\"version\":1}\n";
    private static final String END = "{\"type\":\"end\"}\n";
    private static final String SESSION =
            "{\"type\":\"session\",\"session\":1,\"clientId\":\"c\",\"expirySeconds\":3600,\"expiresInMillis\":3600000}\n";

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private OutputStream sink = out;
    private InputStream in = InputStream.nullInputStream();

    @ParameterizedTest
    @ValueSource(strings = {"export", "check"})
    void aDirectoryWithReplicasIsReadByItsBackup(String command) throws IOException {
        Files.createDirectories(directory.resolve("data").resolve("replicas"));

        assertThat(command.equals("export") ? run(command, "all.json") : run(command))
                .isEqualTo(ExitCode.BAD_DATA);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("has the replicas of a node of a cluster. Make a backup");
    }

    @Test
    void replicasNeedTheirExtension() throws IOException {
        Files.createDirectories(directory.resolve("data").resolve("replicas"));

        assertThat(run("backup", "copy")).isEqualTo(ExitCode.BAD_DATA);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("replicas need the extension replication");
        assertThat(run("import", "all.json")).isNotEqualTo(ExitCode.OK);
        assertThat(directory.resolve("copy")).doesNotExist();
    }

    @Test
    void importedExportIsExportedAsItWas() throws IOException {
        DataSamples.write(directory.resolve("data"));
        assertThat(run("export", "first.json")).isEqualTo(ExitCode.OK);

        assertThat(run("import", "--data", "other", "first.json")).isEqualTo(ExitCode.OK);
        assertThat(run("export", "--data", "other", "second.json")).isEqualTo(ExitCode.OK);

        List<JsonNode> first = lines("first.json");
        List<JsonNode> second = lines("second.json");
        assertThat(first).hasSize(1 + 3 + 3 + 2 + 4 + 2 + 1);
        assertThat(second).hasSameSizeAs(first);
        for (int i = 0; i < first.size(); i++) {
            assertSame(first.get(i), second.get(i));
        }
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("smqtt: 16 lines exported", "smqtt: 16 lines imported");
    }

    /** Moments move by the time that the test takes. */
    private static void assertSame(JsonNode first, JsonNode second) {
        for (String moment : MOMENTS) {
            List<JsonNode> before = first.findValues(moment);
            List<JsonNode> after = second.findValues(moment);
            assertThat(after).hasSameSizeAs(before);
            for (int i = 0; i < before.size(); i++) {
                assertThat(after.get(i).isNumber()).isEqualTo(before.get(i).isNumber());
                assertThat(Math.abs(after.get(i).asLong() - before.get(i).asLong()))
                        .as(moment)
                        .isLessThan(60_000);
            }
        }
        assertThat(withoutMoments(second)).isEqualTo(withoutMoments(first));
    }

    private static JsonNode withoutMoments(JsonNode line) {
        JsonNode copy = line.deepCopy();
        MOMENTS.forEach(moment -> copy.findParents(moment).forEach(parent -> ((ObjectNode) parent).remove(moment)));
        return copy;
    }

    @Test
    void exportSaysAllThatIsStored() throws IOException {
        DataSamples.write(directory.resolve("data"));

        assertThat(run("export", "-")).isEqualTo(ExitCode.OK);

        List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
        assertThat(lines.get(0)).isEqualTo(FORMAT.trim());
        assertThat(lines.get(1))
                .startsWith("{\"type\":\"session\",\"session\":")
                .contains(
                        "\"clientId\":\"döner ",
                        "\",\"userName\":\"anna\",\"roles\":[\"café\",\"cook\"],\"expirySeconds\":7200,\"expiresInMillis\":71")
                .contains(
                        "\"willInMillis\":3",
                        "\"willDelaySeconds\":4294967295,\"will\":{\"id\":\"1122334455667788\",\"topic\":\"höuse/");
        assertThat(lines)
                .anySatisfy(line -> assertThat(line)
                        .contains("\"filter\":\"house/#\",\"qos\":2,\"noLocal\":true,\"retainAsPublished\":false")
                        .contains("\"identifier\":268435455"))
                .anySatisfy(line -> assertThat(line).contains("\"type\":\"received\"", "\"packetId\":65535"))
                .anySatisfy(line -> assertThat(line)
                        .contains("\"sequence\":3,", "\"identifiers\":[1,7],\"state\":\"RECEIVED\",\"packetId\":9")
                        .contains("\"payloadBase64\":\"AID/Cg==\"", "\"correlationData\":\"AAH/\"")
                        .contains("\"userProperties\":[[\"name\",\"välue\"],[\"name\",\"\"]]")
                        .contains("\"expirySeconds\":600,\"publisherId\":\"the publisher\",\"payloadUtf8\":true"))
                .anySatisfy(line -> assertThat(line).contains("\"payload\":\"\\\"line\\n\\u0000\u2028 ü\""))
                .anySatisfy(
                        line -> assertThat(line).contains("\"clientId\":\"forever\"", "\"expiresInMillis\":\"never\""))
                .anySatisfy(line ->
                        assertThat(line).contains("\"clientId\":\"connected\"").doesNotContain("InMillis"));
        assertThat(lines.get(lines.size() - 1))
                .isEqualTo(
                        "{\"type\":\"end\",\"sessions\":3,\"subscriptions\":3,\"received\":2,\"queued\":4,\"retained\":2}");
    }

    @Test
    void exportIsForItsOwnerOnlyAndNothingIsOverwritten() throws IOException {
        DataSamples.write(directory.resolve("data"));

        assertThat(run("export", "all.json")).isEqualTo(ExitCode.OK);
        assertThat(run("export", "all.json")).isEqualTo(ExitCode.BAD_DATA);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("all.json"))))
                .isEqualTo("rw-------");
        assertThat(lines("all.json")).hasSize(16);
        assertThat(errors()).contains("all.json exists already");
    }

    @Test
    void exportThatCannotBeWrittenIsToldAndGone() {
        DataSamples.write(directory.resolve("data"));
        sink = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("nobody reads");
            }
        };

        assertThat(run("export", "-")).isEqualTo(ExitCode.BAD_DATA);
        assertThat(run("export", "nowhere/all.json")).isEqualTo(ExitCode.BAD_DATA);

        assertThat(errors())
                .contains("standard output was closed", "nowhere/all.json")
                .doesNotContain("\tat ");
    }

    @Test
    void standardInputIsImported() throws IOException {
        DataSamples.write(directory.resolve("data"));
        run("export", "-");
        in = new ByteArrayInputStream(out.toByteArray());
        out.reset();

        assertThat(run("import", "--data", "other", "-")).isEqualTo(ExitCode.OK);
        assertThat(run("check", "--data", "other")).isEqualTo(ExitCode.OK);

        assertThat(out.toString(StandardCharsets.UTF_8).trim()).isEqualTo("all is well: " + DataSamples.SUMMARY);
        assertThat(directory.resolve("other")).isDirectoryContaining(path -> path.endsWith("store"));
        assertThat(directory.resolve("other/store.importing")).doesNotExist();
    }

    @Test
    void nothingIsImportedOverAnything() throws IOException {
        DataSamples.write(directory.resolve("data"));
        run("export", "all.json");

        assertThat(run("import", "all.json")).isEqualTo(ExitCode.BAD_DATA);

        assertThat(errors()).contains("holds sessions or messages already");
        assertThat(run("check")).isEqualTo(ExitCode.OK);
    }

    @Test
    void emptyStoreIsReplaced() throws IOException {
        DataSamples.write(directory.resolve("data"));
        run("export", "all.json");
        RocksBrokerStore.open(directory.resolve("other/store"), StoreSettings.defaults())
                .close();

        assertThat(run("import", "--data", "other", "all.json")).isEqualTo(ExitCode.OK);
        assertThat(run("check", "--data", "other")).isEqualTo(ExitCode.OK);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{                                                             | line 3: this is no JSON",
                "{} x                                                          | line 3: this is no JSON",
                "[]                                                            | line 3: this is no JSON object",
                "{}                                                            | line 3: the field type is missing",
                "{\"type\":7}                                                  | line 3: the field type must be a text",
                "{\"type\":\"queue\"}                                          | line 3: there is no type queue",
                "{\"type\":\"received\",\"session\":2}                         | line 3: there is no session 2 before this line",
                "{\"type\":\"received\",\"session\":1,\"packetId\":0}          | line 3: the field packetId must be 1 to 65535",
                "{\"type\":\"received\",\"session\":1,\"packetId\":1.5}        | line 3: the field packetId must be an integer",
                "{\"type\":\"session\",\"session\":2,\"clientId\":\"c\"}       | line 3: there is another session of the client c",
                "{\"type\":\"subscription\",\"session\":1,\"filter\":\"a/#/b\"} | line 3: ",
                "{\"type\":\"retained\",\"message\":{\"topic\":\"a\"}}         | line 3: the field payload is missing",
                "{\"type\":\"retained\",\"message\":[]}                        | line 3: the field message must be an object",
                "{\"type\":\"retained\",\"message\":{\"payloadBase64\":\"*\"}} | line 3: the field payloadBase64 must be Base64",
            })
    void wrongLineIsNamedAndNothingIsImported(String line, String message) throws IOException {
        Files.writeString(directory.resolve("bad.json"), FORMAT + SESSION + line + "\n" + END);

        assertThat(run("import", "bad.json")).isEqualTo(ExitCode.BAD_DATA);

        assertThat(errors()).contains(message).doesNotContain("\tat ");
        assertThat(directory.resolve("data")).isEmptyDirectory();
    }

    @Test
    void aMissingFileIsNoDamagedData() throws IOException {
        Files.createDirectory(directory.resolve("folder"));

        assertThat(run("import", "gone.json")).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(run("import", "folder")).isEqualTo(ExitCode.BAD_CONFIGURATION);

        assertThat(errors())
                .contains("gone.json: the file does not exist", "folder: the file is a directory, but must be a file");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "{}\n" + END, "hello\n", "{\"type\":\"format\",\"name\":\"other\",\"version\":1}\n" + END})
    void otherFilesAreNoExports(String text) throws IOException {
        Files.writeString(directory.resolve("bad.json"), text);

        assertThat(run("import", "bad.json")).isEqualTo(ExitCode.BAD_DATA);

        assertThat(errors()).isNotBlank().doesNotContain("\tat ");
        assertThat(directory.resolve("data")).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource({"0, without a line of type end", "1, there should be 3 lines of type session"})
    void exportThatIsNotWholeIsRefused(int keepEnd, String message) throws IOException {
        DataSamples.write(directory.resolve("data"));
        run("export", "all.json");
        List<String> lines = new ArrayList<>(Files.readAllLines(directory.resolve("all.json")));
        if (keepEnd == 0) {
            lines.remove(lines.size() - 1);
        } else {
            lines.removeIf(line -> line.contains("\"forever\"") || line.contains("\"filter\":\"+\""));
        }
        Files.write(directory.resolve("part.json"), lines);

        assertThat(run("import", "--data", "other", "part.json")).isEqualTo(ExitCode.BAD_DATA);

        assertThat(errors()).contains(message);
        assertThat(directory.resolve("other")).isEmptyDirectory();
    }

    @Test
    void manyLinesAndLargePayloadsAreImported() throws IOException {
        StringBuilder lines = new StringBuilder(FORMAT).append(SESSION);
        for (int i = 1; i <= 3_000; i++) {
            lines.append("{\"type\":\"queued\",\"session\":1,\"sequence\":").append(i);
            lines.append(
                    ",\"filter\":\"#\",\"qos\":1,\"retain\":false,\"state\":\"WAITING\",\"message\":{\"topic\":\"t\",");
            lines.append("\"payload\":\"").append("x".repeat(i == 3_000 ? 21_000_000 : 10));
            lines.append("\",\"qos\":1,\"retain\":false,\"ageMillis\":0}}\n");
        }
        Files.writeString(directory.resolve("many.json"), lines.append(END));

        assertThat(run("import", "many.json")).isEqualTo(ExitCode.OK);
        assertThat(run("check")).isEqualTo(ExitCode.OK);

        assertThat(out.toString(StandardCharsets.UTF_8)).contains("1 sessions, 0 subscriptions, 3000 queued messages");
    }

    @Test
    void checkNamesTheDamagedFile() throws IOException {
        DataSamples.write(directory.resolve("data"));
        Path table;
        try (Stream<Path> files = Files.list(directory.resolve("data/store/db"))) {
            table = files.filter(file -> file.toString().endsWith(".log"))
                    .filter(file -> file.toFile().length() > 0)
                    .findFirst()
                    .orElseThrow();
        }
        byte[] bytes = Files.readAllBytes(table);
        bytes[bytes.length / 3] ^= 0x10;
        Files.write(table, bytes, StandardOpenOption.TRUNCATE_EXISTING);

        assertThat(run("check")).isEqualTo(ExitCode.BAD_DATA);
        assertThat(run("export", "all.json")).isEqualTo(ExitCode.BAD_DATA);

        assertThat(errors()).contains(table.toString()).doesNotContain("\tat ");
        assertThat(directory.resolve("all.json")).doesNotExist();
    }

    @Test
    void backupIsADataDirectory() {
        DataSamples.write(directory.resolve("data"));

        assertThat(run("backup", "copy")).isEqualTo(ExitCode.OK);
        assertThat(run("check", "--data", "copy")).isEqualTo(ExitCode.OK);
        assertThat(run("backup", "copy")).isEqualTo(ExitCode.BAD_DATA);

        assertThat(out.toString(StandardCharsets.UTF_8)).contains("backup made in copy", DataSamples.SUMMARY);
        assertThat(errors()).contains("copy exists already");
    }

    @Test
    void openStoreIsBackedUpAndNeitherExportedNorCheckedNorImportedInto() throws IOException {
        DataSamples.write(directory.resolve("data"));
        Files.writeString(directory.resolve("empty.json"), FORMAT + END);
        try (RocksBrokerStore open = RocksBrokerStore.open(directory.resolve("data/store"), StoreSettings.defaults())) {
            open.recover(new Anything());

            assertThat(run("export", "all.json")).isEqualTo(ExitCode.BAD_DATA);
            assertThat(run("check")).isEqualTo(ExitCode.BAD_DATA);
            assertThat(errors())
                    .contains("in use by process " + ProcessHandle.current().pid(), "smqtt data backup DIR");
            assertThat(run("import", "empty.json")).isEqualTo(ExitCode.BAD_DATA);
            assertThat(run("backup", "copy")).isEqualTo(ExitCode.OK);
        }

        assertThat(run("check", "--data", "copy")).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8)).contains(DataSamples.SUMMARY);
    }

    @ParameterizedTest
    @CsvSource({
        "2, ''",
        "2, export",
        "2, import",
        "2, backup",
        "2, nonsense",
        "0, export --help",
        "3, check --set foo.bar=1",
        "3, check --set storage.max-bytes=much",
        "5, check",
        "5, export -",
        "5, backup copy",
        "3, import missing.json",
    })
    void exitCodeTellsWhatHappened(int code, String line) {
        assertThat(run(line.isEmpty() ? new String[0] : line.split(" "))).isEqualTo(code);
        assertThat(code == ExitCode.OK || err.size() > 0).as("says why").isTrue();
        assertThat(errors()).doesNotContain("\tat ");
        assertThat(directory).isEmptyDirectory();
    }

    private List<JsonNode> lines(String file) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        List<JsonNode> nodes = new ArrayList<>();
        for (String line : Files.readAllLines(directory.resolve(file))) {
            nodes.add(mapper.readTree(line));
        }
        return nodes;
    }

    private String errors() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private int run(String... args) {
        String[] line = Stream.concat(Stream.of("data"), Stream.of(args)).toArray(String[]::new);
        ProgramContext program = new ProgramContext(
                in,
                new PrintStream(sink, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                Map.of(),
                directory,
                (config, legacy, beforehand) -> {
                    throw new AssertionError("nothing is started");
                },
                Signals.ofProcess(),
                System::nanoTime,
                Set.of("smqtt-persistence"));
        return SmqttMain.run(program, line);
    }
}
