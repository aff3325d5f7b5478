// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.StreamMessage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReadSizeTest {

    private final ReadSize size = new ReadSize(100, 10_000);

    private static StreamMessage<byte[], byte[]> entry(int bytes) {
        return new StreamMessage<>(new byte[0], "1-0", Map.of(new byte[1], new byte[bytes - 1]));
    }

    @Test
    void lessIsReadWhenEntriesAreLarge() {
        assertThat(size.next()).isEqualTo(100);
        size.read(List.of(entry(10), entry(10)));
        assertThat(size.next()).isEqualTo(100);
        size.read(List.of(entry(1_000)));
        assertThat(size.next()).isEqualTo(10);
        for (int i = 0; i < 20; i++) {
            size.read(List.of(entry(10)));
        }
        assertThat(size.next()).isEqualTo(100);
        size.read(List.of());
        assertThat(size.next()).isEqualTo(100);
    }

    @Test
    void nothingIsReadAtTheLimit() {
        size.read(List.of(entry(4_000), entry(4_000)));
        long first = size.taken(entry(4_000));
        assertThat(size.next()).isEqualTo(1);
        assertThat(size.isFull()).isFalse();
        size.taken(entry(8_000));
        assertThat(size.isFull()).isTrue();
        assertThat(size.next()).isEqualTo(1);
        size.settled(first);
        assertThat(size.isFull()).isFalse();
    }

    @Test
    void entryThatWasRemovedHasNoBytes() {
        assertThat(size.taken(new StreamMessage<>(new byte[0], "1-0", null))).isZero();
    }
}
