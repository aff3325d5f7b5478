// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.spi.BrokerStore;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One reign of this process over a group, with the way of its batches and the store that it serves. */
final class StoreService {

    private final GroupCommits commits;
    private final OwnReign reign;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private volatile @Nullable BrokerStore store;

    StoreService(GroupCommits commits, OwnReign reign) {
        this.commits = commits;
        this.reign = reign;
    }

    GroupCommits commits() {
        return commits;
    }

    OwnReign reign() {
        return reign;
    }

    /** The store; null before it is open. */
    @Nullable
    BrokerStore store() {
        return store;
    }

    void opened(BrokerStore open) {
        store = open;
    }

    /** Completes when the reign is over, at once. */
    CompletableFuture<Void> over() {
        return over;
    }

    /** Completes when the reign is over, and the store is closed. */
    CompletableFuture<Void> closed() {
        return closed;
    }
}
