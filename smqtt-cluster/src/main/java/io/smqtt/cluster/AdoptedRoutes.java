// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;

/**
 * The filters of sessions that this node has adopted. They are announced when the other nodes send on what they have parked for these sessions: so that
 * comes before newer messages. In parts, because there may be a million of them, and event loops wait for each part.
 */
@AnyThread
final class AdoptedRoutes {

    /** The number of changes that are announced in one task of the cluster's loop. */
    static final int AT_ONCE = 1_000;

    private final Announcer announcer;
    private final Executor loop;
    private final Map<String, Filters> byHome = new HashMap<>(); // guarded by this

    /** Announces a change of the routes of this node, see {@link ClusterNode#localChange}. */
    interface Announcer {

        void change(String filter, int difference, boolean durable);
    }

    /** The filters of the sessions of one node. */
    private static final class Filters {

        /** Those that are not announced yet, with their numbers. */
        private final Map<String, Integer> waiting = new LinkedHashMap<>();

        private boolean announced;
        private boolean ends;
        private int total;
    }

    /**
     * Creates it without filters.
     *
     * @param loop the cluster's loop
     */
    AdoptedRoutes(Announcer announcer, Executor loop) {
        this.announcer = announcer;
        this.loop = loop;
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
        if (!filters.announced || filters.waiting.containsKey(filter)) {
            int number = filters.waiting.merge(filter, difference, Integer::sum);
            if (number == 0) {
                filters.waiting.remove(filter);
            }
        } else {
            announcer.change(filter, difference, true);
        }
        removeIfOver(home, filters);
    }

    /** The sessions have left, or are forgotten, and no others come. */
    private void removeIfOver(String home, Filters filters) {
        if (filters.ends && filters.total == 0) {
            byHome.remove(home, filters);
        }
    }

    /**
     * Announces the filters of the sessions of a node. On the cluster's loop.
     *
     * @param done runs on the cluster's loop when all are announced
     */
    @OnClusterLoop
    void announce(String home, Runnable done) {
        Filters filters;
        synchronized (this) {
            filters = byHome.computeIfAbsent(home, node -> new Filters());
            filters.announced = true;
            filters.ends = false;
        }
        announce(filters, done);
    }

    @OnClusterLoop
    private void announce(Filters filters, Runnable done) {
        if (announcePart(filters)) {
            done.run();
        } else {
            loop.execute(() -> announce(filters, done));
        }
    }

    /** Announces some filters; returns whether they were the last ones. */
    private synchronized boolean announcePart(Filters filters) {
        Iterator<Map.Entry<String, Integer>> all = filters.waiting.entrySet().iterator();
        int left = AT_ONCE;
        while (left > 0 && all.hasNext()) {
            Map.Entry<String, Integer> next = all.next();
            int some = Math.min(left, next.getValue());
            for (int i = 0; i < some; i++) {
                announcer.change(next.getKey(), 1, true);
            }
            left -= some;
            if (some == next.getValue()) {
                all.remove();
            } else {
                next.setValue(next.getValue() - some);
            }
        }
        return filters.waiting.isEmpty();
    }

    /** The adoption ends: when the last filter of these sessions has gone, nothing is known of them any more. */
    synchronized void end(String home) {
        Filters filters = byHome.get(home);
        if (filters != null) {
            filters.ends = true;
            removeIfOver(home, filters);
        }
    }
}
