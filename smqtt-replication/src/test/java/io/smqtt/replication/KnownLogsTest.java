// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KnownLogsTest {

    private final KnownLogs logs =
            KnownLogs.NONE.with(3, Map.of("a", 1L, "b", 2L)).with(4, Map.of("b", 5L));

    @TempDir
    private Path directory;

    private static byte[] encode(KnownLogs logs) {
        ByteWriter out = new ByteWriter(16);
        logs.encode(out);
        return out.toByteArray();
    }

    @Test
    void theLastLogOfAMemberCounts() {
        assertThat(logs.term()).isEqualTo(4);
        assertThat(logs.isReplaced("b", 5L, true)).isFalse();
        assertThat(logs.isReplaced("b", 2L, true)).isTrue();
        assertThat(logs.isReplaced("b", 2L, false)).isTrue();
        assertThat(logs.isReplaced("b", 7L, false)).isFalse();
        assertThat(logs.isReplaced("b", 7L, true)).isTrue();
        assertThat(logs.isReplaced("b", null, true)).isTrue(); // it does not show which one it has
        assertThat(logs.isReplaced("a", 1L, true)).isFalse();
        assertThat(logs.isReplaced("c", 1L, true)).isFalse();
        assertThat(logs.with(5, Map.of("b", 2L)).isReplaced("b", 2L, true)).isFalse();
    }

    @Test
    void theNumberOfFormerLogsIsBounded() {
        KnownLogs many = KnownLogs.NONE;
        for (long log = 1; log <= 100; log++) {
            many = many.with(1, Map.of("a", log));
        }
        assertThat(many.identities().get("a")).hasSize(32).endsWith(100L);
        assertThat(KnownLogs.decode(new ByteReader(encode(many)))).isEqualTo(many);
    }

    @Test
    void itIsRead() {
        assertThat(KnownLogs.decode(new ByteReader(encode(logs)))).isEqualTo(logs);
        byte[] group = GroupMessage.encode(1, new GroupMessage.Logs(logs));
        assertThat(GroupMessage.decode(group)).isEqualTo(new GroupMessage.Logs(logs));
        byte[] answer = GroupMessage.encode(1, new GroupMessage.LogsKnown(logs));
        assertThat(GroupMessage.decode(answer)).isEqualTo(new GroupMessage.LogsKnown(logs));
        byte[] noLog = new ByteWriter(16).i64(1).text("a").u8(0).toByteArray();
        assertThatThrownBy(() -> KnownLogs.decode(new ByteReader(noLog)))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessage("0 logs of one member");
    }

    /** The message of a leader of an earlier term is late. */
    @Test
    void theLogKeepsThatOfTheLatestLeader() throws IOException {
        RocksRaftLog log = new RocksRaftLog(false, failure -> {});
        log.init(directory.resolve("log").toString(), null);
        log.know(logs);
        log.know(KnownLogs.NONE.with(3, Map.of("b", 9L)));
        assertThat(log.known()).isEqualTo(logs);
        log.currentTerm(8);
        log.know(KnownLogs.NONE.with(7, Map.of("b", 9L)));
        assertThat(log.known()).isEqualTo(logs);
        log.close();

        log.init(directory.resolve("log").toString(), null);
        assertThat(log.known()).isEqualTo(logs);
        log.close();
    }
}
