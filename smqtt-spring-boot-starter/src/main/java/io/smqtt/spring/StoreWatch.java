// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.StoreFigures;

/** Remembers whether the store keeps what it is given. */
final class StoreWatch implements BrokerObserver {

    private volatile boolean healthy = true;

    @Override
    public boolean watchesMessages() {
        return false;
    }

    @Override
    public void storeMeasured(StoreFigures figures) {
        healthy = figures.healthy();
    }

    boolean isHealthy() {
        return healthy;
    }
}
