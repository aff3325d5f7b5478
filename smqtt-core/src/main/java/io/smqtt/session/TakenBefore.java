// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.session.TakenNotes.Found;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The QoS 2 messages of other nodes that the stored sessions had taken before this broker was started: what was found in {@link TakenNotes}.
 * Filled by the thread that starts the broker; unchanged after that.
 */
@AnyThread
final class TakenBefore {

    private static final Pattern NAME = Pattern.compile("taken/(\\d{1,5})/\\d{1,5}");

    private final List<OfLoop> found = new ArrayList<>();
    private long[] deliveries = {};

    private record OfLoop(int loop, Found note) {}

    /** Reads a note of the store; false if it is of another part of the broker. */
    boolean found(String name, byte[] content) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return false;
        }
        found.add(new OfLoop(Integer.parseInt(matcher.group(1)), Found.of(name, content)));
        return true;
    }

    /** Ends the recovery, and returns the notes of each event loop. Notes of loops that no longer exist are shared out, so that they are replaced in time. */
    List<TakenNotes> open(int loops) {
        List<TakenNotes> notes = new ArrayList<>();
        for (int i = 0; i < loops; i++) {
            notes.add(new TakenNotes("taken/" + i + "/"));
        }
        found.sort(Comparator.comparingLong(one -> one.note.age()));
        for (OfLoop one : found) {
            notes.get(one.loop % loops).recovered(one.note);
        }
        deliveries = found.stream()
                .flatMapToLong(one -> Arrays.stream(one.note.deliveries()))
                .sorted()
                .toArray();
        found.clear();
        return notes;
    }

    boolean isEmpty() {
        return deliveries.length == 0;
    }

    /** Whether a session had taken a {@linkplain TakenNotes#delivery delivery}. */
    boolean knows(long delivery) {
        return Arrays.binarySearch(deliveries, delivery) >= 0;
    }
}
