// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.BridgeAddress;
import java.util.List;

/** The address of the next attempt: the addresses in turn, and those of a host with several in turn, too. Guarded by its bridge. */
final class AddressTurn {

    private final List<BridgeAddress> addresses;
    private int next;

    AddressTurn(List<BridgeAddress> addresses) {
        this.addresses = List.copyOf(addresses);
    }

    BridgeAddress address() {
        return addresses.get(next % addresses.size());
    }

    /** Which of several addresses of the host is meant, from 0, modulo their number. */
    int ofHost() {
        return next / addresses.size();
    }

    boolean isFirst() {
        return next % addresses.size() == 0;
    }

    /** An attempt has failed, or the connection has ended. */
    void advance() {
        next = next == Integer.MAX_VALUE ? 0 : next + 1;
    }

    /** Returns to the first address. */
    void first(int ofHost) {
        next = ofHost * addresses.size();
    }
}
