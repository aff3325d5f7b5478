// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.EmptyMessage;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.View;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.Util;
import org.junit.jupiter.api.Test;

class OwnNodesTest {

    private final ExtendedUUID own = node("3 of a, b, c");
    private final ExtendedUUID peer = node("3 of a, b, c");
    private final ExtendedUUID configured = node("3 of a, aa, b, c");
    private final ExtendedUUID foreign = node("3 of a, b, c");
    private final AgreementGuard guard = guard("3 of a, b, c");
    private final List<View> whole = new ArrayList<>();
    private final List<View> views = new ArrayList<>();
    private final List<Address> senders = new ArrayList<>();
    private final OwnNodes nodes = new OwnNodes(node -> guard.reason(node) != null, whole::add);

    OwnNodesTest() {
        nodes.setUpProtocol(new Protocol() {
            @Override
            public Object up(Event event) {
                views.add(event.getArg());
                return null;
            }

            @Override
            public Object up(Message message) {
                senders.add(message.getSrc());
                return null;
            }

            @Override
            public void up(MessageBatch batch) {
                batch.forEach(message -> senders.add(message.getSrc()));
            }
        });
    }

    private AgreementGuard guard(String agreement) {
        return new AgreementGuard(agreement, node -> node.equals(foreign) ? AgreementGuard.OTHER_CLUSTER : null);
    }

    private ExtendedUUID node(String agreement) {
        ExtendedUUID node = ExtendedUUID.randomUUID();
        guard(agreement).describe(node);
        return node;
    }

    private static Message from(Address sender) {
        return new EmptyMessage().setSrc(sender);
    }

    @Test
    void aReasonIsNamed() {
        assertThat(guard.reason(peer)).isNull();
        assertThat(guard.reason(configured)).isEqualTo(AgreementGuard.OTHER_CONFIGURATION);
        assertThat(guard.reason(foreign)).isEqualTo(AgreementGuard.OTHER_CLUSTER);
        assertThat(guard.reason(null)).isEqualTo(AgreementGuard.OTHER_CONFIGURATION);
        assertThat(AgreementGuard.reasonIn("refused: " + AgreementGuard.OTHER_CLUSTER + "; x"))
                .isEqualTo(AgreementGuard.OTHER_CLUSTER + "; x");
        assertThat(AgreementGuard.reasonIn("refused: " + AgreementGuard.OTHER_CONFIGURATION))
                .isEqualTo(AgreementGuard.OTHER_CONFIGURATION);
        assertThat(AgreementGuard.reasonIn("a name that is there already")).isNull();
    }

    @Test
    void versionsWorkTogetherIfEachReadsWhatTheOtherWrites() {
        ReplicaVersion first = new ReplicaVersion(1, 1, "1.0");
        ReplicaVersion second = new ReplicaVersion(1, 2, "1.1");
        ReplicaVersion third = new ReplicaVersion(2, 3, "1.2");
        assertThat(first.worksWith(second)).isTrue();
        assertThat(second.worksWith(first)).isTrue();
        assertThat(second.worksWith(third)).isTrue();
        assertThat(third.worksWith(first)).isFalse();
        assertThat(first.worksWith(third)).isFalse();
        assertThat(ReplicaVersion.decode(third.encode())).isEqualTo(third);
        assertThat(ReplicaVersion.own().worksWith(ReplicaVersion.own())).isTrue();
        assertThat(ReplicaVersion.own().worksWith(ReplicaVersion.decode(null))).isFalse();
        assertThat(ReplicaVersion.decode(new byte[] {1})).isEqualTo(ReplicaVersion.decode(null));
    }

    @Test
    void theReasonOfAnotherVersionNamesBoth() {
        ExtendedUUID later = node(new ReplicaVersion(8, 9, "5.1"));
        ExtendedUUID before = ExtendedUUID.randomUUID();

        assertThat(guard.reason(later))
                .startsWith(AgreementGuard.OTHER_VERSION)
                .contains("version 5.1 (replication protocol 9, works with 8 and later)")
                .contains(ReplicaVersion.own().toString());
        assertThat(guard.reason(before))
                .startsWith(AgreementGuard.OTHER_VERSION)
                .contains("version without a number");
        assertThat(guard.reason(node(new ReplicaVersion(0, 1, "0.9")))).isNull();
        assertThat(AgreementGuard.reasonIn("refused: " + guard.reason(later))).isEqualTo(guard.reason(later));
    }

    private ExtendedUUID node(ReplicaVersion version) {
        ExtendedUUID node = ExtendedUUID.randomUUID();
        new AgreementGuard("3 of a, b, c", other -> null, version).describe(node);
        return node;
    }

    /** Two nodes with one name, each of which was alone first, meet. */
    @Test
    void ofNodesWithOneNameTheFirstStays() {
        ExtendedUUID first = named("x");
        ExtendedUUID second = named("x");
        View all = View.create(own, 3, own, first, peer, second);
        nodes.up(new Event(Event.VIEW_CHANGE, all));
        nodes.up(from(first));
        nodes.up(from(second));
        nodes.up(new MessageBatch(2).add(from(second)).add(from(peer)));

        assertThat(views.get(0).getMembers()).containsExactly(own, first, peer);
        assertThat(senders).containsExactly(first, peer);

        nodes.up(new Event(Event.VIEW_CHANGE, View.create(own, 4, own, peer, second)));
        nodes.up(from(second));
        assertThat(views.get(1).getMembers()).containsExactly(own, peer, second);
        assertThat(senders).containsExactly(first, peer, second);
    }

    @Test
    void oneWhoseNameAnotherHasIsAlone() {
        ExtendedUUID first = named("x");
        ExtendedUUID second = named("x");
        nodes.addr(second);
        nodes.up(new Event(Event.VIEW_CHANGE, View.create(own, 3, own, first, peer, second)));
        nodes.up(from(peer));

        assertThat(views.get(0).getMembers()).containsExactly(second);
        assertThat(senders).isEmpty();
    }

    private ExtendedUUID named(String name) {
        return node("3 of a, b, c").put(RAFT.raft_id_key, Util.stringToBytes(name));
    }

    @Test
    void othersAreInNoView() {
        View all = View.create(own, 3, own, configured, peer, foreign);
        nodes.up(new Event(Event.VIEW_CHANGE, all));

        assertThat(whole).containsExactly(all);
        assertThat(views).hasSize(1);
        assertThat(views.get(0).getMembers()).containsExactly(own, peer);
        assertThat(views.get(0).getViewId()).isEqualTo(all.getViewId());
    }

    @Test
    void messagesOfOthersAreDropped() {
        nodes.up(from(peer));
        nodes.up(from(configured));
        nodes.up(from(foreign));
        MessageBatch batch = new MessageBatch(4);
        batch.add(from(foreign)).add(from(own)).add(from(configured)).add(from(peer));
        nodes.up(batch);
        nodes.up(new MessageBatch(1).add(from(foreign)));

        assertThat(senders).containsExactly(peer, own, peer);
    }
}
