// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.jgroups.View;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of the leadership from this member to another one: proposals pause until that one has all entries, and then there is a vote. To the home of the
 * group, when it asks, and this member serves nothing; to any other one from a member that must not serve.
 *
 * <p>Used by the group's thread, but for {@link #isPaused} and {@link #roleChanged}.
 */
final class Handover {

    private static final Logger LOG = LoggerFactory.getLogger(Handover.class);
    private static final long NOT_LEADING = 0;
    private static final long TRANSFER_MILLIS = 10;
    private static final long TRANSFER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final GroupSettings settings;
    private final Group group;
    private final RaftGroup.Listener listener;
    private final ScheduledExecutorService thread;
    private volatile boolean isPaused;
    private boolean isGivingBack;

    /** The group of a handover. Does not block. */
    interface Group {

        /** The term in which this member leads; 0 if it does not. */
        long term();

        /** Whether nothing waits for a majority, and the other member has all entries. */
        boolean isReady(Address other);

        /** Begins a vote. */
        void vote();
    }

    Handover(GroupSettings settings, Group group, RaftGroup.Listener listener, ScheduledExecutorService thread) {
        this.settings = settings;
        this.group = group;
        this.listener = listener;
        this.thread = thread;
    }

    /** Whether nothing may be proposed, because the leadership is about to go. */
    boolean isPaused() {
        return isPaused;
    }

    /** The member leads from now on, or does not any more. */
    void roleChanged() {
        isPaused = false;
    }

    /** The home asks for the leadership. */
    void claimed(Address home, long term) {
        if (term == group.term() && term != NOT_LEADING && !isPaused && !isGivingBack) {
            isGivingBack = true;
            listener.askedBack()
                    .whenComplete((none, failure) -> soon(() -> {
                        isGivingBack = false;
                        if (term == group.term() && !isPaused && failure == null) {
                            begin(home);
                        }
                    }));
        }
    }

    /** This member leads: if it must not serve, another one that has all entries is to lead. */
    void passOn(@Nullable View present) {
        if (listener.mayServe() || isPaused || present == null) {
            return;
        }
        for (Address member : present) {
            if (!settings.self().equals(GroupMembers.nameOf(member)) && group.isReady(member)) {
                begin(member);
                return;
            }
        }
    }

    private void begin(Address to) {
        isPaused = true;
        giveTo(to, System.nanoTime() + TRANSFER_NANOS);
    }

    private void giveTo(Address to, long endNanos) {
        long term = group.term();
        if (!isPaused || term == NOT_LEADING) {
            return;
        }
        if (group.isReady(to)) {
            LOG.info("the leadership of the group {} goes to {}", settings.name(), GroupMembers.nameOf(to));
            group.vote();
            thread.schedule(() -> resume(term), TRANSFER_NANOS, TimeUnit.NANOSECONDS);
        } else if (System.nanoTime() - endNanos > 0) {
            isPaused = false;
        } else {
            thread.schedule(() -> giveTo(to, endNanos), TRANSFER_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** The election may have come to nothing: then this member leads on in its term. */
    private void resume(long term) {
        if (group.term() == term) {
            isPaused = false;
        }
    }

    private void soon(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("the group {} has ended", settings.name(), e);
        }
    }
}
