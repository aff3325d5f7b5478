// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Finds the nodes where messages of a shared group wait for absent members. Nodes announce groups with connected members and groups with
 * waiting messages, so that others can answer. Each announcement is rate-limited per group. One that was lost, or came before the member or its
 * route, is made up for: groups with waiting messages are announced again and again. Events may come on any thread; everything else is on the
 * cluster's loop.
 */
@OnClusterLoop
final class GroupCalls {

    /** The time for which announcements are collected. */
    static final long DELAY_MILLIS = 100;

    private static final int MAXIMUM_GROUPS = 10_000;

    /** The number of digests between two repetitions, each of as many groups as one frame has. */
    static final int DIGESTS_PER_REPETITION = 5;

    private final ClusterSettings settings;
    private final Consumer<Frame> broadcast;
    private final Consumer<Runnable> later;
    private final Local local;
    private final Set<SharedFilter> wanted = ConcurrentHashMap.newKeySet();
    private final Set<SharedFilter> held = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean due = new AtomicBoolean();

    /** Groups with messages that waited here when they were last looked at, up to a number. */
    private final Set<SharedFilter> known = ConcurrentHashMap.newKeySet();

    private Iterator<SharedFilter> repeated = Collections.emptyIterator();
    private int digests;

    /** The groups of this node. */
    interface Local {

        /**
         * Whether this node has a member of a group that can take messages which wait elsewhere.
         *
         * @param group the group
         * @return true if one is
         */
        boolean canTakeMore(SharedFilter group);

        /**
         * Whether messages of a group wait on this node.
         *
         * @param group the group
         * @return true if one does
         */
        boolean holds(SharedFilter group);
    }

    /**
     * Creates it without announcements.
     *
     * @param broadcast sends a frame to all reachable nodes
     * @param later runs a task on the loop after {@link #DELAY_MILLIS}
     * @param local the broker, which has the members and the queues of groups
     */
    GroupCalls(ClusterSettings settings, Consumer<Frame> broadcast, Consumer<Runnable> later, Local local) {
        this.settings = settings;
        this.broadcast = broadcast;
        this.later = later;
        this.local = local;
    }

    /** This node has a member of a group that can take messages that wait elsewhere. */
    @AnyThread
    void wanted(SharedFilter group) {
        say(wanted, group);
    }

    /**
     * A message of a group waits here.
     *
     * @param elsewhere whether other reachable nodes have members
     */
    @AnyThread
    void held(SharedFilter group, boolean elsewhere) {
        if (elsewhere) {
            say(held, group);
        }
        if (known.size() < MAXIMUM_GROUPS) {
            known.add(group);
        }
    }

    private void say(Set<SharedFilter> groups, SharedFilter group) {
        if (groups.size() < MAXIMUM_GROUPS) {
            groups.add(group);
        }
        if (!due.get() && due.compareAndSet(false, true)) {
            later.accept(this::announce);
        }
    }

    private void announce() {
        due.set(false);
        for (SharedFilter group : List.copyOf(held)) {
            if (local.canTakeMore(group)) { // a member has connected meanwhile and requested them
                held.remove(group);
            }
        }
        frames(false, take(held)).forEach(broadcast);
        frames(true, take(wanted)).forEach(broadcast);
    }

    private static List<SharedFilter> take(Set<SharedFilter> groups) {
        List<SharedFilter> taken = List.copyOf(groups);
        taken.forEach(groups::remove);
        return taken;
    }

    /** The frames to a node that is reachable again. */
    List<Frame> greeting() {
        return frames(false, List.copyOf(known));
    }

    /** Announces some of the groups with waiting messages again, from time to time. Called with each digest. */
    void digest() {
        digests++;
        if (digests < DIGESTS_PER_REPETITION || known.isEmpty()) {
            return;
        }
        digests = 0;
        if (!repeated.hasNext()) {
            repeated = known.iterator();
        }
        List<SharedFilter> waiting = new ArrayList<>();
        for (int seen = 0; seen < settings.rowsPerFrame() && repeated.hasNext(); seen++) {
            SharedFilter group = repeated.next();
            if (local.holds(group)) {
                waiting.add(group);
            } else {
                forget(group);
            }
        }
        frames(false, waiting).forEach(broadcast);
    }

    private void forget(SharedFilter group) {
        known.remove(group);
        if (local.holds(group)) { // since this moment
            known.add(group);
        }
    }

    private List<Frame> frames(boolean wants, Collection<SharedFilter> groups) {
        List<Frame> frames = new ArrayList<>();
        List<String> part = new ArrayList<>();
        int length = 0;
        for (SharedFilter group : groups) {
            String text = group.toString();
            if (!part.isEmpty()
                    && (part.size() >= settings.rowsPerFrame() || length + text.length() > settings.frameBytes())) {
                frames.add(new Frame.GroupCall(wants, List.copyOf(part)));
                part.clear();
                length = 0;
            }
            part.add(text);
            length += text.length();
        }
        if (!part.isEmpty()) {
            frames.add(new Frame.GroupCall(wants, List.copyOf(part)));
        }
        return frames;
    }

    /** Another node has messages of these groups: requests those that members here can take. */
    void heardHeld(List<SharedFilter> groups) {
        for (SharedFilter group : groups) {
            if (local.canTakeMore(group)) {
                wanted(group);
            }
        }
    }
}
