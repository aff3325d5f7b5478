// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The sessions of a group. A batch is applied in its reign only, and once. */
final class GroupState implements State {

    private final @Nullable Mistake mistake;
    private final Map<String, SessionRows> sessions = new TreeMap<>();
    private final Map<String, Long> departed = new HashMap<>();
    private long reign;
    private long lastNumber;

    GroupState(@Nullable Mistake mistake) {
        this.mistake = mistake;
    }

    /** The current reign; 0 before the first one. */
    long reign() {
        return reign;
    }

    @Nullable
    SessionRows session(String client) {
        return sessions.get(client);
    }

    Collection<SessionRows> sessions() {
        return List.copyOf(sessions.values());
    }

    @Override
    public Outcome apply(long index, Command command) {
        if (command instanceof Command.Reign) {
            reign = index;
            lastNumber = 0;
        } else if (command instanceof Command.Batch batch) {
            return apply(batch);
        }
        return Outcome.ACCEPTED;
    }

    private Outcome apply(Command.Batch batch) {
        boolean fenced = batch.reign() != reign || batch.number() <= lastNumber;
        if (fenced && mistake != Mistake.SERVED_WITH_OLD_REIGN) {
            return Outcome.REFUSED;
        }
        lastNumber = batch.number();
        return change(batch.change());
    }

    @Override
    public void applyAgain(Command command) {
        if (command instanceof Command.Batch batch) {
            change(batch.change());
        }
    }

    private Outcome change(Change change) {
        SessionRows rows = sessions.get(change.client());
        if (change instanceof Change.Install install) {
            return install(install, rows);
        }
        if (change instanceof Change.Seal seal) {
            return seal(seal, rows);
        }
        if (change instanceof Change.Drop drop) {
            return drop(drop, rows);
        }
        boolean open = rows != null && !rows.isSealed() && isOf(rows, change);
        return open ? rows.apply(change) : Outcome.REFUSED;
    }

    private boolean isOf(SessionRows rows, Change change) {
        return rows.epoch() == change.epoch()
                || (mistake == Mistake.ROUTED_WITHOUT_EPOCH && change instanceof Change.Enqueue);
    }

    private Outcome install(Change.Install install, @Nullable SessionRows rows) {
        long epoch = install.epoch();
        boolean late = departed.getOrDefault(install.client(), 0L) >= epoch
                || (rows != null && (rows.epoch() >= epoch || rows.sealedBy() > epoch));
        if (late && isClaimCompared()) {
            return Outcome.REFUSED;
        }
        boolean withTaken = mistake != Mistake.MOVED_WITHOUT_TAKEN;
        sessions.put(install.client(), new SessionRows(install.client(), epoch, install.rows(), withTaken));
        return Outcome.ACCEPTED;
    }

    private Outcome seal(Change.Seal seal, @Nullable SessionRows rows) {
        if (rows == null || (seal.epoch() < rows.latestEpoch() && isClaimCompared())) {
            return Outcome.REFUSED;
        }
        if (mistake != Mistake.MOVED_WITHOUT_SEAL) {
            rows.seal(seal.epoch());
        }
        return Outcome.sealed(new SessionRows(seal.client(), seal.epoch(), rows, true));
    }

    private Outcome drop(Change.Drop drop, @Nullable SessionRows rows) {
        departed.merge(drop.client(), drop.epoch(), Math::max);
        if (rows != null && (rows.epoch() < drop.epoch() || !isClaimCompared())) {
            sessions.remove(drop.client());
        }
        return Outcome.ACCEPTED;
    }

    private boolean isClaimCompared() {
        return mistake != Mistake.CLAIM_WITHOUT_EPOCH;
    }

    @Override
    public String toString() {
        return "reign " + reign + " number " + lastNumber + " " + sessions.values();
    }
}
