// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.codec.AuthPacket;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.DisconnectPacket;
import io.smqtt.codec.PacketHandler;
import io.smqtt.codec.PublishPacket;
import io.smqtt.codec.SubscribePacket;
import io.smqtt.codec.UnsubscribePacket;
import io.smqtt.message.ReasonCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Writes down all that it gets, in full, so that two runs can be compared. */
final class RecordingHandler implements PacketHandler {

    final List<String> packets = new ArrayList<>();

    @Override
    public void onConnect(ConnectPacket packet) {
        packets.add("CONNECT " + packet + packet.keepAliveSeconds() + packet.will() + packet.userName()
                + Arrays.toString(packet.password()) + packet.sessionExpirySeconds() + packet.userProperties());
    }

    @Override
    public void onPublish(PublishPacket packet) {
        packets.add("PUBLISH " + packet.qos() + packet.duplicate() + packet.retain() + packet.packetId()
                + packet.topic() + packet.topicAlias() + packet.expiryIntervalSeconds()
                + packet.properties().userProperties() + packet.properties().contentType()
                + packet.properties().responseTopic()
                + Arrays.toString(packet.properties().correlationData())
                + Arrays.toString(packet.payload().toByteArray()));
    }

    @Override
    public void onPubAck(int packetId, ReasonCode reason) {
        packets.add("PUBACK " + packetId + reason);
    }

    @Override
    public void onPubRec(int packetId, ReasonCode reason) {
        packets.add("PUBREC " + packetId + reason);
    }

    @Override
    public void onPubRel(int packetId, ReasonCode reason) {
        packets.add("PUBREL " + packetId + reason);
    }

    @Override
    public void onPubComp(int packetId, ReasonCode reason) {
        packets.add("PUBCOMP " + packetId + reason);
    }

    @Override
    public void onSubscribe(SubscribePacket packet) {
        packets.add(packet.toString());
    }

    @Override
    public void onUnsubscribe(UnsubscribePacket packet) {
        packets.add(packet.toString());
    }

    @Override
    public void onPingReq() {
        packets.add("PINGREQ");
    }

    @Override
    public void onDisconnect(DisconnectPacket packet) {
        packets.add(packet.toString());
    }

    @Override
    public void onAuth(AuthPacket packet) {
        packets.add(packet + Arrays.toString(packet.data()));
    }
}
