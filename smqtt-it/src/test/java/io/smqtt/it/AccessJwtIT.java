// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The example of {@code docs/access-jwt.md}: its keys, its configuration and its commands, with the real program. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AccessJwtIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Path directory = Path.of("");
    private String page = "";
    private BrokerProcess broker;

    @BeforeAll
    void start(@TempDir Path temporary) throws IOException {
        directory = temporary;
        ForeignProgram.path("openssl");
        ForeignProgram.path("mosquitto_pub");
        page = Files.readString(Path.of(System.getProperty("smqtt.home", "..")).resolve("docs/access-jwt.md"));
        Files.writeString(directory.resolve("token.sh"), block("sh", 0));
        assertThat(shell(block("bash", 0))).doesNotContain("rror");
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), block("yaml", 0) + """
                        management:
                          enabled: false
                        storage:
                          kind: memory
                        listeners:
                          tcp:
                            host: 127.0.0.1
                            port: 0
                          ws:
                            enabled: false
                        """);
        broker = BrokerProcess.start(directory, List.of(), file);
    }

    @AfterAll
    void stop() {
        if (broker != null) {
            broker.close();
        }
    }

    private String block(String language, int number) {
        return blocks("(?s)```" + language + "\n(.*?)```").get(number).group(1);
    }

    private List<MatchResult> blocks(String pattern) {
        return Pattern.compile(pattern).matcher(page).results().toList();
    }

    @Test
    void commandsOfThePageGetTheirAnswers() {
        List<MatchResult> rows = blocks("(?m)^\\| `mosquitto_pub ([^`]*)` \\| (\\w+(?: authorized)?)");

        assertThat(rows).hasSize(9);
        assertThat(rows).allSatisfy(row -> {
            String output = shell(block("bash", 1) + "mosquitto_pub -h 127.0.0.1 -p " + broker.port("tcp") + " "
                    + row.group(1) + "\n");
            switch (row.group(2)) {
                case "accepted" -> assertThat(output).as(row.group()).isEmpty();
                case "not authorized" -> assertThat(output).as(row.group()).containsIgnoringCase("not authorized");
                case "refused" -> assertThat(output).as(row.group()).containsIgnoringCase("bad user name or password");
                default -> throw new AssertionError("no answer in " + row.group());
            }
        });
    }

    /** What the commands say. */
    private String shell(String commands) {
        try (CapturedProcess process =
                CapturedProcess.start("sh", new ProcessBuilder("sh", "-c", commands).directory(directory.toFile()))) {
            process.awaitExit(PATIENCE);
            return String.join("\n", process.output());
        }
    }
}
