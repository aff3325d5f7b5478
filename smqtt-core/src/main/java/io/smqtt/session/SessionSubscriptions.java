// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.HeapWeight;
import io.smqtt.message.QoS;
import io.smqtt.routing.ExclusiveSubscription;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions of a session. Keeps the router's index, the store, the shared groups and the session's charge in step
 * with them.
 */
@OnEventLoop
public final class SessionSubscriptions extends SubscriptionTable {

    private final Session session;

    SessionSubscriptions(Session session) {
        this.session = session;
    }

    /**
     * Adds or replaces a subscription.
     *
     * @param subscription a subscription of this session
     * @return true if it is new for its filter and share name
     */
    public boolean subscribe(Subscription subscription) {
        Subscription before = get(subscription.filter(), subscription.shareName());
        boolean isNew = before == null;
        if (isNew) {
            session.charge().add(weight(subscription.filter(), subscription.shareName()));
        }
        put(subscription);
        session.resources().router().index().add(subscription); // replaces without a gap [MQTT-3.8.4-3]
        session.resources().observer().subscribed(session.id(), subscription.clientFilter(), isNew);
        SessionRecord record = session.record();
        if (before != null && before.getClass() != subscription.getClass()) {
            replaced(before, record);
        }
        if (record != null) {
            record.subscriptionChanged(subscription.clientFilter(), subscription);
        }
        if (subscription.shareName() != null) {
            session.member().subscribed(subscription);
        }
        return isNew;
    }

    /**
     * Subscribes if the access rules allow it, later if their answer is not at hand.
     *
     * @param subscription a subscription of this session
     */
    public void subscribeIfAllowed(Subscription subscription) {
        AccessChecks.decide(
                        session.resources().authorizer(),
                        session.client(),
                        AccessAction.SUBSCRIBE,
                        subscription.filter().value(),
                        subscription.maximumQos(),
                        false)
                .filter(decision -> decision == AccessDecision.ALLOW)
                .subscribe(decision -> session.execute(() -> {
                    if (!session.hasEnded()) {
                        subscribe(subscription);
                    }
                }));
    }

    /** An exclusive subscription has become an ordinary one to the same filter, or the other way round. */
    private void replaced(Subscription before, @Nullable SessionRecord record) {
        if (before instanceof ExclusiveSubscription) {
            exclusive().release(before.filter(), session);
        }
        if (record != null) {
            record.subscriptionChanged(before.clientFilter(), null);
        }
    }

    private ExclusiveFilters exclusive() {
        return session.resources().exclusive();
    }

    /**
     * Releases a claimed filter if the session has no exclusive subscription to it.
     *
     * @param filter the filter without its prefix
     */
    public void unclaim(TopicFilter filter) {
        if (session.hasEnded() || !(get(filter, null) instanceof ExclusiveSubscription)) {
            exclusive().release(filter, session);
        }
    }

    /**
     * Restores a subscription.
     *
     * @param stored in the form of the store
     * @return a subscription of this session
     */
    Subscription of(StoredSubscription stored) {
        String text = stored.clientFilter();
        return exclusive().isExclusive(text)
                ? new ExclusiveSubscription(
                        session,
                        ExclusiveFilters.parse(text),
                        stored.maximumQos(),
                        stored.noLocal(),
                        stored.retainAsPublished(),
                        stored.identifier())
                : Subscription.of(session, stored);
    }

    @Override
    @Nullable
    Subscription get(String clientFilter) {
        Subscription found = exclusive().isExclusive(clientFilter)
                ? get(ExclusiveFilters.parse(clientFilter), null)
                : super.get(clientFilter);
        return found == null || found.clientFilter().equals(clientFilter) ? found : null;
    }

    /**
     * Ends a subscription.
     *
     * @param filter the filter
     * @param shareName the group of a shared subscription, or null
     * @return false if there was none
     */
    public boolean unsubscribe(TopicFilter filter, @Nullable String shareName) {
        Subscription removed = remove(filter, shareName);
        if (removed == null) {
            return false;
        }
        session.charge().add(-weight(filter, shareName));
        if (removed instanceof ExclusiveSubscription) {
            exclusive().release(filter, session);
        }
        session.resources().router().index().remove(session, filter, shareName);
        OutboundFlow outbound = session.outboundOrNull();
        if (outbound != null && shareName == null) {
            outbound.unsubscribed(filter);
        }
        SharedMember member = session.memberOrNull();
        if (member != null && shareName != null) {
            member.unsubscribed(removed);
        }
        session.resources().observer().unsubscribed(session.id(), removed.clientFilter());
        SessionRecord record = session.record();
        if (record != null) {
            record.subscriptionChanged(removed.clientFilter(), null);
        }
        return true;
    }

    /**
     * Returns whether the byte limits allow one more subscription. If not, the observer is notified.
     *
     * @param filter the filter
     * @param shareName the group of a shared subscription, or null
     * @return false if a limit is exceeded
     */
    public boolean hasRoomFor(TopicFilter filter, @Nullable String shareName) {
        return !session.resources().refused(session.charge().refusalOfSubscription(weight(filter, shareName)));
    }

    /** Ends the subscriptions that the client is no longer authorized for. Those of a client that is not known yet are checked when it connects. */
    void recheck() {
        if (InProcess.isReserved(session.id()) || !session.life().isIdentified()) {
            return;
        }
        List<Subscription> all = new ArrayList<>(size());
        forEach(all::add);
        for (Subscription subscription : all) {
            String filter = subscription.filter().value();
            Authorizer authorizer = session.resources().authorizer();
            QoS qos = subscription.maximumQos();
            AccessChecks.decide(authorizer, session.client(), AccessAction.SUBSCRIBE, filter, qos, false)
                    .subscribe(decision -> {
                        if (decision != AccessDecision.ALLOW) {
                            session.execute(() -> revoke(subscription));
                        }
                    });
        }
    }

    private void revoke(Subscription subscription) {
        TopicFilter filter = subscription.filter();
        if (get(filter, subscription.shareName()) == subscription) { // not a newer one
            unsubscribe(filter, subscription.shareName());
        }
    }

    private static int weight(TopicFilter filter, @Nullable String shareName) {
        return HeapWeight.subscription(filter.value(), shareName);
    }

    /** Adds a recovered subscription. */
    void recover(Subscription subscription) {
        session.charge().add(weight(subscription.filter(), subscription.shareName()));
        put(subscription);
        if (subscription instanceof ExclusiveSubscription) {
            exclusive().claim(subscription.filter(), session);
        }
        session.resources().router().index().add(subscription);
        if (subscription.shareName() != null) {
            session.member().subscribed(subscription);
        }
    }

    /** Removes the subscriptions of an ended session from the index. They are kept until {@link #clear}. */
    void leaveIndex() {
        forEach(subscription -> {
            session.resources().router().index().remove(session, subscription.filter(), subscription.shareName());
            release(subscription);
        });
    }

    /** Releases the filters of exclusive subscriptions: other clients may have them. */
    void releaseExclusive() {
        forEach(this::release);
    }

    private void release(Subscription subscription) {
        if (subscription instanceof ExclusiveSubscription) {
            exclusive().release(subscription.filter(), session);
        }
    }
}
