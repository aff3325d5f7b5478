// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.persistence.Operations.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * Removals out of flushes that failed. Their flushes were told as failed, but a client that acknowledged a message does
 * not do so again: if the row stayed the message would come back after a restart, and a packet identifier that was
 * released would make the broker take a new QoS 2 message for an old one. They are removed with the first commit that
 * succeeds. On the committing thread.
 */
final class Owed {

    private static final int MOST = 1 << 20;

    private final List<Removal> removals = new ArrayList<>();

    void add(Operations failed) {
        for (int i = 0; i < failed.size() && removals.size() < MOST; i++) {
            Kind kind = failed.kind(i);
            if (kind == Kind.REMOVE_MESSAGE || kind == Kind.REMOVE_RECEIVED) {
                removals.add(new Removal(kind, failed.session(i), failed.number(i)));
            }
        }
    }

    void applyTo(Batch batch) {
        removals.forEach(removal -> batch.remove(removal.kind, removal.session, removal.number));
    }

    void clear() {
        removals.clear();
    }

    private record Removal(Kind kind, long session, long number) {}
}
