// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import io.smqtt.admin.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Lists as server-sent events. A list is read anew every few ticks while a reader wants it, and its event is another object only if
 * the list has changed. The ticks come from one thread at a time; answers may come on others.
 */
final class LiveLists {

    /** Number of ticks from one reading of a list to the next, for lists that change seldom. */
    static final int TICKS = 10;

    private static final Logger LOG = LoggerFactory.getLogger(LiveLists.class);

    private final Map<String, Source> sources;
    private final Map<String, byte[]> events = new ConcurrentHashMap<>();

    /** Ticks until the next reading. Owned by the thread of the ticks. */
    private final Map<String, Integer> left = new HashMap<>();

    /**
     * Creates it without events.
     *
     * @param sources the lists by topic
     */
    LiveLists(Map<String, Source> sources) {
        this.sources = Map.copyOf(sources);
    }

    /**
     * A list.
     *
     * @param ticks the number of ticks from one reading to the next
     * @param read reads it, as maps and lists; answers within that time, or within a few seconds
     */
    record Source(int ticks, Supplier<? extends Mono<?>> read) {}

    /** The names of all lists. */
    Set<String> topics() {
        return sources.keySet();
    }

    /** Reads the wanted lists that are due, and forgets those that nobody wants. */
    void tick(Set<String> wanted) {
        left.keySet().retainAll(wanted);
        events.keySet().retainAll(wanted);
        for (String name : wanted) {
            Source source = sources.get(name);
            if (source != null && left.merge(name, -1, Integer::sum) < 0) {
                left.put(name, source.ticks - 1);
                source.read
                        .get()
                        .subscribe(
                                list -> keep(name, event(name, list)),
                                error -> LOG.warn("the list {} of open pages is not up to date", name, error));
            }
        }
    }

    private void keep(String name, byte[] event) {
        events.merge(name, event, (before, now) -> Arrays.equals(before, now) ? before : now);
    }

    /** The last event of a list; null if there is none yet. */
    byte @Nullable [] event(String name) {
        return events.get(name);
    }

    private static byte[] event(String name, Object list) {
        ByteArrayOutputStream event = new ByteArrayOutputStream();
        event.writeBytes(("event: " + name + "\ndata: ").getBytes(StandardCharsets.US_ASCII));
        event.writeBytes(Json.bytesOf(list));
        event.writeBytes(new byte[] {'\n', '\n'});
        return event.toByteArray();
    }
}
