// SPDX-License-Identifier: Apache-2.0
package io.smqtt.trace;

import io.smqtt.topic.TopicName;
import java.net.InetSocketAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something that has happened to a traced client or message. Immutable, provided that nobody changes the bytes. Texts may have any characters
 * of a client. Later versions may add components and kinds: read them by name.
 *
 * @param timeMillis milliseconds since 1970
 * @param kind what has happened
 * @param clientId the client; null if it is not known, or if a message has no publisher
 * @param userName the user; before the authentication the user name that the client sent; null if there is none, or it is not known
 * @param address the address of the client, also behind a trusted proxy; null if it is not known
 * @param topic the topic of a message; null if the event has no message
 * @param payloadSize the length of the payload in bytes; 0 without a message
 * @param payload the first bytes of the payload; empty if it is hidden; never a password
 * @param details further values by name, in a fixed order: texts, numbers, booleans and lists of texts and numbers
 */
@SuppressWarnings("ArrayRecordComponent") // events are never compared
public record TraceEvent(
        long timeMillis,
        Kind kind,
        @Nullable String clientId,
        @Nullable String userName,
        @Nullable InetSocketAddress address,
        @Nullable TopicName topic,
        int payloadSize,
        byte[] payload,
        Map<String, Object> details) {

    /** What has happened. Packets of a client are "received", those of the broker "sent". */
    public enum Kind {
        /** The client has sent CONNECT. */
        CONNECT_RECEIVED,
        /** The broker has sent CONNACK. */
        CONNACK_SENT,
        /** The broker has refused the connection. */
        REFUSED,
        /** The client has sent AUTH. */
        AUTH_RECEIVED,
        /** The broker has sent AUTH. */
        AUTH_SENT,
        /** The client has sent PUBLISH. */
        PUBLISH_RECEIVED,
        /** The broker has sent PUBLISH. */
        PUBLISH_SENT,
        /** The client has sent PUBACK. */
        PUBACK_RECEIVED,
        /** The broker has sent PUBACK. */
        PUBACK_SENT,
        /** The client has sent PUBREC. */
        PUBREC_RECEIVED,
        /** The broker has sent PUBREC. */
        PUBREC_SENT,
        /** The client has sent PUBREL. */
        PUBREL_RECEIVED,
        /** The broker has sent PUBREL. */
        PUBREL_SENT,
        /** The client has sent PUBCOMP. */
        PUBCOMP_RECEIVED,
        /** The broker has sent PUBCOMP. */
        PUBCOMP_SENT,
        /** The client has sent SUBSCRIBE. */
        SUBSCRIBE_RECEIVED,
        /** The broker has sent SUBACK. */
        SUBACK_SENT,
        /** The client has sent UNSUBSCRIBE. */
        UNSUBSCRIBE_RECEIVED,
        /** The broker has sent UNSUBACK. */
        UNSUBACK_SENT,
        /** The client has sent PINGREQ. */
        PINGREQ_RECEIVED,
        /** The broker has sent PINGRESP. */
        PINGRESP_SENT,
        /** The client has sent DISCONNECT. */
        DISCONNECT_RECEIVED,
        /** The broker has sent DISCONNECT. */
        DISCONNECT_SENT,
        /** The access rules deny an action of the client. */
        DENIED,
        /** A message was matched with the subscriptions. */
        ROUTED,
        /** A message waits for a subscriber. */
        QUEUED,
        /** A subscriber has acknowledged a message: by PUBACK, at QoS 2 by PUBREC, without an error. */
        ACKNOWLEDGED,
        /** A message did not reach a subscriber. */
        DROPPED,
        /** The connection of a client has ended. */
        DISCONNECTED,
        /** A session has begun. */
        SESSION_CREATED,
        /** The client has connected again while its former connection was open. */
        SESSION_TAKEN_OVER,
        /** A session has ended. */
        SESSION_ENDED,
        /** The will of the client was published. */
        WILL_PUBLISHED
    }
}
