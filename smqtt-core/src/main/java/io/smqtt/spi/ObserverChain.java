// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.util.List;
import java.util.stream.Stream;

/** Several observers as one; each gets the calls of the interfaces that it implements. */
final class ObserverChain implements BrokerObserver {

    private final List<LifecycleObserver> life;
    private final List<StoreObserver> store;
    private final MessageObserver[] messages; // called per message: neither a lambda nor an iterator

    ObserverChain(List<? extends Observer> members) {
        life = members(members, LifecycleObserver.class).toList();
        store = members(members, StoreObserver.class).toList();
        messages = members(members, MessageObserver.class).toArray(MessageObserver[]::new);
    }

    private static <T> Stream<T> members(List<? extends Observer> all, Class<T> kind) {
        return all.stream().filter(kind::isInstance).map(kind::cast);
    }

    @Override
    public void connectionOpened(String listener) {
        life.forEach(member -> member.connectionOpened(listener));
    }

    @Override
    public void connectionClosed(String listener, ReasonCode reason) {
        life.forEach(member -> member.connectionClosed(listener, reason));
    }

    @Override
    public void backendAnswered(String backend, BackendOutcome outcome, long nanos) {
        life.forEach(member -> member.backendAnswered(backend, outcome, nanos));
    }

    @Override
    public void backendWorking(String backend, boolean working) {
        life.forEach(member -> member.backendWorking(backend, working));
    }

    @Override
    public void overloadChanged(int level, String cause) {
        life.forEach(member -> member.overloadChanged(level, cause));
    }

    @Override
    public void connectionRefused(String listener, String reason) {
        life.forEach(member -> member.connectionRefused(listener, reason));
    }

    @Override
    public void clientConnected(ClientIdentity client, boolean sessionPresent) {
        life.forEach(member -> member.clientConnected(client, sessionPresent));
    }

    @Override
    public void clientReauthenticated(ClientIdentity before, ClientIdentity client) {
        life.forEach(member -> member.clientReauthenticated(before, client));
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        life.forEach(member -> member.clientDisconnected(client, reason));
    }

    @Override
    public void connectRefused(ConnectRefusal refusal) {
        life.forEach(member -> member.connectRefused(refusal));
    }

    @Override
    public void passwordsWaiting(int waiting) {
        life.forEach(member -> member.passwordsWaiting(waiting));
    }

    @Override
    public void refusalDelayed() {
        life.forEach(member -> member.refusalDelayed());
    }

    @Override
    public void clientBanned(String cause) {
        life.forEach(member -> member.clientBanned(cause));
    }

    @Override
    public void payloadValidated(String validation, String outcome) {
        life.forEach(member -> member.payloadValidated(validation, outcome));
    }

    @Override
    public void eventLeftOut() {
        life.forEach(LifecycleObserver::eventLeftOut);
    }

    @Override
    public void interceptorFailed(String packet) {
        life.forEach(member -> member.interceptorFailed(packet));
    }

    @Override
    public void sessionTakenOver(String clientId) {
        life.forEach(member -> member.sessionTakenOver(clientId));
    }

    @Override
    public void clientTooSlow(String listener) {
        life.forEach(member -> member.clientTooSlow(listener));
    }

    @Override
    public void sessionCreated(String clientId) {
        life.forEach(member -> member.sessionCreated(clientId));
    }

    @Override
    public void sessionEnded(String clientId, boolean expired) {
        life.forEach(member -> member.sessionEnded(clientId, expired));
    }

    @Override
    public void sessionMerged(String clientId) {
        life.forEach(member -> member.sessionMerged(clientId));
    }

    @Override
    public void sessionRefused(String limit) {
        life.forEach(member -> member.sessionRefused(limit));
    }

    @Override
    public void subscribed(String clientId, String filter, boolean isNew) {
        life.forEach(member -> member.subscribed(clientId, filter, isNew));
    }

    @Override
    public void unsubscribed(String clientId, String filter) {
        life.forEach(member -> member.unsubscribed(clientId, filter));
    }

    @Override
    public void willPublished(String clientId) {
        life.forEach(member -> member.willPublished(clientId));
    }

    @Override
    public void messageReceived(QoS qos, int payloadBytes, int matches) {
        for (MessageObserver member : messages) {
            member.messageReceived(qos, payloadBytes, matches);
        }
    }

    @Override
    public void messageRefused(QoS qos, ReasonCode reason) {
        for (MessageObserver member : messages) {
            member.messageRefused(qos, reason);
        }
    }

    @Override
    public void deliveriesAdded(DeliverySource source, int count) {
        for (MessageObserver member : messages) {
            member.deliveriesAdded(source, count);
        }
    }

    @Override
    public void messageElsewhere(Elsewhere reason, int count) {
        for (MessageObserver member : messages) {
            member.messageElsewhere(reason, count);
        }
    }

    @Override
    public void messageDelivered(QoS qos, int payloadBytes) {
        for (MessageObserver member : messages) {
            member.messageDelivered(qos, payloadBytes);
        }
    }

    @Override
    public void messageRouted(long nanos) {
        for (MessageObserver member : messages) {
            member.messageRouted(nanos);
        }
    }

    @Override
    public void queueTimed(long nanos) {
        for (MessageObserver member : messages) {
            member.queueTimed(nanos);
        }
    }

    @Override
    public void deliveryTimed(long nanos) {
        for (MessageObserver member : messages) {
            member.deliveryTimed(nanos);
        }
    }

    @Override
    public void messageQueued(QoS qos, int footprintBytes) {
        for (MessageObserver member : messages) {
            member.messageQueued(qos, footprintBytes);
        }
    }

    @Override
    public void messageDropped(DropReason reason, int count) {
        for (MessageObserver member : messages) {
            member.messageDropped(reason, count);
        }
    }

    @Override
    public void messageAbandoned(DropReason reason, int count) {
        for (MessageObserver member : messages) {
            member.messageAbandoned(reason, count);
        }
    }

    @Override
    public void retainedChanged(long count, long bytes) {
        store.forEach(member -> member.retainedChanged(count, bytes));
    }

    @Override
    public void retainedRefused(long count, long bytes) {
        store.forEach(member -> member.retainedRefused(count, bytes));
    }

    @Override
    public void storeCommitted(int operations, long bytes, long nanos, boolean kept) {
        store.forEach(member -> member.storeCommitted(operations, bytes, nanos, kept));
    }

    @Override
    public void storeWorking(boolean working) {
        store.forEach(member -> member.storeWorking(working));
    }

    @Override
    public void storeMeasured(StoreFigures figures) {
        store.forEach(member -> member.storeMeasured(figures));
    }
}
