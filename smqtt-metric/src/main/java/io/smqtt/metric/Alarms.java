// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.spi.Alarm;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The alarms of this node: those that last, and the latest that have ended. An alarm begins with its condition. It ends when the condition was
 * absent for {@link #CALM}, so that a value near its threshold makes one alarm. For one thread, apart from {@link #snapshot}.
 */
final class Alarms {

    /** Maximum number of ended alarms that are remembered. */
    static final int MOST_ENDED = 100;

    static final Duration CALM = Duration.ofSeconds(30);

    private final Map<String, Lasting> lasting = new LinkedHashMap<>();
    private final ArrayDeque<Alarm> ended = new ArrayDeque<>(); // the newest first
    private volatile List<Alarm> snapshot = List.of();

    /**
     * A condition that was found.
     *
     * @param severity how urgent it is
     * @param message one sentence for people
     */
    record Condition(Alarm.Severity severity, String message) {}

    private static final class Lasting {

        private Alarm alarm;
        private long seenNanos;

        Lasting(Alarm alarm) {
            this.alarm = alarm;
        }
    }

    /**
     * What an update has changed.
     *
     * @param changed alarms that have begun or ended
     * @param forgotten names that are no longer remembered
     */
    record Change(List<Alarm> changed, List<String> forgotten) {}

    /**
     * Takes the conditions of now.
     *
     * @param conditions by the name of their alarm
     * @param now the time of day
     * @param nanos the monotonic clock
     */
    Change update(Map<String, Condition> conditions, Instant now, long nanos) {
        List<Alarm> changed = new ArrayList<>();
        conditions.forEach((name, condition) -> {
            Lasting known = lasting.get(name);
            if (known == null) {
                known = new Lasting(new Alarm(name, condition.severity, condition.message, now, null));
                lasting.put(name, known);
                changed.add(known.alarm);
            } else {
                known.alarm = new Alarm(name, condition.severity, condition.message, known.alarm.since(), null);
            }
            known.seenNanos = nanos;
        });
        for (Iterator<Lasting> all = lasting.values().iterator(); all.hasNext(); ) {
            Lasting one = all.next();
            if (nanos - one.seenNanos >= CALM.toNanos()) {
                all.remove();
                Alarm alarm = one.alarm;
                Alarm over = new Alarm(alarm.name(), alarm.severity(), alarm.message(), alarm.since(), now);
                ended.addFirst(over);
                changed.add(over);
            }
        }
        List<String> forgotten = forget();
        List<Alarm> all = new ArrayList<>(lasting.size() + ended.size());
        lasting.values().forEach(one -> all.add(0, one.alarm));
        all.addAll(ended);
        snapshot = List.copyOf(all);
        return new Change(changed, forgotten);
    }

    private List<String> forget() {
        List<String> names = new ArrayList<>();
        while (ended.size() > MOST_ENDED) {
            String name = ended.removeLast().name();
            if (!lasting.containsKey(name)
                    && ended.stream().noneMatch(one -> one.name().equals(name))) {
                names.add(name);
            }
        }
        return names;
    }

    /** The alarms, for any thread: those that last before those that have ended, the newest of each first. */
    List<Alarm> snapshot() {
        return snapshot;
    }
}
