// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three members over TCP: members are killed, lose their disks, are cut off and return, while entries are proposed and logs
 * are cut after some entries. What was acknowledged is on all members in the end, once and in its order, and their states are equal.
 *
 * <p>{@code -Dsmqtt.seeds=N} for more histories, {@code -Dsmqtt.seed=S} for the first one.
 */
@Tag("long")
class GroupHistoryTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int STEPS = 25;

    @TempDir
    private Path folder;

    private final List<TestMember> members = new ArrayList<>();
    private final List<String> acknowledged = new ArrayList<>();
    private final Set<TestMember> down = new HashSet<>();
    private int proposed;

    @Test
    void nothingIsLost() throws Exception {
        long first = Long.getLong("smqtt.seed", 1);
        for (long seed = first; seed < first + Long.getLong("smqtt.seeds", 1); seed++) {
            try {
                run(seed);
            } catch (Exception | Error e) {
                throw new AssertionError("seed " + seed, e);
            } finally {
                members.forEach(TestMember::stop);
            }
        }
    }

    private void run(long seed) throws Exception {
        members.clear();
        acknowledged.clear();
        down.clear();
        proposed = 0;
        String cluster = UUID.randomUUID().toString();
        Map<String, Integer> ports = TestStack.ports(Set.of("a", "b", "c"));
        for (String name : ports.keySet()) {
            TestMember member = new TestMember(cluster, name, ports, folder.resolve("seed" + seed));
            member.home = "b";
            member.log = new LogLimits(4_000, 1_000_000, 15, 10);
            members.add(member);
            member.start();
        }
        leader();
        Random random = new Random(seed);
        for (int step = 0; step < STEPS; step++) {
            step(random);
        }
        finish();
    }

    private void step(Random random) throws Exception {
        TestMember any = members.get(random.nextInt(members.size()));
        switch (random.nextInt(6)) {
            case 0 -> kill(any, false);
            case 1 -> kill(any, true);
            case 2 -> cutOff(any, random);
            case 3 -> returnAll();
            default -> propose(1 + random.nextInt(40));
        }
    }

    /** One member at a time is down, and one whose disk was empty counts as down until it may vote. */
    private void kill(TestMember member, boolean wiped) {
        if (!down.isEmpty()) {
            return;
        }
        if (wiped) {
            members.forEach(each ->
                    await().atMost(PATIENCE).until(() -> each.group.figures().isVoter()));
        }
        member.kill();
        down.add(member);
        if (wiped) {
            member.wipe();
        }
    }

    private void cutOff(TestMember member, Random random) throws Exception {
        if (!down.isEmpty()) {
            return;
        }
        member.isolate();
        if (random.nextBoolean()) {
            propose(1 + random.nextInt(20));
        }
        member.rejoin();
    }

    private void returnAll() {
        for (TestMember member : Set.copyOf(down)) {
            member.start();
            down.remove(member);
            await().atMost(PATIENCE).until(() -> member.group.figures().isVoter());
        }
    }

    private TestMember leader() {
        return await().atMost(PATIENCE)
                .until(
                        () -> members.stream()
                                .filter(TestMember::leads)
                                .findFirst()
                                .orElse(null),
                        found -> found != null);
    }

    private void propose(int count) throws Exception {
        TestMember leader = leader();
        List<String> contents = new ArrayList<>();
        List<CompletableFuture<Long>> results = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            contents.add("entry " + proposed++);
            results.add(leader.propose(contents.get(i)));
        }
        for (int i = 0; i < count; i++) {
            try {
                results.get(i).get(60, TimeUnit.SECONDS);
                acknowledged.add(contents.get(i));
            } catch (ExecutionException e) {
                // refused, or unknown
            } catch (TimeoutException e) {
                throw new AssertionError("neither committed nor failed", e);
            }
        }
    }

    private void finish() throws Exception {
        returnAll();
        await().atMost(PATIENCE).until(() -> {
            propose(1);
            return !acknowledged.isEmpty()
                    && acknowledged.get(acknowledged.size() - 1).equals("entry " + (proposed - 1));
        });
        String last = acknowledged.get(acknowledged.size() - 1);
        for (TestMember member : members) {
            assertThat(member.failure).as("%s", member).isNull();
            await().atMost(PATIENCE).until(() -> member.state.entries().contains(last));
        }
        List<String> entries = members.get(0).state.entries();
        assertThat(entries).doesNotHaveDuplicates();
        assertThat(entries).containsSubsequence(acknowledged);
        for (TestMember member : members) {
            assertThat(member.state.entries()).isEqualTo(entries);
        }
    }
}
