// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import java.util.ArrayList;
import java.util.List;

/** A connection that keeps what is written to it. For one thread at a time. */
final class RecordingSink implements PacketSink {

    /** A PUBLISH. */
    record Sent(String text, QoS qos, boolean retain, int packetId, boolean duplicate) {}

    final List<Sent> sent = new ArrayList<>();
    final List<Integer> released = new ArrayList<>();
    final List<ReasonCode> disconnects = new ArrayList<>();
    boolean writable = true;
    int sendMaximum = 65_535;
    int largestPayload = Integer.MAX_VALUE;
    Runnable onWrite = () -> {};

    @Override
    public boolean isWritable() {
        return writable;
    }

    @Override
    public int sendMaximum() {
        return sendMaximum;
    }

    @Override
    public boolean publish(
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            boolean retain,
            int packetId,
            boolean duplicate) {
        if (message.payload().size() > largestPayload) {
            return false;
        }
        sent.add(new Sent(message.payload().asString(), qos, retain, packetId, duplicate));
        onWrite.run();
        return true;
    }

    @Override
    public void pubRel(int packetId) {
        released.add(packetId);
    }

    @Override
    public void disconnect(ReasonCode reason) {
        disconnects.add(reason);
    }

    List<String> texts() {
        return sent.stream().map(Sent::text).toList();
    }

    int lastPacketId() {
        return sent.get(sent.size() - 1).packetId();
    }
}
