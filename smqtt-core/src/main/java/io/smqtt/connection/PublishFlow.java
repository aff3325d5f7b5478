// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.ProtocolViolation;
import io.smqtt.codec.PublishPacket;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.DelayedConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.AcknowledgementOutcome;
import io.smqtt.session.DelayedMessages;
import io.smqtt.session.InboundFlow;
import io.smqtt.session.RetainedKeeper;
import io.smqtt.session.Session;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.Interception;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicName;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Handles PUBLISH and its acknowledgements, in both directions (MQTT 5.0, sections 3.3 to 3.7, 4.3). */
@OnEventLoop
public final class PublishFlow {

    private static final String NO_DELAY = "no delay in seconds up to the maximum, or no topic after it";

    private final Router router;
    private final Authorizer authorizer;
    private final Interceptors interceptors;
    private final int interceptorCount;
    private final Ticker ticker;
    private final BrokerObserver observer;
    private final RetainedKeeper retained;
    private final @Nullable DelayedMessages delayed;
    private final LimitsConfig limits;
    private final QoS maximumQos;
    private final boolean retainAvailable;
    private final boolean validatesPayloadFormat;
    private final boolean awaitsDelivery;
    private final boolean queuesQos0;
    private final TopicRules topics;

    /**
     * Creates the flow.
     *
     * @param config the broker's configuration
     * @param router routes messages
     * @param retained stores retained messages
     * @param delayed the messages that are published later; null if clients can never delay messages
     * @param authorizer authorizes publishes
     * @param interceptors interceptors of messages
     * @param topics the rules for topics of clients
     * @param ticker the broker's monotonic clock
     * @param observer receives events about refused messages
     * @param awaitsDelivery whether acknowledgements wait for subscribers: a store, a peer
     */
    public PublishFlow(
            BrokerConfig config,
            Router router,
            RetainedKeeper retained,
            @Nullable DelayedMessages delayed,
            Authorizer authorizer,
            Interceptors interceptors,
            TopicRules topics,
            Ticker ticker,
            BrokerObserver observer,
            boolean awaitsDelivery) {
        this.router = router;
        this.retained = retained;
        this.delayed = delayed;
        this.authorizer = authorizer;
        this.interceptors = interceptors;
        this.interceptorCount = interceptors.ofPublish();
        this.ticker = ticker;
        this.observer = observer;
        this.limits = config.limits();
        this.maximumQos = QoS.of(config.mqtt().maxQos());
        this.retainAvailable = config.mqtt().retainAvailable();
        this.validatesPayloadFormat = config.mqtt().validatePayloadFormat();
        this.awaitsDelivery = awaitsDelivery;
        this.queuesQos0 = config.session().queueQos0();
        this.topics = topics;
    }

    void onPublish(Connection connection, PublishPacket packet) {
        boolean storable = queuesQos0 || packet.qos() != QoS.AT_MOST_ONCE || packet.retain();
        boolean admitted = connection.pace().published(storable, packet.qos() == QoS.AT_MOST_ONCE);
        TopicName topic = connection.inboundAliases().resolve(packet.topic(), packet.topicAlias());
        QoS qos = packet.qos();
        if (qos.compareTo(maximumQos) > 0) { // [MQTT-3.2.2-11]
            throw new ProtocolViolation(ReasonCode.QOS_NOT_SUPPORTED, "quality of service above the maximum");
        }
        if (packet.retain() && !retainAvailable) { // [MQTT-3.2.2-14]
            throw new ProtocolViolation(ReasonCode.RETAIN_NOT_SUPPORTED, "retained messages are not supported");
        }
        if (!admitted) {
            observer.messageRefused(qos, ReasonCode.QUOTA_EXCEEDED);
            return;
        }
        if (qos == QoS.EXACTLY_ONCE && isRepeated(connection, packet.packetId())) {
            PacketTrace.repeated(connection, packet, topic);
            return;
        }
        if (qos != QoS.AT_MOST_ONCE) {
            checkQuota(connection);
        }
        long delay = DelayedTopic.NONE;
        if (delayed != null && topic.value().charAt(0) == '$') {
            int prefix = DelayedTopic.prefixLength(topic.value());
            DelayedConfig settings = delayed.limits();
            if (prefix > 0 && settings.enabled()) {
                DelayedTopic later = DelayedTopic.of(
                        topic.value(), prefix, settings.maxDelay().toSeconds());
                if (later == null) {
                    refuse(connection, packet, ReasonCode.TOPIC_NAME_INVALID, NO_DELAY);
                    return;
                }
                topic = later.topic();
                delay = later.seconds();
            }
        }
        TopicRewrites rewrites = topics.rewrites();
        if (rewrites != null) {
            topic = rewritten(connection, rewrites, topic);
            if (topic == null) {
                refuse(connection, packet, ReasonCode.TOPIC_NAME_INVALID, TopicRewrites.NO_TOPIC);
                return;
            }
        }
        int first = interceptors.firstOfPublish();
        Payload payload = first == interceptorCount && !packet.retain() ? packet.payloadInPlace() : packet.payload();
        try {
            onPublish(connection, packet, message(connection, packet, topic, payload, first), delay, first);
        } finally {
            payload.release();
        }
    }

    /**
     * Continues with the message of a packet. Its payload is released when this method returns.
     *
     * @param first the first interceptor that gets the message: if it is none, the payload may be in a network buffer
     */
    private void onPublish(
            Connection connection, PublishPacket packet, ApplicationMessage message, long delay, int first) {
        QoS qos = packet.qos();
        TopicName topic = message.topic();
        int packetId = packet.packetId();
        if (connection.traces() != null) {
            PacketTrace.publishReceived(connection, packet, message);
        }
        if (validatesPayloadFormat && !hasDeclaredFormat(message)) {
            refuse(connection, packet, ReasonCode.PAYLOAD_FORMAT_INVALID, null);
            return;
        }
        long generation = authorizer.generation();
        if (connection.isAllowed(topic, qos, packet.retain(), generation)) {
            DecisionReport.publish(connection, message, AccessDecision.ALLOW, true);
            intercept(connection, packetId, message.qos(), message, delay, first);
            return;
        }
        Mono<AccessDecision> answer =
                authorizer.authorize(connection.client(), AccessAction.PUBLISH, topic.value(), qos, packet.retain());
        AccessDecision decision = Answers.atHand(answer);
        if (decision != null) {
            authorized(connection, packetId, message, delay, first, decision, generation);
        } else {
            ApplicationMessage kept = message.onHeap();
            Answers.await(
                    connection,
                    answer,
                    AccessDecision.DENY,
                    late -> authorized(connection, packetId, kept, delay, first, late, generation));
        }
    }

    private static @Nullable TopicName rewritten(Connection connection, TopicRewrites rewrites, TopicName topic) {
        RewrittenTopic last = connection.lastRewritten();
        if (last == null || !last.isOf(rewrites, topic)) {
            last = new RewrittenTopic(rewrites, topic, rewrites.published(connection.client(), topic));
            connection.lastRewritten(last);
        }
        return last.rewritten();
    }

    private ApplicationMessage message(
            Connection connection, PublishPacket packet, TopicName topic, Payload payload, int first) {
        RoutingLoop loop = connection.loop().routing();
        long stored = packet.qos() == QoS.EXACTLY_ONCE
                ? connection.session().inbound().messageId(packet.packetId(), packet.duplicate())
                : ApplicationMessage.NO_ID;
        ApplicationMessage message = new ApplicationMessage(
                stored == ApplicationMessage.NO_ID ? loop.nextMessageId() : stored,
                topic,
                payload,
                packet.qos(),
                packet.retain(),
                packet.properties(),
                packet.expiryIntervalSeconds(),
                packet.expiryIntervalSeconds() == ApplicationMessage.NEVER && first == interceptorCount
                        ? 0
                        : ticker.nanoTime(), // an interceptor may let it expire
                connection.client().clientId());
        if (packet.duplicate() && stored != ApplicationMessage.NO_ID && connection.waitsForStore()) {
            return message.repeated(); // not if a release is perhaps not stored: the message could be another one
        }
        return !packet.retain() && loop.timesNext() // retained ones are delivered much later
                ? message.timed(ticker.nanoTime())
                : message;
    }

    private static boolean hasDeclaredFormat(ApplicationMessage message) {
        return !message.properties().isPayloadUtf8() || message.payload().isUtf8();
    }

    /** Whether a QoS 2 message was routed before; it gets its PUBREC again, once it is safe [MQTT-4.3.3-10]. */
    private boolean isRepeated(Connection connection, int packetId) {
        InboundFlow inbound = connection.session().inbound();
        if (!inbound.isAwaitingRelease(packetId)) {
            return false;
        }
        RouteTicket awaiting = inbound.awaiting(packetId);
        if (awaiting == null) {
            acknowledge(connection, packetId, QoS.EXACTLY_ONCE, ReasonCode.SUCCESS);
        } else if (!(awaiting instanceof AcknowledgementOrder.Pending pending && pending.isOf(connection))) {
            inbound.follow(packetId, connection.acknowledgements().expectSettled(packetId));
        }
        return true;
    }

    private void checkQuota(Connection connection) {
        int open = connection.session().inbound().awaitingRelease(); // until PUBREL
        int allowed = limits.maxAwaitingRelease();
        if (connection.isV5()) { // older clients have no Receive Maximum: less is read from them, see routeAndAwait()
            open += connection.pendingAcknowledgements();
            allowed = Math.min(limits.receiveMaximum(), allowed);
        }
        if (open >= allowed) { // [MQTT-3.3.4-7]
            throw new ProtocolViolation(ReasonCode.RECEIVE_MAXIMUM_EXCEEDED, "too many unacknowledged messages");
        }
    }

    private void authorized(
            Connection connection,
            int packetId,
            ApplicationMessage message,
            long delay,
            int first,
            AccessDecision decision,
            long generation) {
        DecisionReport.publish(connection, message, decision, false);
        if (decision == AccessDecision.ALLOW) {
            connection.allowed(message.topic(), message.qos(), message.retain(), generation);
            intercept(connection, packetId, message.qos(), message, delay, first);
        } else {
            connection.denied("publish", message.topic().value(), decision.reasonString());
            refuse(
                    connection,
                    packetId,
                    message.qos(),
                    message.isRepeated(),
                    ReasonCode.NOT_AUTHORIZED,
                    decision.reasonString());
        }
    }

    private void intercept(
            Connection connection, int packetId, QoS sent, ApplicationMessage message, long delay, int next) {
        if (next == interceptorCount) {
            if (delay == DelayedTopic.NONE) {
                route(connection, packetId, sent, message);
            } else {
                delay(connection, packetId, sent, message, delay);
            }
            return;
        }
        Mono<Interception<ApplicationMessage>> answer = interceptors.publish(next, connection, message);
        Interception<ApplicationMessage> interception = Answers.atHand(answer);
        if (interception != null) {
            intercepted(connection, packetId, sent, message, delay, interception, next);
        } else {
            Answers.awaitOrElse(
                    connection,
                    answer,
                    error -> interceptors.failed("publish", error),
                    late -> intercepted(connection, packetId, sent, message, delay, late, next));
        }
    }

    /** Continues with an interceptor's message; identifier, publisher, time of acceptance and expiry remain those of the broker. */
    private void intercepted(
            Connection connection,
            int packetId,
            QoS sent,
            ApplicationMessage message,
            long delay,
            Interception<ApplicationMessage> interception,
            int at) {
        if (interception instanceof Interception.Forward<ApplicationMessage> forward) {
            intercept(connection, packetId, sent, forward.request().inPlaceOf(message), delay, at + 1);
        } else if (interception instanceof Interception.Stop<ApplicationMessage> stop) {
            refuse(
                    connection,
                    packetId,
                    sent,
                    message.isRepeated(),
                    PermittedReasons.inPubAck(stop.reason()),
                    stop.reasonString());
        }
    }

    /** Routes a message, and acknowledges it with the QoS of its PUBLISH, whatever interceptors have changed. */
    private void route(Connection connection, int packetId, QoS qos, ApplicationMessage message) {
        RoutingLoop loop = connection.loop().routing();
        if (qos != QoS.AT_MOST_ONCE && (awaitsDelivery || router.holdsTickets())) {
            routeAndAwait(connection, packetId, qos, message);
            return;
        }
        if (message.retain()
                && retained.retain(loop, message, RouteTicket.NONE).isRefusal()
                && qos != QoS.AT_MOST_ONCE
                && connection.isV5()) {
            acknowledge(connection, packetId, qos, ReasonCode.QUOTA_EXCEEDED);
            return;
        }
        if (qos == QoS.AT_MOST_ONCE) {
            router.route(loop, message, RouteTicket.NONE);
        } else {
            int matches = router.route(loop, message, RouteTicket.NONE);
            acknowledge(connection, packetId, qos, outcome(matches));
        }
    }

    private void routeAndAwait(Connection connection, int packetId, QoS qos, ApplicationMessage message) {
        RoutingLoop loop = connection.loop().routing();
        TicketOffer offer = connection.loop().offer(connection, packetId, qos);
        ReasonCode outcome;
        if (message.retain() && retained.retain(loop, message, offer).isRefusal() && connection.isV5()) {
            outcome = ReasonCode.QUOTA_EXCEEDED;
        } else {
            if (qos == QoS.EXACTLY_ONCE && connection.session().isStored()) {
                offer.claim(); // its identifier is stored as well
            }
            outcome = outcome(router.route(loop, message, offer));
        }
        settle(connection, packetId, qos, offer, outcome, message.isRepeated());
    }

    /** Accepts a message that is published later, and acknowledges it when it is stored. */
    private void delay(Connection connection, int packetId, QoS qos, ApplicationMessage message, long seconds) {
        RoutingLoop loop = connection.loop().routing();
        DelayedMessages messages = Objects.requireNonNull(delayed);
        if (qos == QoS.AT_MOST_ONCE || !awaitsDelivery) {
            acknowledge(connection, packetId, qos, messages.accept(loop, message, seconds, RouteTicket.NONE));
            return;
        }
        TicketOffer offer = connection.loop().offer(connection, packetId, qos);
        ReasonCode outcome = messages.accept(loop, message, seconds, offer);
        if (!outcome.isError()
                && qos == QoS.EXACTLY_ONCE
                && connection.session().isStored()) {
            offer.claim(); // its identifier is stored as well
        }
        settle(connection, packetId, qos, offer, outcome, message.isRepeated());
    }

    /** Acknowledges a message at once, unless somebody holds its ticket. */
    private void settle(
            Connection connection, int packetId, QoS qos, TicketOffer offer, ReasonCode outcome, boolean again) {
        TicketOffer.RoutedTicket pending = offer.ticket();
        connection.loop().takeBack(offer);
        if (pending == null) {
            refuse(connection, packetId, qos, again, outcome, null);
        } else if (outcome.isError() && connection.isV5()) {
            pending.refused(outcome, null);
        } else {
            pending.routed(outcome);
            if (!connection.isV5()) {
                connection.acknowledgements().halt(limits.receiveMaximum());
            }
        }
    }

    private static ReasonCode outcome(int matches) {
        return matches == 0 ? ReasonCode.NO_MATCHING_SUBSCRIBERS : ReasonCode.SUCCESS;
    }

    /** Acknowledges a message that nothing waits for. Before MQTT 5.0 a client cannot be notified of a refusal [MQTT311-3.3.5-2]. */
    private void acknowledge(Connection connection, int packetId, QoS qos, ReasonCode code) {
        acknowledge(connection, packetId, qos, code, null);
    }

    /** Refuses a message before it is routed. */
    private void refuse(Connection connection, PublishPacket packet, ReasonCode code, @Nullable String reasonString) {
        boolean again = packet.duplicate() && connection.session().isStored() && connection.waitsForStore();
        refuse(connection, packet.packetId(), packet.qos(), again, code, reasonString);
    }

    /**
     * Answers a message that is not routed, or that nothing waits for.
     *
     * @param again whether it may have been routed before: then its packet identifier gets another number if it is refused now
     */
    private void refuse(
            Connection connection,
            int packetId,
            QoS qos,
            boolean again,
            ReasonCode code,
            @Nullable String reasonString) {
        if (again && qos == QoS.EXACTLY_ONCE && code.isError() && connection.isV5()) {
            observer.messageRefused(qos, code);
            connection.ticket(packetId, qos).refused(code, reasonString);
        } else {
            acknowledge(connection, packetId, qos, code, reasonString);
        }
    }

    private void acknowledge(
            Connection connection, int packetId, QoS qos, ReasonCode code, @Nullable String reasonString) {
        if (code.isError()) {
            observer.messageRefused(qos, code);
        }
        if (qos == QoS.EXACTLY_ONCE && (!code.isError() || !connection.isV5())) {
            connection.session().inbound().received(packetId);
        }
        if (qos != QoS.AT_MOST_ONCE && connection.hasPendingAcknowledgements()) {
            connection.acknowledgements().expect(packetId, qos).routed(code, reasonString);
        } else if (qos == QoS.AT_LEAST_ONCE) { // [MQTT-4.3.2-4]
            connection.output().pubAck(packetId, code, reasonString);
        } else if (qos == QoS.EXACTLY_ONCE) { // [MQTT-4.3.3-8]
            connection.output().pubRec(packetId, code, reasonString);
        }
    }

    void onPubRel(Connection connection, int packetId) { // [MQTT-4.3.3-11]
        Session session = connection.session();
        boolean known = session.inbound().isAwaitingRelease(packetId);
        ReasonCode outcome = known ? ReasonCode.SUCCESS : ReasonCode.PACKET_IDENTIFIER_NOT_FOUND;
        if (session.isStored()) { // the client may reuse the identifier after PUBCOMP
            session.inbound().release(packetId, connection.waitsForStore(), connection.wantsStable(), () -> {
                if (!connection.isClosing()) {
                    connection.output().pubComp(packetId, outcome);
                }
            });
            if (session.inbound().isLong()) {
                shorten(connection, session.inbound());
            }
        } else {
            session.inbound().released(packetId);
            connection.output().pubComp(packetId, outcome);
        }
    }

    /** Reads nothing while the identifiers of next messages get their short form: about a commit's time, once in a thousand messages. */
    private static void shorten(Connection connection, InboundFlow inbound) {
        connection.await();
        inbound.shorten(connection::answerLater);
    }

    /** Reads nothing from a client that has taken over its session in that time. */
    static void awaitNumbers(Connection connection, Session session) {
        InboundFlow inbound = session.inboundOrNull();
        if (inbound != null && inbound.isShortening()) {
            connection.await();
            inbound.afterShortened(connection::answerLater);
        }
    }

    void onPubAck(Connection connection, int packetId, ReasonCode reason) {
        requireStep(connection.session().onPubAck(packetId, reason)); // an unknown identifier changes nothing
    }

    void onPubRec(Connection connection, int packetId, ReasonCode reason) {
        AcknowledgementOutcome outcome = connection.session().onPubRec(packetId, reason);
        requireStep(outcome);
        if (outcome == AcknowledgementOutcome.UNKNOWN && !reason.isError()) {
            connection.output().pubRel(packetId, ReasonCode.PACKET_IDENTIFIER_NOT_FOUND);
        }
    }

    void onPubComp(Connection connection, int packetId) {
        requireStep(connection.session().onPubComp(packetId)); // an unknown identifier changes nothing
    }

    /** Ends the connection on a wrong step: the delivery would stay in flight forever, because the client considers it complete. */
    private static void requireStep(AcknowledgementOutcome outcome) {
        if (outcome == AcknowledgementOutcome.WRONG_STEP) { // [MQTT-4.13.1-1]
            throw new ProtocolViolation(
                    ReasonCode.PROTOCOL_ERROR, "the acknowledgement does not match the state of its delivery");
        }
    }
}
