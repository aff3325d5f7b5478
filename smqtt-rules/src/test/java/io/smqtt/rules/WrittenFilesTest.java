// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WrittenFilesTest {

    @TempDir
    Path folder;

    /** The problems of rules {@code r0}, {@code r1}, …, each with one action that writes a file. */
    private List<String> problems(@Nullable Path letters, Path... files) {
        Map<String, RuleConfig> rules = new LinkedHashMap<>();
        for (Path file : files) {
            RuleActionConfig action = RuleActionConfig.builder("file")
                    .settings(Map.of("path", new ConfigValue(file.toString(), "test", folder)))
                    .build();
            rules.put(
                    "r" + rules.size(),
                    RuleConfig.builder("SELECT * FROM \"a\"")
                            .actions(Map.of("out", action))
                            .build());
        }
        return WrittenFiles.problems(rules, SinkTypes.find(List.of()), letters);
    }

    @Test
    void fileOfDeadLettersWithoutAKeyIsOneThatIsWritten() {
        assertThat(problems(folder, folder.resolve("r0-dead.jsonl")))
                .singleElement()
                .asString()
                .contains("rules.r0.actions.out.path is a file that is also written for dead letters of rules.r0; ");
        assertThat(problems(null, folder.resolve("r0-dead.jsonl"))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a.jsonl.1", "a.jsonl.12", "a.jsonl.3.gz", "a.jsonl.gz.tmp", "a.jsonl.full", "a.jsonl.full.gz"})
    void nameOfAFormerFileIsRefused(String former) {
        assertThat(problems(null, folder.resolve("a.jsonl"), folder.resolve(former)))
                .singleElement()
                .asString()
                .contains(
                        "rules.r1.actions.out.path is a name that the file which is written by rules.r0.actions.out.path"
                                + " gets when it is full; ");
        assertThat(problems(null, folder.resolve(former), folder.resolve("a.jsonl")))
                .singleElement()
                .asString()
                .contains("rules.r1.actions.out.path gets, when it is full, the name of the file that is written by"
                        + " rules.r0.actions.out.path; ");
    }

    @ParameterizedTest
    @CsvSource({"a.jsonl, b.jsonl.1", "a.1, a.2", "a.jsonl, a.jsonl.gz", "a, a.x"})
    void otherNamesAreFree(String one, String other) {
        assertThat(problems(null, folder.resolve(one), folder.resolve(other))).isEmpty();
    }

    @Test
    void nameOfAFormerFileOfDeadLettersIsRefused() {
        assertThat(problems(folder, folder.resolve("r0-dead.jsonl.2")))
                .singleElement()
                .asString()
                .contains("for dead letters of rules.r0 gets when it is full");
    }

    /** The problems of two rules with these files of dead letters. */
    private List<String> problemsOfLetters(String first, String second) {
        Map<String, RuleConfig> rules = new LinkedHashMap<>();
        for (String name : List.of(first, second)) {
            rules.put(
                    "r" + rules.size(),
                    RuleConfig.builder("SELECT * FROM \"a\"")
                            .deadLetterFile(folder.resolve(name))
                            .build());
        }
        return WrittenFiles.problems(rules, SinkTypes.find(List.of()), null);
    }

    @Test
    void filesOfDeadLettersMayBeTheSameButNoFormerOneOfTheOther() {
        assertThat(problemsOfLetters("x.jsonl", "x.jsonl")).isEmpty();
        assertThat(problemsOfLetters("x.jsonl", "y.jsonl.1")).isEmpty();
        assertThat(problemsOfLetters("x.jsonl", "x.jsonl.1"))
                .singleElement()
                .asString()
                .startsWith("rules.r1.dead-letter-file, which is ")
                .contains(
                        "is a name that the file which is written for dead letters of rules.r0 gets when it is full; ");
        assertThat(problemsOfLetters("x.jsonl.1", "x.jsonl"))
                .singleElement()
                .asString()
                .contains("gets, when it is full, the name of the file that is written for dead letters of rules.r0; ");
    }

    @Test
    void linkToAFileThatDoesNotExistYetIsTheSameFile() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("new/real.jsonl"));
        Path loop = folder.resolve("loop");
        Files.createSymbolicLink(loop, loop);

        assertThat(WrittenFiles.same(link)).isEqualTo(WrittenFiles.same(folder.resolve("new/real.jsonl")));
        assertThat(problems(null, link, folder.resolve("new/real.jsonl"))).hasSize(1);
        assertThat(WrittenFiles.same(loop)).isEqualTo(folder.toRealPath().resolve("loop"));
    }

    @Test
    void linkToAFolderWhoseOwnFoldersDoNotExistYetIsTheSameFolder() throws IOException {
        Path real = Files.createDirectory(folder.resolve("real"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), real);

        assertThat(WrittenFiles.same(link.resolve("new/deeper/d.jsonl")))
                .isEqualTo(WrittenFiles.same(real.resolve("new/deeper/d.jsonl")));
        assertThat(problems(null, link.resolve("new/d.jsonl"), real.resolve("new/d.jsonl")))
                .hasSize(1);
    }
}
