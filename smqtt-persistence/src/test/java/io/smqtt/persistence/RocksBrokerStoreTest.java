// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.Ticker;
import io.smqtt.test.store.BrokerStoreContract;
import java.nio.file.Path;

/** The embedded store keeps the promises of every store. */
class RocksBrokerStoreTest extends BrokerStoreContract {

    @Override
    protected BrokerStore open(Path place, Ticker ticker) {
        return RocksBrokerStore.open(place, StoreSettings.defaults().withTicker(ticker));
    }

    @Override
    protected void copy(Path from, Path to) {
        LiveCopy.of(from, to);
    }
}
