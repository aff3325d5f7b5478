// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.util.List;
import java.util.function.Consumer;

/** Several observers as one. */
final class ObserverChain implements BrokerObserver {

    private final BrokerObserver[] members;
    private final BrokerObserver[] watchers; // those that are told of messages

    ObserverChain(List<BrokerObserver> members) {
        this.members = members.toArray(new BrokerObserver[0]);
        watchers = members.stream().filter(BrokerObserver::watchesMessages).toArray(BrokerObserver[]::new);
    }

    @Override
    public boolean watchesMessages() {
        return watchers.length > 0;
    }

    private void each(Consumer<BrokerObserver> call) {
        for (BrokerObserver member : members) {
            call.accept(member);
        }
    }

    @Override
    public void connectionOpened(String listener) {
        each(member -> member.connectionOpened(listener));
    }

    @Override
    public void connectionClosed(String listener, ReasonCode reason) {
        each(member -> member.connectionClosed(listener, reason));
    }

    @Override
    public void sessionRefused(String limit) {
        each(member -> member.sessionRefused(limit));
    }

    @Override
    public void connectionRefused(String listener, String limit) {
        each(member -> member.connectionRefused(listener, limit));
    }

    @Override
    public void clientConnected(ClientIdentity client, boolean sessionPresent) {
        each(member -> member.clientConnected(client, sessionPresent));
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        each(member -> member.clientDisconnected(client, reason));
    }

    @Override
    public void interceptorFailed(String packet) {
        each(member -> member.interceptorFailed(packet));
    }

    @Override
    public void connectRefused(ConnectRefusal refusal) {
        each(member -> member.connectRefused(refusal));
    }

    @Override
    public void passwordsWaiting(int waiting) {
        each(member -> member.passwordsWaiting(waiting));
    }

    @Override
    public void refusalDelayed() {
        each(BrokerObserver::refusalDelayed);
    }

    @Override
    public void sessionTakenOver(String clientId) {
        each(member -> member.sessionTakenOver(clientId));
    }

    @Override
    public void clientTooSlow(String listener) {
        each(member -> member.clientTooSlow(listener));
    }

    @Override
    public void sessionCreated(String clientId) {
        each(member -> member.sessionCreated(clientId));
    }

    @Override
    public void sessionEnded(String clientId, boolean expired) {
        each(member -> member.sessionEnded(clientId, expired));
    }

    @Override
    public void subscribed(String clientId, String filter, boolean isNew) {
        each(member -> member.subscribed(clientId, filter, isNew));
    }

    @Override
    public void unsubscribed(String clientId, String filter) {
        each(member -> member.unsubscribed(clientId, filter));
    }

    @Override
    public void messageReceived(QoS qos, int payloadBytes, int matches) {
        for (BrokerObserver member : watchers) { // per message: no lambda
            member.messageReceived(qos, payloadBytes, matches);
        }
    }

    @Override
    public void messageRefused(QoS qos, ReasonCode reason) {
        for (BrokerObserver member : watchers) {
            member.messageRefused(qos, reason);
        }
    }

    @Override
    public void retainedRefused(long count, long bytes) {
        for (BrokerObserver member : members) {
            member.retainedRefused(count, bytes);
        }
    }

    @Override
    public void retainedMatched(int count) {
        for (BrokerObserver member : watchers) {
            member.retainedMatched(count);
        }
    }

    @Override
    public void messageRedispatched(int count) {
        for (BrokerObserver member : watchers) {
            member.messageRedispatched(count);
        }
    }

    @Override
    public void messageMovedHere(int count) {
        for (BrokerObserver member : watchers) {
            member.messageMovedHere(count);
        }
    }

    @Override
    public void messageRepeated(int count) {
        for (BrokerObserver member : watchers) {
            member.messageRepeated(count);
        }
    }

    @Override
    public void messageElsewhere(Elsewhere reason, int count) {
        for (BrokerObserver member : watchers) {
            member.messageElsewhere(reason, count);
        }
    }

    @Override
    public void messageDelivered(QoS qos, int payloadBytes) {
        for (BrokerObserver member : watchers) {
            member.messageDelivered(qos, payloadBytes);
        }
    }

    @Override
    public void messageRouted(long nanos) {
        for (BrokerObserver member : watchers) {
            member.messageRouted(nanos);
        }
    }

    @Override
    public void queueTimed(long nanos) {
        for (BrokerObserver member : watchers) {
            member.queueTimed(nanos);
        }
    }

    @Override
    public void deliveryTimed(long nanos) {
        for (BrokerObserver member : watchers) {
            member.deliveryTimed(nanos);
        }
    }

    @Override
    public void messageQueued(QoS qos, int footprintBytes) {
        for (BrokerObserver member : watchers) {
            member.messageQueued(qos, footprintBytes);
        }
    }

    @Override
    public void messageDropped(DropReason reason, int count) {
        for (BrokerObserver member : watchers) {
            member.messageDropped(reason, count);
        }
    }

    @Override
    public void messageAbandoned(DropReason reason, int count) {
        for (BrokerObserver member : watchers) {
            member.messageAbandoned(reason, count);
        }
    }

    @Override
    public void willPublished(String clientId) {
        each(member -> member.willPublished(clientId));
    }

    @Override
    public void retainedChanged(long count, long bytes) {
        for (BrokerObserver member : members) {
            member.retainedChanged(count, bytes);
        }
    }

    @Override
    public void storeCommitted(int operations, long bytes, long nanos, boolean kept) {
        for (BrokerObserver member : members) {
            member.storeCommitted(operations, bytes, nanos, kept);
        }
    }

    @Override
    public void storeWorking(boolean working) {
        for (BrokerObserver member : members) {
            member.storeWorking(working);
        }
    }

    @Override
    public void storeMeasured(StoreFigures figures) {
        each(member -> member.storeMeasured(figures));
    }
}
