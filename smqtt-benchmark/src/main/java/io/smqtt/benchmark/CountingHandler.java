// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.smqtt.codec.AuthPacket;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.DisconnectPacket;
import io.smqtt.codec.PacketHandler;
import io.smqtt.codec.PublishPacket;
import io.smqtt.codec.SubscribePacket;
import io.smqtt.codec.UnsubscribePacket;
import io.smqtt.message.ReasonCode;

/** Adds up something of each packet, so that decoding it cannot be left out. */
final class CountingHandler implements PacketHandler {

    private int seen;

    int seen() {
        return seen;
    }

    @Override
    public void onConnect(ConnectPacket packet) {
        seen++;
    }

    @Override
    public void onPublish(PublishPacket packet) {
        seen += packet.packetId() + packet.payloadSize() + packet.properties().encodedBytes();
        if (packet.topic() == null) {
            throw new IllegalStateException("no topic");
        }
    }

    @Override
    public void onPubAck(int packetId, ReasonCode reason) {
        seen += packetId;
    }

    @Override
    public void onPubRec(int packetId, ReasonCode reason) {
        seen += packetId;
    }

    @Override
    public void onPubRel(int packetId, ReasonCode reason) {
        seen += packetId;
    }

    @Override
    public void onPubComp(int packetId, ReasonCode reason) {
        seen += packetId;
    }

    @Override
    public void onSubscribe(SubscribePacket packet) {
        seen++;
    }

    @Override
    public void onUnsubscribe(UnsubscribePacket packet) {
        seen++;
    }

    @Override
    public void onPingReq() {
        seen++;
    }

    @Override
    public void onDisconnect(DisconnectPacket packet) {
        seen++;
    }

    @Override
    public void onAuth(AuthPacket packet) {
        seen++;
    }
}
