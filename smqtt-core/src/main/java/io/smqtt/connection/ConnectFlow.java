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
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.session.SessionRegistry;
import io.smqtt.session.SessionRequest;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClaimRefusedException;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectRequest;
import io.smqtt.spi.Interception;
import io.smqtt.thread.OnEventLoop;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * From CONNECT to CONNACK (MQTT 5.0, sections 3.1, 3.2): validate, authenticate, authorize the will, claim the client
 * identifier, open the session. Nobody else's session is touched before the client is who it says.
 */
@OnEventLoop
public final class ConnectFlow {

    /** The role that {@code access.admins} gives. */
    private static final String ADMIN = "admin";

    /** How long a client waits for its session to be opened. */
    private static final long STORE_PATIENCE_SECONDS = 30;

    private final BrokerConfig config;
    private final Interceptors interceptors;
    private final Set<String> admins;
    private final @Nullable ClientIdPattern reserved;
    private final Authenticator authenticator;
    private final EnhancedFlow enhanced;
    private final Authorizer authorizer;
    private final ClientDirectory directory;
    private final SessionRegistry registry;
    private final BrokerObserver observer;
    private final Disconnector disconnector;
    private final ClientIds clientIds = new ClientIds();

    /**
     * Creates the flow.
     *
     * @param config the broker's configuration
     * @param interceptors what sees each CONNECT once its client is authenticated
     * @param authenticator who decides of clients without an authentication method
     * @param enhanced authentication by AUTH packets
     * @param authorizer who decides of wills
     * @param directory who owns a client identifier
     * @param registry the sessions
     * @param observer what is told of connected clients
     * @param disconnector the one exit
     */
    public ConnectFlow(
            BrokerConfig config,
            Interceptors interceptors,
            Authenticator authenticator,
            EnhancedFlow enhanced,
            Authorizer authorizer,
            ClientDirectory directory,
            SessionRegistry registry,
            BrokerObserver observer,
            Disconnector disconnector) {
        this.config = config;
        this.interceptors = interceptors;
        this.admins = Set.copyOf(config.access().admins());
        this.reserved = config.access().clientIdPattern();
        this.authenticator = authenticator;
        this.enhanced = enhanced;
        this.authorizer = authorizer;
        this.directory = directory;
        this.registry = registry;
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
        ReasonCode unsupported = unsupported(packet.will());
        if (unsupported != null) { // [MQTT-3.2.2-12] [MQTT-3.2.2-13]
            disconnector.refuse(connection, unsupported, "the will asks for what is not supported");
            return;
        }
        if (InProcess.isReserved(packet.clientId())) {
            disconnector.refuse(
                    connection, ReasonCode.CLIENT_IDENTIFIER_NOT_VALID, "the client identifier is reserved");
            return;
        }
        String clientId = packet.clientId().isEmpty() ? clientIds.assign() : packet.clientId(); // [MQTT-3.1.3-6]
        AuthenticationRequest request = authenticationRequest(connection, packet, clientId);
        if (packet.authenticationMethod() == null) {
            connection.link().connectComplete(); // how long others take is not held against the client
            authenticate(connection, packet, clientId, request);
        } else {
            enhanced.begin(connection, packet, request, this);
        }
    }

    /** Asks who the client is; the question is withdrawn if the client leaves before the answer. */
    private void authenticate(
            Connection connection, ConnectPacket packet, String clientId, AuthenticationRequest request) {
        Disposable question = Answers.ask(
                connection,
                authenticator.authenticate(request),
                new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE),
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
        String fromCertificate = CertificateUser.of(connection.link());
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
        if (answer instanceof Authentication.Accepted accepted) {
            accepted(connection, packet, clientId, accepted.userName(), accepted.roles(), null);
        } else if (answer instanceof Authentication.Refused refused) {
            disconnector.refuse(connection, refused.reason(), refused.reasonString());
        } else {
            disconnector.refuse(connection, ReasonCode.NOT_AUTHORIZED, null);
        }
    }

    /** What a user may be: what an authenticator has granted, and what the configuration says. */
    Set<String> roles(@Nullable String userName, Set<String> granted) {
        if (userName == null || !admins.contains(userName) || granted.contains(ADMIN)) {
            return granted;
        }
        Set<String> all = new HashSet<>(granted);
        all.add(ADMIN);
        return Set.copyOf(all);
    }

    /** The client is who it says. On the event loop, outside of decoding. */
    void accepted(
            Connection connection,
            ConnectPacket packet,
            String clientId,
            @Nullable String userName,
            Set<String> roles,
            byte @Nullable [] authenticationData) {
        ClientIdentity client = new ClientIdentity(
                clientId,
                userName,
                connection.link().remoteAddress(),
                connection.link().listener(),
                packet.version(),
                roles(userName, roles),
                packet.bridge());
        connection.client(client);
        connection.link().connectComplete(); // after the last AUTH as well
        if (!mayUse(packet.clientId(), userName)) {
            disconnector.refuse(
                    connection,
                    ReasonCode.CLIENT_IDENTIFIER_NOT_VALID,
                    "the client identifier is reserved for another user");
            return;
        }
        ConnectRequest request = new ConnectRequest(
                packet.cleanStart(), packet.sessionExpirySeconds(), packet.will(), packet.userProperties());
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
     * A client that is who it says, and what is done for it.
     *
     * @param packet what it sent
     * @param request what interceptors have made of it: this counts
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
            disconnector.refuse(connection, unsupported, "the will asks for what is not supported");
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
            if (decision == AccessDecision.ALLOW) {
                claimWhenStorable(connection, opening);
            } else {
                String text = decision.reasonString();
                disconnector.refuse(
                        connection, ReasonCode.NOT_AUTHORIZED, text == null ? "the will is not allowed" : text);
            }
        });
    }

    /** Whether a client may use the identifier it has sent: a user its own, others what is nobody's, all what was assigned. */
    private boolean mayUse(String clientId, @Nullable String userName) {
        ClientIdPattern pattern = reserved;
        if (pattern == null || clientId.isEmpty() || ClientIds.isAssigned(clientId)) {
            return true;
        }
        return userName == null ? !pattern.isReserved(clientId) : pattern.isOf(clientId, userName);
    }

    /** Who wants a session that is stored waits while too much waits for the disk. */
    private void claimWhenStorable(Connection connection, Opening opening) {
        if (grantedExpirySeconds(opening) == 0 || !connection.loop().isStoreOverloaded()) {
            claim(connection, opening);
            return;
        }
        Answers.await(connection, connection.loop().storeHasRoom(), ReasonCode.SERVER_BUSY, outcome -> {
            if (outcome == ReasonCode.SUCCESS) {
                claim(connection, opening);
            } else {
                disconnector.refuse(connection, outcome, "too much waits for the disk");
            }
        });
    }

    private void claim(Connection connection, Opening opening) {
        ClientIdentity client = opening.client;
        connection.link().connected();
        Mono<ReasonCode> claimed = directory
                .claim(client, opening.request.cleanStart())
                .thenReturn(ReasonCode.SUCCESS)
                .onErrorResume(ClaimRefusedException.class, refused -> Mono.just(refused.reason()));
        Disposable question = Answers.ask(
                connection,
                claimed,
                ReasonCode.SERVER_UNAVAILABLE,
                outcome -> {
                    connection.withdrawal(null);
                    if (outcome == ReasonCode.SUCCESS) {
                        open(connection, opening);
                    } else {
                        disconnector.refuse(connection, outcome, null);
                    }
                },
                outcome -> {
                    if (outcome == ReasonCode.SUCCESS) {
                        directory.settled(client);
                    }
                });
        if (!question.isDisposed()) { // who is gone takes the session from nobody
            connection.withdrawal(() -> {
                question.dispose();
                directory.settled(client); // the answer may have been on its way
            });
        }
    }

    private void open(Connection connection, Opening opening) {
        ClientIdentity client = opening.client;
        long granted = grantedExpirySeconds(opening);
        connection.await();
        Future<?> patience = connection
                .loop()
                .routing()
                .executor()
                .schedule(
                        () -> disconnector.refuse(
                                connection, ReasonCode.SERVER_UNAVAILABLE, "the store does not answer"),
                        STORE_PATIENCE_SECONDS,
                        TimeUnit.SECONDS);
        registry.open(new SessionRequest(
                client,
                opening.request.cleanStart(),
                granted,
                opening.request.will(),
                connection,
                connection.loop().routing(),
                new SessionRequest.Reply() {
                    @Override
                    public void opened(Session session, boolean sessionPresent) {
                        patience.cancel(false);
                        try {
                            connected(connection, opening, session, sessionPresent, granted);
                        } finally {
                            directory.settled(client);
                        }
                    }

                    @Override
                    public void refused(ReasonCode reason) {
                        patience.cancel(false);
                        try {
                            connection.answered();
                            disconnector.refuse(connection, reason, null);
                        } finally {
                            directory.settled(client);
                        }
                    }
                }));
    }

    private long grantedExpirySeconds(Opening opening) {
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
        if (connection.isClosing()) { // gone while it waited
            session.connectionEnded(connection, true, -1);
            return;
        }
        MqttConfig mqtt = config.mqtt();
        int keepAlive = keepAliveSeconds(packet);
        int window = Math.min(config.limits().maxInFlight(), packet.receiveMaximum());
        connection.connected(
                session,
                window,
                new InboundAliases(mqtt.topicAliasMaximum()),
                new OutboundAliases(Math.min(mqtt.outboundTopicAliasMaximum(), packet.topicAliasMaximum())));
        connection.deadlines().keepAlive(keepAlive);
        boolean answered = connection
                .output()
                .connAck(connAck(
                        connection, packet, sessionPresent, grantedExpiry, keepAlive, opening.authenticationData));
        if (!answered) { // [MQTT-3.1.2-24]
            disconnector.abandon(connection, "the client takes no CONNACK of this size");
            return;
        }
        disconnector.log().connected(connection.client(), packet, sessionPresent);
        observer.clientConnected(connection.client(), sessionPresent);
        session.start();
        connection.proceed();
    }

    /** The keep alive in force; an older client is held to it without being told. */
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
