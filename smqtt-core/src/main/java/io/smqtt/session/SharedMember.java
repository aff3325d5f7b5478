// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.Subscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A session as a member of shared groups. It pulls from the groups' queues when it has room, and gives back messages that
 * it cannot finish. Created with the session's first shared subscription.
 */
@OnEventLoop
final class SharedMember {

    private final Session session;
    private final GroupQueues groups;
    private final List<Membership> memberships = new ArrayList<>(1);
    private boolean paused;

    /** Whether there may be a group without a pending pull request. */
    private boolean mayAsk;

    /** A membership in one group. */
    private final class Membership implements GroupPulls.Taker {

        private final GroupQueue queue;
        private Subscription subscription;
        private boolean here;
        private boolean asked;

        Membership(GroupQueue queue, Subscription subscription) {
            this.queue = queue;
            this.subscription = subscription;
        }

        @Override
        @AnyThread
        public boolean isThere() {
            return session.isOnline();
        }

        @Override
        @AnyThread
        public void take(List<GroupMessage> batch) {
            session.execute(() -> offered(queue, batch));
        }
    }

    SharedMember(Session session, GroupQueues groups) {
        this.session = session;
        this.groups = groups;
    }

    private @Nullable Membership membership(Subscription subscription) {
        for (Membership membership : memberships) {
            Subscription own = membership.subscription;
            if (own.filter().equals(subscription.filter())
                    && own.shareName() != null
                    && own.shareName().equals(subscription.shareName())) {
                return membership;
            }
        }
        return null;
    }

    /** The queue of a subscription's group, or null if the session is no longer a member. */
    @Nullable
    GroupQueue queueOf(Subscription subscription) {
        Membership found = membership(subscription);
        return found == null ? null : found.queue;
    }

    /** Joins the group of a new or replaced subscription. */
    void subscribed(Subscription subscription) {
        Membership present = membership(subscription);
        if (present != null) {
            present.subscription = subscription;
            present.queue.members().limitsChanged();
            return;
        }
        GroupQueue queue = groups.join(session, subscription);
        if (queue != null) {
            memberships.add(new Membership(queue, subscription));
        }
    }

    /** Leaves the group of a subscription that has ended. */
    void unsubscribed(Subscription removed) {
        Membership gone = membership(removed);
        if (gone != null) {
            memberships.remove(gone);
            gone.queue.members().remove(session);
            gone.queue.pulls().cancel(gone);
            OutboundFlow flow = session.outboundOrNull();
            if (flow != null && gone.queue.hasEnded()) {
                flow.shared().keep(gone.queue);
            }
        }
    }

    /** The queues of its groups outlast it for some time: its node has served it up to now, and is about to serve it again. */
    void keepQueues() {
        for (Membership membership : memberships) {
            groups.keep(membership.queue);
        }
    }

    /** Leaves all groups: the session ends, or moves to another node. */
    void leaveGroups() {
        for (Membership membership : memberships) {
            membership.queue.members().remove(session);
            membership.queue.pulls().cancel(membership);
        }
        memberships.clear();
    }

    // --- while the client is connected

    /** Called when the client is connected and its CONNACK or SUBACK was sent. */
    void arrived() {
        for (Membership membership : memberships) {
            if (!membership.here) {
                membership.here = true;
                membership.asked = false;
                mayAsk = true;
                membership.queue.members().gatherFromAbsent();
                if (membership.queue.waiting() == 0) {
                    groups.wanted(membership.queue);
                }
            }
        }
        gatherMore();
    }

    /** Requests messages, or returns those that had to stay until a commit if the client is offline. */
    void deliveriesChanged() {
        if (session.isOnline()) {
            gatherMore();
        } else if (!session.hasEnded()) {
            detached();
        }
    }

    /** Requests messages that wait or will wait, if there is room. */
    void gatherMore() {
        if (!mayAsk || paused || !session.isOnline()) {
            return;
        }
        mayAsk = false;
        for (Membership membership : memberships) {
            if (membership.here && !membership.asked) {
                gatherMore(membership);
                mayAsk |= !membership.asked;
            }
        }
    }

    private void gatherMore(Membership membership) {
        int room = session.outbound().shared().room();
        if (room <= 0) { // negative if the client returned with a smaller Receive Maximum
            return;
        }
        GroupQueue queue = membership.queue;
        membership.asked = true;
        queue.pulls().pull(membership, room);
        if (queue.waitsElsewhere()) {
            groups.wanted(queue);
        }
    }

    /** Delays the next request after the store has rejected a message for this member. */
    void pause(StoreLoop loop) {
        if (!paused) {
            paused = true;
            for (Membership membership : memberships) {
                membership.asked = false;
                mayAsk = true;
                membership.queue.pulls().cancel(membership);
            }
            loop.later(() -> session.execute(() -> {
                paused = false;
                gatherMore();
            }));
        }
    }

    /** Takes requested messages. Those that do not fit are returned. */
    private void offered(GroupQueue queue, List<GroupMessage> batch) {
        Membership membership = null;
        for (Membership each : memberships) {
            membership = each.queue == queue ? each : membership;
        }
        int taken = 0;
        if (membership != null && session.isOnline()) {
            membership.asked = false;
            mayAsk = true;
            OutboundFlow flow = session.outbound();
            while (taken < batch.size() && flow.shared().take(batch.get(taken), membership.subscription)) {
                session.remember(batch.get(taken++).message(), membership.subscription);
            }
        }
        if (taken < batch.size()) {
            queue.giveBack(batch.subList(taken, batch.size()));
        }
        gatherMore();
    }

    // --- while the client is offline

    /** Called at the end of the connection. Unsent messages are returned; sent ones too, if another member is connected. */
    void detached() {
        OutboundFlow flow = session.outboundOrNull();
        if (flow != null) {
            flow.giveBackShared(this::hasOthersOnline, false);
        }
        for (Membership membership : memberships) {
            membership.here = false;
            membership.queue.pulls().cancel(membership);
        }
    }

    private boolean hasOthersOnline(Subscription subscription) {
        GroupQueue queue = queueOf(subscription);
        return queue != null && groups.hasOthersOnline(queue, session);
    }

    /** Returns sent messages because another member has connected, here or on another node. */
    void giveBackWhileAbsent() {
        OutboundFlow flow = session.outboundOrNull();
        if (flow != null && !session.isOnline() && !session.hasEnded()) {
            flow.giveBackShared(subscription -> true, false);
        }
    }

    /** Returns all messages that may be returned: the session ends, or moves to another node. */
    void giveBackAll() {
        OutboundFlow flow = session.outboundOrNull();
        if (flow != null) {
            flow.giveBackShared(subscription -> true, true);
        }
    }
}
