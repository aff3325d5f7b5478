// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The subscribers that share one filter under one share name (MQTT 5.0, section 4.8.2). {@link #select} chooses the member for each
 * message: on any thread, without a lock, on a snapshot of the members.
 */
public final class SharedGroup {

    private static final AtomicIntegerFieldUpdater<SharedGroup> TURN =
            AtomicIntegerFieldUpdater.newUpdater(SharedGroup.class, "turn");

    private final String shareName;
    private final TopicFilter filter;
    private final SharedStrategy strategy;
    private final MemberList members = new MemberList();

    @SuppressWarnings("UnusedVariable") // by TURN
    private volatile int turn;

    private volatile @Nullable GroupBacklog backlog;

    SharedGroup(String shareName, TopicFilter filter, SharedStrategy strategy) {
        this.shareName = shareName;
        this.filter = filter;
        this.strategy = strategy;
    }

    /**
     * The name of the group.
     *
     * @return the share name
     */
    public String shareName() {
        return shareName;
    }

    /**
     * The shared filter.
     *
     * @return the filter without the share name
     */
    public TopicFilter filter() {
        return filter;
    }

    /**
     * The number of members, online or not.
     *
     * @return 0 for a group that no longer exists
     */
    public int size() {
        return MemberList.size(members.snapshot());
    }

    /** The members, changed under the lock of the index only. */
    MemberList members() {
        return members;
    }

    /**
     * Calls an action with each member. Weakly consistent.
     *
     * @param action the action
     */
    @AnyThread
    public void forEachMember(Consumer<? super Subscriber> action) {
        Object[] all = members.snapshot();
        for (int i = 0; i < MemberList.size(all); i++) {
            action.accept(MemberList.get(all, i).subscriber());
        }
    }

    /**
     * Whether a member is online. Does not advance the round robin.
     *
     * @param among true for members that count
     * @return true if one of them is online
     */
    @AnyThread
    public boolean hasOnlineMember(Predicate<? super Subscriber> among) {
        Object[] all = members.snapshot();
        for (int i = 0, size = MemberList.size(all); i < size; i++) {
            if (isOnline(MemberList.get(all, i), among)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The queue of the group.
     *
     * @return null if no message has been queued yet
     */
    @AnyThread
    public @Nullable GroupBacklog backlog() {
        return backlog;
    }

    /**
     * Sets the queue for messages that no member can take.
     *
     * @param queue the queue
     */
    @AnyThread
    public void backlog(GroupBacklog queue) {
        backlog = queue;
    }

    /** Whether messages are queued; members take these before later ones. */
    boolean hasBacklog() {
        GroupBacklog present = backlog;
        return present != null && present.waiting() > 0;
    }

    /** Whether messages may be queued: a member has a maximum QoS above 0. */
    boolean mayQueue() {
        Object[] all = members.snapshot();
        for (int i = 0, size = MemberList.size(all); i < size; i++) {
            if (MemberList.get(all, i).maximumQos() != QoS.AT_MOST_ONCE) {
                return true;
            }
        }
        return false;
    }

    /**
     * Chooses the online member that gets a message.
     *
     * @param message the message
     * @return null if no member is online
     */
    public @Nullable Subscription select(ApplicationMessage message) {
        return select(message, null);
    }

    /**
     * Chooses the online member that gets a message.
     *
     * @param message the message
     * @param among true for members that may get the message; null for all members
     * @return null if none of them is online
     */
    public @Nullable Subscription select(ApplicationMessage message, @Nullable Predicate<? super Subscriber> among) {
        Object[] all = members.snapshot();
        int size = MemberList.size(all);
        if (size == 0) {
            return null;
        }
        int start = start(size, message); // one turn for each message, however many members are skipped
        int index = switch (strategy) {
            case ROUND_ROBIN -> nextInTurn(all, size, start, among, false);
            case LOCAL_FIRST -> localFirst(all, size, start, among);
            case RANDOM -> scattered(all, size, ThreadLocalRandom.current().nextInt(), among);
            case HASH_CLIENT -> scattered(all, size, publisherHash(message), among);
            case HASH_TOPIC -> scattered(all, size, message.topic().hashCode(), among);
            case LEAST_IN_FLIGHT -> leastInFlight(all, size, start, among);
        };
        return index >= 0 ? MemberList.get(all, index) : null;
    }

    private static int publisherHash(ApplicationMessage message) {
        String publisher = message.publisherId();
        return publisher == null ? 0 : publisher.hashCode();
    }

    /** The next online member. Turns of skipped members are used up, so that no other member gets them in addition. */
    private int nextInTurn(
            Object[] all, int size, int start, @Nullable Predicate<? super Subscriber> among, boolean noRelays) {
        for (int passed = 0; passed < size; passed++) {
            int index = (start + passed) % size;
            Subscription member = MemberList.get(all, index);
            if (isOnline(member, among) && !(noRelays && member.subscriber().isRelay())) {
                if (passed > 0) {
                    TURN.addAndGet(this, passed);
                }
                return index;
            }
        }
        return -1;
    }

    private int localFirst(Object[] all, int size, int start, @Nullable Predicate<? super Subscriber> among) {
        int own = nextInTurn(all, size, start, among, true);
        return own >= 0 ? own : nextInTurn(all, size, start, among, false);
    }

    /** The member that a number selects, or that a number derived from it selects, or the next one. */
    private static int scattered(Object[] all, int size, int number, @Nullable Predicate<? super Subscriber> among) {
        int hash = number;
        for (int attempt = 0; attempt < 4; attempt++) {
            hash = spread(hash + attempt);
            int index = Integer.remainderUnsigned(hash, size);
            if (isOnline(MemberList.get(all, index), among)) {
                return index;
            }
        }
        int start = Integer.remainderUnsigned(hash, size);
        for (int passed = 1; passed < size; passed++) {
            int index = (start + passed) % size;
            if (isOnline(MemberList.get(all, index), among)) {
                return index;
            }
        }
        return -1;
    }

    private static int leastInFlight(Object[] all, int size, int start, @Nullable Predicate<? super Subscriber> among) {
        int best = -1;
        int fewest = Integer.MAX_VALUE;
        for (int passed = 0; passed < size && fewest > 0; passed++) {
            int index = (start + passed) % size;
            Subscription member = MemberList.get(all, index);
            int inFlight = member.subscriber().inFlightCount();
            if ((best < 0 || inFlight < fewest) && isOnline(member, among)) {
                best = index;
                fewest = inFlight;
            }
        }
        return best;
    }

    /** The index at which the search for a member starts, for strategies that do not name a member. */
    private int start(int size, ApplicationMessage message) {
        int number = switch (strategy) {
            case HASH_CLIENT -> spread(publisherHash(message));
            case HASH_TOPIC -> spread(message.topic().hashCode());
            case RANDOM -> ThreadLocalRandom.current().nextInt();
            case ROUND_ROBIN, LOCAL_FIRST, LEAST_IN_FLIGHT -> TURN.getAndIncrement(this);
        };
        return Integer.remainderUnsigned(number, size);
    }

    private static boolean isOnline(Subscription member, @Nullable Predicate<? super Subscriber> among) {
        Subscriber subscriber = member.subscriber();
        return subscriber.isOnline() && (among == null || among.test(subscriber));
    }

    private static int spread(int number) {
        int hash = number * 0x9E3779B9;
        hash = (hash ^ hash >>> 15) * 0x85EBCA6B;
        return hash ^ hash >>> 13;
    }
}
