// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Finds what claims have left half done in the groups that a node serves: a session that was sealed for a claim which has not settled, or installed by
 * one. After a while the session is claimed again, for the same group and without a client; what is settled elsewhere is dropped.
 */
final class Leftovers {

    private static final long PATIENCE_NANOS = 1_500_000_000;
    private static final int TICKS = 4;

    private final Node node;
    private final Map<String, Long> since = new HashMap<>();
    private final Set<String> claiming = new HashSet<>();
    private int ticks;
    private int claims;

    Leftovers(Node node) {
        this.node = node;
    }

    void tick() {
        if (++ticks % TICKS == 0) {
            node.servers().all().stream().filter(GroupServer::isOpen).forEach(this::look);
        }
    }

    private void look(GroupServer server) {
        for (SessionRows rows : server.state().sessions()) {
            String key = server.group() + "/" + rows.client();
            Register.Place place = node.register().place(rows.client());
            boolean here = place.group() == server.group();
            if (!here && place.epoch() > rows.epoch() && place.epoch() >= rows.sealedBy()) {
                server.submit(new Change.Drop(rows.client(), place.epoch()), dropped -> {});
            } else if (here && place.epoch() == rows.epoch() && !rows.isSealed()) {
                since.remove(key);
            } else if (isOver(key)) {
                claim(server, rows.client(), key);
            }
        }
    }

    private boolean isOver(String key) {
        long now = node.model().nanoTime();
        return now - since.computeIfAbsent(key, absent -> now) > PATIENCE_NANOS;
    }

    private void claim(GroupServer server, String client, String key) {
        if (!claiming.add(key)) {
            return;
        }
        since.remove(key);
        String token = "leftover/" + node.id() + "/" + node.host().run() + "/" + claims++;
        Claiming.begin(node, server, client, token, () -> claiming.contains(key), claim -> claiming.remove(key));
        node.host().after(2_000, () -> claiming.remove(key));
    }
}
