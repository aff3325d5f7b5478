// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.LifecycleObserver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/** Converts observer calls into events. Has no cost without subscribers. */
final class EventStream implements LifecycleObserver {

    private final List<FluxSink<BrokerEvent>> sinks = new CopyOnWriteArrayList<>();
    private volatile boolean completed;

    /** Events from the time of subscription on. Events without demand are dropped. */
    Flux<BrokerEvent> events() {
        return Flux.create(
                sink -> {
                    sinks.add(sink);
                    sink.onDispose(() -> sinks.remove(sink));
                    if (completed) { // before, or by another thread in the meantime
                        sink.complete();
                    }
                },
                FluxSink.OverflowStrategy.DROP);
    }

    void complete() {
        completed = true;
        sinks.forEach(FluxSink::complete);
    }

    private void emit(BrokerEvent event) {
        for (FluxSink<BrokerEvent> sink : sinks) {
            sink.next(event);
        }
    }

    @Override
    public void clientConnected(ClientIdentity client, boolean sessionPresent) {
        if (!sinks.isEmpty()) {
            emit(new BrokerEvent.Connected(client, sessionPresent));
        }
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        if (!sinks.isEmpty()) {
            emit(new BrokerEvent.Disconnected(client, reason));
        }
    }

    @Override
    public void connectRefused(ConnectRefusal refusal) {
        if (!sinks.isEmpty()) {
            String clientId = refusal.clientId();
            emit(new BrokerEvent.ConnectRefused(
                    clientId == null ? "" : clientId,
                    refusal.userName(),
                    refusal.remoteAddress(),
                    refusal.listener(),
                    refusal.reason()));
        }
    }

    @Override
    public void sessionCreated(String clientId) {
        if (!sinks.isEmpty()) {
            emit(new BrokerEvent.SessionCreated(clientId));
        }
    }

    @Override
    public void sessionTakenOver(String clientId) {
        if (!sinks.isEmpty()) {
            emit(new BrokerEvent.TakenOver(clientId));
        }
    }

    @Override
    public void willPublished(String clientId) {
        if (!sinks.isEmpty()) {
            emit(new BrokerEvent.WillPublished(clientId));
        }
    }

    @Override
    public void subscribed(String clientId, String filter, boolean isNew) {
        if (!sinks.isEmpty()) {
            emit(new BrokerEvent.Subscribed(clientId, filter));
        }
    }

    @Override
    public void unsubscribed(String clientId, String filter) {
        if (!sinks.isEmpty()) {
            emit(new BrokerEvent.Unsubscribed(clientId, filter));
        }
    }

    @Override
    public void sessionEnded(String clientId, boolean expired) {
        if (!sinks.isEmpty()) {
            emit(new BrokerEvent.SessionEnded(clientId, expired));
        }
    }
}
