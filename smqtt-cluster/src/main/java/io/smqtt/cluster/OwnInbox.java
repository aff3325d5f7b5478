// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Messages that another node had parked for this one, which has adopted them with the store of that node. They come to the sessions here as if that node had
 * sent them: at the pace of its clients.
 */
@OnClusterLoop
final class OwnInbox implements AdoptedParks.Receiver {

    private final LocalPart local;
    private final Executor loop;
    private final PeerInbox inbox;
    private final ArrayDeque<Sent> open = new ArrayDeque<>();
    private long last;

    /** A message without an answer. */
    private record Sent(long sequence, Consumer<Boolean> taken) {}

    /** The adopted sessions of other nodes do not get what was parked for this one. */
    private static final class OwnSessions implements AdoptedHomes {

        @Override
        public boolean serves(String home) {
            return false;
        }

        @Override
        public Set<String> unknown() {
            return Set.of();
        }
    }

    /**
     * Creates it.
     *
     * @param local routes the messages
     * @param loop the cluster's loop
     */
    OwnInbox(LocalPart local, Executor loop) {
        this.local = local;
        this.loop = loop;
        this.inbox =
                new PeerInbox(loop, local::deliver, this::acknowledged, loop::execute, () -> false, new OwnSessions());
    }

    @Override
    public void take(OutboundMessage message, Consumer<Boolean> taken) {
        if (message.hasGroups()) { // another member may have it
            message.hold(new Inheritance(message.message(), taken, loop));
            message.giveTo(local::redispatch);
            message.settle(true);
            return;
        }
        open.add(new Sent(++last, taken));
        ForwardedMessage forwarded = new ForwardedMessage(message.message(), true, List.of());
        inbox.receive(
                0, new Frame.PublishBatch(0, 0, open.element().sequence(), last, List.of(forwarded), true, Homes.NONE));
    }

    private void acknowledged(Frame.PublishAck ack) {
        while (!open.isEmpty() && open.element().sequence() <= ack.upTo()) {
            Sent done = open.remove();
            boolean isRefused = ack.refusals().stream().anyMatch(refusal -> refusal.sequence() == done.sequence());
            done.taken().accept(!isRefused);
        }
    }
}
