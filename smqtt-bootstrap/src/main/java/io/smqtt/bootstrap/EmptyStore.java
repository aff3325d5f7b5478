// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.BrokerStore.RecoveryVisitor;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;

/** Refuses a store in which there is anything. */
final class EmptyStore implements RecoveryVisitor {

    @Override
    public void session(StoredSession session, StoredQueue waiting) {
        throw notEmpty();
    }

    @Override
    public void subscription(StoredSubscription subscription) {
        throw notEmpty();
    }

    @Override
    public void received(int packetId) {
        throw notEmpty();
    }

    @Override
    public void retained(ApplicationMessage message) {
        throw notEmpty();
    }

    private static BadDataException notEmpty() {
        return new BadDataException("the data directory holds sessions or messages already; import into an empty one");
    }
}
