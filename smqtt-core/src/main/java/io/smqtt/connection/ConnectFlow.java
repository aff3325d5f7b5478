// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.AuthPacket;
import io.smqtt.codec.ConnAck;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.ProtocolViolation;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClientIdPattern;
import io.smqtt.config.MqttConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.overload.Overload;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.session.SessionRegistry;
import io.smqtt.session.SessionRequest;
import io.smqtt.session.StoreLoop;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.Bans;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectRequest;
import io.smqtt.spi.Interception;
import io.smqtt.thread.OnEventLoop;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Handles CONNECT up to CONNACK (MQTT 5.0, sections 3.1, 3.2): validates, authenticates, authorizes the will, claims the client
 * identifier, opens the session. No session of another client is touched before the client is authenticated.
 */
@OnEventLoop
public final class ConnectFlow {

    /** The role of users in {@code access.admins}. */
    private static final String ADMIN = "admin";

    /** Maximum time that a client waits for its session. */
    private static final long STORE_PATIENCE_SECONDS = 30;

    private static final Authentication UNAVAILABLE = new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE);

    private final BrokerConfig config;
    private final Interceptors interceptors;
    private final Set<String> admins;
    private final @Nullable ClientIdPattern reserved;
    private final Bans bans;
    private final Authenticator authenticator;
    private final EnhancedFlow enhanced;
    private final Authorizer authorizer;
    private final ClientDirectory directory;
    private final SessionRegistry registry;
    private final BrokerObserver observer;
    private final Disconnector disconnector;
    private final RateLimits rates;
    private final Overload overload;
    private final SubscribeFlow subscribe;
    private final ClientIds clientIds = new ClientIds();

    /**
     * Creates the flow.
     *
     * @param config the broker's configuration
     * @param interceptors interceptors of CONNECT, asked after the authentication
     * @param bans knows who is banned
     * @param authenticator authenticates clients without an authentication method
     * @param enhanced enhanced authentication
     * @param authorizer authorizes wills
     * @param directory knows which node owns a client identifier
     * @param registry the sessions
     * @param subscribe makes the automatic subscriptions
     * @param observer receives events about clients
     * @param disconnector ends connections
     * @param rates the rates that clients are held to
     * @param overload how overloaded the broker is
     */
    public ConnectFlow(
            BrokerConfig config,
            Interceptors interceptors,
            Bans bans,
            Authenticator authenticator,
            EnhancedFlow enhanced,
            Authorizer authorizer,
            ClientDirectory directory,
            SessionRegistry registry,
            SubscribeFlow subscribe,
            BrokerObserver observer,
            Disconnector disconnector,
            RateLimits rates,
            Overload overload) {
        this.config = config;
        this.rates = rates;
        this.overload = overload;
        this.interceptors = interceptors;
        this.admins = Set.copyOf(config.access().admins());
        this.reserved = config.access().clientIdPattern();
        this.bans = bans;
        this.authenticator = authenticator;
        this.enhanced = enhanced;
        this.authorizer = authorizer;
        this.directory = directory;
        this.registry = registry;
        this.subscribe = subscribe;
        this.observer = observer;
        this.disconnector = disconnector;
    }

    void onConnect(Connection connection, ConnectPacket packet) {
        if (connection.phase() != Connection.Phase.AWAITING_CONNECT) { // [MQTT-3.1.0-2]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "a second CONNECT");
        }
        int listenerLimit = connection.link().config().maxPacketBytes();
        connection.connecting(
                packet, listenerLimit > 0 ? listenerLimit : config.limits().maxPacketBytes());
        if (overload.refusesConnects() && connection.link().vouched() == null) {
            disconnector.refuse(connection, ReasonCode.SERVER_BUSY, "the broker is overloaded");
            return;
        }
        ReasonCode unsupported = unsupported(packet.will());
        if (unsupported != null) { // [MQTT-3.2.2-12] [MQTT-3.2.2-13]
            disconnector.refuse(connection, unsupported, "the QoS or retain flag of the will is not supported");
            return;
        }
        Authentication.Accepted vouched = connection.link().vouched();
        if (vouched == null && InProcess.isClosedToClients(packet.clientId())) {
            disconnector.refuse(
                    connection, ReasonCode.CLIENT_IDENTIFIER_NOT_VALID, "the client identifier is reserved");
            return;
        }
        String clientId = packet.clientId().isEmpty() ? clientIds.assign() : packet.clientId(); // [MQTT-3.1.3-6]
        if (vouched != null) {
            accepted(connection, packet, clientId, vouched, null);
            return;
        }
        AuthenticationRequest request = authenticationRequest(connection, packet, clientId);
        if (bans.isBanned(clientId, request.userName(), request.remoteAddress())) {
            disconnector.refuse(connection, ReasonCode.BANNED, null);
            return;
        }
        if (packet.authenticationMethod() == null) {
            Duration left = connection.link().connectTimeLeft();
            connection.link().connectComplete(); // the time of extensions does not count for the timeout
            authenticate(connection, packet, clientId, request, left);
        } else {
            enhanced.begin(connection, packet, request, this);
        }
    }

    /** Whether new clients are refused, because the broker is overloaded. */
    boolean refusesConnects() {
        return overload.refusesConnects();
    }

    /** Authenticates the client; the request is cancelled if the client disconnects before the answer. */
    private void authenticate(
            Connection connection,
            ConnectPacket packet,
            String clientId,
            AuthenticationRequest request,
            Duration left) {
        Mono<Authentication> asked = authenticator.authenticate(request);
        Disposable question = Answers.ask(
                connection,
                config.access().chain().isEmpty() || asked instanceof Callable
                        ? asked
                        : asked.timeout(left, UNAVAILABLE.now()),
                UNAVAILABLE,
                answer -> {
                    connection.withdrawal(null);
                    authenticated(connection, packet, clientId, answer);
                },
                answer -> {});
        if (!question.isDisposed()) {
            connection.withdrawal(question::dispose);
        }
    }

    private @Nullable ReasonCode unsupported(@Nullable Will will) {
        MqttConfig mqtt = config.mqtt();
        if (will == null) {
            return null;
        }
        if (will.message().qos().level() > mqtt.maxQos()) {
            return ReasonCode.QOS_NOT_SUPPORTED;
        }
        return will.message().retain() && !mqtt.retainAvailable() ? ReasonCode.RETAIN_NOT_SUPPORTED : null;
    }

    static AuthenticationRequest authenticationRequest(Connection connection, ConnectPacket packet, String clientId) {
        String fromCertificate = connection.link().certificateUser();
        return new AuthenticationRequest(
                clientId,
                fromCertificate != null ? fromCertificate : packet.userName(),
                packet.password(),
                connection.link().remoteAddress(),
                connection.link().listener(),
                packet.version(),
                connection.link().clientCertificate(),
                fromCertificate != null,
                connection.link().local());
    }

    private void authenticated(Connection connection, ConnectPacket packet, String clientId, Authentication answer) {
        DecisionReport.authenticated(connection, clientId, packet.userName(), answer);
        if (answer instanceof Authentication.Accepted accepted) {
            accepted(connection, packet, clientId, accepted, null);
        } else if (answer instanceof Authentication.Refused refused) {
            disconnector.refuse(connection, refused.reason(), refused.reasonString());
        } else {
            disconnector.refuse(connection, ReasonCode.NOT_AUTHORIZED, null);
        }
    }

    /** The roles of a user: those that an authenticator has granted, and those of the configuration. */
    Set<String> roles(@Nullable String userName, Set<String> granted) {
        if (userName == null || !admins.contains(userName) || granted.contains(ADMIN)) {
            return granted;
        }
        Set<String> all = new HashSet<>(granted);
        all.add(ADMIN);
        return Set.copyOf(all);
    }

    /** Continues after a successful authentication. */
    void accepted(
            Connection connection,
            ConnectPacket packet,
            String clientId,
            Authentication.Accepted accepted,
            byte @Nullable [] authenticationData) {
        String userName = accepted.userName();
        ClientIdentity client = new ClientIdentity(
                clientId,
                userName,
                connection.link().remoteAddress(),
                connection.link().listener(),
                packet.version(),
                roles(userName, accepted.roles()),
                packet.bridge(),
                accepted.grants());
        connection.client(client);
        connection.link().connectComplete(); // after the last AUTH as well
        if (isBanned(client)) { // an authenticator may have named another user
            disconnector.refuse(connection, ReasonCode.BANNED, null);
            return;
        }
        if (!mayUse(packet.clientId(), userName)) {
            disconnector.refuse(
                    connection,
                    ReasonCode.CLIENT_IDENTIFIER_NOT_VALID,
                    "the client identifier is reserved for another user");
            return;
        }
        Will will = packet.will();
        TopicRewrites rewrites = subscribe.rewrites();
        if (will != null && rewrites != null) {
            will = rewrites.will(client, will);
            if (will == null) {
                disconnector.refuse(connection, ReasonCode.TOPIC_NAME_INVALID, TopicRewrites.NO_TOPIC);
                return;
            }
        }
        ConnectRequest request =
                new ConnectRequest(packet.cleanStart(), packet.sessionExpirySeconds(), will, packet.userProperties());
        if (!interceptors.seeConnect()) {
            authorizeWill(connection, new Opening(packet, request, client, authenticationData));
            return;
        }
        Answers.awaitOrElse(
                connection,
                interceptors.connect(connection, request),
                error -> interceptors.failed("connect", error),
                answer -> {
                    if (answer instanceof Interception.Forward<ConnectRequest> forward) {
                        intercepted(connection, new Opening(packet, forward.request(), client, authenticationData));
                    } else if (answer instanceof Interception.Stop<ConnectRequest> stop) {
                        disconnector.refuse(connection, stop.reason(), stop.reasonString());
                    }
                });
    }

    /**
     * An authenticated client whose session is being opened.
     *
     * @param packet the CONNECT of the client
     * @param request the request after the interceptors, which is in effect
     * @param client the client
     * @param authenticationData for the CONNACK, or null
     */
    private record Opening(
            ConnectPacket packet,
            ConnectRequest request,
            ClientIdentity client,
            byte @Nullable [] authenticationData) {}

    private void intercepted(Connection connection, Opening opening) {
        ReasonCode unsupported = unsupported(opening.request.will());
        if (unsupported == null) {
            authorizeWill(connection, opening);
        } else {
            disconnector.refuse(connection, unsupported, "the QoS or retain flag of the will is not supported");
        }
    }

    private void authorizeWill(Connection connection, Opening opening) {
        Will will = opening.request.will();
        Mono<AccessDecision> mayWill = will == null
                ? AccessDecision.ALLOW.now()
                : authorizer.authorize(
                        opening.client,
                        AccessAction.PUBLISH,
                        will.message().topic().value(),
                        will.message().qos(),
                        will.message().retain());
        Answers.await(connection, mayWill, AccessDecision.DENY, decision -> {
            if (will != null) {
                DecisionReport.publish(connection, will.message(), decision, false);
            }
            if (decision == AccessDecision.ALLOW) {
                claimWhenStorable(connection, opening);
            } else {
                String text = decision.reasonString();
                disconnector.refuse(
                        connection, ReasonCode.NOT_AUTHORIZED, text == null ? "the will is not allowed" : text);
            }
        });
    }

    /**
     * Whether a client may use its identifier: a user one that is reserved for it, other clients one that is not reserved, and every
     * client an assigned one.
     */
    private boolean mayUse(String clientId, @Nullable String userName) {
        ClientIdPattern pattern = reserved;
        if (pattern == null || clientId.isEmpty() || ClientIds.isAssigned(clientId)) {
            return true;
        }
        return userName == null ? !pattern.isReserved(clientId) : pattern.isOf(clientId, userName);
    }

    /**
     * Refuses CONNECT with a persistent session while nothing can be stored, and delays it while the storage backlog is over
     * its limit.
     */
    private void claimWhenStorable(Connection connection, Opening opening) {
        boolean stored = grantedExpirySeconds(connection, opening) > 0;
        StoreLoop store = connection.loop().store();
        ReasonCode refusal = stored && store != null ? store.refusal() : null;
        if (refusal != null) {
            disconnector.refuse(connection, refusal, "nothing can be stored now");
            return;
        }
        if (!stored || !connection.loop().isStoreOverloaded()) {
            claim(connection, opening);
            return;
        }
        Answers.await(connection, connection.loop().storeHasRoom(), ReasonCode.SERVER_BUSY, outcome -> {
            if (outcome == ReasonCode.SUCCESS) {
                claim(connection, opening);
            } else {
                disconnector.refuse(connection, outcome, "storage overloaded");
            }
        });
    }

    private void claim(Connection connection, Opening opening) {
        ClientIdentity client = opening.client;
        connection.link().connected();
        boolean stored = connection.loop().store() != null && grantedExpirySeconds(connection, opening) > 0;
        Mono<Void> claimed = directory.claim(client, opening.request.cleanStart(), stored);
        if (Answers.isComplete(claimed)) {
            open(connection, opening);
            return;
        }
        Disposable question = Answers.ask(
                connection,
                ClaimAnswer.of(claimed),
                ClaimAnswer.UNAVAILABLE,
                answer -> {
                    connection.withdrawal(null);
                    if (answer.isGranted()) {
                        open(connection, opening);
                    } else {
                        disconnector.refuse(connection, answer.reason(), answer.text());
                    }
                },
                answer -> {
                    if (answer.isGranted()) {
                        directory.settled(client);
                    }
                });
        if (!question.isDisposed()) { // a client that has disconnected takes over no session
            connection.withdrawal(() -> {
                question.dispose();
                directory.settled(client); // the answer may have been in flight
            });
        }
    }

    private void open(Connection connection, Opening opening) {
        long granted = grantedExpirySeconds(connection, opening);
        connection.await();
        OpeningReply reply = new OpeningReply(connection, opening, granted);
        registry.open(new SessionRequest(
                opening.client,
                opening.request.cleanStart(),
                granted,
                opening.request.will(),
                connection,
                connection.loop().routing(),
                reply));
        reply.limitWait();
    }

    /** Takes the session of a client. Refuses the client when the session does not come in time. */
    private final class OpeningReply implements SessionRequest.Reply {

        private final Connection connection;
        private final Opening opening;
        private final long grantedExpiry;
        private boolean replied;
        private @Nullable Future<?> patience;

        OpeningReply(Connection connection, Opening opening, long grantedExpiry) {
            this.connection = connection;
            this.opening = opening;
            this.grantedExpiry = grantedExpiry;
        }

        /** Starts the timer, unless the session was there at once. */
        void limitWait() {
            if (!replied) {
                patience = connection
                        .loop()
                        .routing()
                        .executor()
                        .schedule(this::tooLate, STORE_PATIENCE_SECONDS, TimeUnit.SECONDS);
            }
        }

        private void tooLate() {
            disconnector.refuse(connection, ReasonCode.SERVER_UNAVAILABLE, "the storage does not respond");
        }

        private void settle() {
            replied = true;
            if (patience != null) {
                patience.cancel(false);
            }
        }

        @Override
        public void opened(Session session, boolean sessionPresent) {
            settle();
            try {
                connected(connection, opening, session, sessionPresent, grantedExpiry);
            } finally {
                directory.settled(opening.client);
            }
        }

        @Override
        public void refused(ReasonCode reason) {
            settle();
            try {
                connection.answered();
                disconnector.refuse(connection, reason, null);
            } finally {
                directory.settled(opening.client);
            }
        }
    }

    private long grantedExpirySeconds(Connection connection, Opening opening) {
        if (connection.link().vouched() != null) {
            return opening.request.sessionExpirySeconds();
        }
        SessionConfig session = config.session();
        long longest = Math.min(
                opening.request.sessionExpirySeconds(), session.maxExpiry().toSeconds());
        return opening.packet.version() == ProtocolVersion.MQTT_5 // [MQTT-3.1.2-6] of MQTT 3.1.1
                ? longest
                : Math.min(longest, session.defaultExpiry().toSeconds());
    }

    private void connected(
            Connection connection, Opening opening, Session session, boolean sessionPresent, long grantedExpiry) {
        ConnectPacket packet = opening.packet;
        connection.answered();
        if (connection.isClosing()) { // ended in the meantime
            session.connectionEnded(connection, true, -1);
            return;
        }
        MqttConfig mqtt = config.mqtt();
        int keepAlive = keepAliveSeconds(packet);
        int window = Math.min(config.limits().maxInFlight(), packet.receiveMaximum());
        int fromClient = connection.isV5() ? mqtt.topicAliasMaximum() : 0;
        int toClient = Math.min(mqtt.outboundTopicAliasMaximum(), packet.topicAliasMaximum());
        connection.connected(
                session,
                window,
                fromClient == 0 ? null : new InboundAliases(fromClient),
                toClient == 0 ? null : new OutboundAliases(toClient));
        PublishFlow.awaitNumbers(connection, session);
        ClientRates limited = rates.of(
                connection.link().listener(),
                connection.client().clientId(),
                connection.client().userName());
        if (limited != null) {
            connection.limit(limited);
        }
        connection.deadlines().keepAlive(keepAlive);
        connection.deadlines().validUntil(connection.client().grants().validUntil());
        boolean answered = connection
                .output()
                .connAck(connAck(
                        connection, packet, sessionPresent, grantedExpiry, keepAlive, opening.authenticationData));
        if (!answered) { // [MQTT-3.1.2-24]
            disconnector.abandon(connection, "the CONNACK exceeds the maximum packet size of the client");
            return;
        }
        disconnector.log().connected(connection.client(), packet, sessionPresent);
        observer.clientConnected(connection.client(), sessionPresent);
        session.start();
        if (connection.link().vouched() == null) {
            subscribe.onConnected(connection);
        }
        connection.proceed();
        if (isBanned(
                connection.client())) { // since it was checked; those who disconnect clients may not have seen this one
            disconnector.disconnect(connection, ReasonCode.ADMINISTRATIVE_ACTION, null);
        }
    }

    private boolean isBanned(ClientIdentity client) {
        return bans.isBanned(client.clientId(), client.userName(), client.remoteAddress());
    }

    /** The keep alive in force; it also applies to clients before MQTT 5.0, which cannot be notified. */
    private int keepAliveSeconds(ConnectPacket packet) {
        long maximum = config.mqtt().maxKeepAlive().toSeconds();
        int asked = packet.keepAliveSeconds();
        return maximum > 0 && (asked == 0 || asked > maximum) ? (int) maximum : asked;
    }

    private ConnAck connAck(
            Connection connection,
            ConnectPacket packet,
            boolean sessionPresent,
            long grantedExpiry,
            int keepAlive,
            byte @Nullable [] authenticationData) {
        MqttConfig mqtt = config.mqtt();
        boolean wantsResponse = packet.requestResponseInformation()
                && !mqtt.responseInformation().isEmpty();
        return new ConnAck(
                sessionPresent,
                ReasonCode.SUCCESS,
                grantedExpiry == packet.sessionExpirySeconds() ? -1 : grantedExpiry,
                Math.min(config.limits().receiveMaximum(), config.limits().maxAwaitingRelease()),
                mqtt.maxQos(),
                mqtt.retainAvailable(),
                connection.maximumPacketBytes(),
                packet.clientId().isEmpty() ? connection.client().clientId() : null,
                mqtt.topicAliasMaximum(),
                null,
                mqtt.wildcardAvailable(),
                mqtt.subscriptionIdentifiersAvailable(),
                mqtt.sharedAvailable(),
                keepAlive == packet.keepAliveSeconds() ? -1 : keepAlive, // [MQTT-3.2.2-21]
                wantsResponse ? mqtt.responseInformation() : null,
                null,
                packet.authenticationMethod(),
                authenticationData);
    }

    void onAuth(Connection connection, AuthPacket packet) {
        enhanced.onAuth(connection, packet, this);
    }
}
