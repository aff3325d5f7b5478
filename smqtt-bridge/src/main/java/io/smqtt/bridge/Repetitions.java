// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.session.Session;
import io.smqtt.thread.OnEventLoop;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Ends exchanges of QoS 2 of which it is not known where they came from, when a message comes with their packet identifier that is no repetition: ours
 * has met another session, or the identifiers are of an unknown address. Of one connection.
 */
@OnEventLoop
final class Repetitions {

    /** Identifiers that are those of the other broker: of this connection, or known when it began. */
    private final BitSet known = new BitSet();

    private @Nullable Session session; // once something can come

    /**
     * From now on messages can come.
     *
     * @param ours our session; null if another connection has it
     * @param unsure whether the identifiers in it may be those of another address
     */
    void begin(@Nullable Session ours, boolean unsure) {
        session = ours;
        if (ours != null && !unsure) {
            Arrays.stream(ours.inbound().identifiers()).forEach(known::set);
        }
    }

    /** A message of QoS 2 of the other broker. */
    void arrived(int id, boolean repeated) {
        Session ours = session;
        if (ours != null && !repeated && !known.get(id) && ours.inbound().isAwaitingRelease(id)) {
            ours.inbound().release(id, false, false, () -> {});
        }
        known.set(id);
    }

    /** A PUBREL of the other broker. */
    void released(int id) {
        known.clear(id);
    }
}
