// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.cluster.replication.Outcome.Ownership;
import java.util.Collection;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * State machine of a group: the sessions of one group, or for the cluster's group the owners of client identifiers and the
 * retained messages. It changes by entries of the log only, so it is the same on all replicas.
 */
final class GroupState {

    private record Retained(long number, long epoch, long operation) {}

    private final @Nullable Mistake mistake;
    private final SortedMap<String, SessionState> sessions = new TreeMap<>();
    private final SortedMap<String, Long> left = new TreeMap<>();
    private final SortedMap<String, Ownership> owners = new TreeMap<>();
    private final SortedMap<String, Retained> retained = new TreeMap<>();

    GroupState(@Nullable Mistake mistake) {
        this.mistake = mistake;
    }

    /** A copy for a snapshot. */
    GroupState copy() {
        GroupState copy = new GroupState(mistake);
        sessions.forEach(
                (client, session) -> copy.sessions.put(client, session.copy(mistake == Mistake.SNAPSHOT_WITHOUT_QOS2)));
        copy.left.putAll(left);
        copy.owners.putAll(owners);
        copy.retained.putAll(retained);
        return copy;
    }

    Collection<SessionState> sessions() {
        return sessions.values();
    }

    @Nullable
    SessionState session(String client) {
        return sessions.get(client);
    }

    Ownership owner(String client) {
        return owners.getOrDefault(client, Ownership.NONE);
    }

    Outcome.View view() {
        SortedMap<String, Long> numbers = new TreeMap<>();
        retained.forEach((topic, message) -> numbers.put(topic, message.number()));
        return new Outcome.View(new TreeMap<>(owners), numbers);
    }

    Outcome apply(Command command) {
        if (command instanceof Command.Enqueue enqueue) {
            return enqueue(enqueue);
        } else if (command instanceof Command.Write write) {
            return write(write);
        } else if (command instanceof Command.Lookup) {
            return view();
        } else if (command instanceof Command.Retain retain) {
            return retain(retain);
        } else if (command instanceof Command.WillRouted routed) {
            return willRouted(routed);
        }
        return move(command);
    }

    private Outcome move(Command command) {
        if (command instanceof Command.Claim claim) {
            return claim(claim);
        } else if (command instanceof Command.Seal seal) {
            return seal(seal);
        } else if (command instanceof Command.Install install) {
            return install(install);
        } else if (command instanceof Command.Settle settle) {
            return settle(settle);
        } else if (command instanceof Command.Drop drop) {
            return drop(drop);
        }
        return Outcome.ACCEPTED;
    }

    private Outcome claim(Command.Claim claim) {
        Ownership now = owner(claim.client());
        if (!now.token().equals(claim.token())) {
            now = new Ownership(now.epoch() + 1, claim.token(), now.group(), now.groupEpoch());
            owners.put(claim.client(), now);
        }
        return new Outcome.Claimed(now.epoch(), now.group(), now.groupEpoch());
    }

    private Outcome settle(Command.Settle settle) {
        Ownership now = owner(settle.client());
        boolean current =
                mistake == Mistake.CLAIMED_BY_VIEW ? settle.epoch() >= now.epoch() : settle.epoch() == now.epoch();
        if (!current) {
            return Outcome.REFUSED;
        }
        owners.put(settle.client(), new Ownership(settle.epoch(), now.token(), settle.group(), settle.epoch()));
        return view();
    }

    private Outcome retain(Command.Retain retain) {
        if (retain.epoch() < owner(retain.topic()).epoch() && mistake != Mistake.OLD_EPOCH_WRITES) {
            return Outcome.REFUSED;
        }
        Retained now = retained.get(retain.topic());
        boolean repeated = now != null && now.epoch() == retain.epoch() && now.operation() >= retain.operation();
        if (!repeated || mistake == Mistake.WRITES_WITHOUT_NUMBER) {
            retained.put(retain.topic(), new Retained(retain.number(), retain.epoch(), retain.operation()));
        }
        return Outcome.ACCEPTED;
    }

    private Outcome seal(Command.Seal seal) {
        SessionState session = sessions.get(seal.client());
        if (session == null || session.epoch >= seal.epoch() || session.sealedBy > seal.epoch()) {
            return Outcome.REFUSED;
        }
        if (mistake != Mistake.ADOPTED_WITHOUT_FENCE) {
            session.sealedBy = seal.epoch();
        }
        return new Outcome.Sealed(session.copy(false));
    }

    private Outcome install(Command.Install install) {
        String client = install.client();
        SessionState now = sessions.get(client);
        boolean sealed = now != null && now.sealedBy > install.epoch() && mistake != Mistake.INSTALLED_OVER_LATER_SEAL;
        boolean later = sealed || (now != null && now.epoch > install.epoch());
        if (later || left.getOrDefault(client, 0L) >= install.epoch()) {
            return Outcome.REFUSED;
        }
        if (now == null || now.epoch < install.epoch()) {
            SessionState next = install.state() == null
                    ? new SessionState(client)
                    : install.state().copy(false);
            next.begin(install);
            sessions.put(client, next);
        }
        return Outcome.ACCEPTED;
    }

    private Outcome drop(Command.Drop drop) {
        SessionState session = sessions.get(drop.client());
        if (session == null || session.epoch < drop.epoch()) {
            sessions.remove(drop.client());
            left.merge(drop.client(), drop.epoch() - 1, Math::max); // what was installed before comes late
        }
        return Outcome.ACCEPTED;
    }

    private Outcome enqueue(Command.Enqueue command) {
        SessionState session = sessions.get(command.client());
        if (session == null || session.sealedBy > 0) {
            return Outcome.REFUSED;
        }
        if (command.epoch() != session.epoch && mistake != Mistake.ROUTED_WITHOUT_EPOCH) {
            return Outcome.REFUSED;
        }
        session.enqueue(command);
        return Outcome.ACCEPTED;
    }

    private Outcome write(Command.Write write) {
        SessionState session = sessions.get(write.client());
        if (session == null || session.sealedBy > 0 || write.epoch() > session.epoch) {
            return Outcome.REFUSED;
        }
        if (write.epoch() < session.epoch) {
            return mistake == Mistake.OLD_EPOCH_WRITES ? session.change(write.change()) : Outcome.REFUSED;
        }
        if (write.operation() < session.lastOperation && mistake != Mistake.WRITES_WITHOUT_NUMBER) {
            return Outcome.REFUSED;
        }
        session.lastOperation = Math.max(session.lastOperation, write.operation());
        return session.change(write.change());
    }

    private Outcome willRouted(Command.WillRouted routed) {
        SessionState session = sessions.get(routed.client());
        if (session == null || session.sealedBy > 0) {
            return Outcome.REFUSED;
        }
        session.dueWills.remove(routed.willEpoch());
        return Outcome.ACCEPTED;
    }

    @Override
    public String toString() {
        return "sessions " + sessions.values() + " left " + left + " owners " + owners + " retained " + retained;
    }
}
