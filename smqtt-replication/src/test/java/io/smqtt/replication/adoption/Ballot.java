// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.HashSet;
import java.util.Set;

/** The votes that a member gives and gets. */
final class Ballot {

    private final int self;
    private final int majority;
    private final Disk disk;
    private final Set<Integer> votes = new HashSet<>();

    Ballot(int self, int members, Disk disk) {
        this.self = self;
        this.majority = members / 2 + 1;
        this.disk = disk;
    }

    /** Begins a term with the own vote. */
    void begin() {
        disk.term++;
        disk.votedFor = self;
        votes.clear();
        votes.add(self);
    }

    /** A vote of another member in this term; returns whether it makes a majority. */
    boolean isDecidedBy(int member) {
        votes.add(member);
        return votes.size() == majority;
    }

    /** Votes for another member, if this one may vote and has nothing that the other one lacks. */
    boolean grant(int candidate, RaftMessage.VoteRequest request) {
        boolean complete = request.lastTerm() > disk.lastTerm()
                || (request.lastTerm() == disk.lastTerm() && request.lastIndex() >= disk.lastIndex());
        boolean free = disk.votedFor == Followers.NONE || disk.votedFor == candidate;
        boolean granted = request.term() == disk.term && disk.voter && complete && free;
        if (granted) {
            disk.votedFor = candidate;
        }
        return granted;
    }
}
