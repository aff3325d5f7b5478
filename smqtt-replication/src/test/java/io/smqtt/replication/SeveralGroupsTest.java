// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jgroups.protocols.DISCARD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Groups on one channel do not notice each other, nor nodes that are in none of them. */
@Execution(ExecutionMode.CONCURRENT)
class SeveralGroupsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Map<Integer, Set<String>> GROUPS =
            Map.of(0, Set.of("a", "b", "c"), 1, Set.of("b", "c", "d"), 2, Set.of("d"));

    @TempDir
    private Path folder;

    private final List<GroupChannel> channels = new ArrayList<>();
    private final List<Member> members = new ArrayList<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (GroupChannel channel : channels) {
            channel.close();
        }
    }

    @Test
    void eachGroupHasALeaderAndEntriesOfItsOwn() throws Exception {
        Map<String, Integer> ports = TestStack.ports(Set.of("a", "b", "c", "d", "e"));
        String cluster = UUID.randomUUID().toString();
        for (String node : List.of("e", "d", "c", "b", "a")) {
            List<RaftGroup> groups = new ArrayList<>();
            GROUPS.forEach((number, names) -> {
                if (names.contains(node)) {
                    groups.add(new Member(number, node).group);
                }
            });
            GroupChannel channel = GroupChannel.create(TestStack.reliable(node, ports, new DISCARD()), node, groups);
            channels.add(channel);
            channel.connect(cluster, PATIENCE.toMillis());
        }

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(members)
                        .allSatisfy(member -> assertThat(member.group.present())
                                .as("%s in group %d", member.node, member.number)
                                .isEqualTo(GROUPS.get(member.number))));
        for (int number : GROUPS.keySet()) {
            Member leader = await().atMost(PATIENCE)
                    .until(
                            () -> members.stream()
                                    .filter(member -> member.number == number && member.term > 0)
                                    .findFirst()
                                    .orElse(null),
                            found -> found != null);
            for (int i = 0; i < 3; i++) {
                byte[] content = ("group " + number).getBytes(StandardCharsets.UTF_8);
                leader.group.propose(leader.term, content).get(60, TimeUnit.SECONDS);
            }
        }
        for (Member member : members) {
            String entry = "group " + member.number;
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(member.state.entries()).containsExactly(entry, entry, entry));
        }
        assertThat(failures).isEmpty();
    }

    private final class Member implements RaftGroup.Listener {

        private final int number;
        private final String node;
        private final RecordedState state = new RecordedState();
        private final RaftGroup group;
        private volatile long term;

        Member(int number, String node) {
            this.number = number;
            this.node = node;
            Path directory = folder.resolve(node + number);
            group = RaftGroup.open(
                    new GroupSettings(
                            "g" + number,
                            number,
                            node,
                            GROUPS.get(number),
                            null,
                            directory,
                            9,
                            1 << 20,
                            LogLimits.defaults()),
                    state,
                    this);
            members.add(this);
        }

        @Override
        public void leading(long now) {
            term = now;
        }

        @Override
        public void following() {
            term = 0;
        }

        @Override
        public void failed(Throwable cause) {
            failures.add(cause);
        }
    }
}
