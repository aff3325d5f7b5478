// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A fault that is waiting for its packets, and what became of it. Thread-safe. */
public final class FaultRule {

    private static final long PATIENCE_SECONDS = 10;

    private final MqttProxy proxy;
    private final Side side;
    private final Predicate<WirePacket> condition;
    private final String description;
    private final Fault fault;
    private final int skip;
    private final int times;
    private final List<WirePacket> hits = new ArrayList<>();
    private int seen;

    FaultRule(PacketSelector selector, Fault fault) {
        proxy = selector.proxy();
        side = selector.side();
        condition = selector.condition();
        description = selector.description();
        skip = selector.skipped();
        times = selector.limit();
        this.fault = fault;
    }

    /** Whether the rule is for this packet; counts it. */
    synchronized boolean takes(Side from, WirePacket packet) {
        if (from != side || hits.size() >= times || !condition.test(packet)) {
            return false;
        }
        seen++;
        if (seen <= skip) {
            return false;
        }
        hits.add(packet);
        notifyAll();
        return true;
    }

    /**
     * What happens.
     *
     * @return the fault
     */
    public Fault fault() {
        return fault;
    }

    /**
     * The packets that it has happened to.
     *
     * @return a snapshot
     */
    public synchronized List<WirePacket> hits() {
        return List.copyOf(hits);
    }

    /**
     * Waits until it has happened.
     *
     * @param count how often
     * @return this
     * @throws AssertionError if it has not within 10 seconds
     */
    public synchronized FaultRule awaitHits(int count) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        try {
            while (hits.size() < count) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw new AssertionError(this + " was to happen " + count + " times and did for " + hits);
                }
                wait(left / 1_000_000 + 1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
        return this;
    }

    /** Ends the rule: what comes from now on passes. */
    public void cancel() {
        proxy.remove(this);
    }

    @Override
    public String toString() {
        return fault + " for " + description;
    }
}
