// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.Ticker;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Headers of sessions, of this program and of earlier ones. */
class SessionRowTest {

    /** What the first format made of the session below, without roles. */
    private static final String FIRST_FORMAT = "0101" + "0163" + "0475736572" + "e807" + "01" + "01";

    private final SessionRow rows =
            new SessionRow(new MessageRow(StoreClock.after(null, Ticker.SYSTEM, new LinuxMachine())));

    private static StoredSession session(Set<String> roles) {
        return new StoredSession(7, "c", "user", roles, 1_000, StoredSession.CONNECTED, null, StoredSession.CONNECTED);
    }

    @Test
    void aRowOfTheFirstFormatCanBeRead() {
        assertThat(rows.decode(7, HexFormat.of().parseHex(FIRST_FORMAT))).isEqualTo(session(Set.of()));
    }

    @Test
    void aSessionWithoutRolesIsWrittenSoThatTheFirstProgramCanReadIt() {
        byte[] row = rows.encode(session(Set.of()), new ByteWriter(64));

        assertThat(HexFormat.of().formatHex(row)).isEqualTo(FIRST_FORMAT);
    }

    @Test
    void rolesComeBackAndManySessionsShareThem() {
        StoredSession session = session(Set.of("reader", "wríter"));
        byte[] row = rows.encode(session, new ByteWriter(64));

        StoredSession found = rows.decode(7, row);
        assertThat(found).isEqualTo(session);
        assertThat(rows.decode(7, row).roles()).isSameAs(found.roles());
    }

    @Test
    void anUnknownFormatIsDamage() {
        byte[] row = rows.encode(session(Set.of("a")), new ByteWriter(64));
        row[0] = 3;

        assertThatThrownBy(() -> rows.decode(7, row))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining("format 3");
    }
}
