// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayList;
import java.util.List;

/**
 * The nodes whose sessions a peer serves: messages for these go to the peer, by its routes, and are not parked for their nodes. So each message to the peer
 * has the names of these nodes; the peer refuses it for one that it does not serve. Messages that the peer may not have accepted when it fails are kept for these
 * nodes, too.
 */
@OnClusterLoop
final class ServedHomes {

    private final List<Served> all = new ArrayList<>();
    private String text = Homes.ALL;

    /**
     * One of them.
     *
     * @param home the node
     * @param messages the queue of messages for it
     * @param refused runs when the peer has refused a message for it: it does not serve the sessions of that node
     */
    record Served(String home, PeerOutbox messages, Runnable refused) {}

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

    /** Their names, see {@link Homes}. */
    String names() {
        return text;
    }

    /** The peer may not have accepted a message: it is parked for these nodes, too. Before it is settled. */
    void keep(OutboundMessage message) {
        if (!all.isEmpty() && message.isParked()) {
            all.stream().map(Served::messages).distinct().forEach(home -> home.keepToo(message));
        }
    }

    /** The peer does not serve one of them any more. Before the message is settled. */
    void refused(String home, OutboundMessage message) {
        List<Served> its = all.stream().filter(one -> one.home().equals(home)).toList();
        its.stream().limit(1).forEach(one -> one.messages().keepToo(message));
        its.forEach(one -> one.refused().run());
    }
}
