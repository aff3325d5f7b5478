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
import io.smqtt.routing.ExclusiveSubscription;
import io.smqtt.routing.Router;
import io.smqtt.routing.Subscription;
import io.smqtt.session.ExclusiveFilters;
import io.smqtt.session.Session;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.Interception;
import io.smqtt.spi.SubscribeRequest;
import io.smqtt.spi.UnsubscribeRequest;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicLevels;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Handles SUBSCRIBE and UNSUBSCRIBE (MQTT 5.0, sections 3.8 to 3.11). */
@OnEventLoop
public final class SubscribeFlow {

    private final Router router;
    private final Authorizer authorizer;
    private final Interceptors interceptors;
    private final LimitsConfig limits;
    private final MqttConfig mqtt;
    private final ClientDirectory directory;
    private final ExclusiveFilters exclusives;
    private final TopicRules topics;

    /**
     * Creates the flow.
     *
     * @param config the broker's configuration
     * @param router the subscriptions and retained messages
     * @param authorizer authorizes subscriptions
     * @param interceptors interceptors of each filter
     * @param topics the rules for topics of clients
     * @param directory delays a SUBACK until other nodes know the subscription
     * @param exclusives the filters of exclusive subscriptions
     */
    public SubscribeFlow(
            BrokerConfig config,
            Router router,
            Authorizer authorizer,
            Interceptors interceptors,
            TopicRules topics,
            ClientDirectory directory,
            ExclusiveFilters exclusives) {
        this.exclusives = exclusives;
        this.interceptors = interceptors;
        this.directory = directory;
        this.router = router;
        this.authorizer = authorizer;
        this.limits = config.limits();
        this.mqtt = config.mqtt();
        this.topics = topics;
    }

    /** The rewrites in force; null if there is none. */
    @Nullable
    TopicRewrites rewrites() {
        return topics.rewrites();
    }

    /** One filter of a SUBSCRIBE: the request, or the reason of its refusal. */
    private record Wish(
            @Nullable SubscribeRequest request,
            @Nullable ReasonCode refusal,
            @Nullable String reasonString,
            boolean exclusive) {

        static Wish refused(ReasonCode refusal, @Nullable String reasonString) {
            return new Wish(null, refusal, reasonString, false);
        }

        /** The same for an exclusive subscription, which cannot be shared. */
        Wish exclusively() {
            return request == null
                    ? this
                    : request.shareName() != null
                            ? refused(ReasonCode.TOPIC_FILTER_INVALID, null)
                            : new Wish(request, refusal, reasonString, true);
        }
    }

    /**
     * The filters of one SUBSCRIBE, or of the automatic subscriptions of a client.
     *
     * @param packetId of the SUBSCRIBE; {@link #AUTOMATIC} if there is none, hence no SUBACK
     * @param identifier the subscription identifier
     * @param wishes the filters
     */
    private record Batch(int packetId, int identifier, List<Wish> wishes) {

        static final int AUTOMATIC = 0;

        Batch with(List<Wish> changed) {
            return new Batch(packetId, identifier, changed);
        }

        boolean isAutomatic() {
            return packetId == AUTOMATIC;
        }
    }

    void onSubscribe(Connection connection, SubscribePacket packet) {
        List<Wish> wishes = new ArrayList<>(packet.requests().size());
        for (SubscribePacket.Request request : packet.requests()) {
            wishes.add(parse(connection, request, packet.subscriptionIdentifier()));
        }
        intercept(connection, new Batch(packet.packetId(), packet.subscriptionIdentifier(), wishes));
    }

    /** Makes the automatic subscriptions of a client, which has its CONNACK. */
    void onConnected(Connection connection) {
        List<SubscribeRequest> requests = topics.automatic().of(connection);
        if (!requests.isEmpty()) {
            List<Wish> wishes = requests.stream()
                    .map(request -> checked(request, Subscription.NO_IDENTIFIER))
                    .toList();
            intercept(connection, new Batch(Batch.AUTOMATIC, Subscription.NO_IDENTIFIER, wishes));
        }
    }

    private void intercept(Connection connection, Batch batch) {
        slowIfStored(connection);
        List<Wish> wishes = batch.wishes;
        if (!interceptors.seeSubscribe()) {
            authorize(connection, batch);
            return;
        }
        Mono<List<Wish>> intercepted = Flux.fromIterable(wishes)
                .concatMap(wish -> intercept(connection, wish, batch.identifier))
                .collectList();
        Answers.awaitOrElse(
                connection,
                intercepted,
                error -> Collections.nCopies(wishes.size(), stopped(interceptors.failed("subscribe", error))),
                changed -> authorize(connection, batch.with(changed)));
    }

    private Mono<Wish> intercept(Connection connection, Wish wish, int identifier) {
        SubscribeRequest request = wish.request;
        return request == null
                ? Mono.just(wish)
                : interceptors
                        .subscribe(connection, request)
                        .map(answer -> answer instanceof Interception.Forward<SubscribeRequest> forward
                                ? checked(forward.request(), identifier)
                                : stopped(answer))
                        .map(changed -> wish.exclusive ? changed.exclusively() : changed);
    }

    private static Wish stopped(Interception<SubscribeRequest> answer) {
        return answer instanceof Interception.Stop<SubscribeRequest> stop
                ? Wish.refused(PermittedReasons.inSubAck(stop.reason()), stop.reasonString())
                : Wish.refused(ReasonCode.UNSPECIFIED_ERROR, null);
    }

    private Wish checked(SubscribeRequest request, int identifier) {
        ReasonCode refusal = TopicLevels.count(request.filter().value()) > limits.maxTopicLevels()
                ? ReasonCode.TOPIC_FILTER_INVALID
                : unsupported(request, identifier);
        return refusal == null ? new Wish(request, null, null, false) : Wish.refused(refusal, null);
    }

    private void authorize(Connection connection, Batch batch) {
        List<AccessDecision> decisions = decideNow(connection, batch.wishes);
        if (decisions != null) {
            claim(connection, batch, decisions);
            return;
        }
        Mono<List<AccessDecision>> later = Flux.fromIterable(batch.wishes)
                .concatMap(wish -> decide(connection, wish).defaultIfEmpty(AccessDecision.DENY))
                .collectList();
        Answers.await(connection, later, List.of(), late -> claim(connection, batch, late));
    }

    /** Claims the filters of exclusive subscriptions on all nodes. */
    private void claim(Connection connection, Batch batch, List<AccessDecision> decisions) {
        List<Wish> wishes = batch.wishes;
        if (!directory.claimsFilters() || wishes.stream().noneMatch(Wish::exclusive)) {
            subscribe(connection, batch, decisions);
            return;
        }
        Session session = connection.session();
        Mono<List<Boolean>> claimed = Flux.range(0, wishes.size())
                .concatMap(index -> {
                    Wish wish = wishes.get(index);
                    boolean wanted =
                            wish.exclusive && index < decisions.size() && decisions.get(index) == AccessDecision.ALLOW;
                    return wish.request == null || !wanted ? Mono.just(true) : claim(session, wish.request);
                })
                .collectList();
        Answers.ask(
                connection,
                claimed,
                List.of(),
                answer -> subscribe(connection, batch.with(granted(wishes, answer)), decisions),
                late -> session.execute(() -> wishes.forEach(wish -> unclaim(session, wish))));
    }

    private Mono<Boolean> claim(Session session, SubscribeRequest request) {
        TopicFilter filter = request.filter();
        return directory.claimFilter(filter, session.id(), () -> exclusives.claim(filter, session));
    }

    private List<Wish> granted(List<Wish> wishes, List<Boolean> claimed) {
        List<Wish> all = new ArrayList<>(wishes.size());
        for (int i = 0; i < wishes.size(); i++) {
            boolean refused = wishes.get(i).exclusive && (i >= claimed.size() || !claimed.get(i));
            if (refused) {
                exclusives.refused();
            }
            all.add(refused ? Wish.refused(ReasonCode.QUOTA_EXCEEDED, null) : wishes.get(i));
        }
        return all;
    }

    private static void unclaim(Session session, Wish wish) {
        if (wish.exclusive && wish.request != null) {
            session.subscriptions().unclaim(wish.request.filter());
        }
    }

    private void slowIfStored(Connection connection) {
        if (connection.session().isStored()) {
            connection.pace().stores();
        }
    }

    private Wish parse(Connection connection, SubscribePacket.Request packet, int identifier) {
        RequestedFilter sent = RequestedFilter.parse(connection, packet.filter(), exclusives);
        if (sent == null) {
            return Wish.refused(ReasonCode.TOPIC_FILTER_INVALID, null);
        }
        RequestedFilter requested = rewritten(connection, sent);
        if (requested == null) {
            return Wish.refused(ReasonCode.TOPIC_FILTER_INVALID, TopicRewrites.NO_TOPIC);
        }
        // a bridge: messages must not go back, and the other broker must get the retained messages
        boolean bridge = connection.client().bridge();
        SubscribeRequest request = new SubscribeRequest(
                requested.filter(),
                requested.shareName(),
                packet.maximumQos(),
                packet.noLocal() || (bridge && requested.shareName() == null),
                packet.retainAsPublished() || bridge,
                packet.retainHandling());
        ReasonCode refusal = unsupported(request, identifier);
        if (refusal != null && connection.isV5()) { // announced in CONNACK: sections 3.2.2.3.11 to 3.2.2.3.13
            throw new ProtocolViolation(refusal, "a subscription of a kind that is not supported");
        }
        Wish wish = checked(request, identifier);
        return requested.exclusive() ? wish.exclusively() : wish;
    }

    private @Nullable RequestedFilter rewritten(Connection connection, RequestedFilter sent) {
        TopicRewrites rewrites = rewrites();
        return rewrites == null ? sent : rewrites.subscribed(connection.client(), sent);
    }

    private @Nullable ReasonCode unsupported(SubscribeRequest request, int identifier) {
        if (request.shareName() != null && !mqtt.sharedAvailable()) {
            return ReasonCode.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED;
        }
        if (!mqtt.wildcardAvailable() && request.filter().hasWildcard()) {
            return ReasonCode.WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED;
        }
        boolean identified = identifier != Subscription.NO_IDENTIFIER;
        return identified && !mqtt.subscriptionIdentifiersAvailable()
                ? ReasonCode.SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED
                : null;
    }

    private Mono<AccessDecision> decide(Connection connection, Wish wish) {
        return wish.request == null
                ? AccessDecision.DENY.now()
                : authorizer.authorize(
                        connection.client(),
                        AccessAction.SUBSCRIBE,
                        wish.request.filter().value(),
                        wish.request.maximumQos(),
                        false);
    }

    /** All decisions, or null if one of them is not available at once. */
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

    private void subscribe(Connection connection, Batch batch, List<AccessDecision> decisions) {
        Session session = connection.session();
        List<Wish> wishes = batch.wishes;
        List<ReasonCode> reasons = new ArrayList<>(wishes.size());
        List<Subscription> wantRetained = new ArrayList<>();
        List<Change> changes = new ArrayList<>(session.isStored() ? wishes.size() : 0);
        String text = null; // the first one: a SUBACK has one Reason String for all of its filters
        for (int i = 0; i < wishes.size(); i++) {
            boolean allowed = i < decisions.size() && decisions.get(i) == AccessDecision.ALLOW;
            Wish wish = wishes.get(i);
            if (text == null) {
                text = wish.request == null || i >= decisions.size()
                        ? wish.reasonString
                        : decisions.get(i).reasonString();
            }
            SubscribeRequest request = wish.request;
            if (request != null && i < decisions.size()) {
                DecisionReport.subscribe(connection, request.filter(), request.maximumQos(), decisions.get(i));
            }
            Subscription before = request == null || !session.isStored()
                    ? null
                    : session.subscriptions().get(request.filter(), request.shareName());
            ReasonCode reason = subscribe(session, wish, allowed, batch.identifier, wantRetained);
            if (reason.isError()) {
                unclaim(session, wish);
            }
            reasons.add(reason);
            if (request != null && !allowed) {
                connection.denied(
                        "subscribe",
                        textOf(request),
                        i < decisions.size() ? decisions.get(i).reasonString() : null);
            } else if (request != null && batch.isAutomatic() && reason.isError()) {
                connection.denied("automatic subscription", textOf(request), reason.name());
            }
            Subscription made =
                    request == null ? null : session.subscriptions().get(request.filter(), request.shareName());
            if (session.isStored() && !reason.isError() && made != null) {
                changes.add(new Change(i, made, before));
            }
        }
        Answer answer = new Answer(batch.packetId, reasons, text, wantRetained);
        if (changes.isEmpty()) {
            announce(connection, answer);
        } else {
            session.afterCommit(kept -> {
                if (kept) {
                    announce(connection, answer);
                } else {
                    changes.forEach(change -> reasons.set(change.index, ReasonCode.QUOTA_EXCEEDED));
                    session.execute(() -> changes.forEach(change -> undo(session, change)));
                    answer(connection, new Answer(batch.packetId, reasons, null, List.of()));
                }
            });
        }
    }

    private static String textOf(SubscribeRequest request) {
        String shareName = request.shareName();
        return shareName == null ? request.filter().value() : new SharedFilter(shareName, request.filter()).toString();
    }

    /** A SUBACK, and the subscriptions whose retained messages follow it. */
    private record Answer(
            int packetId,
            List<ReasonCode> reasons,
            @Nullable String reasonString,
            List<Subscription> wantRetained) {}

    /** A new subscription, and the one that it replaced. */
    private record Change(
            int index, Subscription made, @Nullable Subscription before) {}

    /** Reverts a subscription that could not be stored, unless the client has changed it in the meantime. */
    private static void undo(Session session, Change change) {
        TopicFilter filter = change.made.filter();
        String shareName = change.made.shareName();
        if (session.hasEnded() || session.subscriptions().get(filter, shareName) != change.made) {
            return;
        }
        if (change.before == null) {
            session.subscriptions().unsubscribe(filter, shareName);
        } else {
            session.subscriptions().subscribe(change.before);
        }
    }

    /** Sends the answer, after other nodes know the subscriptions if that is configured. */
    private void announce(Connection connection, Answer answer) {
        if (directory.holdsSubAck() && !connection.isClosing()) {
            Answers.await(
                    connection, directory.subscribed().thenReturn(true), true, done -> answer(connection, answer));
        } else {
            answer(connection, answer);
        }
    }

    private void answer(Connection connection, Answer answer) {
        if (connection.isClosing()) { // ended in the meantime
            return;
        }
        if (answer.packetId != Batch.AUTOMATIC) { // [MQTT-3.8.4-5] [MQTT-3.8.4-6]
            connection.output().subAck(answer.packetId, answer.reasons, answer.reasonString);
        }
        connection.session().start(); // shared groups may have messages
        for (Subscription subscription : answer.wantRetained) {
            TopicFilter filter = subscription.filter();
            if (router.retained().mayMatch(filter)) { // else the session needs no outbound flow yet
                connection.session().deliverRetained(router.retained().cursor(filter), subscription);
            }
        }
    }

    private ReasonCode subscribe(
            Session session, Wish wish, boolean allowed, int identifier, List<Subscription> wantRetained) {
        SubscribeRequest request = wish.request;
        if (wish.refusal != null || request == null) {
            return wish.refusal == null ? ReasonCode.TOPIC_FILTER_INVALID : wish.refusal;
        }
        if (!allowed) {
            return ReasonCode.NOT_AUTHORIZED;
        }
        TopicFilter filter = request.filter();
        boolean exists = session.subscriptions().get(filter, request.shareName()) != null;
        if (!exists && session.subscriptions().size() >= limits.maxSubscriptionsPerClient()) {
            return ReasonCode.QUOTA_EXCEEDED;
        }
        if (!exists && !session.subscriptions().hasRoomFor(filter, request.shareName())) {
            return ReasonCode.QUOTA_EXCEEDED;
        }
        if (wish.exclusive && !exclusives.claim(filter, session)) {
            exclusives.refused();
            return ReasonCode.QUOTA_EXCEEDED;
        }
        QoS granted = request.maximumQos().atMost(QoS.of(mqtt.maxQos()));
        session.subscriptions().subscribe(subscription(session, request, granted, identifier, wish.exclusive));
        boolean retained = request.retainHandling() == 0 || (request.retainHandling() == 1 && !exists);
        if (retained && request.shareName() == null && mqtt.retainAvailable()) { // [MQTT-3.3.1-9] [MQTT-3.3.1-10]
            wantRetained.add(
                    new Subscription( // retained messages come with the retain flag [MQTT-3.3.1-8]
                            session, filter, null, granted, request.noLocal(), true, identifier));
        }
        return ReasonCode.granted(granted);
    }

    private static Subscription subscription(
            Session session, SubscribeRequest request, QoS granted, int identifier, boolean exclusive) {
        TopicFilter filter = request.filter();
        boolean noLocal = request.noLocal();
        boolean retainAsPublished = request.retainAsPublished();
        return exclusive
                ? new ExclusiveSubscription(session, filter, granted, noLocal, retainAsPublished, identifier)
                : new Subscription(
                        session, filter, request.shareName(), granted, noLocal, retainAsPublished, identifier);
    }

    void onUnsubscribe(Connection connection, UnsubscribePacket packet) {
        slowIfStored(connection);
        List<@Nullable RequestedFilter> filters =
                new ArrayList<>(packet.filters().size());
        for (String text : packet.filters()) { // all of them before anything changes
            RequestedFilter sent = RequestedFilter.parse(connection, text, exclusives);
            filters.add(sent == null ? null : rewritten(connection, sent));
        }
        if (!interceptors.seeUnsubscribe()) {
            List<Removal> removals = new ArrayList<>(filters.size());
            filters.forEach(filter -> removals.add(Removal.of(filter)));
            unsubscribe(connection, packet.packetId(), removals);
            return;
        }
        Mono<List<Removal>> intercepted = Flux.range(0, filters.size())
                .concatMap(index -> intercept(connection, filters.get(index)))
                .collectList();
        Answers.awaitOrElse(
                connection,
                intercepted,
                error -> Collections.nCopies(filters.size(), removal(interceptors.failed("unsubscribe", error))),
                changed -> unsubscribe(connection, packet.packetId(), changed));
    }

    private Mono<Removal> intercept(Connection connection, @Nullable RequestedFilter filter) {
        return filter == null
                ? Mono.just(Removal.of(null))
                : interceptors
                        .unsubscribe(connection, new UnsubscribeRequest(filter.filter(), filter.shareName()))
                        .map(SubscribeFlow::removal);
    }

    private static Removal removal(Interception<UnsubscribeRequest> answer) {
        if (answer instanceof Interception.Forward<UnsubscribeRequest> forward) {
            return new Removal(forward.request(), ReasonCode.SUCCESS, null);
        }
        return answer instanceof Interception.Stop<UnsubscribeRequest> stop
                ? new Removal(null, PermittedReasons.inUnsubAck(stop.reason()), stop.reasonString())
                : new Removal(null, ReasonCode.UNSPECIFIED_ERROR, null);
    }

    /** One filter of an UNSUBSCRIBE: the subscription to remove, or the reason of its refusal. */
    private record Removal(
            @Nullable UnsubscribeRequest request,
            ReasonCode refusal,
            @Nullable String reasonString) {

        static Removal of(@Nullable RequestedFilter filter) {
            return filter == null
                    ? new Removal(null, ReasonCode.TOPIC_FILTER_INVALID, null)
                    : new Removal(
                            new UnsubscribeRequest(filter.filter(), filter.shareName()), ReasonCode.SUCCESS, null);
        }
    }

    private void unsubscribe(Connection connection, int packetId, List<Removal> removals) {
        Session session = connection.session();
        List<ReasonCode> reasons = new ArrayList<>(removals.size());
        String first = null;
        for (Removal removal : removals) {
            reasons.add(unsubscribe(session, removal));
            if (first == null) {
                first = removal.reasonString;
            }
        }
        String text = first;
        if (session.isStored()) {
            session.afterCommit(kept -> unsubscribed(connection, packetId, reasons, text, kept));
        } else {
            unsubscribed(connection, packetId, reasons, text, true);
        }
    }

    /** Sends the answer. If the removal could not be stored it is tried again, and the client is disconnected. */
    private static void unsubscribed(
            Connection connection, int packetId, List<ReasonCode> reasons, @Nullable String text, boolean kept) {
        if (connection.isClosing()) { // ended in the meantime
            return;
        }
        if (!kept && !connection.isV5()) {
            connection.disconnect(ReasonCode.QUOTA_EXCEEDED); // there is no negative acknowledgement
            return;
        }
        if (!kept) {
            reasons.replaceAll(reason -> ReasonCode.UNSPECIFIED_ERROR);
        }
        connection.output().unsubAck(packetId, reasons, kept ? text : null); // [MQTT-3.10.4-4] [MQTT-3.10.4-5]
    }

    private static ReasonCode unsubscribe(Session session, Removal removal) {
        UnsubscribeRequest request = removal.request;
        if (request == null) {
            return removal.refusal;
        }
        boolean existed = session.subscriptions().unsubscribe(request.filter(), request.shareName());
        return existed ? ReasonCode.SUCCESS : ReasonCode.NO_SUBSCRIPTION_EXISTED;
    }
}
