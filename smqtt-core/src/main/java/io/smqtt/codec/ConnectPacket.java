// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.UserProperty;
import io.smqtt.message.Will;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A CONNECT (MQTT 5.0, section 3.1). Absent properties have the standard's default.
 *
 * @param version the protocol version
 * @param bridge whether another broker connects as a bridge; before MQTT 5.0 it sets the highest bit of the protocol level
 * @param clientId the client identifier, may be empty
 * @param cleanStart clean start, or clean session before MQTT 5.0
 * @param keepAliveSeconds 0 to 65,535; 0 for none
 * @param will the will, or null
 * @param userName the user name, or null
 * @param password the password, or null
 * @param sessionExpirySeconds 0 to 4,294,967,295; the last means never; before MQTT 5.0 0 for a clean session, else the last
 * @param receiveMaximum 1 to 65,535
 * @param maximumPacketSize 1 to 4,294,967,295 bytes; the last for no limit
 * @param topicAliasMaximum 0 to 65,535
 * @param requestResponseInformation whether the client asks for response information
 * @param requestProblemInformation whether reason strings and user properties may be sent on any packet
 * @param userProperties in the client's order
 * @param authenticationMethod the method of enhanced authentication, or null
 * @param authenticationData the first data of enhanced authentication, or null
 */
public record ConnectPacket(
        ProtocolVersion version,
        boolean bridge,
        String clientId,
        boolean cleanStart,
        int keepAliveSeconds,
        @Nullable Will will,
        @Nullable String userName,
        byte @Nullable [] password,
        long sessionExpirySeconds,
        int receiveMaximum,
        long maximumPacketSize,
        int topicAliasMaximum,
        boolean requestResponseInformation,
        boolean requestProblemInformation,
        List<UserProperty> userProperties,
        @Nullable String authenticationMethod,
        byte @Nullable [] authenticationData) {

    /** The session expiry interval of a session that never expires. */
    public static final long NEVER_EXPIRES = 0xFFFF_FFFFL;

    /** Omits user, password and authentication data. */
    @Override
    public String toString() {
        return "ConnectPacket[" + version + ", clientId=" + clientId + ", cleanStart=" + cleanStart + ']';
    }
}
