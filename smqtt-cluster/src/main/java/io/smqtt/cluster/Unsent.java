// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a {@link PeerOutbox} that were not sent yet. Messages of event loops may have to wait until others, which were parked for another node
 * and come before them, are with the peer.
 */
@OnClusterLoop
final class Unsent implements Iterable<Outbound> {

    private final ArrayDeque<Outbound> next = new ArrayDeque<>();
    private final ArrayDeque<Outbound> waiting = new ArrayDeque<>();
    private final Set<Object> holders = new HashSet<>();

    /** Adds a message that event loops have queued: behind all others. */
    void queue(Outbound message) {
        (holders.isEmpty() ? next : waiting).add(message);
    }

    /** Adds a message before those that wait. */
    void add(Outbound message) {
        next.add(message);
    }

    /** Adds messages before those that wait. */
    void addAll(Collection<? extends Outbound> messages) {
        next.addAll(messages);
    }

    void addFirst(Outbound message) {
        next.addFirst(message);
    }

    /**
     * Messages that are queued from now on wait.
     *
     * @param holder for {@link #letGo}
     */
    void hold(Object holder) {
        holders.add(holder);
    }

    /** Ends the wait for one holder. Does nothing if all were removed meanwhile. */
    void letGo(Object holder) {
        if (holders.remove(holder) && holders.isEmpty()) {
            next.addAll(waiting);
            waiting.clear();
        }
    }

    /** Whether nothing may be sent now. */
    boolean isEmpty() {
        return next.isEmpty();
    }

    /** The number of those that may be sent. */
    int size() {
        return next.size();
    }

    /** The next one that may be sent; there is one. */
    Outbound element() {
        return next.element();
    }

    /** Removes the next one. */
    void remove() {
        next.remove();
    }

    /** The last one of all; null if there is none. */
    @Nullable
    Outbound last() {
        return waiting.isEmpty() ? next.peekLast() : waiting.peekLast();
    }

    /** Removes all, and ends all waits: the peer is unreachable. */
    List<Outbound> removeAll() {
        List<Outbound> all = new ArrayList<>(next);
        all.addAll(waiting);
        next.clear();
        waiting.clear();
        holders.clear();
        return all;
    }

    @Override
    public Iterator<Outbound> iterator() {
        return next.iterator();
    }
}
