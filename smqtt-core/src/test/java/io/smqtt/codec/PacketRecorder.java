// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Keeps what the decoder hands over; of a PUBLISH, a message and a copy of the view. */
final class PacketRecorder implements PacketHandler {

    /** A PUBACK, PUBREC, PUBREL or PUBCOMP. */
    record Acknowledgement(String type, int packetId, ReasonCode reason) {}

    /** A PUBLISH, copied out of the decoder's view. */
    record Publish(ApplicationMessage message, boolean duplicate, int packetId, int topicAlias, boolean topicPresent) {}

    /** A PINGREQ. */
    record Ping() {}

    final List<Object> packets = new ArrayList<>();

    <T> T only(Class<T> type) {
        if (packets.size() != 1) {
            throw new AssertionError("not one packet: " + packets);
        }
        return type.cast(packets.get(0));
    }

    @Override
    public void onConnect(ConnectPacket packet) {
        packets.add(packet);
    }

    @Override
    public void onPublish(PublishPacket packet) {
        boolean present = packet.topic() != null;
        ApplicationMessage.Builder message = ApplicationMessage.builder(
                        present ? packet.topic().value() : "absent")
                .qos(packet.qos())
                .retain(packet.retain())
                .payload(packet.payload())
                .properties(packet.properties());
        if (packet.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
            message.expiryInterval(Duration.ofSeconds(packet.expiryIntervalSeconds()));
        }
        packets.add(new Publish(message.build(), packet.duplicate(), packet.packetId(), packet.topicAlias(), present));
    }

    @Override
    public void onPubAck(int packetId, ReasonCode reason) {
        packets.add(new Acknowledgement("PUBACK", packetId, reason));
    }

    @Override
    public void onPubRec(int packetId, ReasonCode reason) {
        packets.add(new Acknowledgement("PUBREC", packetId, reason));
    }

    @Override
    public void onPubRel(int packetId, ReasonCode reason) {
        packets.add(new Acknowledgement("PUBREL", packetId, reason));
    }

    @Override
    public void onPubComp(int packetId, ReasonCode reason) {
        packets.add(new Acknowledgement("PUBCOMP", packetId, reason));
    }

    @Override
    public void onSubscribe(SubscribePacket packet) {
        packets.add(packet);
    }

    @Override
    public void onUnsubscribe(UnsubscribePacket packet) {
        packets.add(packet);
    }

    @Override
    public void onPingReq() {
        packets.add(new Ping());
    }

    @Override
    public void onDisconnect(DisconnectPacket packet) {
        packets.add(packet);
    }

    @Override
    public void onAuth(AuthPacket packet) {
        packets.add(packet);
    }
}
