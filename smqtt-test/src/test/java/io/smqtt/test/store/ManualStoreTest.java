// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.Ticker;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The store for tests keeps the promises of all stores. */
class ManualStoreTest extends BrokerStoreContract {

    private final Map<Path, ManualStore> places = new HashMap<>();

    @Override
    protected BrokerStore open(Path place, Ticker ticker) {
        return places.merge(place, new ManualStore(ticker), (before, unused) -> before.reopened(ticker));
    }

    @Override
    protected void copy(Path from, Path to) {
        ManualStore store = places.get(from);
        if (store == null) {
            throw new IllegalStateException("nothing is kept at " + from);
        }
        places.put(to, store);
    }
}
