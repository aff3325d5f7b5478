// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.DropReason;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/** Counts what a broker tells its observers. */
final class Counters implements BrokerObserver {

    private final Map<DropReason, LongAdder> dropped = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> connectionsRefused = new ConcurrentHashMap<>();
    private final Queue<ReasonCode> ends = new ConcurrentLinkedQueue<>();
    private final LongAdder open = new LongAdder();
    private final LongAdder sessions = new LongAdder();
    private final LongAdder received = new LongAdder();
    private final LongAdder wills = new LongAdder();

    long dropped(DropReason reason) {
        LongAdder count = dropped.get(reason);
        return count == null ? 0 : count.sum();
    }

    long connectionsRefused(String limit) {
        LongAdder count = connectionsRefused.get(limit);
        return count == null ? 0 : count.sum();
    }

    /** The reason codes with which clients were disconnected. */
    Queue<ReasonCode> ends() {
        return ends;
    }

    long open() {
        return open.sum();
    }

    long sessions() {
        return sessions.sum();
    }

    long received() {
        return received.sum();
    }

    long wills() {
        return wills.sum();
    }

    @Override
    public void connectionOpened(String listener) {
        open.increment();
    }

    @Override
    public void connectionClosed(String listener, ReasonCode reason) {
        open.decrement();
    }

    @Override
    public void connectionRefused(String listener, String limit) {
        connectionsRefused.computeIfAbsent(limit, key -> new LongAdder()).increment();
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        ends.add(reason);
    }

    @Override
    public void connectRefused(ConnectRefusal refusal) {
        ends.add(refusal.reason());
    }

    @Override
    public void sessionCreated(String clientId) {
        sessions.increment();
    }

    @Override
    public void sessionEnded(String clientId, boolean expired) {
        sessions.decrement();
    }

    @Override
    public void messageReceived(QoS qos, int payloadBytes, int matches) {
        received.increment();
    }

    @Override
    public void willPublished(String clientId) {
        wills.increment();
    }

    @Override
    public void messageDropped(DropReason reason, int count) {
        dropped.computeIfAbsent(reason, key -> new LongAdder()).add(count);
    }
}
