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
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.MessageBatch;
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
        return new AgreementGuard(agreement, node -> node.equals(foreign));
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
