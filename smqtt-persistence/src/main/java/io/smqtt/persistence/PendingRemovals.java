// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.persistence.Operations.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Removals from failed flushes. A client that acknowledged a message does not acknowledge it again. If the row stayed, the message would
 * reappear after a restart, and a released packet identifier would make the broker treat a new QoS 2 message as an old one. So these
 * removals are repeated with the first successful commit. The writer of a removal submits it repeatedly until it is stored, so each is
 * kept once; consecutive numbers share one entry. A packet identifier that gets the number of a next message gets another new one so: with none it
 * would have an earlier number, whose message a subscriber may know.
 */
@OnCommittingThread
final class PendingRemovals {

    /** Past this limit a removal is dropped. Its writer submits it again; after a crash before that its row may reappear. */
    static final int MOST_RANGES = 1 << 20;

    private final Map<Long, NavigableMap<Long, Long>> messages = new HashMap<>();
    private final Map<Long, NavigableMap<Long, Long>> received = new HashMap<>();
    private final Map<Long, NavigableMap<Long, Long>> released = new HashMap<>();
    private int ranges;

    void add(Operations failed) {
        for (int i = 0; i < failed.size(); i++) {
            Kind kind = failed.kind(i);
            if (kind == Kind.REMOVE_MESSAGE) {
                add(messages, failed.session(i), failed.number(i));
            } else if (kind.releases(failed.number(i))) {
                add(kind == Kind.PUT_RELEASED ? released : received, failed.session(i), failed.number(i));
            }
        }
    }

    private void add(Map<Long, NavigableMap<Long, Long>> sessions, long session, long number) {
        NavigableMap<Long, Long> lastByFirst = sessions.get(session);
        Map.Entry<Long, Long> below = lastByFirst == null ? null : lastByFirst.floorEntry(number);
        if (below != null && below.getValue() >= number) {
            return;
        }
        Long above = lastByFirst == null ? null : lastByFirst.get(number + 1);
        long first = below != null && below.getValue() == number - 1 ? below.getKey() : number;
        if (first == number && above == null && ranges >= MOST_RANGES) {
            return;
        }
        if (lastByFirst == null) {
            lastByFirst = new TreeMap<>();
            sessions.put(session, lastByFirst);
        }
        int before = lastByFirst.size();
        lastByFirst.remove(number + 1);
        lastByFirst.put(first, above == null ? number : above.longValue());
        ranges += lastByFirst.size() - before;
    }

    void applyTo(Batch batch) {
        forEach(batch::remove);
    }

    void forEach(Removal removal) {
        forEach(messages, Kind.REMOVE_MESSAGE, removal);
        forEach(received, Kind.REMOVE_RECEIVED, removal);
        forEach(released, Kind.PUT_RELEASED, removal);
    }

    private static void forEach(Map<Long, NavigableMap<Long, Long>> sessions, Kind kind, Removal removal) {
        sessions.forEach((session, lastByFirst) -> lastByFirst.forEach((first, last) -> {
            for (long number = first; number <= last; number++) {
                removal.remove(kind, session, number);
            }
        }));
    }

    void clear() {
        messages.clear();
        received.clear();
        released.clear();
        ranges = 0;
    }

    /** Carries out one pending removal. */
    @FunctionalInterface
    interface Removal {

        void remove(Kind kind, long session, long number);
    }
}
