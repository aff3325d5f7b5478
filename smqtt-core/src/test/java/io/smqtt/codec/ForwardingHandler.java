// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/** Passes everything on, or ignores it; tests override what they look at. */
class ForwardingHandler implements PacketHandler {

    private final PacketHandler target;

    ForwardingHandler(@Nullable PacketHandler target) {
        this.target = target == null ? this : target;
    }

    private boolean ignores() {
        return target == this;
    }

    @Override
    public void onConnect(ConnectPacket packet) {
        if (!ignores()) {
            target.onConnect(packet);
        }
    }

    @Override
    public void onPublish(PublishPacket packet) {
        if (!ignores()) {
            target.onPublish(packet);
        }
    }

    @Override
    public void onPubAck(int packetId, ReasonCode reason) {
        if (!ignores()) {
            target.onPubAck(packetId, reason);
        }
    }

    @Override
    public void onPubRec(int packetId, ReasonCode reason) {
        if (!ignores()) {
            target.onPubRec(packetId, reason);
        }
    }

    @Override
    public void onPubRel(int packetId, ReasonCode reason) {
        if (!ignores()) {
            target.onPubRel(packetId, reason);
        }
    }

    @Override
    public void onPubComp(int packetId, ReasonCode reason) {
        if (!ignores()) {
            target.onPubComp(packetId, reason);
        }
    }

    @Override
    public void onSubscribe(SubscribePacket packet) {
        if (!ignores()) {
            target.onSubscribe(packet);
        }
    }

    @Override
    public void onUnsubscribe(UnsubscribePacket packet) {
        if (!ignores()) {
            target.onUnsubscribe(packet);
        }
    }

    @Override
    public void onPingReq() {
        if (!ignores()) {
            target.onPingReq();
        }
    }

    @Override
    public void onDisconnect(DisconnectPacket packet) {
        if (!ignores()) {
            target.onDisconnect(packet);
        }
    }

    @Override
    public void onAuth(AuthPacket packet) {
        if (!ignores()) {
            target.onAuth(packet);
        }
    }
}
