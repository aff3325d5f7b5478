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
import java.util.ArrayList;
import java.util.List;
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

/** Another member serves what was committed when the one that leads is gone. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class StoreSurvivesItsNodeTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MESSAGES = 500;

    @TempDir
    private Path folder;

    private final Set<String> names = Set.of("a", "b", "c");
    private final Map<String, Integer> ports = TestStack.ports(names);
    private final String cluster = UUID.randomUUID().toString();
    private final Map<String, ReplicatedStore> members = new TreeMap<>();
    private final Map<String, DISCARD> networks = new TreeMap<>();

    @AfterEach
    void close() {
        members.values().forEach(ReplicatedStore::close);
    }

    private void open(String name) throws Exception {
        DISCARD network = new DISCARD();
        networks.put(name, network);
        members.put(
                name,
                ReplicatedStore.open(
                        new GroupSettings(
                                "store",
                                0,
                                name,
                                names,
                                null,
                                folder.resolve(name),
                                16,
                                64 << 20,
                                LogLimits.defaults()),
                        StoreSettings.defaults(),
                        TestStack.reliable(name, ports, network),
                        cluster));
    }

    private String leader() {
        return await().atMost(PATIENCE)
                .until(
                        () -> {
                            for (Map.Entry<String, ReplicatedStore> member : members.entrySet()) {
                                if (member.getValue().awaitLeading(Duration.ofMillis(10))) {
                                    return member.getKey();
                                }
                            }
                            return null;
                        },
                        found -> found != null);
    }

    private static StoredSession session(long number) {
        return new StoredSession(
                number, "client" + number, null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED);
    }

    private static StoredMessage queued(int sequence) {
        ApplicationMessage message = ApplicationMessage.builder("topic")
                .payload("payload " + sequence)
                .qos(QoS.AT_LEAST_ONCE)
                .build();
        return new StoredMessage(
                sequence, message, "topic", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
    }

    @Test
    void whatWasCommittedIsServedByTheNextLeader() throws Exception {
        for (String name : names) {
            open(name);
        }
        TestStack.awaitLeader(PATIENCE, members, null);
        int sessions = 0;
        for (int round = 0; round < 3; round++) {
            String leader = leader();
            ReplicatedStore store = members.get(leader);
            RecoveredStore recovered = new RecoveredStore();
            store.recover(recovered);
            assertThat(recovered.sessions()).as("round %d", round).hasSize(sessions);
            recovered
                    .sessions()
                    .values()
                    .forEach(found -> assertThat(found.waiting().messages()).isEqualTo(MESSAGES));
            try (StoreLoop loop = new StoreLoop(store)) {
                long number = store.newSession();
                assertThat(recovered.sessions()).doesNotContainKey(number);
                loop.commit(writer -> writer.putSession(session(number)));
                List<Long> positions = new ArrayList<>();
                for (int i = 1; i <= MESSAGES; i++) {
                    int sequence = i;
                    positions.add(loop.flush(writer -> writer.putMessage(number, queued(sequence))));
                }
                loop.awaitTold(positions.get(MESSAGES - 1));
                assertThat(loop.failures()).isEmpty();
            }
            sessions++;
            networks.get(leader).discardAll(true);
            store.close();
            members.remove(leader);
            if (round < 2) {
                leader();
                open(leader);
            }
        }
    }
}
