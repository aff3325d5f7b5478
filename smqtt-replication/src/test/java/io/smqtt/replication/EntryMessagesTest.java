// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.MalformedBytesException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.protocols.raft.AppendEntriesRequest;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jgroups.stack.Protocol;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.UUID;
import org.junit.jupiter.api.Test;

class EntryMessagesTest {

    private static final short RAFT = 801;

    private final List<Message> passed = new ArrayList<>();
    private final EntryMessages messages = new EntryMessages();
    private final Address leader = UUID.randomUUID();

    EntryMessagesTest() {
        Protocol end = new Protocol() {
            @Override
            public Object down(Message message) {
                passed.add(message);
                return null;
            }

            @Override
            public Object up(Message message) {
                passed.add(message);
                return null;
            }

            @Override
            public void up(MessageBatch batch) {
                batch.forEach(passed::add);
            }
        };
        messages.setDownProtocol(end);
        messages.setUpProtocol(end);
    }

    private Message head(Message message) {
        return message.setSrc(leader)
                .putHeader(RAFT, new AppendEntriesRequest(leader, 5, 1, 2, 3, 4))
                .setFlag(Message.TransientFlag.DONT_LOOPBACK);
    }

    private static List<String> texts(LogEntries entries) {
        List<String> texts = new ArrayList<>();
        entries.forEach(entry -> texts.add(LogContent.text(entry)));
        return texts;
    }

    @Test
    void entriesArriveAsTheyWereSent() {
        LogEntries entries = LogContent.entries(3, "one", "", "three");
        entries.add(new LogEntry(4, null), new LogEntry(5, new byte[] {9, 'i', 9}, 1, 1, true));
        messages.down(head(new ObjectMessage(null, entries)));

        Message sent = passed.remove(0);
        assertThat(sent).isInstanceOf(BytesMessage.class);
        assertThat(sent.isFlagSet(Message.TransientFlag.DONT_LOOPBACK)).isTrue();
        messages.up(sent);
        ObjectMessage received = (ObjectMessage) passed.remove(0);
        assertThat(texts(received.getObject())).containsExactly("3 one", "3 ", "3 three", "4 none", "5 internal i");
        assertThat(received.getSrc()).isEqualTo(leader);
        assertThat(received.<AppendEntriesRequest>getHeader(RAFT)).isNotNull();
    }

    @Test
    void aMessageWithoutEntriesIsOneForTheEngine() {
        messages.down(head(new ObjectMessage(null, null)));
        Message sent = passed.remove(0);
        assertThat(sent).isInstanceOf(EmptyMessage.class);

        MessageBatch batch = new MessageBatch(2).add(sent).add(new EmptyMessage(leader));
        messages.up(batch);
        assertThat(passed).hasSize(2);
        assertThat(passed.get(0)).isInstanceOf(ObjectMessage.class);
        assertThat(passed.get(1)).isInstanceOf(EmptyMessage.class);
    }

    @Test
    void bytesThatAreNoEntriesAreDropped() {
        byte[] whole = EntryBytes.encode(LogContent.entries(3, "one", "two"));
        int first = 1 + 13 + 3;
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            if (length != 1 && length != first) {
                assertThatThrownBy(() -> EntryBytes.decode(cut, 0, cut.length))
                        .as("%d bytes", length)
                        .isInstanceOf(MalformedBytesException.class);
            }
        }
        messages.up(head(new BytesMessage(null, new byte[] {1, 2, 3})));
        assertThat(passed).isEmpty();
        assertThat(messages.refused()).isOne();

        Random random = new Random(3);
        for (int i = 0; i < 2_000; i++) {
            byte[] changed = whole.clone();
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            try {
                EntryBytes.decode(changed, 0, changed.length);
            } catch (MalformedBytesException e) {
                // refused
            }
        }
    }
}
