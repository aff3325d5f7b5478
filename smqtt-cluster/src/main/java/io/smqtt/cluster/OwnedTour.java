// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;

/** Announces sessions to nodes, one frame at a time, so that other frames do not wait long. */
@OnClusterLoop
final class OwnedTour implements Runnable {

    private static final int OWNED_PER_FRAME = 500;

    /** The number of sessions that are examined before the loop runs other tasks. */
    private static final int LOOKED_AT_AT_ONCE = 2_000;

    private final ClientWire wire;
    private final LocalClients local;
    private final List<String> nodes;
    private final Predicate<String> which;
    private final Iterator<String> all;

    OwnedTour(ClientWire wire, LocalClients local, Collection<String> nodes, Predicate<String> which) {
        this.wire = wire;
        this.local = local;
        this.nodes = new ArrayList<>(nodes);
        this.which = which;
        this.all = local.clientIds();
    }

    @Override
    public void run() {
        nodes.retainAll(wire.others());
        List<String> ids = new ArrayList<>();
        List<Long> clocks = new ArrayList<>();
        for (int i = 0; i < LOOKED_AT_AT_ONCE && ids.size() < OWNED_PER_FRAME && all.hasNext(); i++) {
            String clientId = all.next();
            long clock = which.test(clientId) ? local.clockOf(clientId) : LocalClients.NONE;
            if (clock != LocalClients.NONE) {
                ids.add(clientId);
                clocks.add(clock);
            }
        }
        announce(wire, nodes, ids, clocks);
        if (all.hasNext() && !nodes.isEmpty()) {
            wire.later(1, this);
        }
    }

    /** Announces these sessions to nodes. */
    static void announce(ClientWire wire, List<String> nodes, List<String> ids, List<Long> clocks) {
        for (int at = 0; at < ids.size() && !nodes.isEmpty(); at += OWNED_PER_FRAME) {
            int end = Math.min(ids.size(), at + OWNED_PER_FRAME);
            Frame.Owned frame =
                    new Frame.Owned(List.copyOf(ids.subList(at, end)), List.copyOf(clocks.subList(at, end)));
            nodes.forEach(node -> wire.send(node, frame));
        }
    }
}
