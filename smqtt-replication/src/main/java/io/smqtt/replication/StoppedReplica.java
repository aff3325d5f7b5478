// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.persistence.ReplicaCopier;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreInUseException;
import io.smqtt.persistence.StoreReplica;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jgroups.protocols.raft.LogEntry;
import org.jspecify.annotations.Nullable;

/**
 * Copies of replicas: rows, and the entries of the log behind them. The entries are applied to the copy only. So the replica takes part in its
 * group afterwards as before.
 */
public final class StoppedReplica implements ReplicaCopier {

    /** Creates the copier, for {@link java.util.ServiceLoader}. */
    public StoppedReplica() {}

    @Override
    public void copy(Path data, @Nullable String node, Path target, Duration patience) {
        String owner = ReplicaIdentity.owner(data);
        String home = node == null ? owner : node;
        Path directory = data.resolve(ReplicaIdentity.DIRECTORY).resolve(home);
        StateFolder folder = new StateFolder(directory);
        if (!Files.isDirectory(folder.state()) || !Files.isDirectory(folder.log())) {
            throw new UncheckedIOException(
                    new IOException("there is no replica of node " + home + "'s store in " + data));
        }
        try {
            copyStopped(folder, target.toAbsolutePath().normalize());
        } catch (StoreInUseException e) {
            if (!home.equals(owner)) {
                throw e;
            }
            RocksBrokerStore.requestBackup(folder.state(), target, patience);
        } catch (IOException e) {
            throw StoreUnusableException.of(target, e);
        }
    }

    private static void copyStopped(StateFolder folder, Path target) throws IOException {
        Path above = Objects.requireNonNull(target.getParent());
        boolean isNew = !Files.exists(above);
        Path incomplete = target.resolveSibling(target.getFileName() + ".incomplete");
        StateFolder.delete(incomplete);
        try {
            try (StoreReplica rows = StoreReplica.open(folder.state(), StoreSettings.defaults())) {
                rows.checkpoint(incomplete);
            }
            applyLog(folder, incomplete);
            StoreReplica.becomeStore(incomplete);
            Files.move(incomplete, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            StateFolder.delete(isNew ? above : incomplete); // what is not complete must not look like a backup
            throw e;
        }
    }

    private static void applyLog(StateFolder folder, Path rows) throws IOException {
        StoreState state = new StoreState(StoreSettings.defaults(), new Unused());
        try (RocksRaftLog log = new RocksRaftLog(false, failure -> {})) {
            log.init(folder.log().toString(), null);
            state.open(rows);
            long has = state.applied();
            if (has > log.lastAppended() || has < log.firstAppended() - 1) {
                throw ReplicaDamage.of(
                        folder.log(),
                        "its rows have entry " + has + ", its log entries " + log.firstAppended() + " to "
                                + log.lastAppended(),
                        null);
            }
            for (long index = has + 1; index <= log.lastAppended(); index++) {
                apply(state, index, log.get(index));
            }
            state.persist();
        } finally {
            state.close();
        }
    }

    private static void apply(StoreState state, long index, @Nullable LogEntry entry) {
        if (entry == null) {
            throw new IllegalStateException("entry " + index + " is missing");
        }
        byte[] command = entry.command();
        if (command == null || entry.internal()) {
            return;
        }
        GroupCommand decoded = GroupCommand.decode(command, entry.offset(), entry.length());
        if (decoded instanceof GroupCommand.Data data && data.term() == entry.term()) {
            state.apply(index, data.command(), data.offset(), data.length());
        }
    }

    /** There is no store over a copy. */
    private static final class Unused implements StoreState.Reigns {

        @Override
        public void applied(long entry, Reign reign) {}

        @Override
        public void found(long entry) {}

        @Override
        public CompletableFuture<Void> replaced() {
            return CompletableFuture.completedFuture(null);
        }
    }
}
