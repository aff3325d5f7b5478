// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A client of which a backend is asked. Later versions may add components: read them by name.
 *
 * @param clientId the client identifier
 * @param userName the user name, or null
 * @param password the password, or null; always null for rules and topics. Not to be changed or kept
 * @param remoteAddress the client's address, also behind a trusted proxy
 * @param listener the name of its listener
 * @param version the protocol version
 * @param certificate names of its certificate; {@link CertificateNames#NONE} without one
 * @param attributes what earlier answers have said of the client
 */
public record BackendRequest(
        String clientId,
        @Nullable String userName,
        byte @Nullable [] password,
        InetSocketAddress remoteAddress,
        String listener,
        ProtocolVersion version,
        CertificateNames certificate,
        Map<String, String> attributes)
        implements TemplateValues {

    /**
     * The request for a client that connects.
     *
     * @param request the credentials
     * @return a request without attributes
     */
    public static BackendRequest of(AuthenticationRequest request) {
        return new BackendRequest(
                request.clientId(),
                request.userName(),
                request.password(),
                request.remoteAddress(),
                request.listener(),
                request.version(),
                CertificateNames.of(request.certificate()),
                Map.of());
    }

    /**
     * The request for a client that is connected.
     *
     * @param client the client
     * @param certificate names of its certificate
     * @return a request without password
     */
    public static BackendRequest of(ClientIdentity client, CertificateNames certificate) {
        return new BackendRequest(
                client.clientId(),
                client.userName(),
                null,
                client.remoteAddress(),
                client.listener(),
                client.version(),
                certificate,
                client.grants().attributes());
    }

    /**
     * The same client after its authentication.
     *
     * @param user its user, or null
     * @param more its attributes
     * @return a request without password
     */
    public BackendRequest authenticated(@Nullable String user, Map<String, String> more) {
        return new BackendRequest(clientId, user, null, remoteAddress, listener, version, certificate, more);
    }

    /**
     * The password as text.
     *
     * @return null if there is none, or if it is not UTF-8, which no text can stand for
     */
    public @Nullable String passwordText() {
        byte[] bytes = password;
        try {
            return bytes == null
                    ? null
                    : StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes))
                            .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    @Override
    public @Nullable String value(String placeholder) {
        return switch (placeholder) {
            case "username" -> userName;
            case "clientid" -> clientId;
            case "password" -> passwordText();
            case "peerhost" -> host();
            case "peerport" -> String.valueOf(remoteAddress.getPort());
            case "listener" -> listener;
            case "proto_name" -> version == ProtocolVersion.MQTT_3_1 ? "MQIsdp" : "MQTT";
            case "cert_subject" -> certificate.subject();
            case "cert_common_name" -> certificate.commonName();
            case "cert_pem" -> certificate.pem();
            default ->
                placeholder.startsWith(Template.ATTRIBUTES)
                        ? attributes.get(placeholder.substring(Template.ATTRIBUTES.length()))
                        : null;
        };
    }

    private String host() {
        return remoteAddress.isUnresolved()
                ? remoteAddress.getHostString()
                : remoteAddress.getAddress().getHostAddress();
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "BackendRequest[clientId=" + clientId + ", userName=" + userName + ", " + remoteAddress + ']';
    }
}
