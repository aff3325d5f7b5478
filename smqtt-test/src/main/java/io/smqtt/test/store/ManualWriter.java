// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Gathers the operations of one event loop for a {@link ManualStore}. On that loop only. */
final class ManualWriter implements StoreWriter {

    private final ManualStore store;
    private final Executor loop;
    private final BrokerStore.CommitListener listener;
    private final int life;
    private List<Consumer<StoredState>> gathered = new ArrayList<>();
    private boolean sync;
    private long position;

    ManualWriter(ManualStore store, Executor loop, BrokerStore.CommitListener listener, int life) {
        this.store = store;
        this.loop = loop;
        this.listener = listener;
        this.life = life;
    }

    Executor loop() {
        return loop;
    }

    BrokerStore.CommitListener listener() {
        return listener;
    }

    int life() {
        return life;
    }

    private void add(Consumer<StoredState> operation) {
        gathered.add(operation);
        position++;
    }

    @Override
    public void putSession(StoredSession session) {
        add(state -> state.session(session.number()).header = session);
    }

    @Override
    public void removeSession(long session, String clientId) {
        add(state -> state.sessions.remove(session));
    }

    @Override
    public void putSubscription(long session, StoredSubscription subscription) {
        add(state -> state.session(session).subscriptions.put(subscription.clientFilter(), subscription));
    }

    @Override
    public void removeSubscription(long session, String clientFilter) {
        add(state -> state.session(session).subscriptions.remove(clientFilter));
    }

    @Override
    public void putMessage(long session, StoredMessage message) {
        add(state -> state.putMessage(session, message));
    }

    @Override
    public void putDelivery(long session, long sequence, StoredDelivery delivery) {
        add(state -> state.putDelivery(session, sequence, delivery));
    }

    @Override
    public void removeMessage(long session, long sequence) {
        add(state -> state.session(session).messages.remove(sequence));
    }

    @Override
    public void putReceived(long session, int packetId) {
        add(state -> state.putReceived(session, packetId));
    }

    @Override
    public void removeReceived(long session, int packetId) {
        add(state -> state.removeReceived(session, packetId));
    }

    @Override
    public void putReleased(long session, int packetId, long number) {
        add(state -> state.putReleased(session, packetId, number));
    }

    @Override
    public void putRetained(ApplicationMessage message) {
        add(state -> state.retain(message.topic().value(), message, null));
    }

    @Override
    public void putRetained(ApplicationMessage message, RetainedVersion version) {
        add(state -> state.retain(message.topic().value(), message, version));
    }

    @Override
    public void removeRetained(TopicName topic) {
        add(state -> state.retain(topic.value(), null, null));
    }

    @Override
    public void putRetainedRemoval(TopicName topic, RetainedVersion version) {
        add(state -> state.retain(topic.value(), null, version));
    }

    @Override
    public void putNote(String name, byte[] note) {
        add(state -> state.notes.put(name, note));
    }

    @Override
    public void requireSync() {
        sync = true;
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public void flush() {
        if (gathered.isEmpty()) {
            return;
        }
        List<Consumer<StoredState>> operations = gathered;
        gathered = new ArrayList<>();
        store.flushed(new ManualStore.Batch(this, operations, position, sync));
        sync = false;
    }

    @Override
    public boolean isOverloaded() {
        return store.isOverloaded();
    }
}
