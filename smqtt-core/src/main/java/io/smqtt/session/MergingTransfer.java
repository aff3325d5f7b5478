// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Elsewhere;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicFilter;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Merges a session of another node into the session that its client has here; neither node knew of the other's. Its
 * messages are appended to those that wait here, except for those that this node has received too. Its subscriptions are
 * added unless the client has them here. Messages that are routed here in the meantime follow after that. On the event loop
 * of the session here.
 */
@OnEventLoop
final class MergingTransfer extends IncomingTransfer {

    private static final Logger LOG = LoggerFactory.getLogger(MergingTransfer.class);

    private static final int LINES_PER_MINUTE = 60;
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.INFO, LINES_PER_MINUTE);

    private final SessionResources resources;
    private final DeliveryHistory history;
    private final Session session;
    private final SessionState state;

    /** Whether the client discarded the arriving session by a later clean start. */
    private final boolean unwanted;

    MergingTransfer(
            SessionResources resources,
            DeliveryHistory history,
            Session session,
            SessionState state,
            boolean unwanted) {
        super(state.clientId());
        this.resources = resources;
        this.history = history;
        this.session = session;
        this.state = state;
        this.unwanted = unwanted;
    }

    /** Holds back messages before the first part is merged. */
    private void begin() {
        if (step() == Step.PREPARING) {
            become(Step.COPYING);
            if (!unwanted) {
                holdBack(session);
            }
        }
    }

    @Override
    public void add(List<StoredMessage> messages, Consumer<Boolean> done) {
        session.execute(() -> {
            require(Step.PREPARING, Step.COPYING);
            take(messages, done);
        });
    }

    @Override
    public void late(List<StoredMessage> messages, Consumer<Boolean> done) {
        session.execute(() -> {
            require(Step.CATCHING_UP, Step.COMPLETED); // the other node may return after a failure with the rest
            take(messages, done);
        });
    }

    private void take(List<StoredMessage> messages, Consumer<Boolean> done) {
        if (session.hasEnded()) {
            done.accept(false);
            return;
        }
        begin();
        messages.forEach(this::take);
        session.afterCommit(done::accept);
    }

    private void take(StoredMessage stored) {
        ApplicationMessage message = stored.message();
        StoredDelivery.State delivery = stored.delivery().state();
        long id = TakenMessages.idOf(stored);
        if (delivery == StoredDelivery.State.RECEIVED) { // the client has received it
            if (id != ApplicationMessage.NO_ID) {
                came(id); // and must not get the repetition of a node that did not know, which may follow
            }
            return;
        }
        boolean waited = delivery == StoredDelivery.State.WAITING;
        if (waited) {
            resources.observer().deliveriesAdded(DeliverySource.MOVED_HERE, 1);
        }
        if (unwanted) {
            if (waited) {
                resources.observer().messageDropped(DropReason.SESSION_ENDED, 1);
            }
            return;
        }
        if (id != ApplicationMessage.NO_ID && (history.knows(session.key(), id) || !came(id))) {
            if (waited) {
                resources.observer().messageElsewhere(Elsewhere.DUPLICATE, 1);
            }
            return;
        }
        if (!waited) { // the other node has sent it, and it is sent once more
            resources.observer().deliveriesAdded(DeliverySource.REPEATED, 1);
        }
        Subscription subscription = subscription(session, stored);
        session.take(message, subscription, RouteTicket.NONE);
    }

    @Override
    public void install(Consumer<Boolean> done) {
        session.execute(() -> {
            require(Step.PREPARING, Step.COPYING);
            if (session.hasEnded()) {
                done.accept(false);
                return;
            }
            begin();
            become(Step.CATCHING_UP);
            if (!unwanted) {
                subscribeAll();
                session.subscriptions().recheck();
            }
            session.afterCommit(done::accept);
        });
    }

    private void subscribeAll() {
        int refused = 0;
        for (StoredSubscription stored : state.subscriptions()) {
            refused += subscribe(stored) ? 0 : 1;
        }
        if (refused > 0) {
            LOG.warn(
                    "{} has a session here and had one on another node; of the {} subscriptions there {} do not fit"
                            + " and are gone",
                    LogText.escape(session.id()),
                    state.subscriptions().size(),
                    refused);
        }
    }

    /** Adds a subscription if it does not exist; returns false if a limit does not allow it. */
    private boolean subscribe(StoredSubscription stored) {
        Subscription subscription = session.subscriptions().of(stored);
        TopicFilter filter = subscription.filter();
        if (session.subscriptions().get(filter, subscription.shareName()) != null) {
            return true;
        }
        if (session.subscriptions().size() >= resources.limits().maxSubscriptionsPerClient()) {
            resources.refused("limits.max-subscriptions-per-client");
            return false;
        }
        if (!session.subscriptions().hasRoomFor(filter, subscription.shareName())) {
            return false;
        }
        session.subscriptions().subscribe(subscription);
        return true;
    }

    @Override
    public void finish(Runnable done) {
        session.execute(() -> {
            end(Step.COMPLETED);
            if (!unwanted) {
                merged();
            }
            done.run();
        });
    }

    private void merged() {
        resources.observer().sessionMerged(session.id());
        if (LINES.allows("merged sessions")) {
            LOG.info("{} had a session on another node, too: it was merged", LogText.escape(session.id()));
        }
    }

    @Override
    public void discard() {
        session.execute(() -> end(Step.CANCELLED));
    }

    private void end(Step last) {
        become(last);
        if (letGo(session)) {
            session.start();
            forgetCame(session, false);
        }
    }
}
