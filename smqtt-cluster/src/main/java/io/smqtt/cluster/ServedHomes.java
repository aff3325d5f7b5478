// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The nodes whose sessions a peer serves, and for which nothing is parked here any more: messages for these go to the peer, by its routes. So each message
 * that is queued for the peer gets the names of these nodes. Only then their sessions take it; the peer refuses it for one that it does not serve. Messages
 * that the peer may not have accepted when it fails are kept for the nodes that they name, too.
 */
@OnClusterLoop
final class ServedHomes {

    private final List<Served> all = new ArrayList<>();
    private String text = Homes.NONE;

    /**
     * One of them.
     *
     * @param home the node
     * @param messages the queue of messages for it; null if this node has no queue for it
     * @param refused runs when the peer has refused a message for it: it does not serve the sessions of that node
     */
    record Served(String home, @Nullable PeerOutbox messages, Runnable refused) {}

    void add(Served served) {
        all.add(served);
        text = text();
    }

    void remove(Served served) {
        all.remove(served);
        text = text();
    }

    private String text() {
        return Homes.of(all.stream().map(Served::home).distinct().sorted().toList());
    }

    /** A message is queued for the peer. */
    void name(Outbound message) {
        if (!all.isEmpty() && message.isToAll()) {
            message.homes(text);
        }
    }

    /** The peer may not have accepted a message: it is parked for the nodes that it names, too. Before it is settled. */
    void keep(OutboundMessage message) {
        if (!all.isEmpty() && message.isParked() && !message.homes().equals(Homes.NONE)) {
            keep(message, Homes.nodes(message.homes()));
        }
    }

    private void keep(OutboundMessage message, Set<String> homes) {
        Set<PeerOutbox> kept = new HashSet<>();
        for (Served one : all) {
            PeerOutbox messages = one.messages();
            if (messages != null && homes.contains(one.home()) && kept.add(messages)) {
                messages.keepToo(message);
            }
        }
    }

    /** The peer does not serve one of them any more. Before the message is settled. */
    void refused(String home, OutboundMessage message) {
        keep(message, Set.of(home));
        List<Served> its = all.stream().filter(one -> one.home().equals(home)).toList();
        its.forEach(one -> one.refused().run());
    }
}
