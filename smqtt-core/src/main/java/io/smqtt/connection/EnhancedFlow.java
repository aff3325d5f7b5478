// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.AuthPacket;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.ProtocolViolation;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.EnhancedAuthenticator.Exchange;
import io.smqtt.spi.EnhancedAuthenticator.Step;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Handles AUTH: enhanced authentication at CONNECT and re-authentication (MQTT 5.0, section 4.12). */
@OnEventLoop
public final class EnhancedFlow {

    private final Map<String, EnhancedAuthenticator> methods;
    private final Disconnector disconnector;
    private final BrokerObserver observer;

    /**
     * Creates the flow.
     *
     * @param authenticators one for each method
     * @param disconnector ends connections
     * @param observer notified of re-authentications
     */
    public EnhancedFlow(
            List<EnhancedAuthenticator> authenticators, Disconnector disconnector, BrokerObserver observer) {
        this.methods =
                authenticators.stream().collect(Collectors.toMap(EnhancedAuthenticator::method, Function.identity()));
        this.disconnector = disconnector;
        this.observer = observer;
    }

    void begin(Connection connection, ConnectPacket packet, AuthenticationRequest request, ConnectFlow connect) {
        String method = Objects.requireNonNull(packet.authenticationMethod());
        EnhancedAuthenticator authenticator = methods.get(method);
        if (authenticator == null) { // [MQTT-4.12.0-1]
            DecisionReport.authenticated(
                    connection,
                    request.clientId(),
                    request.userName(),
                    new Authentication.Refused(ReasonCode.BAD_AUTHENTICATION_METHOD));
            disconnector.refuse(connection, ReasonCode.BAD_AUTHENTICATION_METHOD, null);
            return;
        }
        Exchange exchange = authenticator.begin(request);
        Authenticating state = new Authenticating(method, exchange, packet, request.clientId());
        connection.authenticating(state);
        next(connection, state, exchange, packet.authenticationData(), connect);
    }

    void onAuth(Connection connection, AuthPacket packet, ConnectFlow connect) {
        Authenticating state = connection.authenticating();
        if (state == null) { // [MQTT-4.12.0-6]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "AUTH without an authentication method in CONNECT");
        }
        if (!state.method().equals(packet.method())) { // [MQTT-4.12.0-5] [MQTT-4.12.1-1]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "the authentication method has changed");
        }
        Exchange exchange = state.exchange();
        if (packet.reason() == ReasonCode.REAUTHENTICATE) {
            if (connection.phase() != Connection.Phase.CONNECTED || exchange != null) {
                throw new ProtocolViolation(
                        ReasonCode.PROTOCOL_ERROR, "re-authentication before CONNACK or during another one");
            }
            exchange = reauthenticate(connection, state);
        } else if (packet.reason() != ReasonCode.CONTINUE_AUTHENTICATION || exchange == null) { // [MQTT-4.12.0-3]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "unexpected AUTH");
        }
        next(connection, Objects.requireNonNull(connection.authenticating()), exchange, packet.data(), connect);
    }

    private Exchange reauthenticate(Connection connection, Authenticating state) {
        ClientIdentity client = connection.client();
        AuthenticationRequest request = new AuthenticationRequest(
                client.clientId(),
                client.userName(),
                null,
                client.remoteAddress(),
                client.listener(),
                client.version(),
                connection.link().clientCertificate(),
                false,
                connection.link().local());
        Exchange exchange = Objects.requireNonNull(methods.get(state.method())).begin(request);
        connection.authenticating(new Authenticating(state.method(), exchange, null, state.clientId()));
        return exchange;
    }

    private void next(
            Connection connection,
            Authenticating state,
            Exchange exchange,
            byte @Nullable [] data,
            ConnectFlow connect) {
        Step unavailable = new Step.Failure(ReasonCode.SERVER_UNAVAILABLE);
        Answers.await(connection, exchange.next(data), unavailable, step -> {
            if (step instanceof Step.Challenge challenge) { // [MQTT-4.12.0-2]
                connection
                        .output()
                        .auth(new AuthPacket(ReasonCode.CONTINUE_AUTHENTICATION, state.method(), challenge.data()));
            } else if (step instanceof Step.Success success) {
                succeeded(connection, state, success, connect);
            } else if (step instanceof Step.Failure failure) { // [MQTT-4.12.0-4] [MQTT-4.12.1-2]
                ConnectPacket packet = state.connect();
                DecisionReport.authenticated(
                        connection,
                        state.clientId(),
                        packet == null ? connection.client().userName() : packet.userName(),
                        new Authentication.Refused(failure.reason()));
                disconnector.disconnect(connection, failure.reason(), null);
            }
        });
    }

    private void succeeded(Connection connection, Authenticating state, Step.Success success, ConnectFlow connect) {
        connection.authenticating(new Authenticating(state.method(), null, null, state.clientId()));
        ConnectPacket packet = state.connect();
        Authentication.Accepted accepted =
                new Authentication.Accepted(success.userName(), success.roles(), success.grants());
        DecisionReport.authenticated(connection, state.clientId(), null, accepted);
        if (packet != null) {
            connect.accepted(connection, packet, state.clientId(), accepted, success.data());
            return;
        }
        ClientIdentity old = connection.client();
        if (!Objects.equals(success.userName(), old.userName())) {
            disconnector.disconnect(connection, ReasonCode.NOT_AUTHORIZED, "the user has changed");
            return;
        }
        ClientIdentity again = new ClientIdentity(
                old.clientId(),
                success.userName(),
                old.remoteAddress(),
                old.listener(),
                old.version(),
                connect.roles(success.userName(), success.roles()),
                old.bridge(),
                success.grants());
        connection.client(again);
        connection.deadlines().validUntil(success.grants().validUntil());
        connection.session().reauthenticated(again);
        observer.clientReauthenticated(old, again);
        connection.output().auth(new AuthPacket(ReasonCode.SUCCESS, state.method(), success.data()));
    }
}
