// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jgroups.Address;
import org.jgroups.View;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members with empty logs ask each other whether their group is new. Messages are delivered when a test says so. */
class FoundingTest {

    private static final Set<String> NAMES = Set.of("a", "b", "c");

    @TempDir
    private Path directory;

    private final Map<String, Node> nodes = new TreeMap<>();
    private final Deque<Runnable> underWay = new ArrayDeque<>();
    private int runs;

    @AfterEach
    void close() throws IOException {
        for (Node node : nodes.values()) {
            node.log.close();
        }
    }

    private Node start(String name) throws IOException {
        Node before = nodes.get(name);
        if (before != null) {
            before.log.close();
        }
        Node node = new Node(name, directory.resolve(name + runs++));
        nodes.put(name, node);
        return node;
    }

    private void deliver() {
        while (!underWay.isEmpty()) {
            underWay.remove().run();
        }
    }

    private static View view(Node... present) {
        return View.create(
                present[0].address,
                1,
                Arrays.stream(present).map(node -> node.address).toArray(Address[]::new));
    }

    @Test
    void allEmptyLogsFoundTheGroup() throws IOException {
        Node a = start("a");
        Node b = start("b");
        Node c = start("c");
        a.founding.ask(view(a, b, c));
        deliver();
        assertThat(a.log.isVoter()).isTrue();
        assertThat(a.log.founders()).containsExactlyInAnyOrder(a.log.identity(), b.log.identity(), c.log.identity());

        b.founding.ask(view(a, b, c));
        c.founding.ask(view(a, b, c));
        deliver();
        assertThat(b.log.founders()).isEqualTo(a.log.founders());
        assertThat(a.log.group()).isNotZero().isEqualTo(b.log.group()).isEqualTo(c.log.group());
        assertThat(c.log.isVoter()).isTrue();
    }

    @Test
    void eachGroupHasANumberOfItsOwn() throws IOException {
        assertThat(Founding.groupOf(Set.of(1L, 2L, 3L)))
                .isEqualTo(Founding.groupOf(Set.of(3L, 2L, 1L)))
                .isNotEqualTo(Founding.groupOf(Set.of(1L, 2L, 4L)))
                .isNotZero();
        Node a = start("a");
        assertThat(a.log.group()).isZero();
    }

    @Test
    void aMajorityDoesNotFound() throws IOException {
        Node a = start("a");
        Node b = start("b");
        a.founding.ask(view(a, b));
        deliver();
        assertThat(a.log.isVoter()).isFalse();
    }

    /** It was one of the founders, has voted, and has lost its disk. */
    @Test
    void aNewLogInPlaceOfAFoundersDoesNotFound() throws IOException {
        Node a = start("a");
        Node b = start("b");
        Node c = start("c");
        a.founding.ask(view(a, b, c));
        deliver();
        Node wiped = start("c");
        b.founding.ask(view(a, b));
        wiped.founding.ask(view(a, b, wiped));
        deliver();

        assertThat(b.log.isVoter()).isTrue();
        assertThat(wiped.log.isVoter()).isFalse();
    }

    /** Answers of two moments do not make one: the first member may have founded the group with a lost log meanwhile. */
    @Test
    void answersToAnEarlierQuestionDoNotCount() throws IOException {
        Node a = start("a");
        Node b = start("b");
        Node c = start("c");
        c.founding.ask(view(b, c));
        deliver();
        c.founding.ask(view(a, c));
        deliver();
        assertThat(c.log.isVoter()).isFalse();

        c.founding.ask(view(a, b, c));
        List<Runnable> late = List.copyOf(underWay);
        underWay.clear();
        c.founding.ask(view(a, b, c));
        underWay.clear();
        late.forEach(Runnable::run);
        deliver();
        assertThat(c.log.isVoter()).isFalse();
    }

    @Test
    void aLogWithEntriesIsNotFoundedAnew() throws IOException {
        Node a = start("a");
        Node b = start("b");
        Node c = start("c");
        b.log.append(1, LogContent.entries(1, "x"));
        a.founding.ask(view(a, b, c));
        b.founding.ask(view(a, b, c));
        deliver();
        assertThat(a.log.isVoter()).isFalse();
        assertThat(b.log.isVoter()).isFalse();
    }

    @Test
    void aFounderThatGetsEntriesBeforeItsAnswersMayVote() throws IOException {
        Node a = start("a");
        Node b = start("b");
        Node c = start("c");
        a.founding.ask(view(a, b, c));
        deliver();
        c.log.append(1, LogContent.entries(1, "x"));
        c.founding.ask(view(a, b, c));
        deliver();
        assertThat(c.log.isVoter()).isTrue();
    }

    private final class Node {

        private final String name;
        private final Address address;
        private final RocksRaftLog log;
        private final Founding founding;

        Node(String name, Path folder) {
            this.name = name;
            address = ExtendedUUID.randomUUID(name).put(RAFT.raft_id_key, Util.stringToBytes(name));
            log = new RocksRaftLog(false, failure -> {});
            log.init(folder.toString(), null);
            founding = new Founding(
                    new GroupSettings("g", 0, name, NAMES, null, folder, 1, 1, LogLimits.defaults()),
                    log,
                    (member, message) -> underWay.add(() -> deliver(GroupMembers.nameOf(member), message)));
        }

        private void deliver(String to, GroupMessage message) {
            Node target = nodes.get(to);
            if (message instanceof GroupMessage.FoundingQuestion question) {
                GroupMessage.FoundingAnswer answer = target.founding.answer(question);
                underWay.add(() -> founding.answered(to, answer));
            } else {
                throw new AssertionError(message + " of " + name);
            }
        }
    }
}
