// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jgroups.protocols.DISCARD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Members of a store of which another one reigns meanwhile, over TCP. */
@Tag("slow")
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class SecondReignTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private final Set<String> names = Set.of("a", "b", "c");
    private final Map<String, Integer> ports = TestStack.ports(names);
    private final String cluster = UUID.randomUUID().toString();
    private final Map<String, ReplicatedStore> members = new TreeMap<>();
    private final Map<String, DISCARD> networks = new TreeMap<>();
    private LogLimits limits = LogLimits.defaults();

    @AfterEach
    void close() {
        members.values().forEach(ReplicatedStore::close);
    }

    private ReplicatedStore open(String name, Duration detection) throws Exception {
        DISCARD network = new DISCARD();
        networks.put(name, network);
        ReplicatedStore opened = ReplicatedStore.open(
                new GroupSettings("store", 0, name, names, "a", folder.resolve(name), 16, 64 << 20, limits),
                StoreSettings.defaults(),
                TestStack.reliable(name, ports, network, detection),
                cluster);
        members.put(name, opened);
        return opened;
    }

    private ReplicatedStore openAll(Duration detection) throws Exception {
        for (String name : names) {
            open(name, detection);
        }
        ReplicatedStore home = members.get("a");
        TestStack.awaitLeader(PATIENCE, members, "a");
        assertThat(home.awaitLeading(PATIENCE)).isTrue();
        home.recover(new RecoveredStore());
        return home;
    }

    private ReplicatedStore nextLeader() {
        return await().atMost(PATIENCE)
                .until(
                        () -> {
                            for (String name : Set.of("b", "c")) {
                                if (members.get(name).awaitLeading(Duration.ofMillis(10))) {
                                    return members.get(name);
                                }
                            }
                            return null;
                        },
                        found -> found != null);
    }

    private static void put(StoreLoop loop, long number, String client) {
        loop.commit(writer -> writer.putSession(session(number, client)));
    }

    private static StoredSession session(long number, String client) {
        return new StoredSession(number, client, null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED);
    }

    /** The home is cut off with a batch under way, as a node that is frozen; another member serves; the home comes back. */
    private long reignElsewhere(ReplicatedStore home, StoreLoop loop, int sessions) {
        long lost = home.newSession();
        networks.get("a").discardAll(true);
        loop.flush(writer -> writer.putSession(session(lost, "lost")));
        ReplicatedStore next = nextLeader();
        next.recover(new RecoveredStore());
        try (StoreLoop nextLoop = new StoreLoop(next)) {
            for (int i = 0; i < sessions; i++) {
                put(nextLoop, next.newSession(), "of the next " + i);
            }
        }
        networks.get("a").discardAll(false);
        return lost;
    }

    private void assertEnded(ReplicatedStore home, CountDownLatch told, String why) throws Exception {
        assertThat(told.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(home.reign().ended()).contains(why).contains("start this node again");
            assertThat(home.isHealthy()).isFalse();
            assertThat(home.isCutOff()).isTrue();
        });
        assertThat(home.failure()).isNull();
    }

    private void restart(int sessions) throws Exception {
        members.get("a").close();
        ReplicatedStore again = open("a", TestStack.SOON);
        assertThat(again.awaitLeading(PATIENCE)).isTrue();
        RecoveredStore found = new RecoveredStore();
        again.recover(found);
        assertThat(found.sessions().values())
                .extracting(session -> session.header().clientId())
                .contains("of the home", "of the next 0")
                .doesNotContain("lost")
                .hasSize(1 + sessions);
        try (StoreLoop loop = new StoreLoop(again)) {
            put(loop, again.newSession(), "later");
        }
    }

    @Test
    void aHomeThatWakesAfterTheReignOfAnotherCommitsNothing() throws Exception {
        ReplicatedStore home = openAll(TestStack.SOON);
        CountDownLatch told = new CountDownLatch(1);
        home.whenNotServed(told::countDown);
        try (StoreLoop loop = new StoreLoop(home)) {
            put(loop, home.newSession(), "of the home");
            long lost = reignElsewhere(home, loop, 2);

            assertEnded(home, told, "serves this store since entry");
            loop.awaitTold(loop.flush(writer -> writer.putSession(session(lost, "lost again"))));
            assertThat(loop.failures()).isNotEmpty();
        }
        restart(2);
    }

    /** Its log is cut meanwhile, so that it learns of the reign by a checkpoint. */
    @Test
    void aHomeThatWakesGetsACheckpointInPlaceOfItsRows() throws Exception {
        limits = new LogLimits(64 << 20, 64 << 20, 20, 1_000);
        ReplicatedStore home = openAll(TestStack.SOON);
        CountDownLatch told = new CountDownLatch(1);
        home.whenNotServed(told::countDown);
        try (StoreLoop loop = new StoreLoop(home)) {
            put(loop, home.newSession(), "of the home");
            networks.get("a").discardAll(true);
            ReplicatedStore next = nextLeader();
            next.recover(new RecoveredStore());
            try (StoreLoop nextLoop = new StoreLoop(next)) {
                for (int i = 0; i < 60; i++) {
                    put(nextLoop, next.newSession(), "of the next " + i);
                }
            }
            long ends = home.figures().lastIndex();
            await().atMost(PATIENCE)
                    .until(() -> Set.of("b", "c").stream()
                            .allMatch(name -> members.get(name).figures().firstIndex() > ends));
            networks.get("a").discardAll(false);

            assertEnded(home, told, "gets a checkpoint");
            await().atMost(PATIENCE)
                    .until(() ->
                            home.figures().lastIndex() > ends && home.figures().receivedCheckpointBytes() > 0);
        }
        restart(60);
    }

    @Test
    void aCloseEndsAlthoughNoMajorityAnswers() throws Exception {
        ReplicatedStore home = openAll(Duration.ofMinutes(10));
        try (StoreLoop loop = new StoreLoop(home)) {
            long number = home.newSession();
            put(loop, number, "of the home");
            networks.get("b").discardAll(true);
            networks.get("c").discardAll(true);
            long position = loop.flush(writer -> writer.putSession(session(number, "changed")));
            await().atMost(PATIENCE).until(() -> home.figures().waitingEntries() > 0);

            home.close();

            loop.awaitTold(position);
            assertThat(loop.failures()).isNotEmpty();
        }
    }
}
