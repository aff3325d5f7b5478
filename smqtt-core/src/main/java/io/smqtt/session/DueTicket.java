// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.JointOperation;
import io.smqtt.spi.StoreWriter;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Removes a delayed message from the store when all receivers have it. The copies of receivers at QoS 2 and the removal are one commit, so that a
 * crash in between neither loses nor repeats them. The removal from an adopted store comes after the copies: then receivers at QoS 2 note what they have taken.
 */
@AnyThread
final class DueTicket extends HeldTicket {

    private final StoreLoop loop;
    private final boolean waits;
    private final boolean stable;
    private final boolean ofOwnStore;
    private final Consumer<StoreWriter> removal;
    private final CommitCallback done;

    /** Operations of receivers; guarded by this. */
    private final List<JointOperation> operations = new ArrayList<>(2);

    /**
     * Creates a ticket with one hold, to be released after routing.
     *
     * @param loop the event loop that routes the message
     * @param waits whether acknowledgements wait for the store
     * @param stable whether stable storage is required
     * @param ofOwnStore whether the message is in the store of this node, as the receivers at QoS 2 are: then their copies are part of its removal
     * @param removal removes the message from the store
     * @param done called on that event loop with the outcome
     */
    DueTicket(
            StoreLoop loop,
            boolean waits,
            boolean stable,
            boolean ofOwnStore,
            Consumer<StoreWriter> removal,
            CommitCallback done) {
        super(1);
        this.ofOwnStore = ofOwnStore;
        this.loop = loop;
        this.waits = waits;
        this.stable = stable;
        this.removal = removal;
        this.done = done;
    }

    @Override
    public boolean waitsForStore() {
        return waits;
    }

    @Override
    public boolean wantsStable() {
        return stable;
    }

    @Override
    public synchronized boolean join(JointOperation operation) {
        if (ofOwnStore) {
            operations.add(operation);
        }
        return ofOwnStore;
    }

    @Override
    public boolean mayComeAgain() {
        return !ofOwnStore; // the copies are committed before the removal
    }

    @Override
    protected void released(boolean success) {
        loop.execute(() -> {
            if (success) {
                commit();
            } else {
                settle(false);
            }
        });
    }

    private synchronized List<JointOperation> operations() {
        return List.copyOf(operations);
    }

    @OnEventLoop
    private void commit() {
        StoreWriter writer = loop.writer();
        operations().forEach(operation -> operation.submit(writer));
        removal.accept(writer);
        loop.await((CommitCallback) this::settle, stable);
    }

    @OnEventLoop
    private void settle(boolean kept) {
        operations().forEach(operation -> operation.settled(kept));
        done.committed(kept);
    }
}
