// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Finds the nodes where messages of a shared group wait for absent members. Nodes announce groups with connected members and groups with
 * waiting messages, so that others can answer. Each announcement is rate-limited per group and may be lost; then a message waits longer.
 * Events may come on any thread; everything else is on the cluster's loop.
 */
@OnClusterLoop
final class GroupCalls {

    private static final int MAXIMUM_GROUPS = 10_000;

    private final ClusterSettings settings;
    private final Consumer<Frame> broadcast;
    private final Consumer<Runnable> later;
    private final Predicate<SharedFilter> canTake;
    private final Set<SharedFilter> wanted = ConcurrentHashMap.newKeySet();
    private final Set<SharedFilter> held = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean due = new AtomicBoolean();

    /** Groups with messages that waited here, for nodes that connect later; the oldest are removed. Guarded by itself. */
    private final Set<SharedFilter> known = Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<SharedFilter, Boolean> eldest) {
            return size() > MAXIMUM_GROUPS;
        }
    });

    /**
     * Creates it without announcements.
     *
     * @param broadcast sends a frame to all reachable nodes
     * @param later runs a task on the loop after a while
     * @param canTake whether this node has a connected member of a group with room
     */
    GroupCalls(
            ClusterSettings settings,
            Consumer<Frame> broadcast,
            Consumer<Runnable> later,
            Predicate<SharedFilter> canTake) {
        this.settings = settings;
        this.broadcast = broadcast;
        this.later = later;
        this.canTake = canTake;
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
        synchronized (known) {
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
            if (canTake.test(group)) { // a member has connected meanwhile and requested them
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
        synchronized (known) {
            return frames(false, List.copyOf(known));
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
            if (canTake.test(group)) {
                wanted(group);
            }
        }
    }
}
