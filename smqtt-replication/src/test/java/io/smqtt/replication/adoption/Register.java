// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The register of clients, a group of all nodes: which group has the session of a client, and in which epoch. */
final class Register implements State {

    /** No group. */
    static final int NONE = -1;

    /**
     * Where a session is.
     *
     * @param group a group, or {@link #NONE}
     * @param epoch the epoch in which it settled there
     */
    record Place(int group, long epoch) {}

    private static final Place NOWHERE = new Place(NONE, 0);

    private final @Nullable Mistake mistake;
    private final Map<String, Place> places = new TreeMap<>();
    private final Map<String, Long> claimed = new TreeMap<>();
    private final Map<String, Long> tokens = new HashMap<>();

    Register(@Nullable Mistake mistake) {
        this.mistake = mistake;
    }

    Place place(String client) {
        return places.getOrDefault(client, NOWHERE);
    }

    @Override
    public Outcome apply(long index, Command command) {
        if (command instanceof Command.Claim claim) {
            Long known = tokens.get(claim.token());
            if (known == null) {
                known = claimed.merge(claim.client(), 1L, Long::sum);
                tokens.put(claim.token(), known);
            }
            return Outcome.claimed(known, place(claim.client()).group());
        }
        if (command instanceof Command.Settle settle) {
            boolean isLatest = claimed.getOrDefault(settle.client(), 0L) == settle.epoch();
            if (!isLatest && mistake != Mistake.CLAIM_WITHOUT_EPOCH) {
                return Outcome.REFUSED;
            }
            places.put(settle.client(), new Place(settle.group(), settle.epoch()));
        }
        return Outcome.ACCEPTED;
    }

    @Override
    public void applyAgain(Command command) {
        apply(0, command);
    }

    @Override
    public String toString() {
        return "claimed " + claimed + " places " + places;
    }
}
