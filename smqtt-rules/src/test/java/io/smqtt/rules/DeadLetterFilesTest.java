// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeadLetterFilesTest {

    @TempDir
    Path folder;

    private static byte[] line(String text) {
        return (text + '\n').getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void rulesThatShareAFileDoNotOverwriteEachOther() throws IOException {
        DeadLetterFiles files = new DeadLetterFiles();
        Path file = folder.resolve("dead.jsonl");
        DeadLetterFiles.Writer one = files.open(file);
        DeadLetterFiles.Writer two = files.open(folder.resolve("./dead.jsonl"));

        one.append(line("first"));
        two.append(line("second"));
        one.append(line("third"));
        one.close();
        one.close();
        two.append(line("fourth"));
        two.close();

        assertThat(Files.readAllLines(file)).containsExactly("first", "second", "third", "fourth");
    }

    @Test
    void ruleThatHasEndedWritesNoMore() throws IOException {
        DeadLetterFiles files = new DeadLetterFiles();
        Path file = folder.resolve("dead.jsonl");
        DeadLetterFiles.Writer former = files.open(file);
        former.append(line("former"));
        former.close();
        DeadLetterFiles.Writer next = files.open(file);

        assertThatThrownBy(() -> former.append(line("late"))).isInstanceOf(IOException.class);
        next.append(line("next"));
        next.close();

        assertThat(Files.readAllLines(file)).containsExactly("former", "next");
    }
}
