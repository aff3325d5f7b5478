// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.awaitility.Awaitility.await;

import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.Ticker;
import io.smqtt.test.store.BrokerStoreContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jgroups.protocols.DISCARD;
import org.junit.jupiter.api.AfterEach;

/** The contract of a store, on the member that leads; the others run in the same JVM. */
abstract class ReplicatedStoreContract extends BrokerStoreContract {

    private static final Duration POLL = Duration.ofMillis(20);
    private static final int ATTEMPTS = 3_000;

    private final Set<String> names;
    private final Map<Path, List<ReplicatedStore>> opened = new HashMap<>();

    ReplicatedStoreContract(Set<String> names) {
        this.names = names;
    }

    @Override
    protected BrokerStore open(Path place, Ticker ticker) {
        opened.getOrDefault(place, List.of()).forEach(ReplicatedStore::close);
        List<ReplicatedStore> members = new ArrayList<>();
        opened.put(place, members);
        Map<String, Integer> ports = TestStack.ports(names);
        String cluster = UUID.randomUUID().toString();
        try {
            for (String name : names.stream().sorted().toList()) {
                members.add(ReplicatedStore.open(
                        new GroupSettings(
                                "store", 0, name, names, null, place.resolve(name), 16, 64 << 20, LogLimits.defaults()),
                        StoreSettings.defaults().withTicker(ticker),
                        TestStack.reliable(name, ports, new DISCARD(), TestStack.LATE),
                        cluster));
            }
            for (int i = 0; i < ATTEMPTS; i++) {
                for (ReplicatedStore member : members) {
                    if (member.awaitLeading(POLL.dividedBy(names.size()))) {
                        return member;
                    }
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        throw new IllegalStateException("no member leads");
    }

    /** The rows are copied before the log: they may have less than it has, not more. */
    @Override
    protected void copy(Path from, Path to) {
        for (String name : names) {
            for (String part : List.of("store", "log/synced", "log/db")) {
                copyAtOneMoment(
                        from.resolve(name).resolve(part), to.resolve(name).resolve(part));
            }
        }
    }

    /** The database may merge files in the background. A copy that was made meanwhile is not the remains of a crash, so another one is made. */
    private static void copyAtOneMoment(Path source, Path target) {
        await().ignoreExceptionsInstanceOf(UncheckedIOException.class).until(() -> {
            StateFolder.delete(target);
            Map<Path, Long> before = sizes(source);
            LogContent.copy(source, target);
            return !before.isEmpty() && sizes(source).equals(before);
        });
    }

    private static Map<Path, Long> sizes(Path directory) throws IOException {
        Map<Path, Long> sizes = new HashMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (!file.endsWith("LOG")) {
                    sizes.put(file, Files.size(file));
                }
            }
        } catch (NoSuchFileException e) {
            throw new UncheckedIOException(e);
        }
        return sizes;
    }

    @AfterEach
    final void closeMembers() {
        opened.values().forEach(members -> members.forEach(ReplicatedStore::close));
    }
}
