// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerClosedException;
import io.smqtt.BrokerModule.Core;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import io.smqtt.session.Session;
import io.smqtt.session.SessionContents;
import io.smqtt.session.WaitingMessage;
import io.smqtt.spi.SubscribeRequest;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Actions of operators on one session, on its event loop. */
@AnyThread
final class SessionSteering {

    private final Core core;

    SessionSteering(Core core) {
        this.core = core;
    }

    /** Runs a task on the event loop of a session. Empty if there is no such session. */
    private <T> Mono<T> on(String clientId, Function<Session, T> task) {
        return Mono.create(sink -> {
            Session session = core.sessions().find(clientId);
            if (session == null) {
                sink.success();
                return;
            }
            try {
                session.execute(() -> {
                    if (session.hasEnded()) {
                        sink.success();
                    } else {
                        sink.success(task.apply(session));
                    }
                });
            } catch (RejectedExecutionException e) {
                sink.error(new BrokerClosedException());
            }
        });
    }

    /** Ends the connection, and the session too unless it is kept. */
    Mono<Boolean> end(String clientId, boolean keepSession) {
        return on(clientId, session -> {
            if (!keepSession) {
                session.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
                return true;
            }
            var connection = session.sink();
            if (connection != null) {
                connection.disconnect(ReasonCode.ADMINISTRATIVE_ACTION);
            }
            return connection != null;
        });
    }

    Mono<List<SubscriptionInfo>> subscriptions(String clientId) {
        return on(clientId, session -> {
            List<SubscriptionInfo> all = new ArrayList<>();
            session.subscriptions().forEach(subscription -> all.add(SubscriptionInfo.of(subscription)));
            return all;
        });
    }

    Mono<List<WaitingMessage>> messages(String clientId, boolean inFlight, int most) {
        return on(clientId, session -> {
            SessionContents contents = new SessionContents(session);
            return inFlight ? contents.inFlight(most) : contents.queued(most);
        });
    }

    Mono<ReasonCode> subscribe(String clientId, SubscribeRequest request) {
        return on(clientId, session -> subscribe(session, request));
    }

    @OnEventLoop
    private ReasonCode subscribe(Session session, SubscribeRequest request) {
        TopicFilter filter = request.filter();
        String shareName = request.shareName();
        boolean exists = session.subscriptions().get(filter, shareName) != null;
        boolean full = session.subscriptions().size() >= core.config().limits().maxSubscriptionsPerClient();
        if (!exists && (full || !session.subscriptions().hasRoomFor(filter, shareName))) {
            return ReasonCode.QUOTA_EXCEEDED;
        }
        QoS granted = request.maximumQos().atMost(QoS.of(core.config().mqtt().maxQos()));
        session.subscriptions()
                .subscribe(new Subscription(
                        session,
                        filter,
                        shareName,
                        granted,
                        request.noLocal(),
                        request.retainAsPublished(),
                        Subscription.NO_IDENTIFIER));
        session.start();
        boolean wantsRetained = request.retainHandling() == 0 || (request.retainHandling() == 1 && !exists);
        if (wantsRetained
                && shareName == null
                && core.config().mqtt().retainAvailable()
                && core.router().retained().mayMatch(filter)) {
            Subscription retained = new Subscription(
                    session, filter, null, granted, request.noLocal(), true, Subscription.NO_IDENTIFIER);
            session.deliverRetained(core.router().retained().cursor(filter), retained);
        }
        return ReasonCode.granted(granted);
    }

    Mono<Boolean> unsubscribe(String clientId, TopicFilter filter, @Nullable String shareName) {
        return on(clientId, session -> session.subscriptions().unsubscribe(filter, shareName));
    }
}
