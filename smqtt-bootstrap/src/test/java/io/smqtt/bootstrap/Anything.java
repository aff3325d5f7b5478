// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.BrokerStore.RecoveryVisitor;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;

/** Does not mind what is stored. */
final class Anything implements RecoveryVisitor {

    @Override
    public void session(StoredSession session, StoredQueue waiting) {}

    @Override
    public void subscription(StoredSubscription subscription) {}

    @Override
    public void received(int packetId) {}

    @Override
    public void retained(ApplicationMessage message) {}
}
