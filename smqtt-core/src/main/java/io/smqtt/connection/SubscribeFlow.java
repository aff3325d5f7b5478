// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.ProtocolViolation;
import io.smqtt.codec.SubscribePacket;
import io.smqtt.codec.UnsubscribePacket;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.MqttConfig;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Router;
import io.smqtt.routing.Subscription;
import io.smqtt.session.Session;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicLevels;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** SUBSCRIBE and UNSUBSCRIBE (MQTT 5.0, sections 3.8 to 3.11). On the connection's event loop. */
public final class SubscribeFlow {

    private final Router router;
    private final Authorizer authorizer;
    private final LimitsConfig limits;
    private final MqttConfig mqtt;
    private final ClientDirectory directory;

    /**
     * Creates the flow.
     *
     * @param config the broker's configuration
     * @param router the subscriptions and retained messages
     * @param authorizer who may subscribe to what
     * @param directory whether a SUBACK waits for other nodes
     */
    public SubscribeFlow(BrokerConfig config, Router router, Authorizer authorizer, ClientDirectory directory) {
        this.directory = directory;
        this.router = router;
        this.authorizer = authorizer;
        this.limits = config.limits();
        this.mqtt = config.mqtt();
    }

    /** One filter of a SUBSCRIBE: what it asks for, or why it cannot have it. */
    private record Wish(
            SubscribePacket.Request request,
            @Nullable TopicFilter filter,
            @Nullable String shareName,
            @Nullable ReasonCode refusal) {}

    void onSubscribe(Connection connection, SubscribePacket packet) {
        slowIfStored(connection);
        List<Wish> wishes = new ArrayList<>(packet.requests().size());
        for (SubscribePacket.Request request : packet.requests()) {
            SubscribePacket.Request effective = connection.client().bridge() ? ofBridge(request) : request;
            wishes.add(parse(connection, effective, packet.subscriptionIdentifier()));
        }
        List<AccessDecision> decisions = decideNow(connection, wishes);
        if (decisions != null) {
            subscribe(connection, packet, wishes, decisions);
            return;
        }
        Mono<List<AccessDecision>> later = Flux.fromIterable(wishes)
                .concatMap(wish -> decide(connection, wish).defaultIfEmpty(AccessDecision.DENY))
                .collectList();
        Answers.await(connection, later, List.of(), late -> subscribe(connection, packet, wishes, late));
    }

    private void slowIfStored(Connection connection) {
        if (connection.session().isStored()) {
            connection.pace(limits.maxPublishRate()).stores();
        }
    }

    /**
     * A subscription of a bridge. The versions that bridges speak have no options, but what came from here must not go back,
     * and the other broker must learn what is retained here.
     */
    private static SubscribePacket.Request ofBridge(SubscribePacket.Request request) {
        boolean noLocal = !SharedFilter.isShared(request.filter());
        return new SubscribePacket.Request(
                request.filter(), request.maximumQos(), noLocal, true, request.retainHandling());
    }

    private Wish parse(Connection connection, SubscribePacket.Request request, int identifier) {
        RequestedFilter requested = RequestedFilter.parse(connection, request.filter());
        if (requested == null) {
            return new Wish(request, null, null, ReasonCode.TOPIC_FILTER_INVALID);
        }
        TopicFilter filter = requested.filter();
        ReasonCode refusal = notOffered(filter, requested.shareName() != null, identifier);
        if (refusal != null && connection.isV5()) { // it was told: sections 3.2.2.3.11 to 3.2.2.3.13
            throw new ProtocolViolation(refusal, "a subscription of a kind that is not offered");
        }
        if (TopicLevels.count(filter.value()) > limits.maxTopicLevels()) {
            refusal = ReasonCode.TOPIC_FILTER_INVALID;
        }
        return new Wish(request, filter, requested.shareName(), refusal);
    }

    private @Nullable ReasonCode notOffered(TopicFilter filter, boolean shared, int identifier) {
        if (shared && !mqtt.sharedAvailable()) {
            return ReasonCode.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED;
        }
        if (!mqtt.wildcardAvailable() && filter.hasWildcard()) {
            return ReasonCode.WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED;
        }
        boolean identified = identifier != Subscription.NO_IDENTIFIER;
        return identified && !mqtt.subscriptionIdentifiersAvailable()
                ? ReasonCode.SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED
                : null;
    }

    private Mono<AccessDecision> decide(Connection connection, Wish wish) {
        return wish.filter == null || wish.refusal != null
                ? AccessDecision.DENY.now()
                : authorizer.authorize(connection.client(), AccessAction.SUBSCRIBE, wish.filter.value());
    }

    /** All decisions, or null if one of them is not at hand. */
    private @Nullable List<AccessDecision> decideNow(Connection connection, List<Wish> wishes) {
        List<AccessDecision> decisions = new ArrayList<>(wishes.size());
        for (Wish wish : wishes) {
            AccessDecision decision = Answers.atHand(decide(connection, wish));
            if (decision == null) {
                return null;
            }
            decisions.add(decision);
        }
        return decisions;
    }

    private void subscribe(
            Connection connection, SubscribePacket packet, List<Wish> wishes, List<AccessDecision> decisions) {
        Session session = connection.session();
        List<ReasonCode> reasons = new ArrayList<>(wishes.size());
        List<Subscription> wantRetained = new ArrayList<>();
        List<Change> changes = new ArrayList<>(session.isStored() ? wishes.size() : 0);
        for (int i = 0; i < wishes.size(); i++) {
            boolean allowed = i < decisions.size() && decisions.get(i) == AccessDecision.ALLOW;
            Wish wish = wishes.get(i);
            Subscription before = wish.filter == null || !session.isStored()
                    ? null
                    : session.subscription(wish.filter, wish.shareName);
            ReasonCode reason = subscribe(session, wish, allowed, packet.subscriptionIdentifier(), wantRetained);
            reasons.add(reason);
            if (reason == ReasonCode.NOT_AUTHORIZED) {
                connection.denied("subscribe", wish.request.filter());
            }
            Subscription made = wish.filter == null ? null : session.subscription(wish.filter, wish.shareName);
            if (session.isStored() && !reason.isError() && made != null) {
                changes.add(new Change(i, made, before));
            }
        }
        if (changes.isEmpty()) {
            announce(connection, packet.packetId(), reasons, wantRetained);
        } else {
            session.afterCommit(kept -> {
                if (kept) {
                    announce(connection, packet.packetId(), reasons, wantRetained);
                } else {
                    changes.forEach(change -> reasons.set(change.index, ReasonCode.QUOTA_EXCEEDED));
                    session.execute(() -> changes.forEach(change -> undo(session, change)));
                    answer(connection, packet.packetId(), reasons, List.of());
                }
            });
        }
    }

    /** A subscription that was made, and the one in whose place it came. */
    private record Change(
            int index, Subscription made, @Nullable Subscription before) {}

    /** Takes back a subscription that could not be stored, unless the client has changed it since. */
    private static void undo(Session session, Change change) {
        TopicFilter filter = change.made.filter();
        String shareName = change.made.shareName();
        if (session.hasEnded() || session.subscription(filter, shareName) != change.made) {
            return;
        }
        if (change.before == null) {
            session.unsubscribe(filter, shareName);
        } else {
            session.subscribe(change.before);
        }
    }

    /** Answers when other nodes know of the subscriptions, if that is wanted. */
    private void announce(
            Connection connection, int packetId, List<ReasonCode> reasons, List<Subscription> wantRetained) {
        if (directory.holdsSubAck() && !connection.isClosing()) {
            Answers.await(
                    connection,
                    directory.subscribed().thenReturn(true),
                    true,
                    done -> answer(connection, packetId, reasons, wantRetained));
        } else {
            answer(connection, packetId, reasons, wantRetained);
        }
    }

    private void answer(
            Connection connection, int packetId, List<ReasonCode> reasons, List<Subscription> wantRetained) {
        if (connection.isClosing()) { // gone while the store worked
            return;
        }
        connection.subAck(packetId, reasons, null); // [MQTT-3.8.4-5] [MQTT-3.8.4-6]
        for (Subscription subscription : wantRetained) {
            connection.session().deliverRetained(router.retained().cursor(subscription.filter()), subscription);
        }
    }

    private ReasonCode subscribe(
            Session session, Wish wish, boolean allowed, int identifier, List<Subscription> wantRetained) {
        if (wish.refusal != null || wish.filter == null) {
            return wish.refusal == null ? ReasonCode.TOPIC_FILTER_INVALID : wish.refusal;
        }
        if (!allowed) {
            return ReasonCode.NOT_AUTHORIZED;
        }
        boolean exists = session.subscription(wish.filter, wish.shareName) != null;
        if (!exists && session.subscriptionCount() >= limits.maxSubscriptionsPerClient()) {
            return ReasonCode.QUOTA_EXCEEDED;
        }
        if (!exists && !session.hasRoomFor(wish.filter, wish.shareName)) {
            return ReasonCode.QUOTA_EXCEEDED;
        }
        SubscribePacket.Request request = wish.request;
        QoS granted = request.maximumQos().atMost(QoS.of(mqtt.maxQos()));
        session.subscribe(new Subscription(
                session,
                wish.filter,
                wish.shareName,
                granted,
                request.noLocal(),
                request.retainAsPublished(),
                identifier));
        boolean retained = request.retainHandling() == 0 || (request.retainHandling() == 1 && !exists);
        if (retained && wish.shareName == null && mqtt.retainAvailable()) { // [MQTT-3.3.1-9] [MQTT-3.3.1-10]
            wantRetained.add(
                    new Subscription( // retained messages come with the retain flag [MQTT-3.3.1-8]
                            session, wish.filter, null, granted, request.noLocal(), true, identifier));
        }
        return ReasonCode.granted(granted);
    }

    void onUnsubscribe(Connection connection, UnsubscribePacket packet) {
        slowIfStored(connection);
        Session session = connection.session();
        List<@Nullable RequestedFilter> filters =
                new ArrayList<>(packet.filters().size());
        for (String text : packet.filters()) { // all of them before anything changes
            filters.add(RequestedFilter.parse(connection, text));
        }
        List<ReasonCode> reasons = new ArrayList<>(filters.size());
        for (RequestedFilter filter : filters) {
            reasons.add(unsubscribe(session, filter));
        }
        if (session.isStored()) {
            session.afterCommit(kept -> unsubscribed(connection, packet.packetId(), reasons, kept));
        } else {
            unsubscribed(connection, packet.packetId(), reasons, true);
        }
    }

    /** What could not be stored is tried again; meanwhile the client must not believe that it is safe. */
    private static void unsubscribed(Connection connection, int packetId, List<ReasonCode> reasons, boolean kept) {
        if (connection.isClosing()) { // gone while the store worked
            return;
        }
        if (!kept && !connection.isV5()) {
            connection.disconnect(ReasonCode.QUOTA_EXCEEDED); // there is no negative acknowledgement
            return;
        }
        if (!kept) {
            reasons.replaceAll(reason -> ReasonCode.UNSPECIFIED_ERROR);
        }
        connection.unsubAck(packetId, reasons); // [MQTT-3.10.4-4] [MQTT-3.10.4-5]
    }

    private static ReasonCode unsubscribe(Session session, @Nullable RequestedFilter requested) {
        if (requested == null) {
            return ReasonCode.TOPIC_FILTER_INVALID;
        }
        boolean existed = session.unsubscribe(requested.filter(), requested.shareName());
        return existed ? ReasonCode.SUCCESS : ReasonCode.NO_SUBSCRIPTION_EXISTED;
    }
}
