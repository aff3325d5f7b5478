// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.spi.StoreDamagedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A replacement that is cut off at any step leaves the old state or the new one. */
class StateFolderTest {

    @TempDir
    private Path directory;

    private void begin() throws IOException {
        StateFolder folder = new StateFolder(directory);
        try (RocksRaftLog log = LogContent.open(folder.log())) {
            log.append(1, LogContent.entries(1, "a", "b", "c"));
            log.commitIndex(2);
            log.currentTerm(4);
        }
        Files.createDirectories(folder.state());
        Files.writeString(folder.state().resolve("rows"), "old");
        receive();
    }

    private void receive() throws IOException {
        Path incoming = new StateFolder(directory).incoming();
        Files.createDirectories(incoming);
        Files.writeString(incoming.resolve("rows"), "new");
    }

    private String state() throws IOException {
        return Files.readString(new StateFolder(directory).state().resolve("rows"));
    }

    private void cut(String at) throws IOException {
        StateFolder folder = new StateFolder(directory, step -> {
            if (step.equals(at)) {
                throw new IllegalStateException("cut at " + step);
            }
        });
        try (RocksRaftLog log = LogContent.open(folder.log())) {
            assertThatThrownBy(() -> folder.replace(log, 9, 3)).hasMessage("cut at " + at);
        }
    }

    private LogContent startAgain() throws IOException {
        StateFolder folder = new StateFolder(directory);
        try (RocksRaftLog log = LogContent.open(folder.log())) {
            folder.prepare(log);
            return LogContent.of(log);
        }
    }

    @ParameterizedTest
    @CsvSource({"mark, old", "arrive, old", "log, new", "away, new", "there, new", "removed, new"})
    void eachStepLeavesOneOfTwoStates(String step, String expected) throws IOException {
        begin();
        cut(step);
        LogContent log = startAgain();

        assertThat(state()).isEqualTo(expected);
        if (expected.equals("old")) {
            assertThat(log.first()).isZero();
            assertThat(log.last()).isEqualTo(3);
            assertThat(log.commit()).isEqualTo(2);
        } else {
            assertThat(log.first()).isEqualTo(9);
            assertThat(log.last()).isEqualTo(9);
            assertThat(log.commit()).isEqualTo(9);
            assertThat(log.entries()).containsExactly("9 3 none");
        }
        assertThat(log.term()).isEqualTo(4);
        try (var left = Files.list(directory)) {
            assertThat(left.map(path -> path.getFileName().toString())).containsExactlyInAnyOrder("log", "store");
        }
    }

    @Test
    void aStartMayBeCutOffAsOftenAsTheReplacement() throws IOException {
        begin();
        cut("log");
        for (String step : new String[] {"away", "there"}) {
            StateFolder folder = new StateFolder(directory, each -> {
                if (each.equals(step)) {
                    throw new IllegalStateException("cut at " + each);
                }
            });
            try (RocksRaftLog log = LogContent.open(folder.log())) {
                assertThatThrownBy(() -> folder.prepare(log)).hasMessage("cut at " + step);
            }
        }

        assertThat(startAgain().last()).isEqualTo(9);
        assertThat(state()).isEqualTo("new");
    }

    @Test
    void aReplacementIsWhole() throws IOException {
        begin();
        StateFolder folder = new StateFolder(directory);
        try (RocksRaftLog log = LogContent.open(folder.log())) {
            folder.replace(log, 9, 3);
            log.append(10, LogContent.entries(4, "next"));
        }

        LogContent log = startAgain();
        assertThat(log.entries()).containsExactly("9 3 none", "10 4 next");
        assertThat(state()).isEqualTo("new");
    }

    @Test
    void aDamagedMarkStopsTheStart() throws IOException {
        begin();
        cut("log");
        Path mark = directory.resolve("arrived/ARRIVED");
        byte[] content = Files.readAllBytes(mark);
        content[3] ^= 1;
        Files.write(mark, content);

        assertThatThrownBy(this::startAgain)
                .isInstanceOf(StoreDamagedException.class)
                .hasMessageContaining("ARRIVED");
    }
}
