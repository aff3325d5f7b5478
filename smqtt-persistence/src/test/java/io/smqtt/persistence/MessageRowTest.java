// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Messages in the store, of this program and of earlier ones. */
class MessageRowTest {

    private static final long ID = 0x1122_3344_5566_7788L;
    private static final long ACCEPTED_NANOS = 5_000_000;

    /** Flags, time of acceptance, publisher, topic, properties and payload of the message below. */
    private static final String REST = "0a" + "0170" + "0174" + "00" + "0178";

    private static final String FIRST_FORMAT = "01" + "11" + REST;
    private static final String SECOND_FORMAT = "02" + "11" + "1122334455667788" + REST;

    /** Time of acceptance, then flags, topic, publisher, payload and identifier. */
    private static final String FORMAT = "04" + "0a" + "11" + "0174" + "0170" + "0178" + "1122334455667788";

    private final MessageRow rows = new MessageRow(StoreClock.after(null, () -> 0, new LinuxMachine()));

    private static ApplicationMessage message(long id) {
        return ApplicationMessage.builder("t")
                .payload("x")
                .qos(QoS.AT_LEAST_ONCE)
                .build()
                .accepted(id, ACCEPTED_NANOS, "p");
    }

    private ApplicationMessage read(String hex) {
        ByteReader row = new ByteReader(HexFormat.of().parseHex(hex));
        ApplicationMessage message = rows.read(row);
        row.requireEnd();
        return message;
    }

    private String write(ApplicationMessage message) {
        ByteWriter row = new ByteWriter(64);
        rows.write(message, row);
        return HexFormat.of().formatHex(row.toByteArray());
    }

    @Test
    void aMessageKeepsItsIdentifier() {
        assertThat(write(message(ID))).isEqualTo(FORMAT);
        assertThat(read(FORMAT)).usingRecursiveComparison().isEqualTo(message(ID));
        assertThat(read(write(message(-1))).id()).isEqualTo(-1);
        assertThat(read(write(message(ApplicationMessage.NO_ID))).id()).isEqualTo(ApplicationMessage.NO_ID);
    }

    @Test
    void messagesOfEarlierFormatsAreRead() {
        assertThat(read(FIRST_FORMAT)).usingRecursiveComparison().isEqualTo(message(ApplicationMessage.NO_ID));
        assertThat(read(SECOND_FORMAT)).usingRecursiveComparison().isEqualTo(message(ID));
    }

    @Test
    void anUnknownFormatIsDamage() {
        assertThatThrownBy(() -> read("03" + SECOND_FORMAT.substring(2)))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining("format 3");
    }

    @Test
    void aMessageThatIsCutOffIsDamage() {
        for (String format : new String[] {FIRST_FORMAT, SECOND_FORMAT, FORMAT}) {
            for (int length = 0; length < format.length(); length += 2) {
                String cut = format.substring(0, length);
                if (format.equals(FORMAT) && length == format.length() - 2 * Long.BYTES) {
                    continue; // a whole message without an identifier
                }
                assertThatThrownBy(() -> read(cut)).as(cut).isInstanceOf(MalformedBytesException.class);
            }
        }
        assertThatThrownBy(() -> read("0211112233"))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining("too early");
    }
}
