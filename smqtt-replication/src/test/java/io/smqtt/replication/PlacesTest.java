// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlacesTest {

    private static final Holding FIRST = new Holding(3, 1, "d", "c");
    private static final Holding SECOND = new Holding(3, 2, "e", "d");
    private static final Holding THIRD = new Holding(4, 1, "c", "e");

    @TempDir
    private Path data;

    @BeforeEach
    void create() throws IOException {
        Files.createDirectory(data.resolve("replicas"));
    }

    @Test
    void theLaterDecisionCountsWhicheverIsHeardFirst() {
        Places places = Places.of(data);
        assertThat(places.areUnchanged()).isTrue();
        assertThat(places.nodeOf("c")).isEqualTo("c");

        assertThat(places.merge(Map.of("c", SECOND))).containsExactly("c");
        assertThat(places.merge(Map.of("c", FIRST))).isEmpty();
        assertThat(places.nodeOf("c")).isEqualTo("e");
        assertThat(places.merge(Map.of("c", THIRD))).containsExactly("c");
        assertThat(places.merge(Map.of("c", SECOND))).isEmpty();
        assertThat(places.nodeOf("c")).isEqualTo("c");
        assertThat(places.nodeOf("b")).isEqualTo("b");
    }

    @Test
    void itIsKept() {
        Places.of(data).merge(Map.of("c", SECOND, "a", FIRST));

        Places again = Places.of(data);
        assertThat(again.all()).isEqualTo(Map.of("c", SECOND, "a", FIRST));
        assertThat(again.holding("b")).isEqualTo(new Holding(0, 0, "b", "b"));
        assertThat(again.areUnchanged()).isFalse();
    }

    @Test
    void aFileThatWasNotWrittenByThisProgramIsRefused() throws IOException {
        Path file = data.resolve("replicas").resolve("PLACES");
        Files.writeString(file, "smqtt places format 2\n");
        assertThatThrownBy(() -> Places.of(data))
                .isInstanceOf(StoreUnusableException.class)
                .hasStackTraceContaining("it is a file of another version");
        Files.writeString(file, "smqtt places format 1\nc 3 d\n");
        assertThatThrownBy(() -> Places.of(data))
                .isInstanceOf(StoreUnusableException.class)
                .hasStackTraceContaining("it has a line that does not have 5 fields: c 3 d");
    }

    /** Then it does not count either: no node may say that it has stored it. */
    @Test
    void whatCannotBeStoredIsNotTaken() throws IOException {
        Places places = Places.of(data);
        Files.delete(data.resolve("replicas"));

        assertThatThrownBy(() -> places.merge(Map.of("c", FIRST))).isInstanceOf(StoreUnusableException.class);
        assertThat(places.nodeOf("c")).isEqualTo("c");
    }

    private static void assertRead(PlaceMessage message) {
        assertThat(PlaceMessage.decode(PlaceMessage.encode(message))).isEqualTo(message);
    }

    @Test
    void messagesAreRead() {
        assertRead(new PlaceMessage.Known(true, new TreeMap<>(Map.of("c", SECOND, "a", FIRST))));
        assertRead(new PlaceMessage.Known(false, new TreeMap<>()));
        assertRead(new PlaceMessage.Replace(7, "c", "d"));
        assertRead(new PlaceMessage.Replaced(7, "c", ""));
        assertRead(new PlaceMessage.LeftOut("because"));
        byte[] other = new ByteWriter(8).u8(1).u8(PlaceMessage.NUMBER).u8(9).toByteArray();
        assertThatThrownBy(() -> PlaceMessage.decode(other))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessage("a message of kind 9");
    }
}
