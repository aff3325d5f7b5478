// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.message.ApplicationMessage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

class DeadLetterFilesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

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

    @Test
    void fileThatCannotBeWrittenIsLoggedOnceAMinuteHoweverManyLettersWait() {
        DeadLetters letters =
                new DeadLetters("full", message -> Mono.empty(), new DeadLetterFiles(), folder.resolve("dead.jsonl"));
        letters.close(); // so that each letter is tried once
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(DeadLetters.class);
        log.start();
        logger.addAppender(log);
        try {
            for (int i = 0; i < 20; i++) {
                Mono<Void> kept = letters.keep(
                        "a", ApplicationMessage.builder("t").payload("x").build(), "refused");
                assertThatThrownBy(() -> kept.block(PATIENCE)).hasRootCauseInstanceOf(IOException.class);
            }
        } finally {
            logger.detachAppender(log);
        }

        assertThat(log.list).hasSizeBetween(1, 4).allMatch(line -> line.getLevel() == Level.WARN);
    }
}
