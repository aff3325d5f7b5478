// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/** Counts deliveries as the observer's contract reads, and notes what happens to sessions. */
final class CountingObserver implements BrokerObserver {

    final LongAdder matched = new LongAdder();
    final LongAdder retained = new LongAdder();
    final LongAdder redispatched = new LongAdder();
    final LongAdder recovered = new LongAdder();
    final LongAdder delivered = new LongAdder();
    final LongAdder queued = new LongAdder();
    final Map<DropReason, Integer> dropped = new ConcurrentHashMap<>();
    final Map<DropReason, Integer> abandoned = new ConcurrentHashMap<>();
    final List<String> life = new CopyOnWriteArrayList<>();

    long cameAbout() {
        return matched.sum() + retained.sum() + redispatched.sum() + recovered.sum();
    }

    long ended() {
        return delivered.sum()
                + dropped.values().stream().mapToInt(Integer::intValue).sum();
    }

    @Override
    public void sessionRefused(String limit) {
        life.add("refused " + limit);
    }

    @Override
    public void messageReceived(QoS qos, int payloadBytes, int matches) {
        matched.add(matches);
    }

    @Override
    public void deliveriesAdded(DeliverySource source, int count) {
        switch (source) {
            case RETAINED -> retained.add(count);
            case REDISPATCHED -> redispatched.add(count);
            case RECOVERED -> recovered.add(count);
            case MOVED_HERE, REPEATED -> {}
        }
    }

    @Override
    public void messageDelivered(QoS qos, int payloadBytes) {
        delivered.increment();
    }

    @Override
    public void messageQueued(QoS qos, int footprintBytes) {
        queued.increment();
    }

    @Override
    public void messageDropped(DropReason reason, int count) {
        dropped.merge(reason, count, Integer::sum);
    }

    @Override
    public void messageAbandoned(DropReason reason, int count) {
        abandoned.merge(reason, count, Integer::sum);
    }

    @Override
    public void sessionCreated(String clientId) {
        life.add("created " + clientId);
    }

    @Override
    public void sessionEnded(String clientId, boolean expired) {
        life.add((expired ? "expired " : "ended ") + clientId);
    }

    @Override
    public void sessionTakenOver(String clientId) {
        life.add("taken over " + clientId);
    }

    @Override
    public void willPublished(String clientId) {
        life.add("will " + clientId);
    }
}
