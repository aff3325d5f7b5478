// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jgroups.Address;
import org.jgroups.View;

/**
 * Admission of new logs to the votes by a leader. First all members, those with the new logs included, store the identities of the logs of all members
 * ({@link KnownLogs}), on stable storage: when a new log gets its vote, no member may accept the former log of that node any more. Then the leader proposes
 * the admission.
 *
 * <p>Used by the group's thread.
 */
final class Admission {

    private final GroupSettings settings;
    private final RocksRaftLog log;
    private final AddressedLog addressed;
    private final GroupLink link;
    private final Map<Address, KnownLogs> answers = new HashMap<>();
    private Set<Long> proposed = Set.of();

    Admission(GroupSettings settings, RocksRaftLog log, AddressedLog addressed, GroupLink link) {
        this.settings = settings;
        this.log = log;
        this.addressed = addressed;
        this.link = link;
    }

    /** Admits anew what was admitted before: this member leads in another term, or a member has got a checkpoint, in which the entry is not read. */
    void again() {
        proposed = Set.of();
    }

    /** A member has the logs on stable storage. */
    void answered(Address member, KnownLogs logs) {
        answers.put(member, logs);
    }

    /**
     * The new logs that are to be admitted now. Tells members which logs there are, until all have answered.
     *
     * @param term the term in which this member leads
     * @param present all members
     * @return their identities; none if there are no new ones, or a member has not answered yet
     */
    Set<Long> due(long term, View present) {
        Map<String, Long> fresh = new TreeMap<>();
        for (Address member : present) {
            Long identity = addressed.newIdentity(member);
            String name = GroupMembers.nameOf(member);
            if (identity != null && name != null) {
                fresh.put(name, identity);
            }
        }
        Set<Long> identities = Set.copyOf(fresh.values());
        if (identities.isEmpty() || identities.equals(proposed)) {
            return Set.of();
        }
        KnownLogs logs = log.known().with(term, fresh);
        log.know(logs);
        if (!logs.equals(log.known())) {
            return Set.of(); // there is a later leader
        }
        answers.keySet().retainAll(present.getMembers());
        boolean areKnown = true;
        for (Address member : present) {
            boolean isSelf = settings.self().equals(GroupMembers.nameOf(member));
            if (!isSelf
                    && !logs.equals(answers.get(member))
                    && ReplicaVersion.of(member).knowsLogs()) {
                link.send(member, new GroupMessage.Logs(logs));
                areKnown = false;
            }
        }
        if (!areKnown) {
            return Set.of();
        }
        proposed = identities;
        return identities;
    }
}
