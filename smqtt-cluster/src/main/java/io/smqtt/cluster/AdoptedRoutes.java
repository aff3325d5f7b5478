// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.HashMap;
import java.util.Map;

/**
 * The filters of sessions that this node has adopted. They are announced all at once, when the other nodes send on what they have parked for these
 * sessions: so that comes before newer messages.
 */
@AnyThread
final class AdoptedRoutes {

    private final Announcer announcer;
    private final Map<String, Filters> byHome = new HashMap<>(); // guarded by this

    /** Announces a change of the routes of this node, see {@link ClusterNode#localChange}. */
    interface Announcer {

        void change(String filter, int difference, boolean durable);
    }

    /** The filters of the sessions of one node. */
    private static final class Filters {

        private final Map<String, Integer> waiting = new HashMap<>();
        private boolean announced;
        private int total;
    }

    AdoptedRoutes(Announcer announcer) {
        this.announcer = announcer;
    }

    /**
     * An adopted session has subscribed, or its subscription has ended.
     *
     * @param home the node of the session
     * @param filter as the client writes it
     * @param difference 1 or -1
     */
    synchronized void change(String home, String filter, int difference) {
        Filters filters = byHome.computeIfAbsent(home, node -> new Filters());
        filters.total += difference;
        if (!filters.announced) {
            filters.waiting.merge(filter, difference, Integer::sum);
            return;
        }
        announcer.change(filter, difference, true);
        if (filters.total == 0) { // its sessions have left, or are forgotten
            byHome.remove(home);
        }
    }

    /** Announces the filters of the sessions of a node. */
    synchronized void announce(String home) {
        Filters filters = byHome.get(home);
        if (filters == null || filters.announced) {
            return;
        }
        filters.announced = true;
        filters.waiting.forEach((filter, count) -> {
            for (int i = 0; i < count; i++) {
                announcer.change(filter, 1, true);
            }
        });
        filters.waiting.clear();
        if (filters.total == 0) {
            byHome.remove(home);
        }
    }
}
