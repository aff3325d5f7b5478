// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jgroups.Address;
import org.jgroups.View;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first votes of a group. A member with a new log cannot know by itself whether its group is new, or it has lost its disk. It asks all
 * others, and may vote
 *
 * <ul>
 *   <li>if all of them say that their logs are empty and have no vote, or
 *   <li>if one of them has founded the group, and this log is one of those it was founded with.
 * </ul>
 *
 * <p>A leader needs the votes of a majority, all of them founders, or admitted later. So when one disk is lost, one of the others says that the
 * group is founded; and the new log has another identity than the lost one, so it is none of the founders. An answer counts for the question
 * of one moment only: an empty log may be that of a founder a moment later.
 *
 * <p>The group gets a number of its own from the founders' identities. All founders have the same; a log that is admitted gets it with the
 * admission. So the data of another cluster whose nodes have the same names is recognised ({@link AgreementGuard}).
 *
 * <p>Used by the group's thread.
 */
final class Founding {

    private static final Logger LOG = LoggerFactory.getLogger(Founding.class);

    private final GroupSettings settings;
    private final RocksRaftLog log;
    private final GroupLink link;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Long> empty = new HashMap<>();
    private long nonce;

    Founding(GroupSettings settings, RocksRaftLog log, GroupLink link) {
        this.settings = settings;
        this.log = log;
        this.link = link;
    }

    /** The number of the group that logs with these identities have founded; not 0. */
    static long groupOf(Set<Long> founders) {
        ByteWriter out = new ByteWriter(founders.size() * Long.BYTES);
        new TreeSet<>(founders).forEach(out::i64);
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(out.toByteArray());
            return new ByteReader(hash).i64() | 1;
        } catch (NoSuchAlgorithmException e) { // each Java has it
            throw new IllegalStateException(e);
        }
    }

    private boolean isEmpty() {
        return !log.isVoter() && log.lastAppended() == 0;
    }

    /** Asks all members that are present, unless this member may vote already. */
    void ask(View present) {
        if (log.isVoter()) {
            return;
        }
        nonce = random.nextLong();
        empty.clear();
        foundIfAllAreEmpty();
        for (Address member : present) {
            if (!settings.self().equals(GroupMembers.nameOf(member))) {
                link.send(member, new GroupMessage.FoundingQuestion(nonce));
            }
        }
    }

    /** The answer to a question. */
    GroupMessage.FoundingAnswer answer(GroupMessage.FoundingQuestion question) {
        return new GroupMessage.FoundingAnswer(question.nonce(), log.identity(), isEmpty(), log.founders());
    }

    /** Takes an answer. A founder may have got entries before it; its identity shows that it has lost nothing. */
    void answered(String member, GroupMessage.FoundingAnswer answer) {
        if (answer.nonce() != nonce || log.isVoter()) {
            return;
        }
        if (answer.founders().contains(log.identity())) {
            found(answer.founders());
        } else if (answer.isEmpty()) {
            empty.put(member, answer.identity());
            foundIfAllAreEmpty();
        }
    }

    private void foundIfAllAreEmpty() {
        if (isEmpty() && empty.size() == settings.members().size() - 1) {
            Set<Long> founders = new HashSet<>(empty.values());
            founders.add(log.identity());
            found(founders);
        }
    }

    private void found(Set<Long> founders) {
        log.found(founders);
        LOG.info("the group {} is new: {} is one of its founders", settings.name(), settings.self());
    }
}
