// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InvalidObjectException;
import java.util.Arrays;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Header;
import org.jgroups.LongMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.AuthHeader;
import org.jgroups.protocols.FcHeader;
import org.jgroups.protocols.TP;
import org.jgroups.protocols.TpHeader;
import org.jgroups.protocols.UFC;
import org.jgroups.util.ByteArray;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.Digest;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.MutableDigest;
import org.jgroups.util.SeqnoList;
import org.jgroups.util.UUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.Test;

class WireMessagesTest {

    private final Address from = UUID.randomUUID();
    private final Address to = UUID.randomUUID();

    private static byte[] written(Message message) throws Exception {
        ByteArray bytes = Util.messageToBuffer(message);
        return Arrays.copyOfRange(bytes.getArray(), bytes.getOffset(), bytes.getOffset() + bytes.getLength());
    }

    private Message addressed(Message message) {
        return message.setSrc(from)
                .setDest(to)
                .setFlag(Message.Flag.OOB)
                .putHeader(ClassConfigurator.getProtocolId(TP.class), new TpHeader("smqtt"))
                .putHeader(ClassConfigurator.getProtocolId(UFC.class), new FcHeader(FcHeader.REPLENISH));
    }

    @Test
    void whatTheProtocolsSayIsReadAsItWasWritten() throws Exception {
        SeqnoList numbers = new SeqnoList(100, 7).add(9, 50);
        Digest digest =
                new MutableDigest(new Address[] {from, to}).set(from, 3, 4).set(to, 5, 6);
        List<Message> all = List.of(
                new EmptyMessage(),
                new BytesMessage(null, new byte[] {1, 2, 3}),
                new BytesMessage(null, new byte[0]),
                new BytesMessage(null),
                new LongMessage(null, 4711),
                new ObjectMessage(null, numbers),
                new ObjectMessage(null, digest));
        for (Message message : all) {
            byte[] bytes = written(addressed(message));

            Message read = WireMessages.read(bytes);

            assertThat(read).hasSameClassAs(message);
            assertThat(written(read)).isEqualTo(bytes);
            assertThat(read.getSrc()).isEqualTo(from);
            assertThat(read.getDest()).isEqualTo(to);
            assertThat(read.getHeaders()).hasSize(2);
        }
    }

    @Test
    void messagesOfOneFrameAreReadAsTheyWereWritten() throws Exception {
        List<Message> messages = List.of(
                new BytesMessage(to, new byte[] {1}).setSrc(from),
                new BytesMessage(to, new byte[] {2}).setSrc(from).setFlag(Message.Flag.OOB),
                new EmptyMessage(to).setSrc(from));
        ByteArrayDataOutputStream out = new ByteArrayDataOutputStream(512, true);
        Util.writeMessageList(to, from, new byte[] {'c'}, messages, out, false);
        ByteArrayDataInputStream in = new ByteArrayDataInputStream(out.buffer(), 3, out.position() - 3);

        MessageBatch[] batches = WireMessages.readBatch(in, false, WireProfile.CLUSTER);

        assertThat(batches[0].size()).isEqualTo(2);
        assertThat(batches[1].size()).isEqualTo(1);
        assertThat(batches[0].sender()).isEqualTo(from);
        assertThat(batches[0].dest()).isEqualTo(to);
        assertThat(batches[0].clusterName()).hasToString("c");
    }

    @Test
    void headersThatNameClassesAreRefused() throws Exception {
        byte[] bytes = written(new EmptyMessage().putHeader((short) 1, new AuthHeader()));

        assertThatThrownBy(() -> WireMessages.read(bytes)).isInstanceOf(InvalidObjectException.class);
    }

    @Test
    void everyOtherHeaderThatTheChannelKnowsIsRefused() throws Exception {
        List<Integer> taken = List.of(52, 53, 55, 56, 59, 60, 62, 75, 78, 82, 94);
        for (int number = 0; number < 2_000; number++) {
            if (!taken.contains(number)) {
                short tcp = ClassConfigurator.getProtocolId(TP.class);
                byte[] bytes = {
                    0,
                    Message.EMPTY_MSG,
                    0,
                    0,
                    0,
                    0,
                    1,
                    (byte) (tcp >> 8),
                    (byte) tcp,
                    (byte) (number >> 8),
                    (byte) number
                };
                assertThatThrownBy(() -> WireMessages.read(bytes))
                        .isInstanceOf(InvalidObjectException.class)
                        .hasMessageContaining("header of class " + number);
            }
        }
        for (int number : taken) { // and these are headers still, if the library changes
            assertThat((Object) ClassConfigurator.create((short) number)).isInstanceOf(Header.class);
        }
    }

    @Test
    void lengthsThatNoMessageHasTakeNoMemory() throws Exception {
        byte[] bytes = {0, Message.BYTES_MSG, 0, 0, 0, 0, 0, 0x7F, -1, -1, -1};

        assertThatThrownBy(() -> WireMessages.read(bytes)).isInstanceOf(InvalidObjectException.class);
    }
}
