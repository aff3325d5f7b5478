// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreInUseException;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jgroups.protocols.DISCARD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Three nodes in one JVM: stores that were written with one replica, and copies of replicated ones. */
@Tag("slow")
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class ReplicaBackupTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Set<String> NAMES = Set.of("a", "b", "c");

    @TempDir
    private Path folder;

    private final Map<String, Integer> ports = TestStack.ports(NAMES);
    private final Map<String, ReplicaNode> nodes = new ConcurrentHashMap<>();
    private final Map<String, BrokerStore> stores = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        closeAll();
        threads.shutdownNow();
    }

    private void closeAll() {
        nodes.values().forEach(ReplicaNode::closeAll);
        nodes.clear();
    }

    private void open(String name) throws Exception {
        TreeMap<String, String> addresses = new TreeMap<>();
        ports.forEach((node, port) -> addresses.put(node, "127.0.0.1:" + port));
        ReplicaNode node = ReplicaNode.open(
                new ReplicaPlan(name, addresses, 3),
                folder.resolve(name),
                StoreSettings.defaults(),
                () -> TestStack.reliable(name, ports, new DISCARD()));
        nodes.put(name, node);
        BrokerStore store = node.awaitStore(PATIENCE);
        assertThat(store).isNotNull();
        stores.put(name, store);
    }

    private void openAll() throws Exception {
        CompletableFuture<?>[] starts = NAMES.stream()
                .map(name -> CompletableFuture.runAsync(
                        () -> {
                            try {
                                open(name);
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        threads))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(starts).get(2 * PATIENCE.toSeconds(), TimeUnit.SECONDS);
        TestStack.awaitSettled(PATIENCE, nodes);
    }

    private static void put(BrokerStore store, String client) {
        try (StoreLoop loop = new StoreLoop(store)) {
            long number = store.newSession();
            loop.commit(writer -> writer.putSession(new StoredSession(
                    number, client, null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED)));
        }
    }

    private static void assertClients(BrokerStore store, String... clients) {
        RecoveredStore found = new RecoveredStore();
        store.recover(found);
        assertThat(found.sessions().values())
                .extracting(session -> session.header().clientId())
                .containsExactlyInAnyOrder(clients);
    }

    private void assertCopy(Path copy, String... clients) {
        try (RocksBrokerStore store = RocksBrokerStore.open(copy, StoreSettings.defaults())) {
            assertClients(store, clients);
        }
    }

    /** The last entry of a group is on all members. */
    private void awaitAllHave(String home) {
        await().atMost(PATIENCE)
                .until(() -> nodes.values().stream()
                                .map(node -> node.replica(home).figures().commitIndex())
                                .distinct()
                                .count()
                        == 1);
    }

    /** Of a running node, of a stopped one, and of the store of another one. */
    @Test
    void aStoreIsTakenOverAndCopied() throws Exception {
        Path former = folder.resolve("a").resolve("store");
        try (RocksBrokerStore one = RocksBrokerStore.open(former, StoreSettings.defaults())) {
            one.recover(new RecoveredStore());
            put(one, "former");
        }
        openAll();
        assertClients(stores.get("a"), "former");
        assertThat(former).doesNotExist();
        put(stores.get("a"), "later");
        StoppedReplica copier = new StoppedReplica();

        Path running = folder.resolve("running").resolve("store");
        copier.copy(folder.resolve("a"), null, running, PATIENCE);
        assertCopy(running, "former", "later");
        assertThatThrownBy(() -> copier.copy(folder.resolve("b"), "a", folder.resolve("none"), PATIENCE))
                .isInstanceOf(StoreInUseException.class);
        assertThat(folder.resolve("none")).doesNotExist();

        put(stores.get("a"), "last");
        awaitAllHave("a");
        closeAll();
        for (String name : NAMES) {
            Path stopped = folder.resolve("stopped-" + name).resolve("store");
            copier.copy(folder.resolve(name), "a", stopped, PATIENCE);
            assertCopy(stopped, "former", "later", "last");
        }
        assertThatThrownBy(() -> copier.copy(folder.resolve("a"), "d", folder.resolve("none"), PATIENCE))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("there is no replica of node d's store");

        openAll(); // the replicas are as they were
        assertClients(stores.get("a"), "former", "later", "last");
    }
}
