// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jgroups.protocols.DISCARD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A node that comes back with an empty disk gets its stored sessions from the others, and serves them again. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class EmptyDiskTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SESSIONS = 20;
    private static final int MESSAGES = 40;
    private static final String HOME = "a";

    @TempDir
    private Path folder;

    private final Set<String> names = Set.of(HOME, "b", "c");
    private final Map<String, Integer> ports = TestStack.ports(names);
    private final String cluster = UUID.randomUUID().toString();
    private final Map<String, ReplicatedStore> members = new TreeMap<>();
    private final Map<String, DISCARD> networks = new TreeMap<>();

    @AfterEach
    void close() {
        members.values().forEach(ReplicatedStore::close);
    }

    private ReplicatedStore open(String name) throws Exception {
        DISCARD network = new DISCARD();
        networks.put(name, network);
        ReplicatedStore opened = ReplicatedStore.open(
                new GroupSettings(
                        "store",
                        0,
                        name,
                        names,
                        HOME,
                        folder.resolve(name),
                        16,
                        64 << 20,
                        new LogLimits(1 << 20, 1 << 20, 50, 1_000)),
                StoreSettings.defaults(),
                TestStack.reliable(name, ports, network),
                cluster);
        members.put(name, opened);
        return opened;
    }

    private void kill(String name) {
        networks.get(name).discardAll(true);
        members.remove(name).close();
    }

    private static void fill(ReplicatedStore store) {
        try (StoreLoop loop = new StoreLoop(store)) {
            for (int i = 0; i < SESSIONS; i++) {
                long number = store.newSession();
                StoredSession session = new StoredSession(
                        number, "client" + i, null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED);
                loop.commit(writer -> writer.putSession(session));
                for (int sequence = 1; sequence <= MESSAGES; sequence++) {
                    StoredMessage message = message(sequence);
                    loop.flush(writer -> writer.putMessage(number, message));
                }
                loop.commit(writer -> writer.putMessage(number, message(MESSAGES + 1)));
            }
            assertThat(loop.failures()).isEmpty();
        }
    }

    private static StoredMessage message(int sequence) {
        ApplicationMessage message = ApplicationMessage.builder("topic")
                .payload("payload " + sequence + " ".repeat(200))
                .qos(QoS.AT_LEAST_ONCE)
                .build();
        return new StoredMessage(
                sequence, message, "topic", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
    }

    @Test
    void itServesItsSessionsAgain() throws Exception {
        for (String name : names) {
            open(name);
        }
        ReplicatedStore home = members.get(HOME);
        TestStack.awaitLeader(PATIENCE, members, HOME);
        assertThat(home.awaitLeading(PATIENCE)).isTrue();
        home.recover(new RecoveredStore());
        fill(home);

        members.values()
                .forEach(member ->
                        await().atMost(PATIENCE).until(() -> member.figures().firstIndex() > 0));
        kill(HOME);
        StateFolder.delete(folder.resolve(HOME));
        await().atMost(PATIENCE)
                .until(() -> members.values().stream()
                        .anyMatch(each -> "b".equals(each.figures().leader())
                                || "c".equals(each.figures().leader())));

        ReplicatedStore again = open(HOME);
        assertThat(again.awaitLeading(PATIENCE)).isTrue();
        RecoveredStore recovered = new RecoveredStore();
        again.recover(recovered);
        assertThat(recovered.sessions()).hasSize(SESSIONS);
        recovered
                .sessions()
                .values()
                .forEach(found -> assertThat(found.waiting().messages()).isEqualTo(MESSAGES + 1));
        assertThat(again.figures().receivedCheckpointBytes()).isPositive();
        assertThat(again.figures().isVoter()).isTrue();
        fill(again);
    }
}
