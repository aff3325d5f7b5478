// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredMessage;
import io.smqtt.thread.OnEventLoop;

/** Where the rows of one session are: its number in the store, and the writes of the event loop that owns it now. */
@OnEventLoop
final class SessionRows {

    private final SessionContext session;
    private final Stores stores;
    private final long number;

    SessionRows(SessionContext session, Stores stores, long number) {
        this.session = session;
        this.stores = stores;
        this.number = number;
    }

    /** The number of the session in the store. */
    long number() {
        return number;
    }

    /** Whether the rows are in the store of another node. */
    boolean isAdopted() {
        return stores.home() != null;
    }

    /** The writes of the session's current event loop. */
    StoreLoop loop() {
        return stores.of(session.owner());
    }

    /** Records a message of another node, which was submitted last, so that its repetition is known after a restart. */
    void took(StoredMessage stored) {
        long id = TakenMessages.idOf(stored);
        if (id != ApplicationMessage.NO_ID) {
            loop().took(TakenNotes.delivery(number, id));
        }
    }

    /** Records that a message which the session had taken could not be stored. */
    void lost(StoredMessage message) {
        stores.lost(session, message);
    }

    StoreWriter writer() {
        return loop().writer();
    }

    BrokerStore store() {
        return stores.store();
    }

    /** Whether the broker waits for the store at all. */
    boolean waits() {
        return stores.waits();
    }
}
