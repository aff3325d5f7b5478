// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;

/**
 * Receives the packets that a client may send, on the event loop that decodes them. The decoder rejects packets that only a server may send,
 * and malformed ones, by a {@link ProtocolViolation}.
 */
public interface PacketHandler {

    /**
     * A CONNECT.
     *
     * @param packet the packet
     */
    void onConnect(ConnectPacket packet);

    /**
     * A PUBLISH.
     *
     * @param packet a view that is valid only during the call
     */
    void onPublish(PublishPacket packet);

    /**
     * A PUBACK.
     *
     * @param packetId 1 to 65,535
     * @param reason success before MQTT 5.0
     */
    void onPubAck(int packetId, ReasonCode reason);

    /**
     * A PUBREC.
     *
     * @param packetId 1 to 65,535
     * @param reason success before MQTT 5.0
     */
    void onPubRec(int packetId, ReasonCode reason);

    /**
     * A PUBREL.
     *
     * @param packetId 1 to 65,535
     * @param reason success before MQTT 5.0
     */
    void onPubRel(int packetId, ReasonCode reason);

    /**
     * A PUBCOMP.
     *
     * @param packetId 1 to 65,535
     * @param reason success before MQTT 5.0
     */
    void onPubComp(int packetId, ReasonCode reason);

    /**
     * A SUBSCRIBE.
     *
     * @param packet the packet
     */
    void onSubscribe(SubscribePacket packet);

    /**
     * An UNSUBSCRIBE.
     *
     * @param packet the packet
     */
    void onUnsubscribe(UnsubscribePacket packet);

    /** A PINGREQ. */
    void onPingReq();

    /**
     * A DISCONNECT.
     *
     * @param packet the packet
     */
    void onDisconnect(DisconnectPacket packet);

    /**
     * An AUTH.
     *
     * @param packet the packet
     */
    void onAuth(AuthPacket packet);
}
