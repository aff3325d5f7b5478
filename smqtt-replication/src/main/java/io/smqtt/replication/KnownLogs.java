// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The logs with which the members of a group have been admitted. A disk whose place another one has taken may come back. Its log has a vote, and lacks
 * what was acknowledged since; with a member that lacks the same it would be a majority. So each member knows which log each other one has, before
 * a new log may vote ({@link Admission}), and keeps that on stable storage. Immutable.
 *
 * @param term the term of the leader that has said it; of two the later one counts
 * @param identities by the name of a member the identities of its logs, the current one last
 */
record KnownLogs(long term, SortedMap<String, List<Long>> identities) {

    /** No log was admitted yet. */
    static final KnownLogs NONE = new KnownLogs(0, new TreeMap<>());

    /** Former logs beyond that are forgotten: each is a disk that was replaced. */
    private static final int MAXIMUM_LOGS = 32;

    KnownLogs {
        SortedMap<String, List<Long>> copied = new TreeMap<>();
        identities.forEach((member, logs) -> copied.put(member, List.copyOf(logs)));
        identities = copied;
    }

    boolean isEmpty() {
        return identities.isEmpty();
    }

    /**
     * The same with other current logs.
     *
     * @param leading the term of the leader that says it
     * @param logs the identity of a log by the name of its member
     */
    KnownLogs with(long leading, Map<String, Long> logs) {
        SortedMap<String, List<Long>> next = new TreeMap<>(identities);
        logs.forEach((member, identity) -> {
            List<Long> all = new ArrayList<>(next.getOrDefault(member, List.of()));
            all.remove(identity);
            all.add(identity);
            next.put(member, all.subList(Math.max(0, all.size() - MAXIMUM_LOGS), all.size()));
        });
        return new KnownLogs(leading, next);
    }

    /**
     * Whether another log has taken the place of one.
     *
     * @param identity the identity of the log; null if its node does not show it
     * @param votes whether it has a vote. One without may be a new one that was not admitted yet
     */
    boolean isReplaced(@Nullable String member, @Nullable Long identity, boolean votes) {
        List<Long> logs = member == null ? null : identities.get(member);
        if (logs == null || logs.get(logs.size() - 1).equals(identity)) {
            return false;
        }
        return votes || logs.contains(identity);
    }

    /** Adds it to a message or a row. */
    void encode(ByteWriter out) {
        out.i64(term);
        identities.forEach((member, logs) -> {
            out.text(member).u8(logs.size());
            logs.forEach(out::i64);
        });
    }

    /**
     * Decodes it, up to the end.
     *
     * @throws MalformedBytesException if it was not encoded as above
     */
    static KnownLogs decode(ByteReader in) {
        long term = in.i64();
        SortedMap<String, List<Long>> identities = new TreeMap<>();
        while (in.remaining() > 0) {
            String member = in.text();
            int count = in.u8();
            if (count < 1 || count > MAXIMUM_LOGS) {
                throw new MalformedBytesException(count + " logs of one member");
            }
            List<Long> logs = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                logs.add(in.i64());
            }
            identities.put(member, logs);
        }
        return new KnownLogs(term, identities);
    }
}
