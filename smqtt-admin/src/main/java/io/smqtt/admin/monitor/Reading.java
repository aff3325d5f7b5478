// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import io.smqtt.spi.BrokerFigures;
import io.smqtt.spi.DropReason;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * All figures at one moment. Immutable.
 *
 * @param timeMillis the wall clock
 * @param nanos a clock that never steps back
 * @param figures the figures of the broker
 * @param cpuNanos CPU time of the process since its start
 * @param heapBytes the heap in use
 * @param uptimeMillis time since the start
 */
record Reading(long timeMillis, long nanos, BrokerFigures figures, long cpuNanos, long heapBytes, long uptimeMillis) {

    private static final DropReason[] REASONS = DropReason.values();
    private static final Series[] SERIES = Series.values();

    /** Seconds since an earlier reading, more than 0. */
    double secondsSince(Reading earlier) {
        return Math.max(1e-3, (nanos - earlier.nanos) / 1e9);
    }

    /** How much a counter has risen since an earlier reading. */
    long risen(Reading earlier, ToLongFunction<BrokerFigures> counter) {
        return Math.max(0, counter.applyAsLong(figures) - counter.applyAsLong(earlier.figures));
    }

    private double rate(Reading earlier, ToLongFunction<BrokerFigures> counter) {
        return risen(earlier, counter) / secondsSince(earlier);
    }

    /** CPU time per second since an earlier reading; 1 is one core. */
    double cpu(Reading earlier) {
        return Math.max(0, cpuNanos - earlier.cpuNanos) / 1e9 / secondsSince(earlier);
    }

    /** The values of all series for the time since an earlier reading. */
    float[] sample(Reading earlier) {
        float[] values = new float[SERIES.length];
        for (Series series : SERIES) {
            values[series.ordinal()] = (float) value(series, earlier);
        }
        return values;
    }

    private double value(Series series, Reading earlier) {
        return switch (series) {
            case RECEIVED -> risen(earlier, BrokerFigures::received);
            case RECEIVED_BYTES -> risen(earlier, BrokerFigures::receivedBytes);
            case SENT -> risen(earlier, BrokerFigures::delivered);
            case SENT_BYTES -> risen(earlier, BrokerFigures::deliveredBytes);
            case DROPPED -> risen(earlier, BrokerFigures::droppedInAll);
            case CONNECTS -> risen(earlier, BrokerFigures::accepted);
            case SESSIONS -> figures.sessions();
            case ONLINE -> figures.online();
            case SUBSCRIPTIONS -> figures.subscriptions();
            case RETAINED -> figures.retained();
            case QUEUED -> figures.queued();
            case IN_FLIGHT -> figures.inFlight();
            case CPU -> cpu(earlier);
            case HEAP -> heapBytes;
        };
    }

    /** Puts the figures now, and rates since an earlier reading, by their names in JSON. */
    void putTo(FigureSink all, Reading earlier) {
        all.put("time_stamp", timeMillis);
        all.put("connections", figures.sessions());
        all.put("live_connections", figures.online());
        all.put("disconnected_durable_sessions", Math.max(0, figures.sessions() - figures.online()));
        all.put("subscriptions", figures.subscriptions());
        all.put("shared_subscriptions", figures.sharedGroups());
        all.put("retained_msg_count", figures.retained());
        all.put("mqueue", figures.queued());
        all.put("inflight", figures.inFlight());
        all.put("received_msg_rate", rate(earlier, BrokerFigures::received));
        all.put("received_bytes_rate", rate(earlier, BrokerFigures::receivedBytes));
        all.put("sent_msg_rate", rate(earlier, BrokerFigures::delivered));
        all.put("sent_bytes_rate", rate(earlier, BrokerFigures::deliveredBytes));
        all.put("dropped_msg_rate", rate(earlier, BrokerFigures::droppedInAll));
        all.put("connect_rate", rate(earlier, BrokerFigures::accepted));
        all.put("cpu", cpu(earlier));
        all.put("memory_used", heapBytes);
        all.put("node_uptime", uptimeMillis / 1_000);
        all.put("dropped_by_reason", drops -> putDrops(drops, earlier));
    }

    /** Totals and rates of the reasons for which something was dropped. */
    private void putDrops(FigureSink all, Reading earlier) {
        if (figures.droppedInAll() == 0) {
            return; // the usual case, in each event
        }
        for (DropReason reason : REASONS) {
            long total = figures.dropped().getOrDefault(reason, 0L);
            if (total > 0) {
                double rate = rate(earlier, some -> some.dropped().getOrDefault(reason, 0L));
                all.put(reason.name().toLowerCase(Locale.ROOT), drops -> {
                    drops.put("total", total);
                    drops.put("rate", rate);
                });
            }
        }
    }
}
